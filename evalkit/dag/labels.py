"""What a task's name says: its kind, its trial, its check; and how people are told of the trial.

    grade:latest/claude/anthropic%2Fclaude-sonnet-5/kanban-board/trial-2:loop   ->   grade, the trial, loop
                                                                              its label: kanban-board#2

Tasks that many trials share (toolchains, templates, cases, reports) have no trial.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from urllib.parse import unquote

from evalkit.values import Value

__all__ = ["TaskName", "label", "labels", "read_name"]


@cache
def _trial() -> re.Pattern[str]:
    return re.compile(r"[^/:]+/(?P<subject>[^:]+)/(?P<unit>[^/:]+)/trial-(?P<number>[0-9]+)")


class TaskName(Value):
    """A task's name, taken apart. trial: its trial's id, "" for a task that is no single trial's. item: its check."""

    kind: str
    trial: str
    item: str


def read_name(task: str) -> TaskName:
    kind, _, rest = task.partition(":")
    trial, _, item = rest.partition(":")
    return TaskName(kind, trial, item) if _trial().fullmatch(trial) else TaskName(kind, "", rest)


def label(trial: str) -> str:
    """The unit of a trial, with the trial's number from the second on. A text that is no trial's id is left alone."""
    match = _trial().fullmatch(trial)
    if match is None:
        return trial
    return match["unit"] if match["number"] == "1" else f"{match['unit']}#{match['number']}"


def labels(trials: Iterable[str]) -> dict[str, str]:
    """Trial -> label. Trials of one unit by several subjects are told apart by the subject's name."""
    short = {trial: label(trial) for trial in trials}
    times = Counter(short.values())
    return {trial: text if times[text] == 1 else f"{text} {_subject(trial)}" for trial, text in short.items()}


def _subject(trial: str) -> str:
    match = _trial().fullmatch(trial)
    return " ".join(unquote(part) for part in match["subject"].split("/")) if match else ""
