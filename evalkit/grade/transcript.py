"""`check transcript`: what the agent did, or must not have done.

Each of its messages and each of its tool calls is a text; so are a sub-agent's. A message is `says: ` and what it says.
A call is several lines: the tool's canonical name with the command or the path that it names (`shell: make test`), else
with the agent's own name for the tool; then `tool: ` with that own name; then a line for each value of its input, `KEY:
VALUE`, texts as they are, values in lists and objects under `KEY.0` and `KEY.INNER`. What tools returned, what the
model thought and what it was told is not looked at.

`has` asks for what was done: a call that was denied or refused does not count. `lacks` counts attempts, too. Where a
part of the transcript cannot be read, only what was found decides.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import Factory, define

from evalkit.analysis.dialect import Find
from evalkit.analysis.model import TranscriptSpec
from evalkit.errors import HarnessError
from evalkit.execute.transcripts import Ended, Event, Gap, Message, SubAgent, ToolCall, ToolResult, read_events
from evalkit.grade.evidence import plain
from evalkit.grade.recording import Recording
from evalkit.grade.search import MATCH_LIMIT, TOTAL_LIMIT, around, finder, shown
from evalkit.grade.verdict import Verdict

__all__ = ["VERSION", "call_text", "grade_transcript"]

VERSION = "transcript 1"
_LISTED = 5
"""Gaps that are named."""


def grade_transcript(spec: TranscriptSpec, recording: Recording | None) -> Verdict:
    """`has`: every pattern is in some text. `lacks`: none is in any. Raises HarnessError without a transcript."""
    if recording is None or recording.path is None:
        if recording is not None and recording.why:
            return Verdict("skipped", recording.why)
        raise HarnessError("the agent left no transcript", hint="its checks of the transcript cannot be graded")
    search = _Search([_Wanted(shown(pattern), finder(pattern)) for pattern in spec.patterns], spec.expect == "has")
    gaps = _Gaps()
    for event in read_events(recording.path):
        gaps.add(event)
        search.add(event)
        if search.decided:
            break
    if not search.decided and not gaps.told:
        raise HarnessError("its transcript tells of no message, no call and no end", hint="is it damaged, or cut off?")
    return search.verdict(gaps.all())


@define
class _Wanted:
    """A pattern, and where it was found or why it took too long. refused: where it is in a call that did not run."""

    said: str
    find: Find
    outcome: str = ""
    told: str = ""
    refused: str = ""


@define
class _Search:
    patterns: list[_Wanted]
    done: bool
    """Only what was done counts."""
    calls: int = 0
    messages: int = 0
    _deadline: float = 0.0

    def __attrs_post_init__(self) -> None:
        self._deadline = time.monotonic() + TOTAL_LIMIT

    @property
    def decided(self) -> bool:
        return all(wanted.outcome for wanted in self.patterns)

    def add(self, event: Event) -> None:
        if isinstance(event, Message) and event.role == "assistant":
            self.messages += 1
            self._look(f"says: {event.text}", _where(event.line, "message", event.sub_agent))
        elif isinstance(event, ToolResult) and self.done:
            self._call(event.call, ran=event.ran)
        elif isinstance(event, ToolCall) and not self.done:
            self._call(event, ran=True)

    def _call(self, call: ToolCall, *, ran: bool) -> None:
        self.calls += ran
        self._look(call_text(call), _where(call.line, call.name, call.sub_agent), ran=ran)

    def _look(self, text: str, where: str, *, ran: bool = True) -> None:
        for wanted in self.patterns:
            if wanted.outcome:
                continue
            left = self._deadline - time.monotonic()
            try:
                if left <= 0:
                    raise TimeoutError
                at = wanted.find(text, min(MATCH_LIMIT, left))
            except TimeoutError:
                limit = f"matching {where} took longer than {MATCH_LIMIT:g} s" if left > MATCH_LIMIT else \
                    f"the check took longer than {TOTAL_LIMIT:g} s"
                wanted.outcome = "took too long"
                wanted.told = f"{wanted.said}: {limit}: counted as a fail, since the agent decides how long it takes"
                continue
            if at is not None and ran:
                wanted.outcome, wanted.told = "found", f"{wanted.said}: {where}: {around(text, at)}"
            elif at is not None:
                wanted.refused = wanted.refused or f"; {where} would match, but was not carried out"

    def verdict(self, gaps: list[str]) -> Verdict:
        for wanted in self.patterns:
            if not wanted.outcome:
                wanted.outcome = "not found"
                wanted.told = (f"{wanted.said}: not found in {_count(self.calls, 'call')} and "
                               f"{_count(self.messages, 'message')}{wanted.refused}")
        right = "found" if self.done else "not found"
        amiss = [wanted for wanted in self.patterns if wanted.outcome != right]
        fine = [wanted for wanted in self.patterns if wanted.outcome == right]
        told = [wanted.told for wanted in (*amiss, *fine)]
        certain = any(wanted.outcome != "not found" for wanted in amiss)
        if gaps and not certain and any(wanted.outcome == "not found" for wanted in self.patterns):
            return Verdict("error", f"the transcript does not tell all: {gaps[0]}", "\n".join([*told, *gaps]))
        if amiss:
            outcomes = [wanted.outcome for wanted in amiss]
            words = {"found": "should not be there"}
            said = ", ".join(f"{outcomes.count(outcome)} of {len(self.patterns)} {words.get(outcome, outcome)}"
                             for outcome in dict.fromkeys(outcomes))
            return Verdict("fail", f"{said}: what the agent did", "\n".join(told))
        return Verdict("pass", f"{'found in' if self.done else 'absent from'} what the agent did", "\n".join(told))


@define
class _Gaps:
    """What of the transcript is not there. told: it tells of something that an agent did, or of an end."""

    told: bool = False
    _lines: list[str] = Factory(list)
    _more: int = 0
    _tasks: dict[str, int] = Factory(dict)
    _sub_agents: set[str] = Factory(set)

    def add(self, event: Event) -> None:
        self.told = self.told or isinstance(event, Message | ToolCall | Gap | Ended)
        match event:
            case Gap():
                self._note(f"line {event.line}: {event.why}")
            case SubAgent():
                self._sub_agents.add(event.id)
            case ToolResult() if event.ran and event.call.tool == "task":
                self._tasks[event.call.id] = event.call.line

    def _note(self, said: str) -> None:
        if len(self._lines) < _LISTED:
            self._lines.append(said)
        else:
            self._more += 1

    def all(self) -> list[str]:
        """What is missing, in words."""
        if "session" not in self._sub_agents:
            for call, line in self._tasks.items():
                if call not in self._sub_agents:
                    self._note(f"line {line}: a sub-agent worked whose calls are not told")
        return [*self._lines, *([f"and {self._more} more"] if self._more else [])]


def call_text(call: ToolCall) -> str:
    """A call as the text that patterns are looked for in."""
    lines = [f"{call.tool}: {call.command or call.path or call.name}", f"tool: {call.name}"]
    lines += [f"{key}: {value}" for key, value in _values(call.input)]
    return "\n".join(lines)


def _values(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The values in an input with their keys, in order, however deep it is."""
    waiting: list[tuple[str, Any]] = [(str(key), value) for key, value in reversed(list(given.items()))]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [(f"{key}.{inner}", item) for inner, item in reversed(list(value.items()))]
        elif isinstance(value, list):
            waiting += [(f"{key}.{place}", value[place]) for place in reversed(range(len(value)))]
        else:
            said = {True: "true", False: "false", None: "null"}.get(value) if isinstance(value, bool | None) else None
            yield key, said or str(value)


def _where(line: int, what: str, sub_agent: str) -> str:
    return f"line {line}, {plain(what[:80])}{' of a sub-agent' if sub_agent else ''}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
