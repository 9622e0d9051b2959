"""Which machines your pods need, what they cost, and why."""

from ._answers import Findings, Plan
from ._errors import PlanError
from ._native import __version__
from ._snapshot import Snapshot, lint

__all__ = ["Findings", "Plan", "PlanError", "Snapshot", "__version__", "lint"]
