"""Lines by which a file is known wherever it is printed.

Of each file those lines are kept, as digests, that are long enough, and that the agent has from nowhere else: not from
its prompt, its workspace, or what it was given to read. Programs print lines with something before them (a number, a
file's name, a `+`), so a line is looked for at the end of the printed one: the last characters of a known line lead to
its length and digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from attrs import define, field

__all__ = ["LONG_ENOUGH", "KnownLine", "Lines", "Source"]

LONG_ENOUGH = 24
"""Characters of a line, without blanks around it, that says something."""
_FEWEST_WORDS = 3
_TAIL = 12
_LONGEST = 2_000
"""Characters; what is longer is data."""


class Source(NamedTuple):
    """A file with lines of its own. lines, characters: how much of it must be seen for it to count as seen.

    made: what is in it could be made by the agent's own tools as well, so that seeing it in the workspace says nothing.
    """

    what: str
    path: str
    lines: int
    characters: int
    made: bool


class KnownLine(NamedTuple):
    """A line of one or more files, of which only its length and digest are kept."""

    size: int
    digest: bytes
    sources: frozenset[int]


@define
class Lines:
    """The lines of some files. sources: these files, by number."""

    sources: list[Source] = field(factory=list)
    _tails: dict[str, dict[tuple[int, bytes], set[int]]] = field(factory=dict)
    _count: dict[int, int] = field(factory=dict)

    def add(self, source: Source, text: str) -> None:
        """Add a file's lines. Of one that has fewer than it takes, all must be seen."""
        number = len(self.sources)
        self.sources.append(source)
        for line in _telling(text):
            self._tails.setdefault(line[-_TAIL:], {}).setdefault((len(line), _digest(line)), set()).add(number)

    def drop(self, text: str) -> None:
        """Forget the lines of a text that an agent may know. It may have one of them several times."""
        for line, _, size, digest in self._matches(text):
            tail = line[-_TAIL:]
            held = self._tails.get(tail, {})
            held.pop((size, digest), None)
            if not held:
                self._tails.pop(tail, None)

    def seal(self) -> None:
        """All is added and dropped: count what each file has left."""
        self._count = dict.fromkeys(range(len(self.sources)), 0)
        for held in self._tails.values():
            for numbers in held.values():
                for number in numbers:
                    self._count[number] += 1

    def enough(self, number: int, lines: int, characters: int) -> bool:
        """Whether so many different lines of a file, with so many characters, mean that it was seen."""
        source = self.sources[number]
        if lines >= source.lines and characters >= source.characters:
            return True
        return not source.made and lines > 0 and lines == self._count[number]

    def found(self, text: str) -> Iterator[tuple[str, KnownLine]]:
        """The known lines of a text, each as it is printed."""
        if self._tails:
            for line, numbers, size, digest in self._matches(text):
                yield line, KnownLine(size, digest, frozenset(numbers))

    def _matches(self, text: str) -> list[tuple[str, set[int], int, bytes]]:
        found, tails = [], self._tails
        for printed in text.splitlines():
            line = printed.rstrip()
            held = tails.get(line[-_TAIL:])
            if held is not None:
                for (size, digest), numbers in held.items():
                    if len(line) >= size and _digest(line[-size:]) == digest:
                        found.append((line, numbers, size, digest))
        return found

    def __bool__(self) -> bool:
        return bool(self._tails)


def _telling(text: str) -> Iterable[str]:
    """The lines of a text that say something, without blanks around them."""
    for line in text.splitlines():
        line = line.strip()
        if LONG_ENOUGH <= len(line) <= _LONGEST and sum(map(str.isalnum, line)) >= len(line) // 2 \
                and len(line.split()) >= _FEWEST_WORDS:
            yield line


def _digest(line: str) -> bytes:
    return hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=8).digest()
