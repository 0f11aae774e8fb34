"""Final trees that are in no store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from evalkit.execute.rebuild import rebuild
from evalkit.execute.rebuilt import Entry
from evalkit.execute.tree import Manifest
from evalkit.grade import stored_tree
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.grep import LARGEST
from evalkit.grade.stored_tree import ArchivedTree, RebuiltTree
from tests.unit.execute.transcripts import Transcript
from tests.unit.grade.trees import KEY, final_tree

FILES = {"a.txt": "A", "src/b.txt": "B", "run.sh": "true"}


@pytest.fixture
def kept(tmp_path: Path) -> FinalTree:
    return final_tree(tmp_path, FILES, links={"lnk": "a.txt"}, programs=("run.sh",))


def test_an_archive_of_which_nothing_is_known(kept: FinalTree) -> None:
    """Its digests are those of the kept tree, and graders read the same of it."""
    tree = ArchivedTree.of(kept.session, KEY, kept.archive)
    assert kept.manifest.files == tree.manifest.files
    names = ["a.txt", "src/b.txt", "lnk", "nowhere"]
    assert kept.read(names, largest=LARGEST) == tree.read(names, largest=LARGEST)
    assert {"a.txt": None} == tree.read(["a.txt"], largest=0)
    assert ["a.txt", "src/b.txt"] == tree.matching(("**/*.txt",))
    with tree.copy(()) as copy:
        assert "A" == (copy.tree / "lnk").read_text()


def test_what_is_held_is_read_once(kept: FinalTree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks that read held files do not go through the archive; others do."""
    tree = ArchivedTree(kept.session, KEY, kept.manifest, kept.archive)
    tree.hold({"a.txt", "lnk"})
    read: list[set[str]] = []

    def read_files(archive: Path, names: Iterable[str], *, largest: int) -> dict[str, bytes | None]:
        read.append(set(names))
        return {}

    monkeypatch.setattr(stored_tree, "read_files", read_files)
    assert {"a.txt": b"A"} == tree.read(["a.txt", "lnk"], largest=LARGEST)
    assert [] == read
    tree.read(["src/b.txt"], largest=LARGEST)
    assert [{"src/b.txt"}] == read


def test_a_rebuilt_tree(kept: FinalTree, tmp_path: Path) -> None:
    """It is read from memory, and written down for commands, programs and links as such."""
    base = {"a.txt": Entry.of(b"file", b"A"), "run.sh": Entry.of(b"program", b"true"),
            "lnk": Entry.of(b"link", b"a.txt")}
    rebuilt = rebuild(base, Transcript().write("a.txt", "new").save(tmp_path))
    tree = RebuiltTree(kept.session, "", Manifest(rebuilt.manifest.files, (), 0), rebuilt)
    assert {"a.txt": b"new", "run.sh": None} == tree.read(["a.txt", "run.sh", "lnk", "nowhere"], largest=3)
    with tree.copy(()) as copy:
        assert "new" == (copy.tree / "lnk").read_text()
        assert (copy.tree / "run.sh").stat().st_mode & 0o100
