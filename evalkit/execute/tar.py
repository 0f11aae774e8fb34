"""Reads tars as `pack` writes them (pack.py): files, folders and links. A pax header tells names that are long or not
ASCII.

Nothing else is read: what is damaged, or was made by somebody else, is refused. (tarfile reads all kinds there are.
Importing it takes a run after an edit 2 ms, and reading an archive of two small files ten times as long as here.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalkit.values import Value

__all__ = ["BadTar", "Member", "TarReader"]

_BLOCK = 512
_RECORD = 20 * _BLOCK
"""Bytes of which a whole tar has a multiple."""
_CHUNK = 1 << 20
"""Bytes that are read at once: what a damaged header says is not to be relied on."""


class BadTar(ValueError):
    """A tar that is damaged, or not of ours."""


class Member(Value):
    """kind: file, program, folder or link. size: bytes of a file. target: the name that a link leads to."""

    name: str
    kind: bytes
    size: int
    target: str

    @property
    def is_file(self) -> bool:
        return self.kind in (b"file", b"program")


class TarReader:
    """The members of a tar, in order. The data of one are read before the next is asked for, or never.

    plain: its bytes, to be read. What it holds raises `BadTar` where it is no tar of ours.
    """

    def __init__(self, plain: Any) -> None:
        self._plain = plain
        self._size = self._left = self._padding = 0  # what was read; of the member's data, and behind them, is left

    def __iter__(self) -> Iterator[Member]:
        names: dict[str, str] = {}
        while True:
            self.data()
            header = self._exactly(self._padding + _BLOCK)[self._padding :]
            if not header.strip(b"\0"):
                self._end()
                return
            kind, size = _checked(header), _number(header[124:136])
            self._left, self._padding = size, -size % _BLOCK
            if kind == b"x":
                names = _records(self.data())
                continue
            yield _member(header, kind, size, names)
            names = {}

    def data(self, most: int | None = None) -> bytes:
        """What nobody has read yet of a member's data, or so many bytes of it."""
        size = self._left if most is None else min(most, self._left)
        self._left -= size
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        parts = []
        while size:
            part: bytes = self._plain.read(min(size, _CHUNK))
            if not part:
                raise BadTar("it ends too early")
            self._size += len(part)
            size -= len(part)
            parts.append(part)
        return b"".join(parts)

    def _end(self) -> None:
        """A tar ends with two empty blocks at least: one that was cut between two members is told by that."""
        if self._exactly(_BLOCK).strip(b"\0"):
            raise BadTar("something stands behind its end")
        while part := self._plain.read(_CHUNK):
            self._size += len(part)
        if self._size % _RECORD:
            raise BadTar("it ends too early")


_KINDS = {b"0": b"file", b"5": b"folder", b"2": b"link"}


def _checked(header: bytes) -> bytes:
    """The type of a member, or of a header for the next one."""
    kind = header[156:157]
    if sum(header) - sum(header[148:156]) + 8 * ord(" ") != _number(header[148:156]):
        raise BadTar("a header is damaged")
    if header[257:265] != b"ustar\x0000" or header[345:500].strip(b"\0") or kind not in (*_KINDS, b"x"):
        raise BadTar(f"{_text(header[:100])!r} is neither file, folder nor link of ours")
    return kind


def _member(header: bytes, kind: bytes, size: int, names: dict[str, str]) -> Member:
    name = names.get("path", _text(header[:100]))
    if kind == b"5":
        name = name.rstrip("/")
    is_program = kind == b"0" and _number(header[100:108]) & 0o100
    return Member(name, b"program" if is_program else _KINDS[kind], size,
                  names.get("linkpath", _text(header[157:257])))


def _number(field: bytes) -> int:
    try:
        number = int(field.strip(b" \0") or b"0", 8)
    except ValueError:
        number = -1
    if number < 0:
        raise BadTar("a header is damaged")
    return number


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", "surrogateescape")


def _records(data: bytes) -> dict[str, str]:
    """What a pax header says: the names of the member that follows."""
    found = {}
    while data:
        digits = data.partition(b" ")[0]
        size = int(digits) if digits.isdigit() else 0
        key, is_there, value = data[len(digits) + 1 : size - 1].partition(b"=")
        if not is_there or key not in (b"path", b"linkpath") or data[size - 1 : size] != b"\n":
            raise BadTar("a header is damaged, or tells more than a name")
        found[key.decode()] = value.decode()
        data = data[size:]
    return found
