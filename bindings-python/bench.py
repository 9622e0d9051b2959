"""CPU per plan on a handle beside the same call in Rust, and what-ifs on two threads.

    DUNNAGE_MEASURE=target/release/measure python bindings-python/bench.py FILE

The Rust call is `measure stages FILE cheapest default plan`, which prints its CPU seconds; the two
alternate, and the medians of five are compared.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import dunnage


def main(path: str, what_ifs: int) -> None:
    snapshot = dunnage.Snapshot.load(path)
    started = time.process_time()
    dunnage.Snapshot.load(path)
    reading = time.process_time() - started
    measure = os.environ.get("DUNNAGE_MEASURE")
    ours, theirs = [], []
    for _ in range(5):
        started = time.process_time()
        plan = snapshot.plan()
        ours.append(time.process_time() - started)
        if measure:
            words = [measure, "stages", path, "cheapest", "default", "plan"]
            said = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
            theirs.append(said["cpuSeconds"]["plan"])
    started = time.process_time()
    plan.rows("pods")
    framing = time.process_time() - started
    mine = statistics.median(ours)
    print(f"reading {reading:.3f} s, plan {mine:.4f} s, fields and rows {framing:.4f} s of CPU")
    if theirs:
        rust = statistics.median(theirs)
        print(f"the same call in Rust {rust:.4f} s of CPU: {mine / rust:.3f} times")
    zones = sorted({row["zone"] for row in plan.rows("launch")})
    changes = [{"discounts": [f"{1 - 0.0005 * at}"]} for at in range(what_ifs)]

    def one(options: dict[str, list[str]]) -> str:
        return snapshot.plan(effort="low", **options).text

    for threads in (1, 2):
        started = time.perf_counter()
        with ThreadPoolExecutor(threads) as pool:
            texts = list(pool.map(one, changes))
        took = time.perf_counter() - started
        print(f"{what_ifs} what-ifs on {threads} thread(s): {took:.2f} s, {hash(tuple(texts))}")
    print(f"zones of the plan: {', '.join(zones)}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100)
