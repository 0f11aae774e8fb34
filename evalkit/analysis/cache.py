"""Compiled projects kept on disk, so that what has not changed is not compiled again.

One file a project, `.evalkit/cache/compile/<key>`, with the compiled cases and the facts that they were compiled from:

* every folder below the cases folder: its stamp, and a digest of what it lists (names, kinds, where links lead),
* every file that was read (`.eval` files, prompts, guidance): its stamp and a digest of its bytes.

A stamp is inode, size, time of change of the content and of the inode. Where it is the same and older than the record
by more than a file system's clock is coarse, the content is taken to be the same, as git does; else the digest
decides. Whether a path that a case names is there, and of what kind, follows from the folders' lists. The key holds all
that is not of the project: evalkit's own code, the grammar, Python's version. Only projects without errors are kept.

The cases are pickled, equal parts once: cases of a suite share most of their setup. They are unpickled by a reader that
calls nothing but the constructors of model.py: a record that somebody else wrote can be wrong, but runs nothing. What
cannot be read is compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pickle
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from evalkit.analysis import model

__all__ = ["read", "write"]

_COARSE = 2_000_000_000
"""Nanoseconds: the coarsest clock of a file system (FAT)."""
_FORMAT = 1
_MODELS = tuple(name for name in sys.modules if name.startswith(model.__name__))
"""The modules of compiled cases: model.py and those beside it that it imports."""
Stamp: TypeAlias = tuple[int, int, int, int]
Fact: TypeAlias = tuple[Stamp, bytes]
"""A stamp and a digest."""
Units: TypeAlias = dict[str, tuple[model.Case, ...]]


def read(root: Path, folder: Path) -> tuple[Units, dict[str, model.SuiteInfo]] | None:
    """The units and suites of a project as they were compiled; None where anything has changed since."""
    try:
        record = _unpickle(_path(root, folder).read_bytes())
        version, made, folders, files, compiled = record
        if version != _FORMAT or not _same(made, folders, _list_digest) or not _same(made, files, _file_digest):
            return None
        units, suites = _unpickle(compiled)  # apart: most of the time that reading takes, where something changed
        return units, suites
    except Exception:  # noqa: BLE001 - a damaged record raises whatever unpickling can: it is made again
        return None


def write(root: Path, folder: Path, started: int, units: Units, suites: dict[str, model.SuiteInfo],
          reads: Iterable[Path]) -> None:
    """Keep a compiled project. `started`: time.time_ns() before its first file was looked at."""
    from evalkit.errors import HarnessError  # only here: reading must be quick
    from evalkit.records import write_bytes

    folders: dict[str, Fact] = {}
    files: dict[str, Fact] = {}
    todo = [str(folder)]
    try:
        while todo:
            place = todo.pop()
            before = _stamp(os.stat(place))  # noqa: PTH116
            listed, inner = _list(place)
            folders[place] = (before, listed)
            todo += inner
        for path in map(str, reads):
            files[path] = (_stamp(os.stat(path)), _file_digest(path))  # noqa: PTH116
    except OSError:
        return
    if any(max(found[2:]) >= started for found, _ in (*folders.values(), *files.values())):
        return  # it changed while it was compiled
    target = _path(root, folder)
    record = pickle.dumps((_FORMAT, started, folders, files, _pickle((units, suites))), 5)
    with contextlib.suppress(HarnessError, OSError):  # a project that cannot be written to is compiled each time
        write_bytes(target, record)
        for old in target.parent.glob(f"{target.name.partition('-')[0]}-*"):
            if old != target:
                old.unlink()


def _path(root: Path, folder: Path) -> Path:
    """Where the record of a project is: its name holds all that compiling depends on outside of the project."""
    home = Path(__file__).resolve().parents[1]
    state = hashlib.sha256(f"{_FORMAT} {sys.version}".encode())
    name = hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]
    for part in (".", "analysis", "syntax", "diagnostics", "diagnostics/entries", "grammar", "../grammar"):
        for file in sorted((home / part).glob("*.[pl]*")):
            state.update(f"{part}/{file.name} {_stamp(file.stat())}".encode())
    return root / ".evalkit" / "cache" / "compile" / f"{name}-{state.hexdigest()[:32]}"


# ---- facts ----
def _stamp(found: os.stat_result) -> Stamp:
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _same(made: int, facts: dict[str, Fact], digest: Any) -> bool:
    look, limit = os.stat, made - _COARSE
    for path, (stamp, known) in facts.items():
        found = look(path)
        changed = found.st_ctime_ns
        if ((found.st_ino, found.st_size, found.st_mtime_ns, changed) != stamp or changed >= limit
                or stamp[2] >= limit) and digest(path) != known:
            return False
    return True


def _file_digest(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - thousands of these: a Path costs as much as the reading
        return hashlib.sha256(file.read()).digest()


def _list_digest(path: str) -> bytes:
    return _list(path)[0]


def _list(path: str) -> tuple[bytes, list[str]]:
    """A digest of what a folder lists (names, kinds, and where links lead to, to what), and the folders in it."""
    lines, inner = [], []
    with os.scandir(path) as entries:
        for entry in entries:
            kind = "l" if entry.is_symlink() else "d" if entry.is_dir() else "f" if entry.is_file() else "?"
            if kind == "l":
                kind += f"{os.path.realpath(entry.path)} {_kind(entry.path)}"
            elif kind == "d":
                inner.append(entry.path)
            lines.append(f"{kind} {entry.name}")
    return hashlib.sha256(os.fsencode("\0".join(sorted(lines)))).digest(), inner


def _kind(path: str) -> int:
    try:
        return stat.S_IFMT(os.stat(path).st_mode)  # noqa: PTH116
    except OSError:
        return 0


# ---- pickles ----
class _Writer(pickle.Pickler):
    """Writes classes of model.py as calls of their constructors."""

    def reducer_override(self, value: Any) -> Any:
        if not attrs.has(type(value)):
            return NotImplemented
        return type(value), tuple(getattr(value, field.name) for field in attrs.fields(type(value)))


class _Reader(pickle.Unpickler):
    """Calls nothing but the constructors of model.py."""

    def find_class(self, module: str, name: str) -> Any:
        found = getattr(sys.modules[module], name, None) if module in _MODELS else None
        if not isinstance(found, type) or not attrs.has(found):
            raise pickle.UnpicklingError(f"{module}.{name} is not of a compiled case")
        return found


def _pickle(value: tuple[Units, dict[str, model.SuiteInfo]]) -> bytes:
    known: dict[Any, Any] = {}
    texts: dict[str, str] = {}
    fields: dict[type, tuple[str, ...]] = {}
    left = {model.Call, model.CallsSpec, model.ArgumentTest, dict, int, float, bool, type(None)}

    def once(value: Any) -> Any:
        """The value made of parts that are in memory once, so that they are pickled once.

        Arguments of calls stay as they are: of JSON values, some are equal that are not the same (`1` and `true`).
        """
        kind = type(value)
        if kind is str:
            return texts.setdefault(value, value)
        if kind in left:
            return value
        if kind is tuple:
            value = tuple([once(item) for item in value])
        else:
            if kind not in fields:
                if not attrs.has(kind):
                    return value
                fields[kind] = tuple(field.name for field in attrs.fields(kind))
            value = kind(*[once(getattr(value, name)) for name in fields[kind]])
        try:
            return known.setdefault((kind, value), value)
        except TypeError:  # it holds something that is not hashable: it is written as often as it stands there
            return value

    units, suites = value
    made = io.BytesIO()
    _Writer(made, 5).dump(({name: tuple(map(once, mine)) for name, mine in units.items()},
                           {name: once(suite) for name, suite in suites.items()}))
    return made.getvalue()


def _unpickle(data: bytes) -> Any:
    return _Reader(io.BytesIO(data)).load()
