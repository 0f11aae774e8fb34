"""A terminal for tests: what a person sees after some bytes, and a pseudo-terminal that a program takes for one."""

from __future__ import annotations

import fcntl
import os
import re
import select
import struct
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from attrs import define, field

__all__ = ["Clock", "Terminal", "pseudo_terminal", "seen"]

_TOKEN = re.compile(r"\x1b\[(?P<number>[0-9;?]*)(?P<code>[A-Za-z])|(?P<char>.)", re.DOTALL)


@define
class Clock:
    """Time that passes when a test says so."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def seen(text: str, columns: int = 80) -> list[str]:
    """The lines that a terminal of this width shows, without blanks at their ends. Only what rich writes is known."""
    rows, row, column = [""], 0, 0
    for token in _TOKEN.finditer(text):
        char, code = token["char"], token["code"]
        if char == "\n":
            row, column = row + 1, 0
            if row == len(rows):
                rows.append("")
        elif char == "\r":
            column = 0
        elif char is not None:
            assert char.isprintable(), repr(char)
            if column == columns:
                row, column = row + 1, 0
                if row == len(rows):
                    rows.append("")
            rows[row] = f"{rows[row][:column]:<{column}}{char}{rows[row][column + 1:]}"
            column += 1
        elif code == "A":
            row = max(0, row - int(token["number"]))
        elif code == "K":
            assert token["number"] == "2"
            rows[row] = ""
        else:
            assert code == "m", token.group()
    while rows and not rows[-1].strip():
        rows.pop()
    return [line.rstrip() for line in rows]


@define
class Terminal:
    """The master's side of a pseudo-terminal. written: all that came so far."""

    master: int
    stream: IO[str]
    written: str = field(default="")

    def resize(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def hang_up(self) -> None:
        """The window is closed: whatever is written is an error from now on."""
        os.close(self.master)
        self.master = -1

    def wait_for(self, text: str) -> str:
        """Read until a text has come, for at most 20 seconds; what came with it."""
        until, start = time.monotonic() + 20, len(self.written)
        while text not in self.written[start:]:
            assert time.monotonic() < until, f"{text!r} is not in {self.written[start:]!r}"
            self._read(0.1)
        return self.written[start:]

    def rest(self) -> str:
        """All that was ever written, once nothing more comes."""
        while self._read(0.05):
            pass
        return self.written

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], seconds)
        if ready:
            self.written += os.read(self.master, 1 << 16).decode()
        return bool(ready)


@contextmanager
def pseudo_terminal(columns: int = 80, lines: int = 24) -> Iterator[Terminal]:
    master, slave = os.openpty()
    stream = os.fdopen(slave, "w", encoding="utf-8")
    terminal = Terminal(master, stream)
    terminal.resize(columns, lines)
    try:
        yield terminal
    finally:
        with suppress(OSError):  # what could not be written to a window that was closed
            stream.close()
        if terminal.master >= 0:
            terminal.hang_up()
