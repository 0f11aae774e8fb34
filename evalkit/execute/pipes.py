"""Our ends of a child's pipes, neither of which ever blocks."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO

__all__ = ["Feed", "Lines"]

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of a line; a longer one comes in pieces."""
_LEFT_IN_PIPE = 4 * 1024 * 1024
"""Bytes that are read from a pipe after the end: more than a pipe holds."""


class Lines:
    """The reading end of a pipe, cut into lines."""

    def __init__(self, file: IO[bytes], on_line: Callable[[bytes], None]) -> None:
        self.file = file
        self.size = 0
        self._on_line = on_line
        self._begun: list[bytes] = []
        self._length = 0
        os.set_blocking(file.fileno(), False)

    def read(self) -> bool:
        """Take what is there; False at the end of the pipe."""
        try:
            data = os.read(self.file.fileno(), 1 << 18)
        except BlockingIOError:
            return True
        if not data:
            self._flush()
            return False
        self.size += len(data)
        *whole, rest = data.split(b"\n")
        for part in whole:
            self._begun.append(part)
            self._flush(always=True)
        self._begun.append(rest)
        self._length += len(rest)
        if self._length >= LONGEST_LINE:
            self._flush()
        return True

    def drain(self) -> None:
        """Take what is left after the end, and no more than a pipe holds: somebody may still write into it."""
        until = self.size + _LEFT_IN_PIPE
        while not self.file.closed and self.size < until:
            before = self.size
            if not self.read() or self.size == before:
                break
        self._flush()

    def _flush(self, *, always: bool = False) -> None:
        line = b"".join(self._begun)
        self._begun, self._length = [], 0
        if line or always:
            self._on_line(line.removesuffix(b"\r"))


class Feed:
    """The writing end of a pipe, and what is still to be written."""

    def __init__(self, file: IO[bytes], data: bytes) -> None:
        self.file = file
        self._left = memoryview(data)
        os.set_blocking(file.fileno(), False)

    def write(self) -> bool:
        """Write what fits; False when all is written, or nobody reads any more."""
        try:
            self._left = self._left[os.write(self.file.fileno(), self._left) :] if self._left else self._left
        except BlockingIOError:
            return True
        except OSError:  # the child closed its input: it may do without
            return False
        return bool(self._left)
