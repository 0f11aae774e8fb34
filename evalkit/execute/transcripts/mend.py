"""Records that no JSON reader takes -> the events that they hold all the same.

A record may have other programs' output around it, NUL bytes in it, bytes that are no UTF-8, numbers that nothing can
hold, half a surrogate pair (as JavaScript writes a text that was cut in a character), or another record in its middle,
with or without a line end: its own rest then stands on a later line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import Any, TypeAlias

from attrs import frozen

from evalkit.execute.transcripts.foreign import decode_at

__all__ = ["Lost", "Mender"]

_TRIES = 12
"""Places of a record at which an event is looked for in vain."""
_WAITS = 8
"""Lines after which the rest of a torn record is not waited for any more."""
_LARGEST = 4 * 1024 * 1024
"""Characters of a record that is looked through, and of a beginning that waits for its rest."""
_OBJECT = re.compile(r'\{\s*+"')


@frozen
class Lost:
    """A record that could not be read. whole: it had an end."""

    line: int
    raw: bytes
    whole: bool


Mended: TypeAlias = tuple[int, dict[str, Any]] | Lost


class Mender:
    """Takes the records that could not be read, in order; holds at most one beginning that waits for its rest."""

    def __init__(self) -> None:
        self._torn = ""
        self.waiting: Lost | None = None
        """The record of which that is the beginning."""

    def mend(self, line: int, raw: bytes, kinds: Collection[str], *, whole: bool) -> Iterator[Mended]:
        """What a record holds: events with their lines, of the kinds that there are, or that it is lost."""
        text = raw.decode("utf-8", "replace").replace("\0", "").lstrip("\ufeff")
        event, _ = _read(text)
        if event is not None:
            yield (line, event) if event.get("type") in kinds else Lost(line, raw, whole)
            return
        if self.waiting is not None:
            event, _ = _read(self._torn + text.rstrip("\r\n"))
            if event is not None and event.get("type") in kinds:
                yield self.waiting.line, event
                self._torn, self.waiting = "", None
                return
            if line - self.waiting.line > _WAITS:
                yield from self.give_up()
        if '"type"' not in text:
            yield Lost(line, raw, whole)
            return
        found = _among(text, kinds)
        outside, around = _without(text, found), None
        at = _find(outside, 0)
        cut = False
        if at >= 0:
            around, cut = _read(outside[at:])
        if around is not None:
            yield line, around
        for event, _, _ in found:
            yield line, event
        if around is not None or (at < 0 and found):
            return
        lost = Lost(line, outside.encode("utf-8", "replace") if found else raw, whole)
        if cut and whole and len(outside) - at <= _LARGEST:
            yield from self.give_up()
            self._torn, self.waiting = outside[at:].rstrip("\r\n"), lost
        else:
            yield lost

    def pass_by(self, line: int) -> Iterator[Mended]:
        """Tell that a record was read well: a beginning does not wait for ever."""
        if self.waiting is not None and line - self.waiting.line > _WAITS:
            yield from self.give_up()

    def give_up(self) -> Iterator[Mended]:
        """The beginning that still waits, if there is one."""
        if self.waiting is not None:
            yield self.waiting
        self._torn, self.waiting = "", None


def _read(text: str) -> tuple[dict[str, Any] | None, bool]:
    """The object that a text is, and where there is none, whether the text ends too early to be one."""
    try:
        found, end = decode_at(text.lstrip())
    except json.JSONDecodeError as error:
        return None, error.msg.startswith("Unterminated") or error.pos >= len(text.strip())
    whole = isinstance(found, dict) and not text.lstrip()[end:].strip()
    return (found if whole else None), False


def _among(text: str, kinds: Collection[str]) -> list[tuple[dict[str, Any], int, int]]:
    """The events within other text, with their beginnings and ends."""
    found: list[tuple[dict[str, Any], int, int]] = []
    text = text[:_LARGEST] if len(text) > _LARGEST else text
    at, tries = _find(text, 0), _TRIES
    while at >= 0 and tries:
        try:
            event, end = decode_at(text, at)
        except ValueError:
            tries, end = tries - 1, at + 1
        else:
            if event.get("type") in kinds:
                found.append((event, at, end))
        at = _find(text, end)
    return found


def _find(text: str, at: int) -> int:
    """Where the next object begins, or -1."""
    found = _OBJECT.search(text, at)
    return found.start() if found else -1


def _without(text: str, found: list[tuple[dict[str, Any], int, int]]) -> str:
    """A text without the events in it."""
    parts, last = [], 0
    for _, begin, end in found:
        parts.append(text[last:begin])
        last = end
    return "".join([*parts, text[last:]])
