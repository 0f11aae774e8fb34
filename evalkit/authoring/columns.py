"""Text for a terminal: columns, and words of a case file that cannot change what the terminal shows."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["columns", "count", "one_line"]


def one_line(text: str) -> str:
    """A text on one line, with control and direction-changing characters as escapes."""
    return "".join(char if char.isprintable() else f"\\u{{{ord(char):x}}}" for char in " ".join(text.split()))


def columns(rows: Sequence[Sequence[str]], *, gap: int = 3) -> list[str]:
    """Rows of equally many cells, one under the other. A column that is empty in every row is left out."""
    used = [index for index in range(len(rows[0]) if rows else 0) if any(row[index] for row in rows)]
    wide = {index: max(len(row[index]) for row in rows) for index in used}
    return [(" " * gap).join(f"{row[index]:<{wide[index]}}" for index in used).rstrip() for row in rows]


def count(number: int, what: str, many: str = "") -> str:
    """`1 check`, `2 checks`. many: the plural of what has no plain one."""
    return f"{number} {what if number == 1 else many or f'{what}s'}"
