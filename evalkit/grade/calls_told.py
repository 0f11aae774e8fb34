"""Why expected calls were not met, in short lines: which one, and what came nearest, argument by argument."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from evalkit.analysis.calls_shown import call_shown, expected_shown, value_shown
from evalkit.analysis.model import AnyOrder, Call, Either, Expected
from evalkit.diagnostics import nearest
from evalkit.execute.commands.confirmation import CONFIRM
from evalkit.grade.calls_actual import Actual, Point, points
from evalkit.grade.calls_match import Match, Matcher
from evalkit.grade.evidence import plain

__all__ = ["WIDTH", "actual_shown", "called", "cut", "why_not"]

WIDTH = 72
"""Columns of a line of evidence: it stands indented in a terminal of 80."""
_NAMED = 6
"""Commands that are named where none of them is the one that was expected."""
_LISTED = 40
"""Calls that are listed."""


def why_not(sequence: Sequence[Expected], matcher: Matcher, actuals: Sequence[Actual], start: int = 0) -> list[str]:
    """What of a sequence is not met; the first line says it in short."""
    states = [Match(start)]
    for place, expected in enumerate(sequence, 1):
        after = matcher.after((expected,), states)
        if not after:
            which = f"call {place} of {len(sequence)}: " if len(sequence) > 1 else ""
            said, *more = _Telling(matcher, actuals, states[0].end).unmet(expected)
            return [cut(f"{which}{said}"), *more]
        states = after
    return []


class _Telling:
    """Tells of one expectation that no call from a place on meets."""

    def __init__(self, matcher: Matcher, actuals: Sequence[Actual], start: int) -> None:
        self.matcher = matcher
        self.actuals = actuals
        self.start = start

    def unmet(self, expected: Expected) -> list[str]:
        match expected:
            case Call():
                return self._call(expected)
            case Either(branches=branches):
                lines = [f"none of {len(branches)} alternatives was met"]
                for number, branch in enumerate(branches, 1):
                    said = why_not(branch, self.matcher, self.actuals, self.start)
                    lines += [cut(f"  alternative {number}: {said[0]}"), *(cut(f"  {line}") for line in said[1:])]
                return lines
            case AnyOrder(items=items):
                missing = self.matcher.unassigned(items, self.start)
                lines = [f"{len(missing)} of {len(items)} calls in any order not met"]
                for at in missing:
                    said = self._item(items[at])
                    lines += [cut(f"  {said[0]}"), *(cut(f"  {line}") for line in said[1:])]
                return lines

    def _item(self, item: Call | Either) -> list[str]:
        """An item that found no call: none fits, or others need those that do."""
        fitting = [self.actuals[number].where for number in range(self.start, self.matcher.count)
                   if self._meets(item, number)]
        if fitting:
            return [f"{expected_shown(item)}: other expectations need {' and '.join(fitting)}"]
        return self.unmet(item)

    def _meets(self, item: Call | Either, number: int) -> bool:
        return any(state.end == number + 1 for state in self.matcher.after((item,), [Match(number)]))

    def _call(self, expected: Call) -> list[str]:
        same = [actual for actual in self.actuals if actual.call.name == expected.name]
        if not same:
            return [f"`{expected.name}` was not called", *self._instead(expected)]
        early = [actual for actual in same if actual.number <= self.start
                 and self.matcher.fits(expected)(actual.number - 1)]
        if early:
            last = self.actuals[self.start - 1]
            return [f"`{expected.name}` was not called after {last.where}",
                    cut(f"  expected: {call_shown(expected)}"),
                    cut(f"  {early[-1].where} fits, but comes too early")]
        best = max(same, key=lambda actual: (sum(point.met for point in points(expected, actual)),
                                             expected.confirmed and CONFIRM in actual.call.input,
                                             actual.number > self.start, -actual.number))
        lines = [f"no call of `{expected.name}` fits", cut(f"  expected: {call_shown(expected)}"),
                 f"  nearest:  {best.where}"]
        return lines + [cut(f"    {_mark(point)}") for point in points(expected, best)]

    def _instead(self, expected: Call) -> Iterator[str]:
        yield cut(f"  expected: {call_shown(expected)}")
        names = Counter(actual.call.name for actual in self.actuals)
        near = nearest(expected.name, names)
        if near:
            yield cut(f"  nearest:  `{plain(near)}` was called")
        elif names:
            told = [plain(name) + (f" x{count}" if count > 1 else "") for name, count in names.most_common(_NAMED)]
            more = len(names) - _NAMED
            yield cut(f"  called were: {', '.join(told)}{f' and {more} more' if more > 0 else ''}")
        else:
            yield "  nothing was called"


def _mark(point: Point) -> str:
    return f"ok  {point.wanted}" if point.met else f"no  {point.wanted}, but: {point.given}"


def called(actuals: Sequence[Actual]) -> list[str]:
    """All calls, a line each; of many the first and the last."""
    lines = [cut(f"  {actual.number}. {actual_shown(actual)}") for actual in actuals]
    if len(lines) > _LISTED:
        half = _LISTED // 2
        lines = [*lines[:half], f"  … {len(lines) - 2 * half} calls left out …", *lines[-half:]]
    return [f"the calls ({len(actuals)}):", *lines] if lines else []


def actual_shown(actual: Actual) -> str:
    arguments = ", ".join(f"{plain(str(key))}: {plain(value_shown(value))}" for key, value in actual.call.input.items())
    how = {"error": " - rejected", "denied": " - denied", "missing": " - without a result"}.get(actual.status, "")
    return f"{plain(actual.call.name)}({arguments}){' - asked to confirm' if actual.asked else how}"


def cut(line: str) -> str:
    """A line that fits; of a longer one, the beginning and the end."""
    if len(line) <= WIDTH:
        return line
    return f"{line[:WIDTH - 22].rstrip()} … {line[-18:].lstrip()}"
