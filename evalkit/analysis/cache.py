"""Compiled projects kept on disk, so that what has not changed is not compiled again.

One file a project, `.evalkit/cache/compile/project`: the compiled units with the state of all that they were compiled
from (survey.py): stamps of every folder below the cases folder and of every file that was read, leads of every link.
Where all of it is the same, the units are. Its key holds what is not of the project: evalkit's own code, the grammar,
Python, the libraries that compiling asks, and the user, who may not be allowed to read what another one read.

A stamp tells a change only if the clock of the file system went on since the last one. So a project is not kept if
something in it changed so shortly before it was looked at that a later change could bear the same time, nor if
something changed while it was compiled. Projects with errors are not kept.

Units are pickled, equal setups once: they are half of a unit, and those of a profile are the same. They are unpickled
by a reader that calls nothing but the constructors of model.py. And it is never asked to read what came with somebody's
project: inodes and times of changes are this file system's own, so neither the key nor the stamps of such a file can be
right.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pickle
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import attrs

from evalkit.analysis import model
from evalkit.analysis.survey import Stamp, Survey, stamp, unchanged
from evalkit.kept import read_kept, write_kept

__all__ = ["read", "write"]

_FORMAT = 2
_TICK = 20_000_000
"""Nanoseconds: more than the clock of a file system takes to go on."""
_COARSE = 2_000_000_000
"""The same where a time has no fraction of a second: there are file systems that count in two seconds."""
_OWN = (".", "analysis", "syntax", "diagnostics", "diagnostics/entries", "grammar", "../grammar")
"""The folders of evalkit that compiling uses. (The grammar is within the package where that is installed.)"""
_LIBRARIES = ("attr", "lark", "regex")
_MODELS = tuple(name for name in sys.modules if name.startswith(model.__name__))
"""The modules of compiled cases: model.py and those beside it that it imports."""
Units: TypeAlias = dict[str, tuple[model.Case, ...]]


def read(root: Path, cases_folder: str) -> tuple[Units, dict[str, model.SuiteInfo]] | None:
    """The units and suites of a project as they were compiled; None where anything has changed since."""
    data = read_kept(_path(root), _key(root, cases_folder))
    if data is None:
        return None
    try:
        stamps, leads, compiled = _unpickle(data)
        if str(root / cases_folder) not in stamps or not unchanged(stamps, leads):
            return None
        units, suites = _unpickle(compiled)  # apart: most of the time that reading takes
        return units, suites
    except Exception:  # noqa: BLE001 - what is wrong raises whatever unpickling can: it is made again
        return None


def write(root: Path, cases_folder: str, seen: Survey, reads: Mapping[str, Stamp], units: Units,
          suites: dict[str, model.SuiteInfo]) -> None:
    """Keep a compiled project. `reads`: the files that were read beside the case files, with their stamps before."""
    stamps = {**seen.stamps, **reads}
    if any(_young(found, seen.started) for found in stamps.values()) or not unchanged(stamps, seen.leads):
        return
    write_kept(_path(root), _key(root, cases_folder), pickle.dumps((stamps, seen.leads, _pickle((units, suites))), 5))


def _path(root: Path) -> Path:
    return root / ".evalkit" / "cache" / "compile" / "project"


def _key(root: Path, cases_folder: str) -> str:
    """A digest of all that compiling depends on outside of the project's files."""
    home = Path(__file__).resolve().parents[1]
    state = hashlib.sha256(f"{_FORMAT} {sys.version} {os.geteuid()} {sorted(os.getgroups())}\n".encode())
    state.update(os.fsencode(f"{root}\n{cases_folder}\n"))
    for part in _OWN:
        for file in sorted((home / part).glob("*.[pl]*")):
            state.update(f"{part}/{file.name} {stamp(str(file))}\n".encode())
    for library in _LIBRARIES:
        spec = find_spec(library)
        if spec is not None and spec.origin is not None:
            with contextlib.suppress(OSError):  # it is no file of its own: part of an archive, say
                state.update(f"{library} {stamp(spec.origin)}\n".encode())
    return state.hexdigest()


def _young(found: Stamp, started: int) -> bool:
    """Whether a change after `started` could leave the stamp as it is."""
    return any(time > started - (_TICK if time % 1_000_000_000 else _COARSE) for time in found[2:])


# ---- pickles ----
class _Writer(pickle.Pickler):
    """Writes classes of model.py as calls of their constructors."""

    _fields: ClassVar[dict[type, tuple[str, ...]]] = {}

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        if kind not in self._fields:
            self._fields[kind] = tuple(field.name for field in attrs.fields(kind)) if attrs.has(kind) else ()
        names = self._fields[kind]
        return (kind, tuple([getattr(value, name) for name in names])) if names else NotImplemented


class _Reader(pickle.Unpickler):
    """Calls nothing but the constructors of model.py."""

    def find_class(self, module: str, name: str) -> Any:
        found = getattr(sys.modules[module], name, None) if module in _MODELS else None
        if not isinstance(found, type) or not attrs.has(found):
            raise pickle.UnpicklingError(f"{module}.{name} is not of a compiled case")
        return found


def _pickle(value: tuple[Units, dict[str, model.SuiteInfo]]) -> bytes:
    units, suites = value
    setups: dict[model.Setup, model.Setup] = {}

    def share(unit: model.Case) -> model.Case:
        return attrs.evolve(unit, setup=setups.setdefault(unit.setup, unit.setup))

    made = io.BytesIO()
    _Writer(made, 5).dump(({name: tuple(map(share, mine)) for name, mine in units.items()}, suites))
    return made.getvalue()


def _unpickle(data: bytes) -> Any:
    return _Reader(io.BytesIO(data)).load()
