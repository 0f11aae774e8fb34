"""Two texts -> their difference, in lines: the unified format without its head, within limits of time and size.

Equal lines at both ends are set aside first. What is left is compared by difflib, whose worst case is quadratic: where
it is too much, the old lines go and the new ones come. Line ends are those of the texts: a carriage return is part of
its line.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

__all__ = ["CONTEXT", "Difference", "difference"]

CONTEXT = 3
"""Equal lines that are shown around what differs."""
_MOST_WORK = 4_000_000
"""Lines of the one text times lines of the other that are compared."""
_MOST_TEXT = 60_000
"""Characters of a difference that are shown."""
_LONGEST_LINE = 2_000
_NO_END = "(no line end at the end of the file)"

Step: TypeAlias = tuple[str, int, int, int, int]


class Difference(NamedTuple):
    """text: lines that begin with ` `, `-`, `+` or `@`; cut: how many lines of it are not there."""

    text: str
    added: int
    removed: int
    cut: int = 0


def difference(old: str, new: str, *, whole: bool = False) -> Difference:
    """How a text became another. An empty text has no lines. whole: they are files: a missing last line end counts."""
    before, after = _lines(old, whole=whole), _lines(new, whole=whole)
    steps = _steps(before, after)
    added = sum(end - start for kind, _, _, start, end in steps if kind != "equal")
    removed = sum(end - start for kind, start, end, _, _ in steps if kind != "equal")
    shown: list[str] = []
    room, cut = _MOST_TEXT, 0
    for line in _written(before, after, steps):
        if (more := len(line) - 1 - _LONGEST_LINE) > 0:
            line = f"{line[:-more]}… {more:,} more characters"
        room -= len(line) + 1
        if room < 0:
            cut += 1
        else:
            shown.append(line)
    return Difference("\n".join(shown), added, removed, cut)


def _lines(text: str, *, whole: bool) -> list[str]:
    if not text:
        return []
    lines = text.split("\n")
    if not lines[-1]:
        return lines[:-1]
    return [*lines, _NO_END] if whole else lines


def _steps(before: Sequence[str], after: Sequence[str]) -> list[Step]:
    """What is equal and what is not, in order, as difflib tells it."""
    shorter = min(len(before), len(after))
    head = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    tail = next((at for at in range(shorter - head) if before[-1 - at] != after[-1 - at]), shorter - head)
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    steps: list[Step] = [("equal", 0, head, 0, head)] if head else []
    if len(old) * len(new) > _MOST_WORK:
        steps.append(("replace", head, head + len(old), head, head + len(new)))
    elif old or new:
        from difflib import SequenceMatcher

        found = SequenceMatcher(None, old, new).get_opcodes()
        steps += [(kind, a + head, b + head, c + head, d + head) for kind, a, b, c, d in found]
    if tail:
        steps.append(("equal", len(before) - tail, len(before), len(after) - tail, len(after)))
    return steps


def _written(before: Sequence[str], after: Sequence[str], steps: Sequence[Step]) -> Iterator[str]:
    for group in _groups(steps):
        old, new = group[0][1], group[0][3]
        lines, others = group[-1][2] - old, group[-1][4] - new
        yield f"@@ -{old + bool(lines)},{lines} +{new + bool(others)},{others} @@"
        for kind, start, end, begin, stop in group:
            if kind == "equal":
                yield from (f" {line}" for line in before[start:end])
            else:
                yield from (f"-{line}" for line in before[start:end])
                yield from (f"+{line}" for line in after[begin:stop])


def _groups(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """Steps with the equal lines around them; equal lines that are far from any difference are left out."""
    group: list[Step] = []
    for at, (kind, start, end, begin, stop) in enumerate(steps):
        if kind != "equal":
            group.append((kind, start, end, begin, stop))
            continue
        if group and (at == len(steps) - 1 or end - start > 2 * CONTEXT):
            kept = min(CONTEXT, end - start)
            yield [*group, ("equal", start, start + kept, begin, begin + kept)]
            group = []
        if at < len(steps) - 1:
            kept = min(CONTEXT, end - start) if not group else end - start
            group.append(("equal", end - kept, end, stop - kept, stop))
    if group:
        yield group
