"""A case file's text, read with limits, so that no file can make the compiler slow or wrong."""

from __future__ import annotations

import codecs
import stat
from bisect import bisect_right
from functools import cached_property
from pathlib import Path

from evalkit.diagnostics import CaseErrors, Diagnostic, Span
from evalkit.values import Value, field

__all__ = ["MAX_BYTES", "Source", "read_source"]

MAX_BYTES = 1_000_000


class Source(Value):
    """A text and where it is from. `shown` is the path as messages give it: relative to the project."""

    path: Path
    shown: str
    text: str = field(repr=False)

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        while at := self.text.find("\n", starts[-1]) + 1:
            starts.append(at)
        return starts

    def position(self, offset: int) -> tuple[int, int]:
        """The line and the column of a character, both counted from 1, the column in characters."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def span(self, start: int, end: int) -> Span:
        return Span(self, start, end)


def read_source(path: Path, shown: str) -> Source:
    """Read a case file.

    Raises `CaseErrors` where it is no regular file, cannot be read, is over 1 MB, is not UTF-8 or holds a NUL.
    """
    if not shown.isprintable():  # the bytes of a name that is not UTF-8 too
        shown = shown.encode("unicode_escape").decode()
        raise _refuse(path, shown, "E001", "the file's name holds characters that cannot be shown", "rename it")
    try:
        kind = path.stat().st_mode
        if not stat.S_ISREG(kind):  # opening a pipe would wait for its writer
            what = "it is a folder" if stat.S_ISDIR(kind) else "it is no regular file"
            raise _refuse(path, shown, "E001", f"cannot read the file: {what}")
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise _refuse(path, shown, "E001", f"cannot read the file: {error.strerror or error}") from error
    if len(raw) > MAX_BYTES:
        raise _refuse(path, shown, "E002", "the file is larger than 1 MB",
                      "a case file holds a description: move long texts and data to files beside it")
    try:
        text = raw.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise _refuse(path, shown, "E003", f"the file is not UTF-8 (byte {error.start}, line {line})",
                      "save it as UTF-8") from error
    if "\0" in text:
        at = text.index("\0")
        source = Source(path, shown, text)
        raise CaseErrors([Diagnostic("E003", "the file holds a NUL character", source.span(at, at + 1))])
    return Source(path, shown, text)


def _refuse(path: Path, shown: str, code: str, message: str, help_line: str = "") -> CaseErrors:
    return CaseErrors([Diagnostic(code, message, Source(path, shown, "").span(0, 0), help=help_line)])
