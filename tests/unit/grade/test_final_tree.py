"""What graders read of final trees."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.execute.pack import pack
from evalkit.execute.stages import TREE
from evalkit.grade import final_tree as final_tree_module
from evalkit.grade.final_tree import FinalTree

from .trees import final_tree


def test_an_archive_is_read_once_for_all_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the tree that was read last are held; a link has no bytes, and a large file is told from none."""
    tree = final_tree(tmp_path, {"a": "1", "b/c": "22"}, links={"link": "a"})
    assert {"a": b"1"} == tree.read(["a", "link", "nothing"], largest=10)
    with monkeypatch.context() as patch:
        patch.setattr(final_tree_module, "entries", None)
        assert {"a": b"1", "b/c": None} == tree.read(["a", "b/c"], largest=1)
        assert {"b/c": b"22"} == tree.read(["b/c"], largest=2)


def test_each_tree_has_its_own_files(tmp_path: Path) -> None:
    """Also of an agent run that was made again under its key."""
    tree = final_tree(tmp_path, {"a": "before"})
    assert {"a": b"before"} == tree.read(["a"], largest=10)
    (tmp_path / "tree/a").write_text("after")
    tree.session.store.remove("agent", tree.key)
    with tree.session.store.making("agent", tree.key) as entry:
        again = FinalTree(tree.session, tree.key, pack(tmp_path / "tree", entry / TREE))
    assert {"a": b"after"} == again.read(["a"], largest=10)


def test_a_large_tree_is_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is gone through for what is asked for."""
    monkeypatch.setattr(final_tree_module, "_HELD", 3)
    tree = final_tree(tmp_path, {"a": "1234", "b": "2"})
    assert {"a": b"1234"} == tree.read(["a"], largest=10)
    assert {"a": None} == tree.read(["a"], largest=3)
    assert None is tree.session.last_tree
