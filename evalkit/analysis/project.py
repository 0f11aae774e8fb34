"""A project's compiled cases: from what is kept where that holds (index.py), compiled where it does not.

Full: survey -> read -> parse -> resolve -> index. Where only some case files changed, or what only some cases looked
up, these cases alone are compiled (again.py). Nothing of the compiler is imported where nothing is compiled.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.analysis import cache
from evalkit.analysis.index import Index, key_of, read_index, without_collecting
from evalkit.analysis.survey import changed_leads, changed_stamps, survey
from evalkit.errors import HarnessError

if TYPE_CHECKING:
    from evalkit.analysis.model import Case, SuiteInfo

__all__ = ["Project", "Units", "compile_project", "load_project"]


class Units(Mapping[str, "tuple[Case, ...]"]):
    """The units of the cases by the names of the cases: made just now, or read from the log when they are asked for.

    `mend` compiles the project where the log turns out to be damaged.
    """

    __slots__ = ("_index", "_made", "_mend")

    def __init__(self, index: Index, made: dict[str, tuple[Case, ...]], mend: Callable[[], Project]) -> None:
        self._index = index
        self._made = made
        self._mend = mend

    def __getitem__(self, name: str) -> tuple[Case, ...]:
        if name not in self._made:
            self._made[name] = self._read(name)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._index.cases)

    def __len__(self) -> int:
        return len(self._index.cases)

    def __contains__(self, name: object) -> bool:
        return name in self._index.cases

    def _read(self, name: str) -> tuple[Case, ...]:
        fingerprint = self._index.cases[name].fingerprint  # a KeyError is the caller's
        units: tuple[Case, ...] | None = _part(self._index, name)
        if units is None:
            mended = self._mend()
            if name not in mended.units or mended.fingerprint(name) != fingerprint:
                raise HarnessError(f"case `{name}` was changed while this ran", hint="run it again")
            units = mended.units[name]
        return units


class Project:
    """A compiled project: its root folder, its index, and the units of its cases by the names of the cases."""

    __slots__ = ("_cases", "_mend", "_suites", "index", "root", "units")

    def __init__(self, root: Path, index: Index, made: dict[str, tuple[Case, ...]],
                 suites: dict[str, SuiteInfo] | None, mend: Callable[[], Project]) -> None:
        self.root = root
        self.index = index
        self.units: Mapping[str, tuple[Case, ...]] = Units(index, made, mend)
        self._suites = suites
        self._mend = mend
        self._cases: dict[str, Case] | None = None

    @property
    def suites(self) -> dict[str, SuiteInfo]:
        """The suites by their names."""
        if self._suites is None:
            kept: dict[str, SuiteInfo] | None = _part(self.index, "")
            self._suites = self._mend().suites if kept is None else kept
        return self._suites

    @property
    def cases(self) -> dict[str, Case]:
        """The first unit of each case."""
        if self._cases is None:
            with without_collecting():
                self._cases = {name: units[0] for name, units in self.units.items()}
        return self._cases

    def fingerprint(self, name: str) -> str:
        """What changes with anything that a case does or shows. Raises KeyError where there is no such case."""
        return self.index.cases[name].fingerprint

    def all_units(self) -> list[Case]:
        """The units of all cases, in the order of the cases."""
        with without_collecting():
            return [unit for units in self.units.values() for unit in units]

    def cases_of(self, suite: str) -> list[Case]:
        return [self.units[name][0] for name in self.index.suites[suite].cases] if suite in self.index.suites else []

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Project) and (self.root, self.units, self.suites) == (
            other.root, other.units, other.suites)

    __hash__ = None  # type: ignore[assignment]


def _part(index: Index, name: str) -> Any:
    """What is kept in the log under this name; None where there is nothing, or it is damaged."""
    place = index.places.get(name)
    if place is None or index.log is None:
        return None
    from evalkit.analysis import pickles  # it imports what units are made of

    try:
        data = index.log.read(place)
        return None if data is None else pickles.load(data)
    except Exception:  # noqa: BLE001 - what is wrong raises whatever unpickling can: it is made again
        return None


def load_project(root: Path, cases_folder: str = "cases", *, index: Index | None = None) -> Project:
    """Compile every `.eval` file under the cases folder, or read what was compiled before where it holds.

    `index`: the project's, from `load_index`; it is not looked at again. Raises `CaseErrors` with all diagnostics of
    all files, or `UserError` where there is no such folder.
    """
    with without_collecting():
        made: dict[str, tuple[Case, ...]] = {}
        if index is None:
            again = _read(root, cases_folder)
            if again is None:
                return compile_project(root, cases_folder)
            index, made = again
        return Project(root, index, made, None, _mend(root, cases_folder))


def _read(root: Path, cases_folder: str) -> tuple[Index, dict[str, tuple[Case, ...]]] | None:
    """What is kept, brought up to date, and the units that were compiled for that."""
    started = time.time_ns()
    index = read_index(root, cases_folder)
    if index is None:
        return None
    changed = changed_stamps(index.stamps)
    if not changed and not changed_leads(index.leads):
        return index, {}
    from evalkit.analysis.again import compile_again  # where nothing changed, it is not needed

    return compile_again(root, cases_folder, index, started, changed)


def _mend(root: Path, cases_folder: str) -> Callable[[], Project]:
    """Compiles the project when it is called first."""
    return functools.cache(functools.partial(compile_project, root, cases_folder))


def compile_project(root: Path, cases_folder: str) -> Project:
    """Compile a project whatever is kept of it, and keep it. Raises as `load_project` does."""
    from evalkit.analysis import pickles
    from evalkit.analysis.compile import compile_files
    from evalkit.analysis.heads import head_of, suite_heads

    with without_collecting():
        key = key_of(root, cases_folder)
        seen = survey(root, cases_folder)
        compiled = compile_files(root, seen.case_files)
        heads = [head_of(units) for units in compiled.units.values()]
        index = Index(heads, suite_heads(compiled.suites, heads))
        index.key = key
        index.stamps, index.leads = {**seen.stamps, **compiled.trace.reads}, seen.leads
        if not cache.is_young(index.stamps.values(), seen.started) and index.holds():
            parts = {"": pickles.dump(compiled.suites)}
            parts |= {name: pickles.dump(units) for name, units in compiled.units.items()}
            if (written := cache.new_units(root, parts)) is not None:
                index.log, index.places = written
                trace = cache.KeptTrace(compiled.trace.files, frozenset(compiled.trace.looked),
                                        cache.packed(seen.listings))
                index.trace = cache.write_trace(root, trace)
                if index.trace:
                    cache.keep_index(root, index)
        return Project(root, index, compiled.units, compiled.suites, _mend(root, cases_folder))
