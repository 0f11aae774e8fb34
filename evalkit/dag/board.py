"""What is known of a run while it goes on: which tasks are at work, and where each unit (each trial of it) stands.

A unit is waiting until one of its tasks is at work (its state is the latest stage of these), and done when its result
is there, or when a task that the result needs could not do its work. The main thread and the tasks' own threads write,
the display reads: all within one lock, which nobody holds while anything is written to a file or a terminal.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from evalkit.dag.labels import TaskName, label, labels, read_name
from evalkit.dag.logs import TaskLog
from evalkit.values import State, Value, field

__all__ = ["AtWork", "Board", "Row", "View"]

_STAGES = {"workspace": "workspace", "agent": "agent", "grade": "grading", "judge": "grading", "result": "grading"}
"""Kind of task -> the unit's state while it is at work; a later one hides an earlier one."""
_ORDER = list(dict.fromkeys(_STAGES.values()))


class AtWork(State):
    """A task that is at work since `began` (by the run's clock). remark: the latest line that it said.

    announced, beat: whether people were told that it runs, and until which second of it there was a sign of life.
    """

    task: str
    name: TaskName
    why: str
    began: float
    remark: str = ""
    announced: bool = False
    beat: float = 0.0
    log: TaskLog | None = None


class Row(Value):
    """A line of the display: a unit, or a task that several units share. seconds: None where it has not begun."""

    label: str
    state: str
    seconds: float | None
    remark: str = ""


class View(Value):
    """A run at a moment. verdicts: how many of the units that are done came to which one. seconds: since the start."""

    rows: tuple[Row, ...]
    units: int
    done: int
    at_work: int
    verdicts: Mapping[str, int]
    seconds: float
    spent: float = 0.0
    budget: float | None = None


class _Unit(State):
    label: str
    began: float | None = None
    seconds: float = 0.0
    verdict: str = ""
    tasks: dict[str, AtWork] = field(factory=dict)


class Board(State):
    """Told by the run what happens; gives views of it."""

    clock: Callable[[], float]
    _tasks: dict[str, AtWork] = field(factory=dict)
    _units: dict[str, _Unit] = field(factory=dict)
    _began: float | None = None
    _spent: tuple[float, float | None] = (0.0, None)
    _lock: Any = field(factory=threading.RLock)

    def units(self, trials: Iterable[str]) -> None:
        """The ids of all trials that this run is to bring up to date. What was known of units before is forgotten."""
        with self._lock:
            self._units = {trial: _Unit(text) for trial, text in labels(trials).items()}

    def label(self, task: str) -> str | None:
        """What people are told of a task's unit; None for a task that is no single unit's."""
        trial = read_name(task).trial
        unit = self._units.get(trial)
        return unit.label if unit else label(trial) or None

    def spent(self, dollars: float, budget: float | None) -> None:
        self._spent = (dollars, budget)

    def start(self, task: str, why: str) -> AtWork:
        """The task is at work from now on."""
        now = self.clock()
        work = AtWork(task, read_name(task), why, now)
        with self._lock:
            self._began = now if self._began is None else self._began
            self._tasks[task] = work
            if trial := work.name.trial:
                unit = self._units.setdefault(trial, _Unit(label(trial)))
                unit.began = now if unit.began is None else unit.began
                unit.tasks[task] = work
        return work

    def get(self, task: str) -> AtWork | None:
        """A task that is at work."""
        return self._tasks.get(task)

    def end(self, task: str, outcome: str) -> AtWork | None:
        """The task is over. The outcome of a `result:` task is its unit's verdict."""
        with self._lock:
            work = self._tasks.pop(task, None)
            if work is not None:
                if unit := self._units.get(work.name.trial):
                    unit.tasks.pop(task, None)
                if work.name.kind == "result":
                    self.settle(task, outcome)
        return work

    def settle(self, task: str, verdict: str) -> None:
        """What the unit of a task came to: the first word on it stands."""
        with self._lock:
            unit = self._units.get(read_name(task).trial)
            if unit is not None and not unit.verdict:
                unit.verdict = verdict or "done"
                unit.seconds = self.clock() - unit.began if unit.began is not None else 0.0

    def at_work(self) -> list[AtWork]:
        """The tasks at work, the longest at work first."""
        with self._lock:
            return list(self._tasks.values())

    @property
    def several(self) -> bool:
        """Whether more than one task is at work."""
        return len(self._tasks) > 1

    def view(self, most: int) -> View:
        """The run as it is now, with at most so many rows: all units where there is room, else what is at work."""
        with self._lock:
            now, at_work = self.clock(), list(self._tasks.values())
            shared = [_shared_row(work, now) for work in at_work if not work.name.trial]
            if len(self._units) + len(shared) <= most:
                units = list(self._units.values())
            else:
                units = [self._units[trial] for trial in dict.fromkeys(work.name.trial for work in at_work) if trial]
            rows = [*shared, *(_unit_row(unit, now) for unit in units)]
            if len(rows) > most:
                hidden = len(rows) - (most - 1)
                rows = [*rows[: most - 1], Row(f"… and {hidden} more", "", None)] if most else []
            verdicts = Counter(unit.verdict for unit in self._units.values() if unit.verdict)
            return View(tuple(rows), len(self._units), sum(verdicts.values()), len(at_work), verdicts,
                        now - (self._began if self._began is not None else now), *self._spent)


def _shared_row(work: AtWork, now: float) -> Row:
    return Row(work.name.item, work.name.kind, now - work.began, work.remark)


def _unit_row(unit: _Unit, now: float) -> Row:
    tasks = list(unit.tasks.values())
    if not tasks:
        return Row(unit.label, unit.verdict or "waiting", unit.seconds if unit.verdict else None)
    state = max((_STAGES.get(work.name.kind, work.name.kind) for work in tasks), key=_rank)
    spoken = [work.remark for work in tasks if work.remark]
    remark = spoken[-1] if spoken else ", ".join(work.name.item for work in tasks if work.name.item)
    return Row(unit.label, state, now - tasks[0].began, remark)


def _rank(state: str) -> int:
    return _ORDER.index(state) if state in _ORDER else len(_ORDER)
