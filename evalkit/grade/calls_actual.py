"""The actual calls of a transcript, and what of an expected call each of them meets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from attrs import define, field, frozen

from evalkit.analysis.calls_shown import tell_test, value_shown
from evalkit.analysis.model import Call
from evalkit.analysis.value_tests import ABSENT, at_path, compiled, passes
from evalkit.execute.commands.confirmation import CONFIRM, asked_token
from evalkit.execute.transcripts import Ended, Event, Gap, Message, ToolCall, ToolResult, read_events
from evalkit.grade.evidence import plain

__all__ = ["Actual", "Actuals", "Point", "fits", "meets", "points", "read_actuals"]


@frozen(eq=False)
class Actual:
    """A call as it was made, with what came of it.

    number: from 1. asked: its answer asks for a confirmation. walked: it was done, with a token that an earlier call of
    the same command was answered with.
    """

    number: int
    call: ToolCall
    status: str
    text: str
    asked: bool = False
    walked: bool = False

    @property
    def done(self) -> bool:
        return self.status == "ok"

    @property
    def wrote(self) -> bool:
        """Whether it may have changed something. What is not known (a result that is missing) counts."""
        return self.call.tool != "read" and self.status in ("ok", "missing") and not self.asked

    @property
    def where(self) -> str:
        return f"call {self.number} (line {self.call.line})"


@frozen
class Actuals:
    """All calls of a transcript. gaps: what of it cannot be read. told: it tells of something that an agent did."""

    calls: tuple[Actual, ...]
    gaps: tuple[str, ...] = ()
    told: bool = True


def read_actuals(path: Path) -> Actuals:
    """Raises HarnessError where the transcript cannot be read at all."""
    reading = _Reading()
    for event in read_events(path):
        reading.add(event)
    return Actuals(tuple(reading.actuals()), tuple(reading.gaps), reading.told)


@define
class _Reading:
    """What is known so far. Events are numbered; calls and results are found by the identity of the call."""

    gaps: list[str] = field(factory=list)
    told: bool = False
    _at: int = 0
    _calls: list[tuple[int, ToolCall]] = field(factory=list)
    _results: dict[int, ToolResult] = field(factory=dict)
    _tokens: dict[tuple[str, str], int] = field(factory=dict)
    """Where a command's answer told a token first."""

    def add(self, event: Event) -> None:
        self._at += 1
        self.told = self.told or isinstance(event, Message | ToolCall | Gap | Ended)
        if isinstance(event, ToolCall):
            self._calls.append((self._at, event))
        elif isinstance(event, ToolResult):
            self._results[id(event.call)] = event
            if event.status == "ok" and (token := asked_token(event.text)) is not None:
                self._tokens.setdefault((event.call.name, token), self._at)
        elif isinstance(event, Gap):
            self.gaps.append(f"line {event.line}: {event.why}")

    def actuals(self) -> Iterator[Actual]:
        for number, (place, call) in enumerate(self._calls, 1):
            result = self._results.get(id(call))
            status, text = ("missing", "") if result is None else (result.status, result.text)
            asked = status == "ok" and asked_token(text) is not None
            given = call.input.get(CONFIRM)
            told = self._tokens.get((call.name, given)) if isinstance(given, str) else None
            walked = status == "ok" and not asked and told is not None and told < place
            yield Actual(number, call, status, text, asked, walked)


# ---- an expected call, point by point ----
@frozen
class Point:
    """One thing that an expected call asks for: what, what there is instead or as well, and whether it is met."""

    wanted: str
    given: str
    met: bool


def fits(expected: Call, actual: Actual) -> bool:
    """Whether a call meets all that is expected of it."""
    return actual.call.name == expected.name and meets(expected, [actual])(0)


def meets(expected: Call, actuals: Sequence[Actual]) -> Callable[[int], bool]:
    """Of an expectation: whether one of these calls, by its place, meets it. It has the name that is expected."""
    tests = [(test.key, compiled(test)) for test in expected.arguments]
    if len(tests) == 1 and "." not in tests[0][0] and not (expected.exact or expected.succeeds or expected.confirmed):
        ((key, test),) = tests  # the most frequent form, and thousands of calls may be looked at
        return lambda place: test(actuals[place].call.input.get(key, ABSENT))

    def met(place: int) -> bool:
        actual = actuals[place]
        given = actual.call.input
        return ((actual.done or not expected.succeeds) and (actual.walked or not expected.confirmed)
                and all(test(at_path(given, key)) for key, test in tests)
                and not (expected.exact and _others(expected, actual)))

    return met


def points(expected: Call, actual: Actual) -> list[Point]:
    """Argument by argument, how a call of the same name meets an expected one."""
    found = []
    for test in expected.arguments:
        value = at_path(actual.call.input, test.key)
        found.append(Point(tell_test(test, ":"), "absent" if value is ABSENT else plain(value_shown(value)),
                           passes(test, value)))
    if expected.exact:
        others = _others(expected, actual)
        found.append(Point("exact", f"also {', '.join(map(plain, others))}" if others else "no others", not others))
    if expected.succeeds:
        found.append(Point("succeeds", "done" if actual.done else _refusal(actual), actual.done))
    if expected.confirmed:
        found.append(Point("confirmed", "with its token" if actual.walked else _not_walked(actual), actual.walked))
    return found


def _others(expected: Call, actual: Actual) -> list[str]:
    """Arguments that are not listed. A token of a confirmation is none of them where one is asked for."""
    listed = {test.key for test in expected.arguments} | ({CONFIRM} if expected.confirmed else set())
    tops = {key.partition(".")[0] for key in listed}
    return [str(key) for key in actual.call.input if key not in listed and key not in tops]


def _refusal(actual: Actual) -> str:
    words = {"error": "rejected", "denied": "denied", "missing": "without a result"}.get(actual.status, actual.status)
    first = next((line for line in actual.text.splitlines() if line.strip()), "")
    return f"{words}: {plain(first)}" if first else words


def _not_walked(actual: Actual) -> str:
    given = actual.call.input.get(CONFIRM, ABSENT)
    if given is ABSENT:
        return "asked back, not confirmed" if actual.asked else f"no `{CONFIRM}` was given"
    if not actual.done:
        return _refusal(actual)
    if actual.asked:
        return "asked back again"
    return f"it was never given {plain(value_shown(given))}"
