"""Digests of plain data and of files: what decides whether a task runs again.

A digest is the SHA-256 of the value's canonical JSON: attrs classes as their fields with their class's name, keys
sorted. Fields that only people read (places in files, `about`, silenced findings) are left out, so that a comment or
a reordering of the file changes no digest.

A class may grow: a field whose metadata is `GROWN` is left out while it has its default (an immutable one). What was
stored before the class had the field keeps its key then, and a case that says nothing new asks for no new agent run.
Every field that is added to a class whose values are in stored keys must be such a field; to change the default of one
is to change what every old key means.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from evalkit.values import fields_of, has_fields

__all__ = ["GROWN", "LEFTOVERS", "canonical", "digest", "digest_bytes", "digest_file", "digest_path", "folder_record",
           "is_text"]

_FOR_PEOPLE = frozenset({"origin", "origins", "about", "silenced"})
_CHUNK = 1 << 16
"""Bytes that are read at once: more is taken from the system anew each time, and most files are small."""
GROWN = {"evalkit.grown": True}
"""The metadata of a field that a class got when values of it were already stored."""
LEFTOVERS = "__pycache__"
"""Folders that Python leaves beside code which it ran: no part of what a folder of the project holds."""


@cache
def _fields(kind: type[Any]) -> tuple[tuple[str, bool, Any], ...]:
    """The fields of a class that count: name, whether it may be left out, and at which value."""
    return tuple((field.name, "evalkit.grown" in field.metadata, field.default) for field in fields_of(kind)
                 if field.name not in _FOR_PEOPLE)


def canonical(value: object) -> Any:
    """`value` as JSON types, without what only people read."""
    kind: Any = type(value)
    if isinstance(value, str):
        return _text(value)
    if has_fields(kind):
        fields: dict[str, Any] = {"": kind.__name__}
        for name, optional, default in _fields(kind):
            item = getattr(value, name)
            if not optional or item != default:
                fields[name] = canonical(item)
        return fields
    if isinstance(value, dict):
        return {_text(str(key)): canonical(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [canonical(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(canonical(item) for item in value)
    return value


def is_text(text: str) -> bool:
    """Whether it has a form in UTF-8: a file's name that is none holds halves of surrogate pairs."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(text: str) -> str:
    """A text that JSON has a form for."""
    return text if is_text(text) else "\0" + text.encode("utf-8", "surrogatepass").hex()


def digest(value: object) -> str:
    """64 hex digits. Raises TypeError for a value that is not made of plain data and attrs classes."""
    return digest_bytes(_json(value))


def _json(value: object) -> bytes:
    """The JSON of the canonical value. Where orjson can walk through it by itself, no copy of it is made."""
    try:
        return orjson.dumps(value, default=_fields_of, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # a set, or a text that JSON has no form for
        return orjson.dumps(canonical(value), option=orjson.OPT_SORT_KEYS)


def _fields_of(value: Any) -> dict[str, Any]:
    """The first level of `canonical`, of an attrs class. Raises TypeError for anything else."""
    kind: Any = type(value)
    fields: dict[str, Any] = {"": kind.__name__}
    for name, optional, default in _fields(kind):
        item = getattr(value, name)
        if not optional or item != default:
            fields[name] = item
    return fields


def digest_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digest_file(path: Path | str) -> str:
    """The digest of a file's bytes. Raises OSError."""
    state = hashlib.sha256()
    descriptor = os.open(path, os.O_RDONLY)
    try:
        while chunk := os.read(descriptor, _CHUNK):
            state.update(chunk)
    finally:
        os.close(descriptor)
    return state.hexdigest()


def digest_path(path: Path) -> str:
    """The digest of a file, or of a folder: its files' names, contents and whether they can be executed."""
    return digest_file(path) if path.is_file() else digest_bytes(folder_record(path))


def folder_record(path: Path) -> bytes:
    """What a folder's digest is the digest of: [name, whether it can be executed, digest] of each file in it, as JSON.

    Raises OSError.
    """
    found = [(parts, bool(entry.stat().st_mode & 0o100), digest_file(entry.path))
             for parts, entry in _below(os.fspath(path)) if _is_file(entry)] if path.is_dir() else []
    return _json([("/".join(parts), executable, contents) for parts, executable, contents in sorted(found)])


def _below(folder: str, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], os.DirEntry[str]]]:
    """All that is below a folder, with the parts of its path; not what Python left there. Links are not followed.

    A folder that may not be listed counts as empty. Raises OSError.
    """
    try:
        with os.scandir(folder) as entries:
            found = list(entries)
    except PermissionError:
        return
    for entry in found:
        parts = (*above, entry.name)
        if entry.name == LEFTOVERS:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path, parts)
        else:
            yield parts, entry


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether it is a file, or a link to one."""
    try:
        return entry.is_file()
    except OSError:  # a link in a circle
        return False
