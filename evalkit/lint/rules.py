"""The rules in the order of their codes, and the stage that runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from attrs import frozen

from evalkit.lint import (
    assets,
    commands,
    judge_files,
    not_shown,
    prompt,
    proof,
    silence,
    skills,
    undecided,
    unreachable,
    untouched,
)
from evalkit.lint.finding import Finding
from evalkit.lint.subject import Subject

__all__ = ["RULES", "Rule", "lint"]

Find: TypeAlias = Callable[[Subject], Iterable[Finding]]


@frozen
class Rule:
    """codes: what it reports. why: its reason, in a line. steady: it finds the same on every machine."""

    codes: tuple[str, ...]
    why: str
    find: Find
    steady: bool = True


RULES = (
    Rule((unreachable.PROFILE,), "what no case uses is never tried, and rots", unreachable.profiles),
    Rule((commands.COMMAND, commands.ARGUMENT, commands.TIER, commands.REGISTRY),
         "a call that the application does not know is expected of nobody", commands.find),
    Rule((prompt.CODE,), "an agent that is told what is looked for proves nothing by writing it", prompt.find),
    Rule((untouched.CODE,), "a check that says the same of everything cannot tell answers apart", untouched.find,
         steady=False),  # it reads the results of a run
    Rule((judge_files.CODE,), "a judge that reads nothing gives a score for nothing", judge_files.find),
    Rule((skills.CODE,), "an agent passes over a skill whose front matter it cannot read", skills.find,
         steady=False),  # it asks the reference validator, where that is installed
    Rule((assets.CODE,), "a file that nothing names was forgotten, or a statement was", assets.find),
    Rule((unreachable.DEFINE,), "what no case uses is never tried, and rots", unreachable.defines),
    Rule((proof.CODE,), "without an answer of each kind nothing shows that checks tell right from wrong", proof.find),
    Rule((not_shown.CODE,), "a check that never runs rejects nobody", not_shown.find),
    Rule((undecided.CODE,), "a case that nothing decides can neither pass nor fail", undecided.find),
)


def lint(subject: Subject) -> list[Finding]:
    """What all rules find and nothing silences."""
    allowed = silence.silencers(subject)
    found, used = silence.sort_out(subject, (finding for rule in RULES for finding in rule.find(subject)), allowed)
    if subject.whole:  # else what they silence may not have been looked for
        found += silence.idle(allowed, used, frozenset(code for rule in RULES if rule.steady for code in rule.codes))
    return list(_once(found))


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Each finding once: the units of a case have most of theirs in common.

    Only of what is left: a finding of a unit that an arm silences may stand for another arm's.
    """
    seen: set[tuple[str, str, str, int]] = set()
    for finding in findings:
        item = finding.diagnostic
        key = (item.code, item.message, item.span.source.shown, item.span.start)
        if key not in seen:
            seen.add(key)
            yield finding
