"""The one place that touches Lark: builds the parser, and tells what a syntax error expected."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import ClassVar

from lark import Lark, Token, Tree, UnexpectedInput, UnexpectedToken

__all__ = ["SyntaxProblem", "parse_tree", "token_words"]

_WORDS = {
    "NAME": "a name", "STRING": "a quoted string", "TEXT": 'a """ text block', "REGEX": "a /regex/",
    "DURATION": "a duration such as `20m`", "INT": "a whole number", "_SEP": "the end of the line",
    "_COMMA": "`,`", "$END": "the end of the file", "LBRACE": "`{`", "RBRACE": "`}`", "LPAR": "`(`",
    "RPAR": "`)`", "EQUAL": "`=`",
}


class _ValuesEverywhere:
    """Lets the contextual lexer cut names and values everywhere, also where the parser takes none.

    So an unknown keyword is one whole token, and the parser (not the lexer, a character at a time) refuses it.
    """

    always_accept: ClassVar[tuple[str, ...]] = ("NAME", "STRING", "TEXT", "REGEX", "DURATION", "INT", "_SEP")

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        return stream


class SyntaxProblem(Exception):
    """The first place where a text stops being a case file.

    `expected`: what could have stood there, as (keyword or None, words for a person).
    """

    def __init__(self, start: int, end: int, found: str, expected: list[tuple[str | None, str]]) -> None:
        super().__init__(found)
        self.start = start
        self.end = end
        self.found = found
        self.expected = expected


@cache
def _parser() -> Lark:
    here = Path(__file__).resolve().parents[1]
    folder = here / "grammar" if (here / "grammar").is_dir() else here.parent / "grammar"
    return Lark(
        (folder / "eval.lark").read_text(encoding="utf-8"),
        parser="lalr", start="file", propagate_positions=True, maybe_placeholders=False,
        postlex=_ValuesEverywhere(),
    )


def parse_tree(text: str) -> Tree[Token]:
    """The parse tree of a file. Raises `SyntaxProblem` at the first error."""
    try:
        return _parser().parse(text)
    except UnexpectedToken as error:
        token = error.token
        at_end = token.type == "$END"
        # At the end of input LALR reports the place of the last token: the end is where the text stops.
        start = len(text.rstrip()) if at_end else (token.start_pos or 0)
        found = "the end of the file" if at_end else str(token)
        raise SyntaxProblem(start, start + (1 if at_end else len(token)), found,
                            token_words(set(error.accepts or error.expected))) from None
    except UnexpectedInput as error:
        start = error.pos_in_stream or 0
        raise SyntaxProblem(start, start + 1, text[start : start + 1],
                            token_words(set(getattr(error, "allowed", None) or ()))) from None


def token_words(names: set[str]) -> list[tuple[str | None, str]]:
    """What terminals look like to a person: keywords first, in alphabetical order."""
    literals = {terminal.name: str(terminal.pattern.value) for terminal in _parser().terminals}
    keywords, others = [], []
    for name in sorted(names):
        if name in _WORDS:
            others.append((None, _WORDS[name]))
        else:
            keywords.append((literals[name], f"`{literals[name]}`"))
    return [*sorted(keywords), *others]
