"""doit's database in WAL mode."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from doit.dependency import DatabaseException, JSONCodec

from evalkit.dag import state as state_module
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


# ---- settled records ----
def test_a_database_without_the_table_of_settled_records_gets_it(tmp_path: Path) -> None:
    """One that an earlier evalkit made; what it knew of tasks stays."""
    (tmp_path / "inner").mkdir()
    old = sqlite3.connect(tmp_path / "inner/state.db")
    old.execute("create table task (id text primary key, data text not null)")
    old.execute("""insert into task values ('a', '{"_values_:": {"n": 1}, "deps:": []}')""")
    old.commit()
    old.close()
    state = open_state(tmp_path)
    assert ({"n": 1}, {}) == (state.get("a", "_values_:"), state.settled("c", ["a"]))
    state.settle("c", {"a": b"1"})
    assert {"a": b"1"} == state.settled("c", ["a"])
    state.dump()


def test_settled_records_are_found_by_context_and_name(tmp_path: Path) -> None:
    """Few names or many; the latest of each is kept."""
    state = open_state(tmp_path)
    names = [f"case:{n}" for n in range(150)]
    state.settle("c", dict.fromkeys(names, b"old"))
    state.settle("c", {"case:1": b"new"})
    assert {"case:1": b"new", "case:2": b"old"} == state.settled("c", ["case:1", "case:2", "case:none"])
    assert dict.fromkeys(names, b"old") | {"case:1": b"new"} == state.settled("c", names)
    assert ({}, {}) == (state.settled("d", names), state.settled("c", []))
    state.dump()
    state = open_state(tmp_path)
    assert {"case:2": b"old"} == state.settled("c", ["case:2"])
    state.dump()


def test_records_of_the_latest_contexts_are_kept(tmp_path: Path) -> None:
    """Who tries out a hundred choices leaves no hundred records; those of other names stay."""
    state = open_state(tmp_path)
    state.settle("first", {"a": b"1", "b": b"1"})
    for n in range(16):
        state.settle(f"c{n}", {"a": b"1"})
    assert ({"b": b"1"}, {"a": b"1"}) == (state.settled("first", ["a", "b"]), state.settled("c0", ["a", "b"]))
    state.dump()


def test_forgetting_and_ignoring_unsettle(tmp_path: Path) -> None:
    """`doit forget` and `doit ignore` are about tasks: what was told by tasks is asked again."""
    state = open_state(tmp_path)
    changes: list[Callable[[], None]] = [lambda: state.remove("a"), state.remove_all,
                                         lambda: state.set("a", "ignore:", "1")]
    for change in changes:
        state.settle("c", {"case:x": b"1", "case:y": b"1"})
        change()
        assert {} == state.settled("c", ["case:x", "case:y"])
    state.settle("c", {"case:x": b"1"})
    state.set("b", "deps:", ())  # a task that ran unsettles nothing: its outcome has another stamp
    assert {"case:x": b"1"} == state.settled("c", ["case:x"])
    state.dump()


def test_what_is_not_written_can_be_taken_back(tmp_path: Path) -> None:
    """Values that are no JSON must not keep the next task from being written."""
    state = open_state(tmp_path)
    state.set("a", "_values_:", {"path": tmp_path})
    with pytest.raises(TypeError):
        state.set("a", "deps:", ())
    state.undo("a")
    state.set("b", "deps:", ())
    assert [False, True] == [state.in_("a"), state.in_("b")]
    state.dump()


# ---- a database that is not as it should be ----
@pytest.mark.parametrize("data", ["", "{", "null", "3", '"text"', b"\xff"])
def test_a_damaged_task_is_as_good_as_none(tmp_path: Path, data: str | bytes) -> None:
    """It runs again, and is then whole; the others stay."""
    state = open_state(tmp_path)
    state.set("a", "deps:", ())
    state.set("b", "deps:", ())
    state.dump()
    with sqlite3.connect(tmp_path / "inner/state.db") as other:
        other.execute("update task set data = ? where id = 'a'", (data,))
    other.close()
    state = open_state(tmp_path)
    assert (False, True) == (state.in_("a"), state.in_("b"))
    state.set("a", "deps:", ())
    state.dump()
    assert open_state(tmp_path).in_("a")


def test_a_locked_database_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody holds it for longer than anybody would wait: nothing is half written."""
    monkeypatch.setattr(state_module, "_BUSY", 10)
    state = open_state(tmp_path)
    other = sqlite3.connect(tmp_path / "inner/state.db", isolation_level=None)
    other.execute("begin immediate")
    writes: list[Callable[[], None]] = [
        lambda: state.set("a", "deps:", ()), lambda: state.settle("c", {"case:x": b"1"}), state.unsettle,
        lambda: state.remove("b")]
    for write in writes:
        with pytest.raises(DatabaseException, match="database is locked\nMay you write to that folder"):
            write()
    assert {} == state.settled("c", ["case:x"])  # reading goes on
    other.execute("rollback")
    other.close()
    state.dump()
    assert open_state(tmp_path).in_("a")


class Full:
    """A connection to a database on a disk without room."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def executemany(self, *_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)


def test_a_full_disk_is_told_and_leaves_what_was_there(tmp_path: Path) -> None:
    """A transaction is whole or not at all."""
    state = open_state(tmp_path)
    state.settle("c", {"case:x": b"1"})
    whole, state._connection = state._connection, Full(state._connection)  # type: ignore[assignment]
    writes: list[Callable[[], None]] = [lambda: state.settle("c", {"case:x": b"2"}),
                                        lambda: state.set("a", "deps:", ())]
    for write in writes:
        with pytest.raises(DatabaseException, match="disk is full\nMay you write to that folder, and is there room"):
            write()
        assert not whole.in_transaction
    state._connection = whole
    assert {"case:x": b"1"} == state.settled("c", ["case:x"])
    state.dump()  # there is room again
    assert open_state(tmp_path).in_("a")


def test_a_database_that_breaks_while_it_is_used_is_told(tmp_path: Path) -> None:
    """Reading it is no traceback either."""
    state = open_state(tmp_path)
    with sqlite3.connect(tmp_path / "inner/state.db") as other:
        other.executescript("drop table task; drop table settled")
    other.close()
    for read in (lambda: state.in_("a"), lambda: state.settled("c", ["case:x"])):
        with pytest.raises(DatabaseException, match=r"the state of earlier runs, .*cannot be used: no such table"):
            read()


def test_a_database_whose_damage_is_no_text_is_told(tmp_path: Path) -> None:
    """What sqlite says of it holds bytes of the file."""
    open_state(tmp_path).dump()
    path = tmp_path / "inner/state.db"
    path.write_bytes(path.read_bytes().replace(b"tabletask", b"\xff" * 9))
    with pytest.raises(DatabaseException, match="it is damaged\nDelete it to start anew"):
        open_state(tmp_path)
