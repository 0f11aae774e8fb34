"""Finds where a broken statement ends, so that the parser can go on behind it.

A scan that knows strings, text blocks, regexes, comments, commas that continue a line, braces and separators, and
nothing else of the language. It starts at the error and reads each character once: a literal that is never closed
takes the rest of its line (a text block the rest of the file), so that what stands in it opens no block.
"""

from __future__ import annotations

import re

__all__ = ["statement_end"]

_TOKEN = re.compile(
    r'(?P<skip>[ \t\f]+|\#[^\n]*|,(?:[ \t\f\r\n]|\#[^\n]*)*)'
    r'|(?P<word>"""[\s\S]*?(?:"""|\Z)|"(?!"")(?:\\.|[^"\\\n])*"|/(?:\\.|[^/\\\n])+/[a-z]*|[A-Za-z0-9_.-]+)'
    r'|(?P<unclosed>["/][^\n]*)'
    r"|(?P<open>\{)|(?P<close>\})|(?P<sep>\r?\n|;)|(?P<other>.)"
)


def statement_end(text: str, offset: int) -> int:
    """Where the statement that `offset` is in ends: its separator, the brace that closes its block, or the end."""
    depth = 0
    for match in _TOKEN.finditer(text, offset):
        kind = match.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            if depth == 0:
                return match.start()
            depth -= 1
        elif kind == "sep" and depth == 0:
            return match.start()
    return len(text)
