"""Finds many byte strings, and long parts of them, in one pass over the data.

Each string is cut into pieces of 12 bytes, so that a run of `PROMISED` bytes of it holds a whole piece wherever it was
cut. Of each piece four bytes in a row are its anchor, chosen so that it begins with a byte that texts rarely have. One
regular expression looks for all anchors; only where one is found is something compared. A find grows to both sides as
far as it is like the string.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evalkit.values import Value, field

__all__ = ["PROMISED", "Finder"]

_PIECE = 12
PROMISED = 2 * _PIECE - 1
"""Bytes of a run of a long value that is always found."""
_ANCHOR = 4
_DISTINCT = 5
"""Different bytes that a mere part of a value must have: `000000000000` is everybody's."""
_COMMON = b" etaoinsrldhcumpfgybw\"_.,:\\/-=()vk0123TSAICERPNDLMFO458679xBHUWGYVjzq"
"""Bytes of transcripts, the most frequent first; what is not among them is rarer."""
_ESCAPE = re.compile(rb"\\u[0-9a-fA-F]{0,3}\Z")


class _Piece(NamedTuple):
    """A part of a string that is looked for. offset: of its anchor within the string."""

    whole: bytes
    begin: int
    end: int
    offset: int
    said: bytes


class Finder(Value):
    """Finds what it was made for. `clean` replaces it."""

    _pattern: re.Pattern[bytes] = field(repr=False)
    _pieces: dict[bytes, list[_Piece]] = field(repr=False)

    @classmethod
    def of(cls, wanted: Iterable[tuple[bytes, bytes, int]]) -> Finder:
        """wanted: strings of at least 8 bytes, each with what is put in its place, and how many bytes at its beginning
        are not looked for by themselves."""
        parts = [(whole, begin, end, said) for whole, said, public in wanted for begin, end in _cut(whole, public)]
        firsts = _rare_bytes([whole[begin : end - _ANCHOR + 1] for whole, begin, end, _ in parts])
        pieces: dict[bytes, list[_Piece]] = {}
        for whole, begin, end, said in parts:
            offset = min((firsts.get(whole[at], len(firsts)), at) for at in range(begin, end - _ANCHOR + 1))[1]
            pieces.setdefault(whole[offset : offset + _ANCHOR], []).append(_Piece(whole, begin, end, offset, said))
        return cls(re.compile(_alternatives(sorted(pieces)), re.DOTALL), pieces)

    def clean(self, data: bytes) -> bytes:
        """The data with every find replaced. Equal data where there is none."""
        finds = self._finds(data)
        if not finds:
            return data
        finds.sort(key=lambda find: (find[0], -find[1]))
        done, at = [], 0
        start, end, said = finds[0]
        for begins, ends, told in [*finds[1:], (len(data) + 1, 0, b"")]:
            if begins < end or (begins == end and told == said):  # two forms, or parts, of the same
                if ends - begins > end - start:
                    said = told
                end = max(end, ends)
                continue
            done += [data[at:start], said]
            at, start, end, said = end, begins, ends, told
        return b"".join([*done, data[at:]])

    def _finds(self, data: bytes) -> list[tuple[int, int, bytes]]:
        found: list[tuple[int, int, bytes]] = []
        search, at = self._pattern.search, 0
        over: dict[tuple[bytes, int], int] = {}
        while (match := search(data, at)) is not None:
            anchor = match.start()
            at = anchor + 1
            for piece in self._pieces[data[anchor : anchor + _ANCHOR]]:
                first = anchor - piece.offset
                begin, end = first + piece.begin, first + piece.end
                if begin < 0 or over.get((piece.whole, first), -1) >= end:  # a piece of what was found just now
                    continue
                if data[begin:end] == piece.whole[piece.begin : piece.end]:
                    start, stop = _grown(data, piece, first)
                    over[piece.whole, first] = stop
                    found.append((*_whole_escapes(data, start, stop), piece.said))
        return found


def _grown(data: bytes, piece: _Piece, first: int) -> tuple[int, int]:
    """The piece with all of its string that stands around it. first: where the string would begin."""
    begin, end, whole = piece.begin, piece.end, piece.whole
    while begin > 0 and first + begin > 0 and data[first + begin - 1] == whole[begin - 1]:
        begin -= 1
    while end < len(whole) and first + end < len(data) and data[first + end] == whole[end]:
        end += 1
    return first + begin, first + end


def _whole_escapes(data: bytes, start: int, end: int) -> tuple[int, int]:
    """A find that cuts no escape of JSON in two: what is left must be JSON still."""
    if begun := _ESCAPE.search(data, max(0, start - 5), start):
        start = begun.start()
    if _is_odd(data, start):
        start -= 1
    if begun := _ESCAPE.search(data, max(start, end - 5), end):
        end = min(len(data), begun.start() + 6)
    elif _is_odd(data, end):
        end = min(len(data), end + 1)
    return start, end


def _is_odd(data: bytes, at: int) -> bool:
    """Whether an odd number of backslashes stands before a place: the last one begins an escape."""
    first = at
    while first > 0 and data[first - 1] == 0x5C and at - first < 64:
        first -= 1
    return (at - first) % 2 == 1


def _cut(whole: bytes, public: int) -> list[tuple[int, int]]:
    """The pieces that a string is looked for by: one, where it is short. The last one takes what is left."""
    starts = [at for at in range(public, len(whole), _PIECE) if len(whole) - at >= _PIECE] or [0]
    pieces = list(zip(starts, [*starts[1:], len(whole)], strict=True))
    if len(pieces) == 1:
        return [(0, len(whole))]
    telling = [(begin, end) for begin, end in pieces if len(set(whole[begin:end])) >= _DISTINCT]
    return telling or [(0, len(whole))]


def _rare_bytes(pieces: Sequence[bytes]) -> dict[int, int]:
    """A few bytes of which each of the pieces has one, rare ones first, with their ranks."""
    weight = {byte: (len(_COMMON) - rank) ** 2 + 400 for rank, byte in enumerate(_COMMON)}
    holders: dict[int, set[int]] = {}
    for number, piece in enumerate(pieces):
        for byte in piece:
            holders.setdefault(byte, set()).add(number)
    left, ranks = set(range(len(pieces))), dict[int, int]()
    while left:
        best = max(sorted(holders), key=lambda byte: len(holders[byte] & left) / weight.get(byte, 400))
        ranks[best] = len(ranks)
        left -= holders.pop(best)
    return ranks


def _alternatives(anchors: Sequence[bytes]) -> bytes:
    """A regular expression for any of these, sorted, that shares what they begin with."""
    if len(anchors) == 1:
        return re.escape(anchors[0])
    groups: dict[bytes, list[bytes]] = {}
    for anchor in anchors:
        groups.setdefault(anchor[:1], []).append(anchor[1:])
    parts = [re.escape(first) + (_alternatives(rest) if rest != [b""] else b"") for first, rest in groups.items()]
    return parts[0] if len(parts) == 1 else b"(?:" + b"|".join(parts) + b")"
