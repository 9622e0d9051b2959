"""Answers: the exact text, its fields, frames and pictures."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import Any, Literal

#: Frames of a plan: one row for each launch, placed pod, unplaced pod or warning.
FRAMES = ("launch", "pods", "unplaced", "warnings")


class Answer:
    """An answer; `text` is what the command line prints as JSON."""

    __slots__ = ("_fields", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._fields: dict[str, Any] | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """The answer as a dictionary, read from the text when first asked for."""
        if self._fields is None:
            self._fields = json.loads(self.text)
        return self._fields

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Answer) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> tuple[type[Answer], tuple[str]]:
        return (type(self), (self.text,))


class Plan(Answer):
    """What would be launched for the pending pods."""

    __slots__ = ()

    @property
    def launch(self) -> list[dict[str, Any]]:
        """Nodes to launch."""
        rows: list[dict[str, Any]] = self.fields["launch"]
        return rows

    @property
    def unplaced(self) -> list[dict[str, Any]]:
        """Pods that fit nowhere, and why."""
        rows: list[dict[str, Any]] = self.fields["unplaced"]
        return rows

    @property
    def cost(self) -> dict[str, Any]:
        """`launchPerHour`, `lowerBoundPerHour` and `gap`."""
        cost: dict[str, Any] = self.fields["cost"]
        return cost

    @property
    def launch_per_hour(self) -> float | None:
        """USD per hour of all launches; None when a price is unknown."""
        price: float | None = self.cost["launchPerHour"]
        return price

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a frame: `launch`, `pods`, `unplaced` or `warnings`."""
        if name not in FRAMES:
            raise ValueError(f"`{name}` is no frame: use one of {', '.join(FRAMES)}")
        if name == "warnings":
            rows: list[dict[str, Any]] = self.fields["warnings"]
            return rows
        if name == "unplaced":
            return [
                {
                    "pod": row["pod"],
                    "code": ", ".join(because["code"] for because in row["because"]),
                    "message": "; ".join(because["message"] for because in row["because"]),
                }
                for row in self.unplaced
            ]
        launches = [_launch(at, launch) for at, launch in enumerate(self.launch, 1)]
        if name == "launch":
            return [row for row, _ in launches]
        placed = [
            {"pod": pod, "launch": row["launch"], "node": None, "nodePool": row["nodePool"]}
            for row, pods in launches
            for pod in pods
        ]
        bound = [
            {"pod": pod, "launch": None, "node": row["node"], "nodePool": None}
            for row in self.fields["bind"]
            for pod in row["pods"]
        ]
        return placed + bound

    def frame(
        self, name: str = "launch", backend: Literal["pandas", "polars", "pyarrow"] = "pandas"
    ) -> Any:
        """A frame of `pandas`, `polars` or `pyarrow`; needs narwhals and the backend."""
        import narwhals as nw

        rows = self.rows(name)
        columns = _columns(name, rows)
        data = {column: [row.get(column) for row in rows] for column in columns}
        return nw.from_dict(data, backend=backend).to_native()

    def picture(self, resource: str = "cpu", most: int = 60) -> Any:
        """A bar for each machine, as long as what its nodes are asked for; needs matplotlib."""
        from ._picture import draw

        return draw(self, resource, most)

    def __repr__(self) -> str:
        cost = self.cost
        price = "unknown" if cost["launchPerHour"] is None else f"{cost['launchPerHour']:g}"
        text = f"<dunnage.Plan: {len(self.launch)} node(s) at {price} USD/h"
        return text + (f", {len(self.unplaced)} pod(s) unplaced>" if self.unplaced else ">")

    def _repr_html_(self) -> str:
        """A short table for notebooks: machines of the plan, cost, what is left."""
        groups: dict[tuple[str, str, str, str], list[float]] = {}
        for row in self.rows("launch"):
            key = (row["nodePool"], row["instanceType"], row["zone"], row["capacityType"])
            groups.setdefault(key, []).append(row["pricePerHour"] or 0.0)
        cells = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(part))}</td>" for part in key)
            + f"<td style='text-align:right'>{len(prices)}</td>"
            + f"<td style='text-align:right'>{sum(prices):.4f}</td></tr>"
            for key, prices in sorted(groups.items(), key=lambda group: -sum(group[1]))
        )
        cost, gap = self.cost, self.cost["gap"]
        bound = "" if gap is None else f", at most {gap:.1%} above what any plan must cost"
        left = "".join(
            f"<li>{html.escape(row['pod'])}: {html.escape(row['message'])}</li>"
            for row in self.rows("unplaced")[:10]
        )
        more = len(self.unplaced) - 10
        left += f"<li>and {more} more</li>" if more > 0 else ""
        return (
            f"<p><b>{len(self.launch)} node(s), {cost['launchPerHour']} USD/h</b>{bound}</p>"
            "<table><thead><tr><th>NodePool</th><th>machine</th><th>zone</th><th>capacity</th>"
            f"<th>nodes</th><th>USD/h</th></tr></thead><tbody>{cells}</tbody></table>"
            + (f"<p>{len(self.unplaced)} pod(s) fit nowhere</p><ul>{left}</ul>" if left else "")
        )


class Findings(Answer):
    """What is wrong, risky or careless."""

    __slots__ = ()

    def __len__(self) -> int:
        return len(self.fields["findings"])

    def __iter__(self) -> Any:
        return iter(self.fields["findings"])

    @property
    def errors(self) -> list[dict[str, Any]]:
        """Findings of severity `error`."""
        return [row for row in self.fields["findings"] if row["severity"] == "error"]

    def __repr__(self) -> str:
        return f"<dunnage.Findings: {len(self)}, {len(self.errors)} of them errors>"


def _launch(at: int, launch: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    cheapest = launch["cheapest"]
    row = {
        "launch": at,
        "nodePool": launch["nodePool"],
        "nodeClass": launch["nodeClass"],
        "instanceType": cheapest["instanceType"],
        "zone": cheapest["zone"],
        "capacityType": cheapest["capacityType"],
        "pricePerHour": cheapest["pricePerHour"],
        "pods": len(launch["pods"]),
        "instanceTypes": len(launch["instanceTypes"]),
    }
    requests = launch["requests"]
    # `pods` is their number above.
    resources = sorted(set(requests) - {"pods"})
    row.update({resource: number(requests[resource]) for resource in resources})
    return row, launch["pods"]


def _columns(name: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    """Columns in the order of their first row; those of an empty frame are known, too."""
    known = {
        "launch": ["launch", "nodePool", "nodeClass", "instanceType", "zone", "capacityType",
                   "pricePerHour", "pods", "instanceTypes"],
        "pods": ["pod", "launch", "node", "nodePool"],
        "unplaced": ["pod", "code", "message"],
        "warnings": ["code", "message", "object"],
    }  # fmt: skip
    columns = dict.fromkeys(known[name])
    for row in rows:
        columns.update(dict.fromkeys(row))
    return list(columns)


#: Units of Kubernetes quantities.
UNITS = {"m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "Ki": 2.0**10,
         "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}  # fmt: skip


def number(quantity: str) -> float:
    """A Kubernetes quantity as a number: cores, bytes, pieces."""
    for unit in sorted(UNITS, key=len, reverse=True):
        if quantity.endswith(unit):
            return float(quantity[: -len(unit)]) * UNITS[unit]
    return float(quantity)
