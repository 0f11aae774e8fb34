"""Records on disk: whole or not at all, and read with checks."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any, Literal

import pytest
from attrs import field, frozen

from evalkit.errors import HarnessError
from evalkit.records import (
    BadRecord,
    read_json,
    read_record,
    structure,
    unstructure,
    write_bytes,
    write_json,
    write_record,
)


@frozen
class Inner:
    name: str
    size: int | None = None


@frozen
class Record:
    kind: Literal["a", "b"]
    inner: Inner
    items: tuple[Inner, ...] = ()
    named: dict[str, str] = field(factory=dict)


RECORD = Record("a", Inner("é\n", 3), (Inner("x"), Inner("y", 1)), {"k": "v"})


def test_a_record_comes_back(tmp_path: Path) -> None:
    """What was written is read, nested classes and all; the folder is made."""
    path = tmp_path / "deep/record.json"
    write_record(path, RECORD)
    assert RECORD == read_record(path, Record)
    assert RECORD == structure(unstructure(RECORD), Record)
    assert 1 == read_json(path)["schema"]


def test_equal_records_are_equal_bytes(tmp_path: Path) -> None:
    """Keys are sorted and indented: a record can be compared with a text tool."""
    write_json(tmp_path / "one", {"b": 1, "a": [1.5, None]})
    write_json(tmp_path / "two", {"a": [1.5, None], "b": 1})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert '{\n  "a": [\n    1.5,\n    null\n  ],\n  "b": 1\n}\n' == (tmp_path / "one").read_text()


def test_an_equal_file_is_left_alone(tmp_path: Path) -> None:
    """Its time stays; another text replaces it."""
    path = tmp_path / "file"
    write_bytes(path, b"one")
    os.utime(path, (1, 1))
    write_bytes(path, b"one")
    assert 1 == path.stat().st_mtime
    write_bytes(path, b"two")
    assert (b"two", True) == (path.read_bytes(), path.stat().st_mtime > 1)


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_old_file(error: BaseException, tmp_path: Path,
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither half a file nor a temporary one; a full disk is a harness error with a hint."""
    path = tmp_path / "file"
    write_bytes(path, b"old")

    def fsync(_: int) -> None:
        raise error

    monkeypatch.setattr("os.fsync", fsync)
    with pytest.raises((HarnessError, KeyboardInterrupt)) as raised:
        write_bytes(path, b"new")
    assert ([path], b"old") == (list(tmp_path.iterdir()), path.read_bytes())
    if isinstance(raised.value, HarnessError):
        assert f"cannot write {path}: No space left on device" == raised.value.message
        assert "disk full" in raised.value.hint


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    """A file where a folder should be, a folder where the file should be."""
    (tmp_path / "file").touch()
    (tmp_path / "folder/inner").mkdir(parents=True)
    for path in (tmp_path / "file/record.json", tmp_path / "folder"):
        with pytest.raises(HarnessError, match="cannot write"):
            write_bytes(path, b"x")
    assert {"file", "folder"} == {path.name for path in tmp_path.iterdir()}


def test_what_is_not_there(tmp_path: Path) -> None:
    """A missing file, also one below a file, is FileNotFoundError; one that cannot be read is a harness error."""
    (tmp_path / "file").touch()
    for path in (tmp_path / "missing", tmp_path / "file/inner"):
        with pytest.raises(FileNotFoundError):
            read_json(path)
    with pytest.raises(HarnessError, match="cannot read"):
        read_json(tmp_path)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 5000, b'{"a": "\\ud800"}'])
def test_what_is_no_json(data: bytes, tmp_path: Path) -> None:
    """Told as damaged, with what to do."""
    (tmp_path / "record").write_bytes(data)
    with pytest.raises(BadRecord, match="is damaged") as raised:
        read_record(tmp_path / "record", Record)
    assert "delete it" in raised.value.hint


@pytest.mark.parametrize(("data", "said"), [
    ([], "has schema list, this evalkit reads 1"),
    ({}, "has schema None"),
    ({"schema": 2, "kind": "a", "inner": {"name": "x"}}, "has schema 2"),
    ({"schema": 1}, "is not a Record record"),
    ({"schema": 1, "kind": "c", "inner": {"name": "x"}}, "is not a Record record"),
    ({"schema": 1, "kind": "a", "inner": "x"}, "is not a Record record"),
])
def test_what_is_another_record(data: Any, said: str, tmp_path: Path) -> None:
    """Another version, a missing or a wrong field."""
    write_json(tmp_path / "record", data)
    with pytest.raises(BadRecord, match=said):
        read_record(tmp_path / "record", Record)


def test_a_field_of_a_later_version_is_ignored(tmp_path: Path) -> None:
    """A field that is added does not make old readers fail."""
    write_json(tmp_path / "record", {"schema": 1, "kind": "a", "inner": {"name": "x", "later": 1}, "later": 2})
    assert Record("a", Inner("x")) == read_record(tmp_path / "record", Record)
