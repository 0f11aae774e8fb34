"""Records on disk: JSON with a schema number, written through a temporary file and a rename, read with checks.

The attrs classes that records are made of, and how their data is read, are in structure.py.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from pathlib import Path
from typing import Any, TypeVar

import orjson

from evalkit.errors import HarnessError
from evalkit.structure import Misfit, plain_fields, structure, unstructure

__all__ = ["BadRecord", "Misfit", "as_read", "read_json", "read_record", "record_bytes", "structure", "unstructure",
           "write_bytes", "write_json", "write_record"]

T = TypeVar("T")
_numbers = itertools.count()
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
SCHEMA = 1
"""The version of every record. A reader refuses a newer one; a change that an old reader cannot bear raises it."""


class BadRecord(HarnessError):
    """A record that is damaged or of another version."""


def write_bytes(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Write a whole file or nothing. Leaves an equal file alone.

    sync: the bytes reach the disk before the name does; else a loss of power (no kill) may leave the name alone.
    """
    target = os.fspath(path)
    try:
        if os.stat(target).st_size == len(data) and path.read_bytes() == data:  # noqa: PTH116 - of thousands
            return
    except OSError:
        pass
    folder, name = os.path.split(target)
    temporary = f"{folder}/.{name}.{os.getpid()}-{next(_numbers)}.tmp"
    try:
        try:
            descriptor = os.open(temporary, _NEW, 0o666)
        except FileNotFoundError:
            os.makedirs(folder, exist_ok=True)  # noqa: PTH103
            descriptor = os.open(temporary, _NEW, 0o666)
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(descriptor, left) :]
            if sync:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, target)  # noqa: PTH105
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108
        if isinstance(error, OSError):
            raise HarnessError(f"cannot write {path}: {error.strerror or error}",
                               hint="is the disk full, or the folder read-only?") from error
        raise


def write_json(path: Path, value: Any, *, sync: bool = True) -> None:
    """Write plain data as indented JSON with sorted keys."""
    write_bytes(path, _text(value), sync=sync)


def _text(value: Any) -> bytes:
    return orjson.dumps(value, default=_plain, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def _plain(value: Any) -> Any:
    """What orjson does not know. Raises TypeError."""
    return sorted(value) if isinstance(value, set | frozenset) else plain_fields(value)


def read_json(path: Path) -> Any:
    """The data of a JSON file. Raises FileNotFoundError, `BadRecord` where it is not JSON, or HarnessError."""
    try:
        return orjson.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(path) from None
    except OSError as error:
        raise HarnessError(f"cannot read {path}: {error.strerror or error}") from error
    except orjson.JSONDecodeError as error:
        raise BadRecord(f"{path} is damaged: {error}", hint="delete it; the next run makes it again") from error


def write_record(path: Path, record: object, *, sync: bool = True) -> None:
    """Write an attrs class, with the schema number."""
    write_bytes(path, record_bytes(record), sync=sync)


def record_bytes(record: object) -> bytes:
    """What `write_record` writes."""
    return _text({"schema": SCHEMA, **plain_fields(record)})


def as_read(record: T) -> T:
    """A record as it is read again. Raises TypeError or ValueError (Misfit is one) for one that could not be."""
    return structure(orjson.loads(orjson.dumps(unstructure(record))), type(record))


def read_plain(path: Path) -> dict[str, Any]:
    """What `write_record` wrote, as plain data. Raises as `read_record` does."""
    return of_schema(path, read_json(path))


def of_schema(path: Path, data: Any) -> dict[str, Any]:
    """The data of a record's file, if this evalkit reads its schema. Raises `BadRecord` where it does not."""
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        found = data.get("schema") if isinstance(data, dict) else type(data).__name__
        raise BadRecord(f"{path} has schema {found}, this evalkit reads {SCHEMA}",
                        hint="use the evalkit that wrote it, or delete it to have it made again")
    return data


def read_record(path: Path, kind: type[T]) -> T:
    """Read what `write_record` wrote. Raises FileNotFoundError, `BadRecord` or HarnessError."""
    data = read_plain(path)
    try:
        return structure(data, kind)
    except Misfit as error:
        raise BadRecord(f"{path} is damaged: it is not a {kind.__name__} record ({error})",
                        hint="delete it; the next run makes it again") from error
