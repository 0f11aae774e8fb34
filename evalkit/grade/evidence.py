"""A program's output -> evidence: what matters first, short, and harmless to a terminal.

What a compiler or a test runner prints has its messages somewhere between a banner and a summary. So evidence begins
with the lines that tell, each with the two lines that follow it; then, under a rule, stands the output itself in its
own order, without its middle where it is long. A case may say what tells (`evidence` in a `define check`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["EVIDENCE_LIMIT", "OUTPUT_RULE", "excerpt", "plain"]

EVIDENCE_LIMIT = 8_000
"""Characters of a verdict's evidence."""
OUTPUT_RULE = "----- output -----"
_LONGEST_LINE = 400
_CONTEXT, _LONGEST_CONTEXT = 2, 160
"""Lines after a telling one that go with it, and characters of each (they may be a compiler's own command line)."""
_LAST = 4
"""Lines that tell where none says so: the last thing that a program says is mostly why it ended."""
_MARKER_ROOM = 40
"""Characters for "… N lines left out …"."""

_TELLING = r"""
    (?: ^ | [\s:(] ) (?: fatal\s )? (?i:error) (?: \[\w+\] | \sTS\d+ )? :   # compilers; zig's failed tests; tsc
  | ^ \s* \d+:\d+ \s+ error \s                                             # eslint
  | ^ \s* (?: ---\s )? FAIL (?: ED )? \b                                      # go, vitest, jest, pytest's summary
  | ^ not\ ok \b                                                             # TAP: node's own runner
  | ^ E \s{3}                                                                # pytest
  | ^ \s* [\w.]* (?: Error | Exception ) \b :                                # exceptions of Python and JavaScript
  | \b panic (?: ked )? \b | (?i:segmentation\ fault)
"""
# Escape sequences: colours and cursor moves (CSI), titles and links (OSC), and the short ones.
_ESCAPES = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])"


def plain(text: str) -> str:
    """A text as one line that cannot drive a terminal: no escape sequences, other control characters as `\\n`, `\\x07`.

    For whatever comes from an agent's files or programs, names of files included.
    """
    if text.isprintable():
        return text
    text = re.sub(_ESCAPES, "", text).expandtabs(2)
    return "".join(map(_visible, text))


def _visible(char: str) -> str:
    if char.isprintable():
        return char
    import unicodedata

    return " " if unicodedata.category(char) == "Zs" else char.encode("unicode_escape").decode()


def excerpt(output: str, limit: int = EVIDENCE_LIMIT, *, blocks: Sequence[str] = ()) -> str:
    """The evidence in a program's output, at most `limit` characters (of which some hundreds are needed).

    blocks: the parts of it that tell, where the case says what these are. They have more room than what is guessed.
    """
    lines = _lines(output)
    telling = _fitted(blocks, limit * 2 // 3) if blocks else _telling(lines, limit // 3)
    if telling == lines[: len(telling)]:  # it begins with them already
        return "\n".join(_shortened(lines, limit))
    head = "\n".join([*telling, OUTPUT_RULE, ""])
    return head + "\n".join(_shortened(lines, limit - len(head)))


def _fitted(blocks: Sequence[str], room: int) -> list[str]:
    """The lines of the blocks, as far as there is room; a block that stands there twice tells once."""
    lines = [line for block in dict.fromkeys(blocks) for line in _lines(block)]
    return lines[: _fitting(lines, room)]


def _lines(output: str) -> list[str]:
    """The lines as a terminal would have left them: what a lone carriage return wrote over is gone."""
    lines = []
    for raw in output.strip("\r\n").split("\n"):
        line = plain(raw.rstrip("\r").rpartition("\r")[2]).rstrip()
        lines.append(_cut(line, _LONGEST_LINE))
    return lines


def _cut(line: str, longest: int) -> str:
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _telling(lines: list[str], room: int) -> list[str]:
    """The lines that tell, with those that go with them; where none does, the last ones: all within the room."""
    picked: list[str] = []
    seen: set[str] = set()
    telling = re.compile(_TELLING, re.VERBOSE)
    last = [line for line in lines[-_LAST:] if line]
    last = last[len(last) - _fitting(last[::-1], room):]
    for index, line in enumerate(lines):
        if line in seen or not telling.search(line):
            continue
        seen.add(line)
        block = [line]
        for follower in lines[index + 1 : index + 1 + _CONTEXT]:
            if not follower or telling.search(follower):
                break
            block.append(_cut(follower, _LONGEST_CONTEXT))
        room -= _size(block)
        if room < 0:
            break
        picked += block
    return picked or last


def _shortened(lines: list[str], room: int) -> list[str]:
    """All lines, or the first and, more of them, the last."""
    if _size(lines) <= room:
        return lines
    room -= _MARKER_ROOM
    first = _fitting(lines, room * 2 // 5)
    last = _fitting(lines[:first - 1 if first else None:-1], room - _size(lines[:first]))
    left_out = len(lines) - first - last
    return [*lines[:first], f"… {left_out} lines left out …", *lines[len(lines) - last :]]


def _fitting(lines: list[str], room: int) -> int:
    """How many of the lines, from the first on, have room."""
    for count, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return count
    return len(lines)


def _size(lines: list[str]) -> int:
    return sum(len(line) + 1 for line in lines)
