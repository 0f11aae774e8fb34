"""The index of a compiled project: what there is to select, show and settle, without compiling or running it.

A project that was compiled is kept in `.evalkit/cache/compile/`, in three files:

* `index`: a head of each case and suite, the place of each case's units in `units`, and the state of all that was
  compiled: stamps of every folder below the cases folder and of every file that was read, leads of every link
  (survey.py). Where all of these are the same, the index holds. It is plain data, read by `marshal`. What compiling
  again changed within some cases is appended to it (`Step`).
* `units`: the pickled units, case by case (pickles.py). A case is unpickled when somebody asks for it. What is
  compiled later is appended, so that whoever has an older index still finds what that one names.
* `trace`: what each case file declares and looked up (trace.py). Only compiling again reads it (again.py).

The key of an index holds what is not of the project: evalkit's own code, the grammar, Python, the libraries that
compiling asks, and the user, who may not be allowed to read what another one read. The index names the other two: the
one by its inode and digests of its parts, the other by its digest. So the three need not be written at once.

Nothing that came with somebody's project is ever believed: inodes and times of changes are this file system's own, so
neither the key nor the stamps of such a file can be right.

This module and what it imports must stay quick to import: every command begins with it.
"""

import contextlib
import gc
import hashlib
import marshal
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from evalkit.analysis.survey import Lead, Stamp, changed_leads, changed_stamps, stamp
from evalkit.kept import Kept, read_parts

__all__ = ["CaseHead", "Index", "Log", "Place", "Step", "SuiteHead", "case_of", "folder_of", "key_of", "load_index",
           "read_index", "without_collecting"]

_FORMAT = 4
_OWN = (".", "analysis", "syntax", "diagnostics", "diagnostics/entries", "grammar", "../grammar")
"""The folders of evalkit that compiling uses. (The grammar is within the package where that is installed.)"""
_LIBRARIES = ("attr", "lark", "regex")
Place: TypeAlias = tuple[int, int, bytes]
"""Of a part of the file of units: its first byte, its length, its digest."""


class CaseHead(NamedTuple):
    """A case, as far as it is known without its units.

    units: their names. variables: the environment variables that name its models, its judges' models
    and its checkouts.
    fingerprint: changes with anything that the case does or shows: not with comments, places and reorderings.
    """

    name: str
    suite: str
    about: str
    units: tuple[str, ...]
    variables: tuple[str, ...]
    fingerprint: str


class SuiteHead(NamedTuple):
    """A suite. cases: the names of its cases, in the order of their files; folder: relative to the project's root."""

    name: str
    about: str
    folder: str
    cases: tuple[str, ...]


class Step(NamedTuple):
    """How an index became another one, whose cases and suites have the same names and stand in the same order.

    heads: of cases, as plain tuples. gone: paths that have no stamp any more. The others replace what goes by the same
    name or path.
    """

    heads: tuple[tuple[Any, ...], ...]
    gone: tuple[str, ...]
    stamps: dict[str, Stamp]
    places: dict[str, Place]
    trace: str


class Log:
    """The file of units, open: it is still there for us when another process has replaced it."""

    __slots__ = ("_file", "inode", "size")

    def __init__(self, path: Path) -> None:
        """Raises OSError."""
        self._file = -1
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        found = os.fstat(self._file)
        self.inode, self.size = found.st_ino, found.st_size

    def read(self, place: Place) -> bytes | None:
        """A part; None where it is not what was written there. Raises OSError."""
        start, length, digest = place
        data = os.pread(self._file, length, start)
        return data if hashlib.sha256(data).digest()[:16] == digest else None

    def __del__(self, close: Callable[[int], None] = os.close) -> None:  # at the end, there may be no `os` any more
        if self._file >= 0:
            close(self._file)


