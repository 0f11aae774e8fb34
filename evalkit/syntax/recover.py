"""Finds the statement around an error, so that the parser can go on without it.

Parsing stops at the first error; to report all errors of a file in one go, the statement that holds the error is
blanked out with spaces (offsets stay as they are) and the file is parsed again. This module only looks for the
statement's extent: a scan that knows strings, text blocks, regexes, comments, braces and separators.
"""

from __future__ import annotations

import re

__all__ = ["blank", "statement_at"]

_TOKEN = re.compile(
    r'(?P<skip>[ \t\f]+|\#[^\n]*|,(?:\s|\#[^\n]*)*)'
    r'|(?P<word>"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|/(?:\\.|[^/\\\n])+/[a-z]*|[A-Za-z0-9_.$-]+)'
    r"|(?P<open>\{)|(?P<close>\})|(?P<sep>\r?\n|;)|(?P<other>.)"
)


def statement_at(text: str, offset: int) -> tuple[int, int] | None:
    """The extent [start, end) of the innermost statement that holds `offset`, or None where no statement ends."""
    starts: list[int | None] = [None]
    for match in _TOKEN.finditer(text):
        kind, here = match.lastgroup, match.start()
        if kind == "skip":
            continue
        if kind == "sep":
            start = starts[-1]
            if start is not None and start <= offset <= here:
                return start, here
            starts[-1] = None
        elif kind == "close":
            start = starts[-1]
            if start is not None and start <= offset < here:
                return start, here
            if len(starts) == 1:  # a brace that closes nothing is a statement of its own
                if offset <= here:
                    return here, match.end()
                continue
            starts.pop()
        else:
            if starts[-1] is None:
                starts[-1] = here
            if kind == "open":
                starts.append(None)
    start = starts[0]
    if len(starts) == 1 and start is not None and start <= offset:
        return start, len(text)
    return None


def blank(text: str, start: int, end: int) -> str:
    """`text` with [start, end) turned into spaces; line ends stay."""
    return text[:start] + re.sub(r"[^\r\n]", " ", text[start:end]) + text[end:]
