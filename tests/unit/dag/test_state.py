"""doit's database in WAL mode."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from doit.dependency import DatabaseException, JSONCodec

from evalkit.dag.state import StateDB


def open_state(folder: Path) -> StateDB:
    return StateDB(str(folder / "inner/state.db"), JSONCodec())


def test_a_finished_task_is_read_back(tmp_path: Path) -> None:
    """What was set until `deps:` is there after closing, and after no closing at all."""
    state = open_state(tmp_path)
    state.set("a", "_values_:", {"inputs": {"prompt": "1"}})
    state.set("a", "deps:", ())
    other = open_state(tmp_path)
    assert {"inputs": {"prompt": "1"}} == other.get("a", "_values_:")
    assert other.in_("a")
    assert not other.in_("b")
    assert other.get("b", "_values_:") is None
    state.dump()
    other.dump()


def test_a_removed_task_is_gone(tmp_path: Path) -> None:
    """`forget` takes one task or all."""
    state = open_state(tmp_path)
    for name in ("a", "b", "c"):
        state.set(name, "deps:", ())
    state.remove("a")
    assert [False, True] == [state.in_("a"), state.in_("b")]
    state.remove_all()
    state.dump()
    assert not open_state(tmp_path).in_("b")


def test_a_kill_keeps_every_finished_task(tmp_path: Path) -> None:
    """SIGKILL after n tasks: n are in the database."""
    code = ("import os, signal, sys; from doit.dependency import JSONCodec; from evalkit.dag.state import StateDB\n"
            "state = StateDB(sys.argv[1], JSONCodec())\n"
            "for n in range(50):\n    state.set(f't{n}', '_values_:', {'n': n}); state.set(f't{n}', 'deps:', ())\n"
            "state.set('unfinished', '_values_:', {})\nos.kill(os.getpid(), signal.SIGKILL)\n")
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "inner/state.db")], check=False,
                          env={**os.environ})
    assert -signal.SIGKILL == done.returncode
    state = open_state(tmp_path)
    assert list(range(50)) == [state.get(f"t{n}", "_values_:")["n"] for n in range(50)]
    assert not state.in_("unfinished")
    state.dump()


def test_a_file_that_is_no_database_says_what_to_do(tmp_path: Path) -> None:
    """The person is told that deleting it loses no paid work."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/state.db").write_text("this is no database, and long enough to be looked at as one" * 20)
    with pytest.raises(DatabaseException, match="Delete it to start anew"):
        open_state(tmp_path)
