"""Verifies the lower bound of a plan with a solver of its own: for every machine the most value
that it can hold is a small integer program, and none may exceed the machine's price.

    dunnage plan -f INPUT --dual -o json > plan.json && python verify.py plan.json
"""
import json, sys
from collections import defaultdict

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

plan = json.load(open(sys.argv[1]))
pods, machines = plan["dual"]["pods"], plan["dual"]["machines"]
bound, cost = plan["dual"]["lowerBoundPerHour"], plan["cost"]["launchPerHour"]

def most_value(machine, integer):
    """An upper bound on the value of pods that the machine holds."""
    rows = [pods[i] for i in machine["takes"]]
    value = np.array([p["valuePerHour"] for p in rows])
    names = sorted(machine["capacity"])
    room = {n: machine["capacity"][n] or 0.5 for n in names}  # half a unit holds nothing
    size = np.array([[p["requests"][n] / room[n] for p in rows] for n in names])
    slots = sorted({p["slot"] for p in rows if "slot" in p})
    apart = np.array([[float(p.get("slot") == s) for p in rows] for s in slots]).reshape(-1, len(rows))
    found = milp(
        -value,
        constraints=LinearConstraint(np.vstack([size, apart]), ub=1.0 + 1e-12),
        bounds=Bounds(0, [p["count"] for p in rows]),
        integrality=np.full(len(rows), int(integer)),
        options={"mip_rel_gap": 1e-7, "time_limit": 120},
    )
    return -found.mip_dual_bound if integer else -found.fun

worst, extra = 0.0, defaultdict(float)
for machine in machines:
    price = machine["pricePerHour"]
    most = most_value(machine, integer=False)
    if most > price:
        most = most_value(machine, integer=True)
    if "units" in machine:  # so many at most, each of which may save this much
        key = (machine["reservation"], machine["units"])
        extra[key] = max(extra[key], most - price)
    else:
        worst = max(worst, most / price)
total = sum(p["valuePerHour"] * p["count"] for p in pods)
proven = total / max(worst, 1.0) - sum(units * max(e, 0.0) for (_, units), e in extra.items())
print(f"{len(machines)} machines: value / price at most {worst:.9f}")
print(f"proven {proven:.6f} <= cost {cost:.6f}; stated {bound:.6f}")
sys.exit(0 if proven <= cost + 1e-6 and proven >= bound * (1 - 1e-6) - 1e-6 else 1)
