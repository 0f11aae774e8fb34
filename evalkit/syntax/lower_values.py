"""Trees -> nodes, the values: names, strings, patterns, numbers, and the ways into a tree that all rules share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from evalkit.diagnostics import Diagnostic, Span
from evalkit.syntax import nodes as n
from evalkit.syntax.source import Source
from evalkit.syntax.text import BadEscape, ShallowLine, block_value, duration_seconds, string_value
from evalkit.syntax.tree import Token, Tree

__all__ = ["LowerValues", "last"]

MAX_LENGTH = 10_000
"""Characters of a name, a quoted string or a regex. Nothing that reads one has to fear its length; texts are blocks."""
MAX_NUMBER = 1_000_000
MAX_ARGUMENT = 2**53 - 1
"""Of the arguments of calls: JSON holds every whole number up to it exactly."""
MAX_DIGITS = 24
"""Characters of a number."""
MAX_TOKENS_LIMIT = 1_000_000_000
"""Tokens that a trial may be allowed."""
MAX_DURATION = 7 * 24 * 3600
"""Seconds."""
_SIZES = {"KB": 1000, "MB": 1_000_000, "B": 1}
_WORDS = {"TRUE": True, "FALSE": False, "NULL": None}
T = TypeVar("T")


class LowerValues:
    """Turns the trees of one source into nodes. Literals without a value are collected in `found`."""

    def __init__(self, source: Source, found: list[Diagnostic] | None = None) -> None:
        self.source = source
        self.found: list[Diagnostic] = [] if found is None else found

    # ---- access to trees ----
    def span(self, item: Tree | Token) -> Span:
        if isinstance(item, Token):
            start = item.start_pos or 0
            return self.source.span(start, start + len(item))
        return self.source.span(max(item.start, 0), max(item.end, 0))

    def trees(self, tree: Tree) -> list[Tree]:
        return [child for child in tree.children if isinstance(child, Tree)]

    def tokens(self, tree: Tree, kind: str) -> list[Token]:
        return [child for child in tree.children if isinstance(child, Token) and child.type == kind]

    def body(self, trees: Iterable[Tree]) -> tuple[Any, ...]:
        return tuple(self.lower(tree) for tree in trees)

    def parts(self, tree: Tree, rule: str) -> list[Tree]:
        return [child for child in tree.children if isinstance(child, Tree) and child.data == rule]

    def lower(self, tree: Tree) -> Any:
        method: Callable[[Tree], Any] = getattr(self, str(tree.data))
        return method(tree)

    # ---- values ----
    def refuse(self, code: str, message: str, span: Span, help_line: str = "") -> None:
        self.found.append(Diagnostic(code, message, span, help=help_line))

    def bounded(self, token: Token) -> bool:
        """Whether a token is of a length that something can be named with, found by or searched for."""
        if len(token) <= MAX_LENGTH:
            return True
        self.refuse("E014", f"this is longer than {MAX_LENGTH:,} characters", self.span(token),
                    'write a long text as a """ text block, or into a file beside the case')
        return False

    def name(self, token: Token) -> n.Name:
        return n.Name(str(token) if self.bounded(token) else "", self.span(token))

    def names(self, tree: Tree) -> tuple[n.Name, ...]:
        return tuple(self.name(token) for token in self.tokens(tree, "NAME"))

    def string(self, token: Token) -> n.Str:
        span = self.span(token)
        if token.type == "TEXT":
            return n.Str(self.block(token, span), span, block=True)
        if not self.bounded(token):
            return n.Str("", span)
        try:
            return n.Str(string_value(token), span)
        except BadEscape as error:
            at = span.start + error.offset
            self.refuse("E013", f"strings have no escape `{error.escape}`",
                        self.source.span(at, at + len(error.escape)),
                        'known: \\" \\\\ \\n \\t \\r \\0 \\u{HEX}; a backslash itself is `\\\\`; '
                        "a regex is written /…/, without quotes")
            return n.Str("", span)

    def block(self, token: Token, span: Span) -> str:
        try:
            return block_value(token)
        except ShallowLine as error:
            self.refuse("E015", "this line is indented less than the line that closes its text block",
                        self.source.span(span.start + error.start, span.start + error.end),
                        'indent it with the same blanks, or move the closing `"""` to the left')
            return ""

    def strings(self, tree: Tree) -> tuple[n.Str, ...]:
        return tuple(self.string(token) for token in self.tokens(tree, "STRING"))

    def text(self, tree: Tree) -> n.Str:
        """The value of a `text`."""
        return self.string(cast(Token, tree.children[0]))

    def the_text(self, tree: Tree) -> n.Str | None:
        """The `text` of a statement that may have one."""
        return last(self.text(child) for child in self.parts(tree, "text"))

    def pattern(self, token: Token) -> n.Pattern:
        if token.type == "STRING":
            return self.string(token)
        pattern, _, flags = (str(token) if self.bounded(token) else "//")[1:].rpartition("/")
        return n.Regex(pattern.replace("\\/", "/"), flags, self.span(token))

    def integer(self, token: Token, most: int = MAX_NUMBER) -> n.Number:
        span = self.span(token)
        if len(token) > len(str(most)) or int(token) > most:
            self.refuse("E014", f"this number is larger than {most:,}", span)
            return n.Number(most, span)
        return n.Number(int(token), span)

    def integers(self, tree: Tree) -> list[n.Number]:
        return [self.integer(token) for token in self.tokens(tree, "INT")]

    def number(self, text: str, span: Span, most: int = MAX_NUMBER) -> int | float:
        """A number with or without decimals and sign; `text` is of a shape that the grammar gave it."""
        if len(text) > MAX_DIGITS or abs(float(text)) > most:
            self.refuse("E014", f"a number is from -{most:,} to {most:,}, in up to {MAX_DIGITS} characters", span)
            return 0
        return float(text) if "." in text else int(text)

    def reals(self, tree: Tree, most: int = MAX_NUMBER) -> list[n.Real]:
        found = []
        for token in tree.children:
            if isinstance(token, Token) and token.type in ("INT", "DECIMAL", "MONEY"):
                span = self.span(token)
                found.append(n.Real(self.number(token.removeprefix("$"), span, most), span))
        return found

    def size(self, token: Token) -> n.Number:
        unit = token.lstrip("0123456789")
        count = self.number(token.removesuffix(unit), self.span(token))
        return n.Number(int(count) * _SIZES[unit], self.span(token))

    def range(self, token: Token) -> n.Range:
        span = self.span(token)
        low, _, high = token.partition("..")
        return n.Range(self.number(low, span, MAX_ARGUMENT), self.number(high, span, MAX_ARGUMENT), span)

    def data(self, part: Tree) -> n.Data:
        """The value of an argument."""
        return n.Data(self._json(part), self.span(part))

    def _json(self, part: Tree) -> n.Json:
        if part.data == "list":
            return [self._json(cast("Tree", child)) for child in part.children]
        token = cast(Token, part.children[0])
        if token.type in _WORDS:
            return _WORDS[token.type]
        if token.type == "STRING":
            return self.string(token).value
        return self.number(token, self.span(token), MAX_ARGUMENT)

    def time(self, tree: Tree) -> n.Number:
        token = self.tokens(tree, "DURATION")[0]
        span = self.span(token)
        seconds = duration_seconds(token) if len(token) <= 40 else MAX_DURATION + 1
        if not 1 <= seconds <= MAX_DURATION:
            self.refuse("E014", "a time limit is from 1s to 168h", span)
        return n.Number(seconds, span)

    def the_time(self, tree: Tree) -> n.Number | None:
        return last(self.time(child) for child in self.parts(tree, "time"))


def last(items: Iterable[T]) -> T | None:
    """The last item, if any: an optional part of a statement, where a later one replaces an earlier one."""
    return next(reversed(list(items)), None)
