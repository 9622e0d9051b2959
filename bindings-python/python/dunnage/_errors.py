"""Why there is no answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from ._native import Refused

T = TypeVar("T")


class PlanError(Exception):
    """Bad input or a bad question (`code` says which), or a promise that was broken (`Broken`).

    `errors` has everything that is wrong, each with `code`, `path`, `message` and, as far as known,
    `file`, `document`, `line` and `value`. `code`, `path` and `message` are those of the first.
    """

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        self.errors = errors
        first = errors[0] if errors else {}
        self.code: str = first.get("code", "")
        self.path: str = first.get("path", "")
        self.message: str = first.get("message", "")
        super().__init__("\n".join(_line(error) for error in errors))

    def __reduce__(self) -> tuple[type[PlanError], tuple[list[dict[str, Any]]]]:
        return (PlanError, (self.errors,))


def _line(error: dict[str, Any]) -> str:
    """One line, as the command line prints it."""
    place = str(error.get("file", ""))
    if "line" in error:
        place = f"{place}:{error['line']}" if place else f"line {error['line']}"
    if error.get("document", 0) > 1:
        place += f" (document {error['document']})"
    parts = [part for part in (place, error.get("path", ""), error.get("message", "")) if part]
    return f"{': '.join(parts)} [{error.get('code', '')}]"


def told(call: Callable[[], T]) -> T:
    """The call's result; a refusal as `PlanError`."""
    try:
        return call()
    except Refused as refused:
        raise PlanError(json.loads(str(refused))["errors"]) from None


def refuse(code: str, file: str, message: str) -> PlanError:
    """An error of this side: a file that cannot be read, an object that is none."""
    return PlanError([{"code": code, "file": file, "path": "", "message": message}])
