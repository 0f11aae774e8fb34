"""A scripted model: rules that choose a reply by what a request holds.

The first rule that fits, and is not used up, answers. What a text pattern captures, and what the gateway itself knows
of a request, may stand in the reply as `{{name}}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any

import regex
from attrs import field, frozen

from evalkit.gateway.asked import Asked, Protocol
from evalkit.gateway.script import Answer, CutStream, Reply, Text, ToolCall
from evalkit.values import evolve

__all__ = ["KNOWN", "Pattern", "Rule", "Script", "SlowPattern", "When", "fill", "placeholders", "used_names"]

_LONGEST_SEARCH = 2.0
"""Seconds that a pattern may take on one text."""
_PLACEHOLDER = re.compile(r"(?<!\\)\{\{([A-Za-z_]\w*)\}\}")
KNOWN = {
    "model": "the model's name, as it was asked for",
    "user": "the text of the user's last turn",
    "result": "what the last tool calls came to",
    "workspace": "the agent's working directory, where the request tells it",
}
"""Placeholders that every reply knows."""


class SlowPattern(Exception):
    """A regular expression took too long."""


@frozen
class Pattern:
    """A text that is looked for, or a regular expression (library `regex`)."""

    written: str
    expression: regex.Pattern[str] | None = field(default=None, repr=False)

    def groups(self) -> frozenset[str]:
        return frozenset(self.expression.groupindex) if self.expression is not None else frozenset()

    def search(self, text: str) -> dict[str, str] | None:
        """What its groups captured; None where it is not in the text. Raises `SlowPattern`."""
        if self.expression is None:
            return {} if self.written in text else None
        try:
            found = self.expression.search(text, timeout=_LONGEST_SEARCH)
        except TimeoutError:
            raise SlowPattern(f"{self.written} took over {_LONGEST_SEARCH:g} s") from None
        return None if found is None else {name: text or "" for name, text in found.groupdict().items()}


@frozen
class When:
    """What a request must hold: all that is said here. Tuples of patterns hold where each of them does."""

    protocols: tuple[Protocol, ...] = ()
    models: tuple[str, ...] = ()
    user: tuple[Pattern, ...] = ()
    system: tuple[Pattern, ...] = ()
    any: tuple[Pattern, ...] = ()
    result: tuple[Pattern, ...] = ()
    tools: tuple[str, ...] = ()
    turn: int | None = None
    nth: int | None = None
    side: bool | None = None
    stream: bool | None = None
    unless: When | None = None

    def groups(self) -> frozenset[str]:
        """Names that its patterns capture."""
        return frozenset().union(*(pattern.groups() for pattern in
                                   (*self.user, *self.system, *self.any, *self.result)))

    def fits(self, asked: Asked) -> dict[str, str] | None:
        """What was captured, or None. `nth` is not looked at."""
        if self.protocols and asked.protocol not in self.protocols:
            return None
        if self.models and not any(fnmatchcase(asked.model, glob) for glob in self.models):
            return None
        if not set(self.tools) <= set(asked.tools):
            return None
        if self.turn not in (None, asked.number) or self.side not in (None, asked.side):
            return None
        if self.stream not in (None, asked.stream):
            return None
        captured = self._captured(asked)
        if captured is None or (self.unless is not None and self.unless.fits(asked) is not None):
            return None
        return captured

    def _captured(self, asked: Asked) -> dict[str, str] | None:
        captured: dict[str, str] = {}
        results = [said.text for said in asked.results]
        for patterns, texts in ((self.user, [asked.user]), (self.system, [asked.system]), (self.result, results),
                                (self.any, list(asked.texts()) if self.any else [])):
            for pattern in patterns:
                found = next((groups for text in texts if (groups := pattern.search(text)) is not None), None)
                if found is None:
                    return None
                captured |= found
        return captured


@frozen
class Rule:
    """answers: one for each request that it fits; the last is repeated. times: how many requests it answers at most.

    place: `file:line`, for messages.
    """

    name: str
    when: When
    answers: tuple[Answer, ...]
    times: int | None = None
    place: str = ""


@frozen
class Script:
    """A scripted model. path: where it was read."""

    path: str
    rules: tuple[Rule, ...]
    about: str = ""


def placeholders(value: Any) -> frozenset[str]:
    """The names that stand in a text, or in the texts of plain data."""
    if isinstance(value, str):
        return frozenset(_PLACEHOLDER.findall(value))
    if isinstance(value, Mapping):
        return frozenset().union(*(placeholders(each) for each in value.values()))
    if isinstance(value, list | tuple):
        return frozenset().union(*(placeholders(each) for each in value))
    return frozenset()


def fill(answer: Answer, known: Mapping[str, str]) -> Answer:
    """The answer with all placeholders filled in. Raises KeyError for one that is not known."""
    if isinstance(answer, CutStream):
        return evolve(answer, reply=_filled(answer.reply, known))
    return _filled(answer, known) if isinstance(answer, Reply) else answer


def _filled(reply: Reply, known: Mapping[str, str]) -> Reply:
    blocks = tuple(Text(_value(block.text, known)) if isinstance(block, Text)
                   else ToolCall(block.name, _value(dict(block.input), known)) for block in reply.blocks)
    return evolve(reply, blocks=blocks)


def _value(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda found: known[found[1]], value).replace("\\{{", "{{")
    if isinstance(value, Mapping):
        return {name: _value(each, known) for name, each in value.items()}
    if isinstance(value, list):
        return [_value(each, known) for each in value]
    return value


def used_names(answers: Iterable[Answer]) -> frozenset[str]:
    """The placeholders of answers."""
    found: frozenset[str] = frozenset()
    for answer in answers:
        reply = answer.reply if isinstance(answer, CutStream) else answer
        if isinstance(reply, Reply):
            found |= placeholders([block.text if isinstance(block, Text) else dict(block.input)
                                   for block in reply.blocks])
    return found
