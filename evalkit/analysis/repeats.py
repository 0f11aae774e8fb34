"""How large a regex becomes when its counted repetitions are written out.

The package `regex` writes them out when it compiles: `(ab{1000}){1000}` takes a million pieces, of some 300 bytes each.
So before compiling, the pattern is read once and its pieces are counted: a character, an escape or a set is one, a
group has those of its parts, and `{n}` or `{n,m}` makes n times as many of what it stands behind. An odd pattern
counts for more than it is: what is not understood may only make the number larger.

With the flag `x`, blanks and comments are dropped first. Where flags within a pattern turn that on or off, or change
what a set is, groups cannot be told from comments: then every repetition counts as being within all others.
"""

from __future__ import annotations

import re

__all__ = ["written_out"]

_SET = r"\[\^?\]?(?:\\.|[^\]\\])*\]?"
_PIECE = rf"\\.|{_SET}|\{{(?P<least>\d+)(?:,\d*)?\}}|(?P<none>\(\?(?:\#[^)]*|[a-zA-Z0-9-]*)\))|."
_FLAGS = r"\(\?[a-zA-Z0-9-]*[xV]"
_COUNT = r"\{(\d+)(?:,\d*)?\}"
_BLANK = rf"(\\.|{_SET})|\s+|#[^\n]*"


def written_out(pattern: str, flags: str, most: int) -> int:
    """The number of pieces, or more than that; `most` + 1 where there are more than `most`."""
    if "{" not in pattern:
        return min(len(pattern), most + 1)
    if re.search(_FLAGS, pattern):
        size = len(pattern)
        for count in re.findall(_COUNT, re.sub(r"\s+", "", pattern)):
            size = min(size * max(_number(count, most), 1), most + 1)
        return min(size, most + 1)
    if "x" in flags:
        pattern = re.sub(_BLANK, r"\1", pattern, flags=re.DOTALL)
    # For each open group: the pieces of its parts but the last, and those of the last, which a repetition counts for.
    open_groups = [(0, 0)]
    for piece in re.finditer(_PIECE, pattern, re.DOTALL):
        before, last = open_groups.pop()
        text = piece.group()
        if text == "(":
            open_groups += [(before, last), (0, 0)]
        elif text == ")" and open_groups:
            outer, previous = open_groups.pop()
            open_groups.append((outer + previous, before + last + 1))
        elif piece["least"]:
            open_groups.append((before, min(last * max(_number(piece["least"], most), 1), most + 1)))
        elif text in "*+?" or piece["none"]:  # a repetition behind flags or a comment is of what stands before
            open_groups.append((before, last))
        else:
            open_groups.append((before + last, 1))
    return min(sum(before + last for before, last in open_groups), most + 1)


def _number(digits: str, most: int) -> int:
    return int(digits) if len(digits) <= 9 else most + 1
