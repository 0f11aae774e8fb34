"""The verdicts that a stored trial has already: its run's own, and those of an earlier regrading.

The run's own stand in result.json (a judge's with its threshold applied) and, with what they were made from, in grades/
and judge/; an earlier regrading's all in regrade.json. Most trials need no more than the first and the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from evalkit.analysis.model import Check, Judge
from evalkit.dag.stored import StoredTrial
from evalkit.digest import digest
from evalkit.grade.verdict import Grade
from evalkit.plan.keys import Inputs, changes
from evalkit.records import Misfit, structure

__all__ = ["holding", "latest", "old_key", "old_statuses", "why"]


def _entries(record: Mapping[str, Any], name: str, key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The entries of a list in a record, by their ids; what is no such entry is passed over."""
    found = record.get(name)
    for entry in found if isinstance(found, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("verdict"), dict):
            yield str(entry.get(key)), entry


def old_key(trial: StoredTrial, check: str) -> str:
    """The key of the run's own verdict."""
    return next((str(entry.get("key")) for name, entry in _entries(trial.result, "checks", "id") if name == check), "")


def old_statuses(trial: StoredTrial) -> dict[str, str]:
    """The verdicts of the run; of a trial that has no result, those of the last regrading."""
    if trial.result:
        return {name: str(entry["verdict"].get("status")) for name, entry in _entries(trial.result, "checks", "id")}
    return {name: str(entry["verdict"].get("status")) for name, entry in _entries(trial.earlier, "grades", "check")}


def _grade_of(entry: Mapping[str, Any], **given: Any) -> Grade | None:
    try:
        return structure({**entry, **given}, Grade)
    except Misfit:  # it is made again
        return None


def holding(trial: StoredTrial, check: Check | Judge, inputs: Inputs) -> Grade | None:
    """The verdict that still holds, if there is one: an earlier regrading's, or the run's own."""
    key = digest(inputs)
    for name, entry in _entries(trial.earlier, "grades", "check"):
        if name == check.id and entry.get("key") == key and entry["verdict"].get("status") != "error":
            return _grade_of(entry)
    for name, entry in _entries(trial.result, "checks", "id"):
        if name == check.id and entry.get("key") == key and entry["verdict"].get("status") != "error":
            if isinstance(check, Check):
                return _grade_of(entry, check=name, inputs=inputs)
            return _raw(trial, check, key)  # in a result a judge's verdict has its threshold applied
    return None


def latest(trial: StoredTrial, check: Check | Judge) -> Grade | None:
    """The last verdict of a check, by whatever it was made."""
    for name, entry in _entries(trial.earlier, "grades", "check"):
        if name == check.id:
            return _grade_of(entry)
    return _raw(trial, check, None)


def _raw(trial: StoredTrial, check: Check | Judge, key: str | None) -> Grade | None:
    """The grade of the run itself, if it is the one with this key."""
    folder = "grades" if isinstance(check, Check) else "judge"
    try:
        data = orjson.loads((trial.folder / folder / f"{check.id}.json").read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    grade = _grade_of(data) if isinstance(data, dict) else None
    return grade if grade is not None and key in (None, grade.key) else None


def why(trial: StoredTrial, check: Check | Judge, grade: Grade, was: str) -> str:
    """What of a check's inputs differs from those of the old verdict."""
    if not was:
        return "new check" if trial.result else ""
    old = _raw(trial, check, None)
    if old is None:
        return ""
    if grade.inputs.get("judging", "on") != "on":
        return ""  # the verdict itself says why nobody was asked
    if old.key == grade.key:
        return "its threshold changed" if isinstance(check, Judge) else "graded again"
    return changes(old.inputs, {name: value for name, value in grade.inputs.items() if name != "rebuilt"})
