"""What `evalkit compare` compares: a side is the trials of a run, of a subject in it, of an arm in it.

    RUN             all trials of the run
    RUN:SUBJECT     those of a subject: its model, its agent, both as tables show them, or a part of them
    RUN+ARM         those on an arm
    RUN:SUBJECT+ARM
    WORD            an arm or a subject of the run `latest`, where no run has that name

Without RUN the run is `latest`. Known answers and dry runs are no side.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

from evalkit.errors import UserError
from evalkit.report.past import lines_of_run, runs
from evalkit.report.rates import Line, is_known, subject_of

__all__ = ["Pair", "Side", "pairs", "read_side"]

_LATEST = "latest"


@frozen
class Side:
    """One side. arm: None where it was not chosen. lines: of its trials, at least one."""

    name: str
    run: str
    arm: str | None
    lines: Sequence[Line]

    @property
    def subjects(self) -> list[str]:
        return list(dict.fromkeys(subject_of(line) for line in self.lines))

    def of(self, subject: str) -> list[Line]:
        return [line for line in self.lines if subject_of(line) == subject]


@frozen
class Pair:
    """A subject of each side; often the same one. arms: the sides are arms, so that units are paired without them."""

    one: str
    other: str
    arms: bool


def read_side(text: str, results: Path) -> Side:
    """The side that a person means. Raises UserError where there is no such run, subject or arm."""
    run, subject, arm = _parts(text, results)
    try:
        there = lines_of_run(results / run)
    except UserError:
        known = runs(results)
        if text == run and text not in known and _LATEST in known:  # it may have been meant as a subject or an arm
            raise _unknown(text, results) from None
        raise
    lines = [line for line in there if not is_known(line)]
    if not lines:
        raise UserError(f"run `{run}` has no trial of an agent: known answers are not compared",
                        hint="doit run … with a model's key makes some")
    if subject:
        chosen = _subject(subject, lines)
        if chosen is None:
            raise UserError(f"run `{run}` has no subject `{subject}`", hint=_there(lines))
        lines = [line for line in lines if subject_of(line) == chosen]
    if arm is not None:
        found = [line for line in lines if _arm(line) == arm]
        if not found:
            arms = [name for line in lines if (name := _arm(line))]
            raise UserError(f"run `{run}` has no trial on an arm `{arm}`",
                            hint=f"it has: {', '.join(dict.fromkeys(arms))}" if arms else "its cases have no arms")
        lines = found
    return Side(text, run, arm, lines)


def _unknown(word: str, results: Path) -> UserError:
    """No run, no subject and no arm has the name; these there are."""
    lines = lines_of_run(results / _LATEST)
    sampled = [line for line in lines if not is_known(line)]
    arms = dict.fromkeys(arm for line in sampled if (arm := _arm(line)))
    names = [*dict.fromkeys(map(subject_of, sampled)), *(f"+{arm}" for arm in arms)]
    known = any(word in subject_of(line) for line in lines if is_known(line))
    return UserError(
        f"there is no run `{word}` under results/" + (
            ", and as a subject it is a known answer: these are not compared" if known else ""),
        hint=f"there are: {', '.join(runs(results))}" + (f"; in `{_LATEST}`: {', '.join(names)}" if names else ""))


def _parts(text: str, results: Path) -> tuple[str, str, str | None]:
    """The run, the subject ("" for all) and the arm (None for all) of a side."""
    if ":" not in text and "+" not in text and text not in runs(results) and _LATEST in runs(results):
        lines = [line for line in lines_of_run(results / _LATEST) if not is_known(line)]
        if text in {_arm(line) for line in lines}:
            return _LATEST, "", text
        if _subject(text, lines) is not None:
            return _LATEST, text, None
    head, colon, subject = text.partition(":")
    if colon:
        subject, plus, arm = subject.rpartition("+") if "+" in subject else (subject, "", "")
    else:
        head, plus, arm = head.partition("+")
    return head or _LATEST, subject, arm if plus else None


def _subject(word: str, lines: Sequence[Line]) -> str | None:
    """The subject that is meant: by its whole name, its model or agent, else a part. Raises UserError for several."""
    subjects = {subject_of(line): (line["agent"], line["model"]) for line in lines}
    exact = [subject for subject, names in subjects.items() if word == subject or word in names]
    found = exact or [subject for subject in subjects if word in subject]
    if len(found) > 1:
        raise UserError(f"`{word}` may mean several subjects", hint=", ".join(found))
    return found[0] if found else None


def _there(lines: Sequence[Line]) -> str:
    return "it has: " + ", ".join(dict.fromkeys(subject_of(line) for line in lines))


def _arm(line: Line) -> str:
    return str(line["unit"]).partition("+")[2]


def pairs(one: Side, other: Side) -> tuple[list[Pair], list[str]]:
    """Which subjects are compared, and what is said of those that are not.

    The subjects that are on both sides, each with itself; where each side has one subject, these two. Raises
    UserError where nothing can be paired.
    """
    arms = one.arm is not None and other.arm is not None and one.arm != other.arm
    if len(one.subjects) == len(other.subjects) == 1:
        return [Pair(one.subjects[0], other.subjects[0], arms)], []
    common = [subject for subject in one.subjects if subject in other.subjects]
    if not common:
        raise UserError("no subject is on both sides, and there are several",
                        hint=f"name one of each, as in {one.run}:SUBJECT; "
                             f"there are {', '.join([*one.subjects, *other.subjects])}")
    notes = [f"{subject} is in {side.name} alone: not compared" for side in (one, other) for subject in side.subjects
             if subject not in common]
    return [Pair(subject, subject, arms) for subject in common], notes
