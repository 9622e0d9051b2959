"""A cluster at one moment: read once, asked often, never changed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from . import _native
from ._answers import Findings, Plan
from ._errors import told
from ._texts import Text, of_file, of_objects, of_paths

#: What `Snapshot.explain` can be asked about.
KINDS = ("pod", "node", "launch", "pool", "waste")


def _options(options: Mapping[str, Any]) -> str:
    """Options in words: snake case becomes the names of the contract; `prices` and `quotas` are
    files; `discounts` may be one text."""
    asked: dict[str, Any] = {}
    for name, value in options.items():
        if value is None:
            continue
        first, *rest = name.split("_")
        key = first + "".join(word.capitalize() for word in rest)
        if key in ("prices", "quotas") and not isinstance(value, Mapping):
            shown, text = of_file(Path(value), os.fspath(value))
            value = {"name": shown, "text": text}
        if key in ("discounts", "withoutZones") and isinstance(value, str):
            value = [value]
        asked[key] = value
    return json.dumps(asked)


class Snapshot:
    """Pods, nodes, pools and all that a decision looks at.

    What-ifs (`with_…`, `without_…`) give other Snapshots and read nothing again. Snapshots can be
    pickled, and asked from several threads at once.
    """

    __slots__ = ("_native", "_recipe")

    def __init__(self, native: _native.World, recipe: tuple[tuple[str, tuple[Any, ...]], ...]) -> None:
        self._native = native
        self._recipe = recipe

    @classmethod
    def load(cls, *paths: str | os.PathLike[str], now: str | None = None) -> Snapshot:
        """Reads manifests, cluster dumps or Snapshots: files, or folders of them."""
        return cls._open(of_paths(paths), _options({"now": now}))

    @classmethod
    def from_objects(cls, objects: Any, *, now: str | None = None) -> Snapshot:
        """Reads a Snapshot or an object as mapping, a list of objects (those of the `kubernetes`
        client among them), or the text of manifests."""
        return cls._open([of_objects(objects)], _options({"now": now}))

    @classmethod
    def _open(cls, texts: list[Text], options: str) -> Snapshot:
        native = told(lambda: _native.World.open(texts, options))
        return cls(native, (("open", (texts, options)),))

    def __reduce__(self) -> tuple[Callable[..., Snapshot], tuple[Any, ...]]:
        return (_again, (self._recipe,))

    def __repr__(self) -> str:
        texts = self._recipe[0][1][0]
        names = ", ".join(name for name, _ in texts[:3]) + (", …" if len(texts) > 3 else "")
        changes = len(self._recipe) - 1
        return f"<dunnage.Snapshot of {names}" + (f", {changes} change(s)>" if changes else ">")

    # Questions

    def plan(self, **options: Any) -> Plan:
        """What would be launched for the pending pods.

        Options: `strategy` (`cheapest`, `greedy`, `karpenter`), `effort` (`low`, `default`,
        `high`), `catalog`, `prices` (a file), `discounts`, `without_zones`, `now`, `settings` (a
        mapping), `quotas` (a file), `dual`, `replay`.
        """
        return Plan(self.text("plan", **options))

    def explain(self, kind: str, name: str | int | None = None, **options: Any) -> dict[str, Any]:
        """The chain behind a `pod`, a `node`, a `launch` (its number), what a `pool` costs, or
        where money is wasted (`waste`)."""
        words = ["explain", kind] + ([] if name is None else [str(name)])
        answer: dict[str, Any] = json.loads(self.text(*words, **options))
        return answer

    def lint(self, **options: Any) -> Findings:
        """What is wrong, risky or careless, and what to write instead."""
        return Findings(self.text("lint", **options))

    def page(self, **options: Any) -> str:
        """The plan as one HTML page."""
        return self.text("page", **options)

    def text(self, *words: str, **options: Any) -> str:
        """The answer to a verb (`plan`, `explain`, `pod`, …) as the bytes that the command line
        prints."""
        asked = _options(options)
        return told(lambda: self._native.answer(list(words), asked))

    # What-ifs

    def with_objects(self, objects: Any) -> Snapshot:
        """With objects added, or in the place of those of the same kind and name."""
        return self._changed("with_objects", of_objects(objects))

    def with_pool(self, pool: Any) -> Snapshot:
        """With a NodePool added, or in the place of the one of its name."""
        return self.with_objects(pool)

    def without_pool(self, name: str) -> Snapshot:
        """Without the NodePool of that name."""
        return self._changed("without_pool", (name,))

    def with_workload(self, workload: Any, replicas: int | None = None) -> Snapshot:
        """With a workload added, or in the place of the one of its name and of its pods."""
        name, text = of_objects(workload, "workload")
        return self._changed("with_workload", (name, text, replicas))

    def without_workload(self, name: str) -> Snapshot:
        """Without a workload (`Deployment/shop/web`, `shop/web` or `web`) and its pods."""
        return self._changed("without_workload", (name,))

    def with_requests(
        self, workload: str, container: str | None = None, **requests: str
    ) -> Snapshot:
        """With other requests of a workload's pending pods: `cpu="300m", memory="1Gi"`."""
        return self._changed("with_requests", (workload, requests, container))

    def without_zone(self, zone: str) -> Snapshot:
        """With nothing to buy in a zone."""
        return self._changed("without_zone", (zone,))

    def with_prices(self, prices: str | os.PathLike[str]) -> Snapshot:
        """With a price file."""
        return self._changed("with_prices", of_file(Path(prices), os.fspath(prices)))

    def with_options(self, **options: Any) -> Snapshot:
        """With options that hold for every question."""
        return self._changed("with_options", (_options(options),))

    def _changed(self, method: str, arguments: tuple[Any, ...]) -> Snapshot:
        native: _native.World = told(lambda: getattr(self._native, method)(*arguments))
        return Snapshot(native, (*self._recipe, (method, arguments)))


def _again(recipe: tuple[tuple[str, tuple[Any, ...]], ...]) -> Snapshot:
    """A Snapshot by the same steps."""
    (_, (texts, options)), *changes = recipe
    snapshot = Snapshot._open(texts, options)
    for method, arguments in changes:
        snapshot = snapshot._changed(method, arguments)
    return snapshot


def lint(*paths: str | os.PathLike[str], **options: Any) -> Findings:
    """Findings about files of which some objects may be refused: more than `Snapshot.lint` can
    say, since a Snapshot holds only what can be used."""
    texts, asked = of_paths(paths), _options(options)
    return Findings(told(lambda: _native.lint(texts, asked)))
