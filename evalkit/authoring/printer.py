"""Prints a case file in its canonical form: text -> tokens -> statements -> rows -> text.

The rules, which hold for every statement alike:

* One statement a line, two spaces of indentation a block. `;` separates the statements of a block that is on one
  line; such a block stays so where its line fits in 100 columns, and is opened where it does not.
* One space between words, `"a", "b"`, `name(key: value)`, two spaces before a comment behind a statement.
* Columns that the author aligned stay aligned (printer_rows.py); other runs of spaces become one.
* A statement's further lines (after a comma, in brackets) are indented by two; in brackets, by two for each.
* A text block's closing quotes are indented by two more than its statement, its lines move along.
* At most one blank line, none at the start or the end of a block. Line ends are \\n, tabs are spaces.

Only spaces, line ends and separators change: tokens and comments stay, in their order.
"""

from __future__ import annotations

from evalkit.authoring.printer_rows import Cell, Page, Row
from evalkit.authoring.printer_tokens import CannotFormat, Token, at_indent, tokens
from evalkit.authoring.printer_tree import Block, Break, Item, Part, tree

__all__ = ["WIDTH", "CannotFormat", "format_text"]

WIDTH = 100
"""Columns that a block on one line may reach."""
_STEP = 2
_NO_SPACE_BEFORE = ("comma", "colon", "separator", "right")


def format_text(text: str) -> str:
    """The canonical form of a file. Raises `CannotFormat` for a text that is none."""
    printer = _Printer()
    printer.items(tree(tokens(text)), 0)
    return printer.page.text()


class _Printer:
    def __init__(self) -> None:
        self.page = Page()
        self.line = Row(0)
        self.last: Token | None = None  # the last token of the line
        self.last_end = 0  # where that token ended in the author's line

    # ---- lines ----
    def begin(self, indent: int) -> None:
        self.line, self.last, self.last_end = Row(indent), None, 0

    def end(self) -> None:
        if self.line.cells:
            self.page.row(self.line)
        self.begin(self.line.indent)

    def put(self, token: Token, *, free: bool = False) -> None:
        """Add a token that is on one line; a free one keeps no column."""
        gap = _gap(self.last, token)
        column = max(token.column, self.last_end)  # an empty block may have had its end on another line
        if self.line.cells and not gap:
            self.line.cells[-1].text += token.text
        else:
            self.line.cells.append(Cell(token.text, column, gap, column - self.last_end > gap, free))
        self.last, self.last_end = token, column + len(token.text)

    def put_lines(self, token: Token, indent: int) -> None:
        """Add a text block that has several lines."""
        first, *lines, last = at_indent(token.text, indent + _STEP).split("\n")
        self.put(Token(token.kind, first, token.column))
        self.end()
        for line in lines:
            self.page.raw(line)
        self.page.end_group()
        closing = last.lstrip(" ")
        self.begin(len(last) - len(closing))
        self.put(Token(token.kind, closing, 0))
        self.last_end = _end_column(token)

    # ---- statements ----
    def items(self, items: list[Item], indent: int) -> None:
        for item in items:
            if item.blank:
                self.page.raw("")
            self.begin(indent)
            self.statement(item.parts, indent)
            self.end()

    def statement(self, parts: list[Part], indent: int) -> None:
        brackets = 0
        broken = False
        for index, part in enumerate(parts):
            if isinstance(part, Break):
                broken = True
                continue
            if broken:
                self.end()
                closes = isinstance(part, Token) and part.kind == "right"
                self.begin(indent + (_STEP * (brackets - closes) if brackets else _STEP))
                broken = False
            if isinstance(part, Block):
                if (part.flat and self.width(parts[index:]) <= WIDTH) or part.empty:
                    self.flat(part)
                else:
                    self.open(part, indent)
            elif "\n" in part.text:
                self.put_lines(part, indent)
            else:
                comment = part.kind == "comment"
                self.put(Token(part.kind, part.value, part.column) if comment else part)
                brackets = max(0, brackets + {"left": 1, "right": -1}.get(part.kind, 0))

    def width(self, parts: list[Part]) -> int:
        """The line's width with these parts, up to a line end, without any alignment."""
        row = _Measure(self.line, self.last)
        for part in parts:
            if isinstance(part, Break) or (isinstance(part, Token) and (part.kind == "comment" or "\n" in part.text)):
                break
            if isinstance(part, Block) and not part.flat:
                break
            for token in _flat_tokens(part):
                row.put(token)
        return row.width

    def flat(self, block: Block) -> None:
        for token in _flat_tokens(block):
            self.put(token)

    def open(self, block: Block, indent: int) -> None:
        assert block.close is not None
        self.put(block.open, free=True)
        if block.comment:
            self.put(Token("comment", block.comment.value, block.comment.column))
        self.end()
        self.page.end_group()
        self.items(block.items, indent + _STEP)
        self.page.end_group()
        self.begin(indent)
        self.put(block.close)


class _Measure:
    """How wide a row becomes."""

    def __init__(self, row: Row, last: Token | None) -> None:
        self.width = row.indent + sum(cell.gap + len(cell.text) for cell in row.cells)
        self.last = last

    def put(self, token: Token) -> None:
        self.width += _gap(self.last, token) + len(token.text)
        self.last = token


def _flat_tokens(part: Part) -> list[Token]:
    """The tokens of a part that is on one line; `;` between statements, none at the end."""
    if isinstance(part, Token):
        return [part]
    if isinstance(part, Break):
        return []
    assert part.close is not None
    if part.empty:
        return [Token("close", "{ }", part.open.column)]
    found = [part.open]
    for index, item in enumerate(part.items):
        if index:
            found.append(Token("separator", ";", found[-1].column + len(found[-1].text)))
        for inner in item.parts:
            found += _flat_tokens(inner)
    return [*found, part.close]


def _gap(before: Token | None, token: Token) -> int:
    """The spaces that two neighbours on a line need between them."""
    if before is None or token.kind in _NO_SPACE_BEFORE or before.kind == "left":
        return 0
    if token.text == "(" and before.kind == "word":
        return 0
    return 2 if token.kind == "comment" else 1


def _end_column(token: Token) -> int:
    return len(token.text.rpartition("\n")[2].expandtabs(4))