class Index:
    """`cases` and `suites` by their names, in order; `variables` of all cases, sorted.

    The rest is for load_project. stamps, leads: the state of what was compiled. log: the file of units; places: where
    it has those of each case; the suites' data goes by the name "". trace: the digest of the file of that name. key:
    what all is kept under, as it was before anything was compiled. kept: the file that it was read from.
    """

    __slots__ = ("cases", "kept", "key", "leads", "log", "places", "stamps", "suites", "trace", "variables")

    def __init__(self, cases: Sequence[CaseHead], suites: Sequence[SuiteHead]) -> None:
        self.cases = {case.name: case for case in cases}
        self.suites = {suite.name: suite for suite in suites}
        self.variables = _variables(cases)
        self.stamps: dict[str, Stamp] = {}
        self.leads: dict[str, Lead] = {}
        self.places: dict[str, Place] = {}
        self.log: Log | None = None
        self.trace = ""
        self.key = ""
        self.kept: Kept | None = None

    def go(self, step: Step) -> None:
        """Become what a step says."""
        before = [self.cases[head[0]].variables for head in step.heads]
        self.cases.update({head[0]: CaseHead._make(head) for head in step.heads})
        if [self.cases[head[0]].variables for head in step.heads] != before:
            self.variables = _variables(self.cases.values())
        for path in step.gone:
            del self.stamps[path]
        self.stamps.update(step.stamps)
        self.places.update(step.places)
        self.trace = step.trace

    def holds(self) -> bool:
        """Whether nothing has changed since."""
        return not changed_stamps(self.stamps) and not changed_leads(self.leads)

    def plain(self) -> tuple[Any, ...]:
        """Its content for `marshal`; `read_index` knows the order."""
        assert self.log is not None
        cases, suites = ([tuple(head) for head in heads.values()] for heads in (self.cases, self.suites))
        return cases, suites, self.stamps, self.leads, self.places, self.log.inode, self.trace


def load_index(root: Path, cases_folder: str) -> Index | None:
    """The index of a project as it was compiled; None where anything has changed since, or nothing is kept."""
    with without_collecting():
        index = read_index(root, cases_folder)
        return index if index is not None and index.holds() else None


def read_index(root: Path, cases_folder: str) -> Index | None:
    """The index as it was kept, whether or not anything has changed since; None where there is none of ours."""
    folder = folder_of(root)
    key = key_of(root, cases_folder)
    kept = read_parts(folder / "index", key)
    if kept is None:
        return None
    try:
        cases, suites, stamps, leads, places, inode, trace = marshal.loads(kept.parts[0])
        log = Log(folder / "units")
        if log.inode != inode or str(root / cases_folder) not in stamps:
            return None
        index = Index([CaseHead._make(row) for row in cases], [SuiteHead._make(row) for row in suites])
        index.stamps, index.leads, index.places, index.log = stamps, leads, places, log
        index.trace, index.key, index.kept = trace, key, kept
        for part in kept.parts[1:]:
            index.go(Step._make(marshal.loads(part)))
    except (OSError, EOFError, ValueError, TypeError, KeyError):
        return None
    return index


def _variables(cases: Iterable[CaseHead]) -> tuple[str, ...]:
    return tuple(sorted({name for case in cases for name in case.variables}))


def case_of(unit: str) -> str:
    """The case of a unit, by its name `CASE@TRACK+ARM`."""
    return unit.partition("@")[0].partition("+")[0]


def folder_of(root: Path) -> Path:
    """The folder that a project's compiled cases are kept in."""
    return root / ".evalkit/cache/compile"


def key_of(root: Path, cases_folder: str) -> str:
    """A digest of all that compiling depends on outside of the project's files."""
    home = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120
    state = hashlib.sha256(f"{_FORMAT} {sys.version} {os.geteuid()} {sorted(os.getgroups())}\n".encode())
    state.update(os.fsencode(f"{root}\n{cases_folder}\n"))
    for part in _OWN:
        with contextlib.suppress(FileNotFoundError):
            for name in sorted(os.listdir(f"{home}/{part}")):  # noqa: PTH208 - a Path for each would take longer
                if name.endswith((".py", ".lark")):
                    state.update(f"{part}/{name} {stamp(f'{home}/{part}/{name}')}\n".encode())
    for library in _LIBRARIES:
        spec = find_spec(library)
        if spec is not None and spec.origin is not None:
            with contextlib.suppress(OSError):  # it is no file of its own: part of an archive, say
                state.update(f"{library} {stamp(spec.origin)}\n".encode())
    return state.hexdigest()


@contextlib.contextmanager
def without_collecting() -> Iterator[None]:
    """What is made within is kept: looking for rubbish in it takes a tenth of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
