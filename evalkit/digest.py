"""Digests of plain data and of files: what decides whether a task runs again.

A digest is the SHA-256 of the value's canonical JSON: attrs classes as their fields with their class's name, keys
sorted. Fields named `origin` (line numbers) and `about` are for people and are left out, so that a comment or a
reordering of the file changes no digest.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import attrs
import orjson

__all__ = ["canonical", "digest", "digest_bytes", "digest_file", "digest_path"]

_FOR_PEOPLE = frozenset({"origin", "about"})
_CHUNK = 1 << 20


def canonical(value: object) -> Any:
    """`value` as JSON types, without what only people read."""
    kind = type(value)
    if isinstance(value, str):
        return _text(value)
    if attrs.has(kind):
        fields = {field.name: canonical(getattr(value, field.name))
                  for field in attrs.fields(kind) if field.name not in _FOR_PEOPLE}
        return {"": kind.__name__, **fields}
    if isinstance(value, dict):
        return {_text(str(key)): canonical(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [canonical(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(canonical(item) for item in value)
    return value


def _text(text: str) -> str:
    """A file's name that is not UTF-8 holds halves of surrogate pairs, which JSON has no form for."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "\0" + text.encode("utf-8", "surrogatepass").hex()
    return text


def digest(value: object) -> str:
    """64 hex digits. Raises TypeError for a value that is not made of plain data and attrs classes."""
    return digest_bytes(orjson.dumps(canonical(value), option=orjson.OPT_SORT_KEYS))


def digest_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digest_file(path: Path) -> str:
    """The digest of a file's bytes. Raises OSError."""
    state = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            state.update(chunk)
    return state.hexdigest()


def digest_path(path: Path) -> str:
    """The digest of a file, or of a folder: its files' names, contents and whether they can be executed."""
    if path.is_file():
        return digest_file(path)
    entries = []
    for entry in sorted(path.rglob("*")):
        if entry.is_file():
            executable = bool(entry.stat().st_mode & 0o100)
            entries.append((entry.relative_to(path).as_posix(), executable, digest_file(entry)))
    return digest(entries)
