"""Laying a folder's files over a tree, whatever the tree has in their place."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from evalkit.errors import HarnessError, UserError
from evalkit.execute.overlay import lay_over


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder with a file, a program, a file further down, and an empty folder."""
    root = tmp_path / "source"
    (root / "deep/er").mkdir(parents=True)
    (root / "empty").mkdir()
    (root / "file").write_text("new")
    (root / "deep/er/inner").write_text("inner")
    (root / "program").write_text("#!/bin/sh\n")
    (root / "program").chmod(0o755)
    return root


def test_files_are_laid_over(source: Path, tmp_path: Path) -> None:
    """New files come, equal names are replaced, the rest stays."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "file").write_text("old")
    (tree / "other").write_text("stays")
    lay_over(source, tree)
    assert ("new", "stays", "inner") == tuple((tree / name).read_text() for name in ("file", "other", "deep/er/inner"))
    assert (tree / "empty").is_dir()
    assert [False, True] == [os.access(tree / name, os.X_OK) for name in ("file", "program")]


def test_a_file_that_nobody_may_write(source: Path, tmp_path: Path) -> None:
    """A read-only source gives a file that the agent can change, and its time is now: build tools look at it."""
    (source / "file").chmod(0o444)
    os.utime(source / "file", (1, 1))
    lay_over(source, tmp_path / "tree")
    laid = (tmp_path / "tree/file").stat()
    assert 0o644 == laid.st_mode & 0o777
    assert time.time() - laid.st_mtime < 60


def test_nothing_is_written_through_a_link(source: Path, tmp_path: Path) -> None:
    """A link in the place of a file, of a folder, or of the tree itself is replaced; what it named stays."""
    outside = tmp_path / "outside"
    (outside / "er").mkdir(parents=True)
    (outside / "er/inner").write_text("mine")
    (outside / "file").write_text("mine")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "file").symlink_to(outside / "file")
    (tree / "deep").symlink_to(outside)
    (tree / "empty").symlink_to("nowhere")
    lay_over(source, tree)
    (tmp_path / "alias").symlink_to(outside)
    lay_over(source, tmp_path / "alias")
    assert ("mine", "mine") == ((outside / "file").read_text(), (outside / "er/inner").read_text())
    assert {"er", "file"} == {path.name for path in outside.iterdir()}
    for place in (tree, tmp_path / "alias"):
        assert "inner" == (place / "deep/er/inner").read_text()
        assert not any(path.is_symlink() for path in (place, place / "file", place / "deep", place / "empty"))


def test_a_folder_in_a_files_place_and_back(source: Path, tmp_path: Path) -> None:
    """Each gives way to the other."""
    tree = tmp_path / "tree"
    (tree / "file/full").mkdir(parents=True)
    (tree / "deep").write_text("a file")
    lay_over(source, tree)
    assert ("new", "inner") == ((tree / "file").read_text(), (tree / "deep/er/inner").read_text())


def test_a_hard_link_is_not_written_through(source: Path, tmp_path: Path) -> None:
    """A file that the tree shares with the outside is replaced, not changed."""
    (tmp_path / "outside").write_text("mine")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/file").hardlink_to(tmp_path / "outside")
    lay_over(source, tmp_path / "tree")
    assert "mine" == (tmp_path / "outside").read_text()


def test_a_link_of_the_sources_to_a_file_is_that_file(source: Path, tmp_path: Path) -> None:
    """Answers may share files by links; what is laid is the file."""
    (tmp_path / "shared").write_text("shared")
    (source / "link").symlink_to("../shared")
    lay_over(source, tmp_path / "tree")
    assert ("shared", False) == ((tmp_path / "tree/link").read_text(), (tmp_path / "tree/link").is_symlink())


@pytest.mark.parametrize("target", ["nowhere", "deep"])
def test_other_links_of_the_source_are_refused(target: str, source: Path, tmp_path: Path) -> None:
    """One to a folder, or to nothing, is the author's mistake."""
    (source / "link").symlink_to(target)
    with pytest.raises(UserError, match="leads to no file"):
        lay_over(source, tmp_path / "tree")


def test_a_pipe_is_refused(source: Path, tmp_path: Path) -> None:
    """It is no file, and the disk is not to blame."""
    os.mkfifo(source / "pipe")
    with pytest.raises(UserError, match="neither a file nor a folder"):
        lay_over(source, tmp_path / "tree")


def test_a_missing_source(tmp_path: Path) -> None:
    """An answer that is not there is an error, not an empty answer."""
    with pytest.raises(UserError, match="there is no folder"):
        lay_over(tmp_path / "missing", tmp_path / "tree")


def test_a_tree_that_cannot_be_written(source: Path, tmp_path: Path) -> None:
    """A harness error that names both places."""
    (tmp_path / "tree").touch()
    with pytest.raises(HarnessError, match="cannot copy"):
        lay_over(source, tmp_path / "tree")
