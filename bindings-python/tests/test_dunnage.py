"""The planner in Python: the bytes of the command line, what-ifs, threads, pickles, frames."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dunnage
import pytest
from dunnage import _native

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
INPUTS = ROOT / "testbed" / "oracle" / "inputs"
CLI = os.environ["DUNNAGE_CLI"]


def said(*arguments: str) -> str:
    """Standard output of the command line."""
    ran = subprocess.run([CLI, *arguments], capture_output=True, text=True, cwd=ROOT, check=False)
    return ran.stdout


def tutorial() -> dunnage.Snapshot:
    return dunnage.Snapshot.load(EXAMPLES / "eks-inflate")


@pytest.mark.parametrize("path", sorted(INPUTS.glob("[01]*.json")), ids=lambda path: path.stem)
def test_a_plan_has_the_bytes_of_the_command_line(path: Path) -> None:
    snapshot = dunnage.Snapshot.load(path)
    assert snapshot.plan().text == said("plan", "-f", str(path), "-o", "json")
    greedy = snapshot.plan(strategy="greedy", effort="low").text
    assert greedy == said("plan", "-f", str(path), "-o", "json", "--strategy", "greedy", "--effort", "low")
    assert snapshot.lint().text == said("lint", "-f", str(path), "-o", "json")


def test_explanations_have_the_bytes_of_the_command_line() -> None:
    folder = "examples/eks-inflate"
    for words in (["waste"], ["pool", "default"], ["launch", "1"], ["pod", "inflate-0"]):
        text = tutorial().text("explain", *words)
        assert text == said("explain", *words, "-f", folder, "-o", "json"), words
    page = tutorial().page()
    assert page == said("plan", "-f", folder, "-o", "html")


def test_options_are_those_of_the_command_line(tmp_path: Path) -> None:
    prices = tmp_path / "prices.csv"
    prices.write_text(
        "region,instanceType,zone,capacityType,price\nus-east-1,c5.4xlarge,,on-demand,0.01\n"
    )
    text = tutorial().plan(
        prices=prices, discounts="m5=0.5", without_zones=["us-east-1a"], dual=True,
        replay="leastAllocated", settings={"nodeSurcharge": 0}, now="2026-01-01T00:00:00Z",
    ).text  # fmt: skip
    assert text == said(
        "plan", "-f", "examples/eks-inflate", "-o", "json", "--prices", str(prices),
        "--discount", "m5=0.5", "--without-zone", "us-east-1a", "--dual",
        "--replay", "least-allocated", "--settings", "nodeSurcharge=0",
        "--now", "2026-01-01T00:00:00Z",
    )  # fmt: skip


def test_the_tutorial_in_numbers() -> None:
    plan = tutorial().plan()
    assert plan.launch_per_hour == 0.306
    assert [row["instanceType"] for row in plan.rows("launch")] == ["c6a.2xlarge"]
    assert len(plan.rows("pods")) == 5 and plan.unplaced == []
    assert "0.306" in repr(plan) and "c6a.2xlarge" in plan._repr_html_()


def pod(name: str, cpu: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"},
        "spec": {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}]},
    }  # fmt: skip


def test_objects_are_read_as_files_are() -> None:
    pool = tutorial().with_objects([pod("a", "3"), pod("b", "1500m")])
    assert len(pool.plan().rows("pods")) == 7
    with pytest.raises(dunnage.PlanError) as caught:
        dunnage.Snapshot.from_objects([{"kind": "Pod"}])
    assert caught.value.code == "UnsupportedVersion" or caught.value.code == "MissingKind"


class ClientObject:
    """What objects of the `kubernetes` client look like."""

    attribute_map = {"api_version": "apiVersion", "kind": "kind", "metadata": "metadata", "spec": "spec"}

    def __init__(self, fields: dict[str, Any]) -> None:
        self.api_version = fields["apiVersion"]
        self.kind = fields["kind"]
        self.metadata = fields["metadata"]
        self.spec = fields["spec"]


def test_objects_of_the_kubernetes_client_are_read() -> None:
    plain = tutorial().with_objects([pod("a", "3")]).plan()
    assert tutorial().with_objects([ClientObject(pod("a", "3"))]).plan() == plain


def test_what_ifs_change_nothing_else() -> None:
    snapshot = tutorial()
    before = snapshot.plan()
    narrow = snapshot.without_zone("us-east-1a").plan()
    assert {row["zone"] for row in narrow.rows("launch")} & {"us-east-1a"} == set()
    small = snapshot.with_requests("inflate", cpu="100m").plan()
    assert small.launch_per_hour is not None and before.launch_per_hour is not None
    assert small.launch_per_hour < before.launch_per_hour
    assert snapshot.without_workload("inflate").plan().launch == []
    assert snapshot.with_options(discounts=["0.5"]).plan().launch_per_hour == 0.153
    assert snapshot.plan() == before


def test_snapshots_and_plans_can_be_pickled() -> None:
    snapshot = tutorial().with_requests("inflate", cpu="300m").without_zone("us-east-1b")
    again = pickle.loads(pickle.dumps(snapshot))
    assert again.plan() == snapshot.plan()
    assert pickle.loads(pickle.dumps(snapshot.plan())) == snapshot.plan()


def test_threads_get_equal_bytes() -> None:
    snapshot = dunnage.Snapshot.load(INPUTS / "02-mixed.json")
    with ThreadPoolExecutor(4) as pool:
        texts = list(pool.map(lambda _: snapshot.plan().text, range(16)))
    assert len(set(texts)) == 1


def test_errors_have_a_code_a_path_and_a_message(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, resources: {requests: {cpu: -1}}}]}\n")
    with pytest.raises(dunnage.PlanError) as caught:
        dunnage.Snapshot.load(bad)
    error = caught.value
    assert error.code == "NegativeQuantity"
    assert error.path.endswith("requests.cpu") and error.errors[0]["line"] == 4
    ran = subprocess.run([CLI, "plan", "-f", str(bad)], capture_output=True, text=True, check=False)
    assert ran.stderr == "".join(f"error: {line}\n" for line in str(error).splitlines())
    assert pickle.loads(pickle.dumps(error)).errors == error.errors
    for call, code in (
        (lambda: dunnage.Snapshot.load(tmp_path / "none.yaml"), "Unreadable"),
        (lambda: tutorial().plan(strategy="best"), "InvalidValue"),
        (lambda: tutorial().plan(stratgy="best"), "InvalidValue"),
        (lambda: tutorial().explain("pod", "nobody"), "UnknownName"),
        (lambda: tutorial().without_pool("defualt"), "UnknownName"),
    ):
        with pytest.raises(dunnage.PlanError) as caught:
            call()
        assert caught.value.code == code


def test_lint_of_files_tells_what_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: x}\nspec: {template: {spec: {requirements: []}}}\n")
    findings = dunnage.lint(bad)
    assert findings.errors and json.loads(findings.text) == findings.fields
    assert findings.text == said("lint", "-f", str(bad), "-o", "json")


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("name", ["launch", "pods", "unplaced", "warnings"])
def test_frames_have_a_row_for_each_thing(backend: Any, name: str) -> None:
    plan = dunnage.Snapshot.load(INPUTS / "09-unsatisfiable.json").plan()
    frame = plan.frame(name, backend)
    count = frame.num_rows if backend == "pyarrow" else len(frame)
    assert count == len(plan.rows(name))


def test_a_picture_has_a_bar_for_each_machine() -> None:
    plan = dunnage.Snapshot.load(INPUTS / "02-mixed.json").plan()
    figure = plan.picture("memory")
    machines = {(row["instanceType"], row["zone"], row["capacityType"]) for row in plan.rows("launch")}
    assert len(figure.axes[0].patches) == 2 * len(machines)
    assert all(isinstance(row["pods"], int) for row in plan.rows("launch"))


LONG = """
import sys, dunnage
snapshot = dunnage.Snapshot.load(sys.argv[1])
print("ready", flush=True)
try:
    snapshot.plan(effort="high")
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


def test_ctrl_c_stops_the_solve() -> None:
    path = INPUTS / "large-1k-800.json"
    running = subprocess.Popen([sys.executable, "-c", LONG, str(path)], stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    assert running.stdout.readline() == "ready\n"
    time.sleep(0.3)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    assert out == "stopped\n"


CONTRACT = sorted((ROOT / "contract" / "examples").glob("*.json"))


@pytest.mark.parametrize("path", CONTRACT, ids=lambda path: path.stem)
def test_every_example_of_the_contract_is_answered_in_the_same_bytes(path: Path) -> None:
    example = json.loads(path.read_text())
    call = example["call"]
    texts, asked = list(call["files"].items()), json.dumps(call["asked"])
    try:
        if call["verb"] == ["lint"]:
            text = _native.lint(texts, asked)
        else:
            text = _native.World.open(texts, asked).answer(call["verb"], asked)
    except _native.Refused as refused:
        assert str(refused) == example["refusal"]
    else:
        assert text == example["answer"]
