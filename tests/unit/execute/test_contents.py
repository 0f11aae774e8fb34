"""Digests of folders, and what is kept of what they held."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalkit.digest import digest_path
from evalkit.execute import contents
from evalkit.execute.contents import FolderContents


def folder(path: Path, **files: str) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (path / name).write_text(text)
    return path


def test_digests_are_those_of_the_paths(tmp_path: Path) -> None:
    """Of a file, a folder, and of what is not there."""
    kept, project = FolderContents(tmp_path / "kept"), folder(tmp_path / "project", a="1")
    assert [digest_path(project), digest_path(project / "a"), "absent"] == [
        kept.digest(path) for path in (project, project / "a", project / "b")]


def test_what_a_folder_held_is_known_later(tmp_path: Path) -> None:
    """By its digest, also in another process; each file differs where its content, or being a program, does."""
    project = folder(tmp_path / "project", a="1", b="1")
    first = FolderContents(tmp_path / "kept").digest(project)
    folder(project, a="2", c="1").joinpath("b").chmod(0o755)
    second = FolderContents(tmp_path / "kept").digest(project)

    kept = FolderContents(tmp_path / "kept")
    had, has = kept.held(first), kept.held(second)
    assert had is not None
    assert has is not None
    assert (["a", "b"], ["a", "b", "c"]) == ([*had], [*has])
    assert had["a"] != has["a"]
    assert had["b"] != has["b"]
    assert had["a"] == had["b"] == has["c"]


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    """It is the file's name again."""
    project = folder(tmp_path / "project")
    Path(os.fsdecode(os.fsencode(project) + b"/\xff")).touch()
    kept = FolderContents(tmp_path / "kept")
    assert [os.fsdecode(b"\xff")] == [*(kept.held(kept.digest(project)) or ())]


def test_nothing_but_what_was_kept_is_told(tmp_path: Path) -> None:
    """An unknown digest, a file's, a value that is none, and a list that was damaged."""
    kept, project = FolderContents(tmp_path / "kept"), folder(tmp_path / "project", a="1")
    found = kept.digest(project)
    assert [None, None, None] == [kept.held(name) for name in ("0" * 64, kept.digest(project / "a"), "a\0b")]
    (tmp_path / "kept" / found).write_text("[]")
    assert kept.held(found) is None


def test_where_nothing_can_be_written_digests_are_the_same(tmp_path: Path) -> None:
    """A file stands where the lists should go."""
    (tmp_path / "kept").touch()
    project = folder(tmp_path / "project", a="1")
    kept = FolderContents(tmp_path / "kept")
    assert digest_path(project) == kept.digest(project)
    assert kept.held(digest_path(project)) is None


def test_a_folder_of_very_many_files_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its list would be too large."""
    monkeypatch.setattr(contents, "_LARGEST", 10)
    kept = FolderContents(tmp_path / "kept")
    assert kept.held(kept.digest(folder(tmp_path / "project", a="1"))) is None


def test_of_too_many_lists_the_oldest_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once there are so many, the older half is deleted."""
    monkeypatch.setattr(contents, "_MOST", 4)
    digests = []
    for number in range(4):
        digests.append(FolderContents(tmp_path / "kept").digest(folder(tmp_path / str(number), a=str(number))))
        os.utime(tmp_path / "kept" / digests[-1], (number, number))
    kept = FolderContents(tmp_path / "kept")
    digests.append(kept.digest(folder(tmp_path / "new", a="new")))
    assert [False, False, True, True, True] == [kept.held(name) is not None for name in digests]
