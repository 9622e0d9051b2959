"""Writes pods.json (a Snapshot) from source/openb_pod_list_default.csv.

Run it here: `python3 make_pods.py`. The same CSV gives the same bytes.

What a row says and what becomes of it:
  cpu_milli, memory_mib  the requests, as they are
  num_gpu                `nvidia.com/gpu`; a pod that shares a GPU (gpu_milli < 1000) counts as
                         asking for a whole one, since Kubernetes has no fraction of a device
  the other columns      not used: the plan is for all pods at one moment
"""

import csv
import json
from pathlib import Path

here = Path(__file__).parent


def pod(row):
    requests = {"cpu": f"{row['cpu_milli']}m", "memory": f"{row['memory_mib']}Mi"}
    if int(row["num_gpu"]) > 0:
        requests["nvidia.com/gpu"] = row["num_gpu"]
    container = {"name": "main", "resources": {"requests": requests}}
    return {"metadata": {"name": row["name"]}, "spec": {"containers": [container]}}


with open(here / "source" / "openb_pod_list_default.csv", newline="") as file:
    pods = [pod(row) for row in csv.DictReader(file)]

lines = ",\n".join(json.dumps(pod, separators=(",", ":")) for pod in pods)
(here / "pods.json").write_text('{"now":"2026-11-30T00:00:00Z","pods":[\n' + lines + "\n]}\n")
print(f"{len(pods)} pods")
