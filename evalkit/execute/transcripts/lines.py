"""A transcript's file -> its records as bytes, one at a time: lines, or the elements of one JSON array.

An array may be printed in any way, over many lines or in one. Its elements are found without reading it whole: a
regular expression steps over strings and finds brackets. What stands before an array must be other programs' output;
what follows it is read as lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TypeAlias

from evalkit.errors import HarnessError

__all__ = ["LONGEST", "Record", "records", "records_with"]

LONGEST = 64 * 1024 * 1024
"""Bytes of a record; a longer one is not read."""
_CHUNK = 1 << 18
_HEAD = 1 << 16
"""Bytes at the beginning in which an array may begin."""
_ARRAY = re.compile(rb"^(?:\xef\xbb\xbf)?[ \t\r\0]*+\[\s*+(?=\{)", re.MULTILINE)
_OBJECT = re.compile(rb"^(?:\xef\xbb\xbf)?[ \t\r\0]*+\{", re.MULTILINE)
# Groups that are never tried again are written `(?>…*)`, not `…*+`: before Python 3.11.5 that goes wrong where the last
# try fails half way (CPython issue 106052).
_TOKEN = re.compile(rb'(?>(?:[^"{}\[\]]++|"(?>(?:[^"\\]++|\\.)*)")*)(["{}\[\]])', re.DOTALL)
"""A bracket, with all strings before it; or the beginning of a string that has no end yet."""
_STRING_END = re.compile(rb'(?>(?:[^"\\]++|\\.)*)("?)', re.DOTALL)

Record: TypeAlias = tuple[int, bytes | None, bool]
"""Its number, its bytes (None: it is too long), and whether it has an end."""


def records(path: Path) -> Iterator[Record]:
    """The records of a file. Raises HarnessError where it cannot be read."""
    try:
        with path.open("rb") as file:
            number = 0
            if start := _array(file):
                file.seek(start)
                for number, raw, whole in _elements(file):
                    yield number, raw, whole
            yield from _lines(file, number)
    except OSError as error:
        raise HarnessError(f"cannot read {path}: {error.strerror or error}") from error


def records_with(path: Path, text: bytes) -> Iterator[bytes]:
    """The records that hold a text, much faster than by reading all of them. Raises HarnessError."""
    try:
        with path.open("rb") as file:
            places = list(_places(file, text))
            if places and _array(file):
                yield from (raw for _, raw, _ in records(path) if raw is not None and text in raw)
                return
            end = 0
            for place in places:
                if place >= end:
                    file.seek(_line_start(file, place))
                    raw = file.readline(LONGEST)
                    end = file.tell()
                    yield raw
    except OSError as error:
        raise HarnessError(f"cannot read {path}: {error.strerror or error}") from error


def _lines(file: IO[bytes], number: int) -> Iterator[Record]:
    while raw := file.readline(LONGEST):
        number += 1
        if len(raw) == LONGEST and not raw.endswith(b"\n"):
            while (rest := file.readline(LONGEST)) and not rest.endswith(b"\n"):
                pass
            yield number, None, True
        else:
            yield number, raw, raw[-1] == 0x0A


# ---- one array ----
def _array(file: IO[bytes]) -> int:
    """Where the first element of the array begins that the file is, or 0. The file stands at its beginning then."""
    file.seek(0)
    head = file.read(_HEAD)
    file.seek(0)
    found = _ARRAY.search(head)
    return found.end() if found and not _OBJECT.search(head, 0, found.start()) else 0


def _elements(file: IO[bytes]) -> Iterator[Record]:
    """The objects and arrays of an array of which `[` was read. The file stands behind its `]` then.

    What stands between them and is no comma is a record, too: after damage that may be all the rest.
    """
    data, at, begin, depth, number = b"", 0, 0, 0, 0  # begin: of the element, or of what stands between two
    in_string = too_long = False
    while chunk := file.read(_CHUNK):
        kept = at if too_long else begin
        data, at, begin = data[kept:] + chunk, at - kept, 0
        if in_string:
            rest = _STRING_END.match(data, at)
            assert rest is not None  # it matches nothing, too
            at, in_string = rest.end(), not rest[1]
        while not in_string:
            token = _TOKEN.match(data, at)
            if token is None:  # all that is left are other characters and whole strings
                at = len(data)
                break
            at = token.end()
            mark = data[at - 1]
            if mark == 0x22:
                in_string = True
                rest = _STRING_END.match(data, at)
                assert rest is not None
                at = rest.end()
            elif mark in b"{[":
                if not depth:
                    yield from _between(number, None if too_long else data[begin : at - 1])
                    begin, too_long = at - 1, False
                depth += 1
            elif depth:
                depth -= 1
                if not depth:
                    number += 1
                    yield number, None if too_long else data[begin:at], True
                    begin, too_long = at, False
            elif mark == 0x5D:
                yield from _between(number, None if too_long else data[begin : at - 1])
                file.seek(at - len(data), 1)
                return
        too_long = too_long or len(data) - begin > LONGEST
    if depth:
        yield number + 1, None if too_long else data[begin:], False
    else:
        yield from _between(number, None if too_long else data[begin:])


def _between(number: int, text: bytes | None) -> Iterator[Record]:
    if text is None or text.strip(b", \t\r\n\0"):
        yield number + 1, text, True


# ---- places of a text ----
def _places(file: IO[bytes], text: bytes) -> Iterator[int]:
    """Where a text stands, in order."""
    tail, before = b"", 0  # before: where the chunk begins
    while chunk := file.read(1 << 20):
        seam = tail + chunk[: len(text) - 1]
        if (at := seam.find(text)) >= 0:
            yield before - len(tail) + at
        at = chunk.find(text)
        while at >= 0:
            yield before + at
            at = chunk.find(text, at + len(text))
        before += len(chunk)
        tail = seam[1 - len(text):] if len(chunk) < len(text) else chunk[1 - len(text):]


def _line_start(file: IO[bytes], place: int) -> int:
    """The place where the line begins that a place is in; of a line that is too long, a later place."""
    end = place
    while end > 0 and place - end < LONGEST:
        begin = max(0, end - (1 << 16))
        file.seek(begin)
        if (at := file.read(end - begin).rfind(b"\n")) >= 0:
            return begin + at + 1
        end = begin
    return end
