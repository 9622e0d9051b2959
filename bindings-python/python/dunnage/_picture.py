"""A picture of a plan: a bar for each machine, as long as what its nodes are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._answers import Plan

#: Colours of pools, told apart by readers who see red and green alike.
COLOURS = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377", "#BBBBBB")


def draw(plan: Plan, resource: str, most: int) -> Any:
    """The figure. Nodes of one machine in one place are one bar: from the least to the most that
    one of them is asked for, and how many there are, what costs most first."""
    import matplotlib.pyplot as plt
    from matplotlib.patches import Patch

    groups: dict[tuple[str, str, str, str], list[dict[str, Any]]] = {}
    for row in plan.rows("launch"):
        key = (row["nodePool"], row["instanceType"], row["zone"], row["capacityType"])
        groups.setdefault(key, []).append(row)

    def price(rows: list[dict[str, Any]]) -> float:
        return sum(row["pricePerHour"] or 0.0 for row in rows)

    ordered = sorted(groups.items(), key=lambda group: (-price(group[1]), group[0]))
    shown = ordered[:most]
    pools = sorted({key[0] for key, _ in ordered})
    colour = {pool: COLOURS[at % len(COLOURS)] for at, pool in enumerate(pools)}
    figure, axes = plt.subplots(figsize=(9, max(2.0, 0.24 * len(shown) + 1.6)))
    for at, (key, rows) in enumerate(shown):
        amounts = [row.get(resource, 0.0) or 0.0 for row in rows]
        axes.barh(at, max(amounts), color=colour[key[0]], alpha=0.45)
        axes.barh(at, min(amounts), color=colour[key[0]])
        pods = sum(row["pods"] for row in rows)
        axes.annotate(
            f" {len(rows)} node(s), {pods} pods, {price(rows):.2f} USD/h",
            (max(amounts), at),
            va="center",
            fontsize=7,
        )
    labels = [" ".join(key[1:]) for key, _ in shown]
    axes.set_yticks(range(len(shown)), labels, fontsize=7)
    axes.invert_yaxis()
    axes.margins(x=0.55, y=0.02)
    unit = {"cpu": "cores", "memory": "bytes"}.get(resource, "pieces")
    axes.set_xlabel(f"{resource} requested of a node ({unit}): least and most of these nodes")
    more = f"; {len(ordered) - len(shown)} machines more" if len(ordered) > len(shown) else ""
    cost = plan.cost["launchPerHour"]
    figure.suptitle(f"{len(plan.launch)} node(s), {cost} USD/h{more}", fontsize=10)
    handles = [Patch(color=colour[pool], label=pool) for pool in pools]
    axes.legend(
        handles=handles, fontsize=7, loc="lower left", bbox_to_anchor=(0, 1), ncols=4, frameon=False
    )
    figure.tight_layout()
    plt.close(figure)
    return figure
