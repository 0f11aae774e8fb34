"""A transcript of any format -> its events.

The first object that a format knows decides which one it is. Each record is decoded once, by the fast reader; only what
that one does not take is looked at more closely (mend.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import orjson

from evalkit.execute.transcripts import lines
from evalkit.execute.transcripts.claude import DENIALS, ClaudeFormat, denied_by
from evalkit.execute.transcripts.mend import Lost, Mended, Mender
from evalkit.execute.transcripts.model import Event, Gap
from evalkit.execute.transcripts.own import OwnFormat

__all__ = ["read_events"]


class _Format(Protocol):
    """A format. KINDS: the `type`s of its objects."""

    @property
    def KINDS(self) -> frozenset[str]: ...
    def take(self, line: int, event: Mapping[str, Any], out: list[Event]) -> None: ...
    def held(self, raw: bytes, *, whole: bool) -> str: ...
    def end(self, out: list[Event]) -> None: ...


def read_events(path: Path) -> Iterator[Event]:
    """The events of a transcript, in order. Every call has one result, a missing one at the end. Raises HarnessError.

    A file is read once, one record in memory at a time (and searched once more for a text before).
    """
    return _Reader(path).events()


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._format: _Format = ClaudeFormat(_denied(path))
        self._chosen = False
        self._alike = 0
        """The first line that is like one of a transcript, while it is not known which format the file has."""
        self._mender = Mender()

    def events(self) -> Iterator[Event]:
        out: list[Event] = []
        loads, mender = orjson.loads, self._mender
        chosen, take = False, self._format.take
        for number, raw, whole in lines.records(self._path):
            if raw is None:
                out.append(Gap(number, f"it is longer than {lines.LONGEST // (1024 * 1024)} MB"))
            else:
                try:
                    event = loads(raw)
                except orjson.JSONDecodeError:
                    if raw.isspace():
                        continue
                    self._mended(mender.mend(number, raw, self._kinds, whole=whole), out)
                    chosen, take = self._chosen, self._format.take
                else:
                    if type(event) is dict:
                        if not chosen:
                            self._choose(number, event)
                            chosen, take = self._chosen, self._format.take
                        take(number, event, out)
                    if mender.waiting is not None:
                        self._mended(mender.pass_by(number), out)
                        chosen, take = self._chosen, self._format.take
            if out:
                yield from out
                out.clear()
        self._mended(mender.give_up(), out)
        if not self._chosen and self._alike:
            out.append(Gap(self._alike, "it is like one of a transcript, but no line tells of which format"))
        self._format.end(out)
        yield from out

    @property
    def _kinds(self) -> frozenset[str]:
        return self._format.KINDS if self._chosen else self._format.KINDS | {"evalkit"}

    def _choose(self, line: int, event: Mapping[str, Any]) -> None:
        if OwnFormat.knows(event):
            self._format, self._chosen = OwnFormat(), True
        elif event.get("type") in self._format.KINDS:
            self._chosen = True
        elif event.get("type") in OwnFormat.KINDS and not self._alike:
            self._alike = line

    def _mended(self, found: Iterable[Mended], out: list[Event]) -> None:
        for item in found:
            if isinstance(item, Lost):
                if not self._chosen and not self._alike and item.raw.lstrip().startswith(b'{"type"'):
                    self._alike = item.line
                if why := self._format.held(item.raw, whole=item.whole):
                    out.append(Gap(item.line, why))
            else:
                if not self._chosen:
                    self._choose(*item)
                self._format.take(*item, out)


def _denied(path: Path) -> set[str]:
    """The calls of which the last line tells that they were denied."""
    found: set[str] = set()
    for raw in lines.records_with(path, DENIALS):
        mender = Mender()
        try:
            events = [orjson.loads(raw)]
        except orjson.JSONDecodeError:
            events = [item[1] for item in mender.mend(0, raw, ("result",), whole=True) if isinstance(item, tuple)]
        for event in events:
            if isinstance(event, dict):
                found |= denied_by(event)
    return found
