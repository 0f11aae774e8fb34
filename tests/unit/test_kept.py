"""Kept files: whole under their key, or none; parts that are appended."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from evalkit.kept import append_kept, read_kept, read_parts, write_kept


def test_what_is_kept_is_whole_and_under_its_key(tmp_path: Path) -> None:
    """A pipe of that name is not waited for."""
    write_kept(tmp_path / "in" / "a", "k", b"1\n2")
    assert b"1\n2" == read_kept(tmp_path / "in" / "a", "k")
    assert None is read_kept(tmp_path / "in" / "a", "l") is read_kept(tmp_path / "gone", "k")
    os.mkfifo(tmp_path / "pipe")
    assert None is read_kept(tmp_path / "pipe", "k")


def test_parts_are_appended(tmp_path: Path) -> None:
    """To the file that was read, as long as nobody else wrote there, and until there are many."""
    path = tmp_path / "a"
    write_kept(path, "k", b"0\n")
    kept = read_parts(path, "k")
    assert append_kept(path, "k", kept, b"")
    assert not append_kept(path, "k", kept, b"2")
    for number in range(2, 64):
        assert append_kept(path, "k", read_parts(path, "k"), b"%d" % number)
    kept = read_parts(path, "k")
    assert kept is not None
    assert [b"0\n", b"", *(b"%d" % number for number in range(2, 64))] == kept.parts
    assert not append_kept(path, "k", kept, b"64")
    assert not append_kept(path, "k", None, b"64")
    assert read_parts(path, "l") is None
    assert read_kept(path, "k") is None  # it is more than that
    write_kept(path, "k", b"0")
    replaced = read_parts(path, "k")
    assert replaced is not None
    assert [b"0"] == replaced.parts
    assert b"0" == read_kept(path, "k")
    assert not append_kept(path, "k", kept, b"1")
    path.unlink()
    assert not append_kept(path, "k", replaced, b"1")
    assert not path.exists()


@pytest.mark.parametrize("at", range(0, 234, 6))
def test_of_a_damaged_part_nothing_is_read(tmp_path: Path, at: int) -> None:
    """Nor of those behind it; and nothing is added to them: whoever keeps something then writes all of it."""
    path, parts, ends = tmp_path / "a", [b"0" * 9, b"1" * 9, b"2" * 9], []
    write_kept(path, "k", parts[0])
    ends.append(path.stat().st_size)
    for part in parts[1:]:
        assert append_kept(path, "k", read_parts(path, "k"), part)
        ends.append(path.stat().st_size)
    data = path.read_bytes()
    whole = [part for part, end in zip(parts, ends, strict=True) if end <= at]
    for damaged in (data[:at], data[:at] + b"!" + data[at + 1 :]):
        path.write_bytes(damaged)
        kept = read_parts(path, "k")
        assert whole == (kept.parts if kept else [])
        assert append_kept(path, "k", kept, b"3") == (len(damaged) in ends and len(damaged) == at)


def test_who_appends_at_once_with_another_is_not_heard(tmp_path: Path) -> None:
    """Of two that read the same, one follows from it."""
    path, other = tmp_path / "a", tmp_path / "b"
    write_kept(path, "k", b"0")
    kept = read_parts(path, "k")
    shutil.copy(path, other)
    copied = read_parts(other, "k")
    assert append_kept(path, "k", kept, b"1")
    assert append_kept(other, "k", copied, b"2")
    first = other.read_bytes()[: copied.end if copied else 0]
    path.write_bytes(path.read_bytes() + other.read_bytes().removeprefix(first))  # as if both had looked before
    found = read_parts(path, "k")
    assert found is not None
    assert [b"0", b"1"] == found.parts
    assert not append_kept(path, "k", found, b"3")


def test_keeping_waits_for_no_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept can be made again; and where it cannot be kept, that is told and leaves nothing."""
    monkeypatch.setattr(os, "fsync", lambda _: pytest.fail("it waited"))
    assert write_kept(tmp_path / "in" / "a", "k", b"1")
    assert not write_kept(tmp_path / "in" / "a" / "b", "k", b"1")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError))
    assert not write_kept(tmp_path / "in" / "b", "k", b"1")
    assert ["a"] == [path.name for path in (tmp_path / "in").iterdir()]
