"""Shared prewarm: what is kept of it, and what a clone comes to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalkit.analysis.model import Command, Scaffold, Setup
from evalkit.digest import digest
from evalkit.execute.lanes import Room
from evalkit.execute.pack import pack
from evalkit.execute.session import Session
from evalkit.execute.stages import TREE
from evalkit.execute.tree import Manifest, unpack
from evalkit.execute.warm import Warm, warm_for
from evalkit.plan.keys import template_inputs, warm_inputs
from tests.sandbox import bwrap

from .make import session

PREWARM = r"""
mkdir -p cache/deep "cache/a:b" build/out
echo made >cache/deep/file; ln -s deep/file cache/link; ln -s deep cache/folder; mkfifo cache/pipe
echo odd >"$(printf 'cache/x\ny')"; echo odd2 >"cache/a:b/c"; echo secret >cache/private; chmod 600 cache/private
echo nested >build/out/o
echo changed >changed.txt; echo new >new.txt; rm removed.txt
mkdir ~/.store; echo home >~/.store/kept; ln -s .store ~/link
"""
FILES = {"kept.txt": "kept", "changed.txt": "before", "removed.txt": "removed"}


@pytest.fixture
def here(tmp_path: Path) -> Session:
    bwrap()
    made = session(tmp_path, environ={"PATH": os.environ["PATH"]})
    for name, text in FILES.items():
        path = made.root / "skeleton" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return made


def set_up(script: str = PREWARM) -> Setup:
    return Setup(toolchains=(), scaffold=Scaffold(None, "skeleton", "x.eval:1:1"), starter=None, skills=(),
                 prewarm=(Command(("sh", "-ec", script), 60),), caches=("cache", "build/out"))


def warm(here: Session, setup: Setup | None = None) -> Warm:
    found = warm_for(here, setup or set_up(), "sandbox")
    assert found is not None
    return found


def begun(here: Session, room: Room) -> Manifest:
    """A room with the tree that agents start from."""
    archive = here.store.path("template", digest(template_inputs(set_up(), here.contents, "sandbox"))) / TREE
    unpack(archive, room.tree)
    return pack(room.tree, room.scratch / "again")


def test_there_is_none_in_the_local_lane_or_without_a_command(here: Session) -> None:
    """At another path a warm cache would be a false hit."""
    assert warm_for(here, set_up(), "local") is None
    assert warm_for(here, Setup((), set_up().scaffold, None, (), (), ()), "sandbox") is None


def test_an_agent_begins_with_all_that_the_prewarm_left(here: Session) -> None:
    """Caches, home, what it wrote and removed; links, odd names, modes and times included. No fifo."""
    made = warm(here)
    made._entry()
    with here.room("agent", (), lane="sandbox") as room:
        made.furnish(room, begun(here, room).files, begins=True)
        tree = room.tree
        assert {"kept.txt", "changed.txt", "new.txt", "cache", "build"} == {path.name for path in tree.iterdir()}
        assert ("changed\n", "new\n") == ((tree / "changed.txt").read_text(), (tree / "new.txt").read_text())
        assert "made\n" == (tree / "cache/link").read_text() == (tree / "cache/folder/file").read_text()
        assert "odd\n" == (tree / "cache/x\ny").read_text()
        assert "odd2\n" == (tree / "cache/a:b/c").read_text()
        assert 0o600 == (tree / "cache/private").stat().st_mode & 0o777
        assert "nested\n" == (tree / "build/out/o").read_text()
        assert not (tree / "cache/pipe").exists()
        assert "home\n" == (room.home / "link/kept").read_text()


def test_a_grader_gets_caches_alone(here: Session) -> None:
    """What the agent changed stays as it is; files that it did not change have the time of the prewarm."""
    made = warm(here)
    made._entry()
    with here.room("grade", (), lane="sandbox") as room:
        begun(here, room)
        (room.tree / "changed.txt").write_text("by the agent")
        manifest = pack(room.tree, room.scratch / "final")
        before = (room.tree / "kept.txt").stat().st_mtime_ns
        made.furnish(room, manifest.files)
        assert "by the agent" == (room.tree / "changed.txt").read_text()
        assert (room.tree / "removed.txt").exists()
        assert not (room.tree / "new.txt").exists()
        assert "made\n" == (room.tree / "cache/deep/file").read_text()
        assert before != (room.tree / "kept.txt").stat().st_mtime_ns


def test_what_stands_in_the_way_of_a_cache_stays(here: Session, tmp_path: Path) -> None:
    """A clone follows no link of the tree's, and writes over none of its files."""
    made = warm(here)
    made._entry()
    outside = tmp_path / "outside"
    outside.mkdir()
    with here.room("grade", (), lane="sandbox") as room:
        begun(here, room)
        (room.tree / "build").symlink_to(outside)
        (room.tree / "cache").write_text("a file of the agent's")
        made.furnish(room, {})
        assert [] == list(outside.iterdir())
        assert "a file of the agent's" == (room.tree / "cache").read_text()


def test_clones_share_nothing_that_can_be_written(here: Session) -> None:
    """What one writes, neither the other nor the entry has."""
    made = warm(here)
    made._entry()
    with here.room("grade", (), lane="sandbox") as one, here.room("grade", (), lane="sandbox") as other:
        for room in (one, other):
            begun(here, room)
            made.furnish(room, {})
        (one.tree / "cache/deep/file").write_text("poison")
        (one.home / ".store/kept").write_text("poison")
        assert "made\n" == (other.tree / "cache/deep/file").read_text()
        assert "home\n" == (other.home / ".store/kept").read_text()
    assert "made\n" == (made._entry() / "tree/cache/deep/file").read_text()
    assert "" == here.store.damage("warm", digest(warm_inputs(set_up(), here.contents, "sandbox")))


def test_a_damaged_entry_is_made_again(here: Session) -> None:
    """A cache that is not what it was grades nobody."""
    made = warm(here)
    (made._entry() / "tree/cache/deep/file").write_text("other")
    again = warm(session_again(here))
    assert "made\n" == (again._entry() / "tree/cache/deep/file").read_text()


def session_again(here: Session) -> Session:
    """Another process's view of the same project."""
    return Session(here.places, here.environ, say=lambda _: None)
