"""Files, folders and objects as the texts that the planner reads."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ._errors import refuse

Text = tuple[str, str]

#: Endings of the files that are read in a folder, as the command line reads them.
ENDINGS = (".yaml", ".yml", ".json")


def of_paths(paths: Iterable[str | os.PathLike[str]]) -> list[Text]:
    """The texts of files, and of the manifests of folders by name."""
    texts: list[Text] = []
    for given in paths:
        path = Path(given)
        name = os.fspath(given)
        if not path.is_dir():
            texts.append(of_file(path, name))
            continue
        files = sorted(file for file in path.iterdir() if file.suffix in ENDINGS and file.is_file())
        if not files:
            raise refuse(
                "Unreadable", name, "the directory holds no file that ends in .yaml, .yml or .json"
            )
        texts.extend(of_file(file, os.fspath(file)) for file in files)
    return texts


def of_file(path: Path, name: str) -> Text:
    """The text of one file."""
    try:
        return (name, path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise refuse("NotUtf8", name, "the text is not UTF-8") from None
    except FileNotFoundError:
        raise refuse("Unreadable", name, "no such file or directory") from None
    except OSError as error:
        raise refuse("Unreadable", name, (error.strerror or str(error)).lower()) from None


def of_objects(objects: Any, name: str = "objects") -> Text:
    """Kubernetes objects as one text: a Snapshot or an object as mapping, a list of objects, text
    of manifests, or objects of the `kubernetes` client."""
    if isinstance(objects, str):
        return (name, objects)
    if isinstance(objects, bytes):
        return (name, objects.decode("utf-8"))
    plain = _plain(objects)
    if isinstance(plain, list):
        plain = {"apiVersion": "v1", "kind": "List", "items": plain}
    if not isinstance(plain, dict):
        raise refuse("NotAnObject", name, f"`{type(objects).__name__}` is no Kubernetes object")
    return (name, json.dumps(plain, separators=(",", ":")))


def _plain(value: Any) -> Any:
    """JSON of a value; absent fields of client objects are left out."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(own) for key, own in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(own) for own in value]
    names = getattr(value, "attribute_map", None)
    if isinstance(names, Mapping):
        fields = ((names[own], getattr(value, own)) for own in names)
        return {name: _plain(own) for name, own in fields if own is not None}
    if hasattr(value, "isoformat"):
        # The client gives times as datetime.
        return str(value.isoformat()).replace("+00:00", "Z")
    raise refuse("NotAnObject", "objects", f"`{type(value).__name__}` is no JSON")
