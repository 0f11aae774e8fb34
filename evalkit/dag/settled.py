"""Settles a whole case in one look: what was found up to date task by task is so while nothing that it hung on moved.

When all tasks of `case:NAME` are up to date, a record is kept (in the state database) of what that hung on:

* the fingerprint of the compiled case, and the context: choices, keys that are set, variables that choose models, and
  evalkit's own code;
* the stamps (inode, size, times of change) of every file and folder of the project whose contents its tasks read, and
  of all that came of them: results, grades, entries of the store, installed toolchains;
* the rows of the table.

While all of this is the same, the case is not even loaded. A stamp cannot be set by anybody; one that could still bear
a change of the same clock tick is not trusted: then no record is kept, and the next run looks at the tasks again.

This module is what a run that has nothing to do costs: it imports next to nothing.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from evalkit.analysis.survey import stamps_of

__all__ = ["Settled", "UpToDateTask", "context_of"]

_FORMAT = 3
_TICK = 20_000_000
"""Nanoseconds: more than the clock of a file system takes to go on."""
_COARSE = 2_000_000_000
"""The same where a time has no fraction of a second: there are file systems that count in two seconds."""
_MOST_FILES = 20_000
"""Files that a case may hang on and still be settled in one look."""
_PLACES = ("EVALKIT_CACHE", "EVALKIT_STORE", "HOME", "XDG_CACHE_HOME")
"""Variables that say where things are kept."""
_KEYS = ("AI_GATEWAY_API_KEY", "VERCEL_AI_GATEWAY_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY")


class UpToDateTask(NamedTuple):
    """A task that was found up to date. read: files and folders; made: files. rows: JSON types."""

    name: str
    fingerprint: str
    read: Iterable[Path]
    made: Iterable[Path]
    rows: list[Any]


class Settled:
    """The records of one context.

    state: the state database. started: the clock (time.time_ns) before anything of the project was looked at. Where the
    root is the working directory, paths are given to the system as they are kept: it has less of them to walk.
    """

    def __init__(self, root: Path, state: Any, context: str, started: int) -> None:
        self._root = str(root) + "/"
        self._before = "" if os.getcwd() + "/" == self._root else self._root  # noqa: PTH109 - as a text
        self._state = state
        self._context = context
        self._started = started
        self._stamps: dict[str, bytes] = {}

    def find(self, fingerprints: Mapping[str, str]) -> dict[str, list[Any]]:
        """Of tasks `case:…` with their fingerprints, those that are up to date: the rows of their tables."""
        found: dict[str, list[Any]] = {}
        for name, data in self._state.settled(self._context, list(fingerprints)).items():
            try:
                fingerprint, read, made, look, rows = orjson.loads(data)
                if fingerprints.get(name) == fingerprint and self._look(read, made) == look:
                    found[name] = rows
            except (ValueError, TypeError, AttributeError):  # damaged: as good as none
                continue
        return found

    def keep(self, found: Iterable[UpToDateTask]) -> None:
        """Keep records. Nothing is kept of a task that read what has changed since we started."""
        records = {}
        self._stamps.clear()  # what came of tasks is new
        for task in found:
            try:
                inputs = [self._below(str(top)) for top in task.read]
                made = [str(path) for path in task.made]
                if sum(map(len, inputs)) + len(made) > _MOST_FILES:
                    continue
                read, outcome = [self._joined(paths) for paths in inputs], self._joined(made)
                look = self._look(read, outcome)
                # Asked for last: what changes from now on has another stamp.
                if any(self._young(path) for paths in inputs for path in paths):
                    continue
                records[task.name] = orjson.dumps([task.fingerprint, read, outcome, look, task.rows])
            except (OSError, TypeError, ValueError):  # a folder that cannot be read; a name that is no text, or no line
                continue
        if records:
            self._state.settle(self._context, records)

    def _joined(self, paths: Sequence[str]) -> str:
        """Paths as lines, relative to the project where they are in it. Raises ValueError where one is no line."""
        joined = "\n".join([path.removeprefix(self._root) for path in paths])
        if joined.count("\n") >= max(1, len(paths)):
            raise ValueError("a name with a line end")
        return joined

    def _look(self, read: Sequence[str], made: str) -> str:
        """A digest of the stamps of these paths. What is read is often the same for many cases."""
        state = hashlib.blake2b(digest_size=16)
        for paths in read:
            if paths not in self._stamps:
                self._stamps[paths] = self._stamps_of(paths)
            state.update(self._stamps[paths])
        state.update(self._stamps_of(made))
        return state.hexdigest()

    def _stamps_of(self, paths: str) -> bytes:
        lines = paths.split("\n")
        if self._before:
            lines = [path if path.startswith("/") else self._before + path for path in lines]
        return orjson.dumps(stamps_of(lines))

    def _young(self, path: str) -> bool:
        """Whether the path changed so shortly before we started, or since, that it may have been read before that."""
        times: list[int] = []
        for look in (os.stat, os.lstat):  # a link may have been made to lead elsewhere
            try:
                found = look(path)
            except OSError:
                continue
            times += (found.st_mtime_ns, found.st_ctime_ns)
        return any(at > self._started - (_TICK if at % 1_000_000_000 else _COARSE) for at in times)

    def _below(self, top: str) -> list[str]:
        """A path and all that is below it. What is not there is a path too: it can come. Raises OSError.

        Links to folders are not followed, as digests do not. What a link to a file leads to has the link's stamp.
        """
        found, todo = [top], [top]
        while todo and len(found) <= _MOST_FILES:
            try:
                with os.scandir(todo.pop()) as entries:
                    for entry in entries:
                        found.append(entry.path)
                        if entry.is_dir(follow_symlinks=False):
                            todo.append(entry.path)
            except (FileNotFoundError, NotADirectoryError):
                continue
        return found


def _stamp(path: str) -> str:
    try:
        found = os.stat(path)  # noqa: PTH116 - of thousands
    except OSError:
        return "-"
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def context_of(choices: Mapping[str, object], environ: Mapping[str, str], variables: Iterable[str]) -> str:
    """A digest of all that decides on tasks and is in no file of the project. Of keys, only whether they are set."""
    said: list[object] = [_FORMAT, sorted((name, str(value)) for name, value in choices.items())]
    said += [[name, bool(environ.get(name, "").strip())] for name in _KEYS]
    said += [[name, environ.get(name, "")] for name in sorted({*variables, *_PLACES})]
    said += [environ.get("PATH", "")] if choices.get("claude") else []  # there it is looked for
    said.append(_own_code())
    return hashlib.blake2b(orjson.dumps(said), digest_size=16).hexdigest()


def _own_code() -> str:
    """The stamps of evalkit's modules."""
    state = hashlib.blake2b(digest_size=16)
    todo = [str(Path(__file__).parents[1])]
    while todo:
        with os.scandir(todo.pop()) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.is_dir() and entry.name != "__pycache__":
                    todo.append(entry.path)
                elif entry.name.endswith(".py"):
                    state.update(f"{entry.path} {_stamp(entry.path)}\n".encode())
    return state.hexdigest()
