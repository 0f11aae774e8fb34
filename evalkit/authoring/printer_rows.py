"""The lines of a formatted file, and the columns that they keep.

A row is a line made of cells; a cell is a run of tokens without a space between them. Rows that follow each other
without a blank line, a block or a text block between them are a group. Cells of a group that started in the same
column, at least one of them after more spaces than it needs, were aligned by the author: they are moved to the first
column that all of them can have. Every other cell follows the one before it, and so does a brace that opens a block
of several lines. (Cells that are aligned after formatting
were so before it, or need no spaces to be: formatting again moves nothing.)
"""

from __future__ import annotations

from collections import defaultdict

from attrs import define, field

__all__ = ["Cell", "Page", "Row"]


@define
class Cell:
    """`gap`: the spaces that it needs before it. `padded`: the author gave it more. `column`: where it was.

    `free`: it keeps no column with others.
    """

    text: str
    column: int
    gap: int
    padded: bool
    free: bool = False
    start: int = 0
    end: int = 0


@define
class Row:
    indent: int
    cells: list[Cell] = field(factory=list)

    def __str__(self) -> str:
        line, at = "", 0
        for cell in self.cells:
            line += " " * (cell.start - at) + cell.text
            at = cell.end
        return line


@define
class Page:
    """Rows and raw lines in order."""

    lines: list[Row | str] = field(factory=list)
    group: list[Row] = field(factory=list)

    def row(self, row: Row) -> None:
        self.lines.append(row)
        self.group.append(row)

    def raw(self, line: str) -> None:
        """A line that stays as it is: empty, or of a text block."""
        self.end_group()
        self.lines.append(line)

    def end_group(self) -> None:
        _align(self.group)
        self.group = []

    def text(self) -> str:
        self.end_group()
        return "".join(f"{line}\n" for line in self.lines)


def _align(group: list[Row]) -> None:
    """Give each cell of a group its place."""
    columns: defaultdict[int, list[tuple[Cell, Cell]]] = defaultdict(list)
    for row in group:
        first = row.cells[0]
        first.start, first.end = row.indent, row.indent + len(first.text)
        for before, cell in zip(row.cells, row.cells[1:], strict=False):
            columns[cell.column].append((before, cell))
    for _, pairs in sorted(columns.items()):  # cells to the left have their places already
        kept = [(before, cell) for before, cell in pairs if not cell.free]
        aligned = len(kept) > 1 and any(cell.padded for _, cell in kept)
        furthest = max((before.end + cell.gap for before, cell in kept), default=0)
        for before, cell in pairs:
            cell.start = furthest if aligned and not cell.free else before.end + cell.gap
            cell.end = cell.start + len(cell.text)
