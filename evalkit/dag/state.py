"""doit's database: sqlite in WAL mode, committed task by task, so that a kill loses at most the task in flight.

doit's own backends write when the run closes: after a kill they know nothing of what ran. `deps:` is the last thing
that doit sets for a finished task (Dependency.save_success), always on the main thread: then the task is committed.

Beside the tasks it holds what has settled (settled.py): records of cases that were found up to date as a whole.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from doit.dependency import DatabaseException
from doit.exceptions import InvalidDodoFile

__all__ = ["StateDB"]

_BUSY = 30_000
"""Milliseconds to wait for another run's commit."""
_CONTEXTS = 16
"""Contexts under which settled records of one name are kept: the latest."""
_TABLES = """
create table if not exists task (id text primary key, data text not null);
create table if not exists settled (name text, context text, at integer not null, data blob not null,
                                    primary key (name, context)) without rowid;
"""


class BadState(DatabaseException, InvalidDodoFile):  # type: ignore[misc]
    """The state cannot be used. (doit's own commands show an InvalidDodoFile; any other exception they let through.)"""

    def __init__(self, name: str, error: Exception) -> None:
        damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
        what = ("Delete it to start anew: agent runs are kept in the store and are not paid for again." if damaged else
                "May you write to that folder, and is there room on the disk?")
        super().__init__(f"the state of earlier runs, {name}, cannot be used: {error}\n{what}")


def _open(name: str) -> sqlite3.Connection:
    """Open or make a database. Another run that makes it at the same moment is waited for.

    sqlite's own waiting does not cover the switch to WAL mode: while another one switches, that is an error at once.
    """
    deadline = time.monotonic() + _BUSY / 1000
    while True:
        connection = sqlite3.connect(name, isolation_level=None)
        try:
            connection.execute(f"pragma busy_timeout = {_BUSY}")
            if connection.execute("pragma journal_mode").fetchone() != ("wal",):
                connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = normal")
            connection.executescript(_TABLES)
            return connection
        except sqlite3.OperationalError as error:
            connection.close()
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        except UnicodeDecodeError as error:  # what sqlite says of some damages holds bytes of the file
            connection.close()
            raise sqlite3.DatabaseError("it is damaged") from error
        except sqlite3.Error:
            connection.close()
            raise


class StateDB:
    """A key-value store of what doit saves for each task. The interface is that of doit.dependency's backends."""

    desc = "evalkit's: sqlite in WAL mode, committed as each task finishes"

    def __init__(self, name: str, codec: Any, *, module_name: object = None) -> None:
        self.name = name
        self.codec = codec
        self._cache: dict[str, dict[str, Any]] = {}
        self._dirty: set[str] = set()
        try:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            self._connection = _open(name)
        except (sqlite3.Error, OSError) as error:
            raise BadState(name, error) from error

    def get(self, task_id: str, dependency: str) -> Any:
        """A value of a task, or None."""
        return self._task(task_id).get(dependency)

    def set(self, task_id: str, dependency: str, value: Any) -> None:
        """Set a value of a task; the task is written when its `deps:` are set."""
        self._task(task_id)[dependency] = value
        self._dirty.add(task_id)
        if dependency == "ignore:":
            self.unsettle()
        if dependency == "deps:":
            self._write()

    def undo(self, task_id: str) -> None:
        """Take back what was set of a task and is not written."""
        self._cache.pop(task_id, None)
        self._dirty.discard(task_id)

    def in_(self, task_id: str) -> bool:
        """Whether anything is known of a task."""
        return bool(self._task(task_id))

    def remove(self, task_id: str) -> None:
        """Forget a task. What has settled was told by tasks: all of it is looked at anew."""
        self._cache[task_id] = {}
        self._dirty.discard(task_id)
        with self._writing():
            self._connection.execute("delete from task where id = ?", (task_id,))
            self._connection.execute("delete from settled")

    def remove_all(self) -> None:
        """Forget every task."""
        self._cache.clear()
        self._dirty.clear()
        with self._writing():
            self._connection.execute("delete from task")
            self._connection.execute("delete from settled")

    def dump(self) -> None:
        """Write what is left and close."""
        try:
            if self._dirty:
                self._write()
        finally:
            self._connection.close()

    # ---- what has settled ----
    def settled(self, context: str, names: Collection[str]) -> dict[str, bytes]:
        """The records of these names under a context."""
        if len(names) > 100:  # one look at all of them
            return dict(self._read("select name, data from settled where context = ?", context))
        return dict(self._read(
            f"select name, data from settled where context = ? and name in ({', '.join('?' * len(names))})",
            context, *names))

    def settle(self, context: str, records: Mapping[str, bytes]) -> None:
        """Keep records; of each name only those of the latest contexts."""
        now = time.time_ns()
        with self._writing():
            self._connection.executemany("insert or replace into settled values (?, ?, ?, ?)",
                                         [(name, context, now, data) for name, data in records.items()])
            self._connection.executemany(
                "delete from settled where name = ? and context not in "
                f"(select context from settled where name = ? order by at desc limit {_CONTEXTS})",
                [(name, name) for name in records])

    def unsettle(self) -> None:
        """Forget all that has settled."""
        with self._writing():
            self._connection.execute("delete from settled")

    # ---- sqlite ----
    def _task(self, task_id: str) -> dict[str, Any]:
        if task_id not in self._cache:
            rows = self._read("select data from task where id = ?", task_id)
            try:
                self._cache[task_id] = dict(self.codec.decode(rows[0][0])) if rows else {}
            except (ValueError, TypeError):  # damaged: as good as none
                self._cache[task_id] = {}
        return self._cache[task_id]

    def _read(self, query: str, *values: str) -> list[Any]:
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise BadState(self.name, error) from error

    def _write(self) -> None:
        rows = [(task_id, self.codec.encode(self._cache[task_id])) for task_id in self._dirty]
        with self._writing():
            self._connection.executemany("insert or replace into task values (?, ?)", rows)
        for task_id in self._dirty:  # doit has what it needs in the task itself: of thousands, it would be held twice
            del self._cache[task_id]
        self._dirty.clear()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction: whole or not at all, also where Ctrl-C comes in the midst of it."""
        try:
            self._connection.execute("begin immediate")
            yield
            self._connection.execute("commit")
        except sqlite3.Error as error:
            raise BadState(self.name, error) from error
        finally:
            if self._connection.in_transaction:
                self._connection.execute("rollback")
