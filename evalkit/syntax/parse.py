"""A source's text -> its nodes, with every syntax error of the file.

Lark gives a tree without the broken statements (grammar.py); `Lower` turns it into nodes (lower.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalkit.diagnostics import Diagnostic, did_you_mean
from evalkit.diagnostics.suggest import nearest
from evalkit.syntax import nodes as n
from evalkit.syntax.fast import MAX_DEPTH, MAX_TOKENS, parse_tree
from evalkit.syntax.lower import Lower
from evalkit.syntax.source import Source

if TYPE_CHECKING:
    from evalkit.syntax.problems import SyntaxProblem

__all__ = ["MAX_ERRORS", "parse"]

MAX_ERRORS = 25
"""Syntax errors of one file that are told; parsing stops there."""


def parse(source: Source) -> tuple[n.File, list[Diagnostic]]:
    """Parse a file. The nodes are those of all statements that parsed; they are whole only if nothing was found."""
    tree, problems = parse_tree(source.text, MAX_ERRORS)
    found = [_explain(source, problem) for problem in problems]
    if tree is None:
        return n.File((), (), source.span(0, 0)), found
    lower = Lower(source)
    return lower.file(tree), (found + lower.found)[:MAX_ERRORS]


def _explain(source: Source, problem: SyntaxProblem) -> Diagnostic:
    span = source.span(problem.start, problem.end)
    if problem.kind == "long":
        return Diagnostic("E002", f"the file holds more than {MAX_TOKENS:,} words and values", span,
                          help="write some of its cases into files of their own")
    if problem.kind == "deep":
        return Diagnostic("E002", f"more than {MAX_DEPTH} brackets stand in each other", span)
    if problem.kind == "end":
        message, brace = "the file ends in the middle of a statement", problem.open_brace
        if brace is None:
            return Diagnostic("E012", message, span, help=_expected(problem))
        return Diagnostic("E012", message, span, help="is a `}` missing?",
                          notes=(("this brace is not closed", source.span(brace, brace + 1)),))
    if problem.kind == "text":
        for opening, message, help_line in _UNCLOSED:
            if source.text.startswith(opening, problem.start):
                return Diagnostic("E011", message, source.span(problem.start, problem.start + len(opening)),
                                  help=help_line)
    keywords = [expected.keyword for expected in problem.expected if expected.keyword]
    shown = _shown(problem.found)
    names_fit = any(expected.words == "a name" for expected in problem.expected)
    if problem.keyword:
        return Diagnostic("E012", f"{shown} cannot stand here", span, help=_expected(problem, most=_KEYWORDS))
    if problem.found[:1].isalpha() and keywords and not names_fit:
        near = nearest(problem.found, keywords)
        help_line = f"did you mean `{near}`?" if near else _known(problem, keywords)
        return Diagnostic("E010", f"unknown keyword {shown}", span, help=help_line)
    return Diagnostic("E012", f"{shown} cannot stand here", span, help=_expected(problem))


_KEYWORDS = 40
"""Keywords that a list of what can stand somewhere has at most: those of a whole block."""


_UNCLOSED = (
    ('"""', "this text block is not closed", 'close it with `"""` on a line of its own'),
    ('"', "this string is not closed on its line",
     'close it with `"`, or use a """ text block for several lines'),
    ("//", "this regex is empty", "a comment starts with `#`"),
    ("/", "this regex is not closed on its line", "close it with `/`; a `/` inside is written `\\/`"),
)
"""What begins a literal; where the lexer stops at it, the literal does not end. Longer ones first."""


def _shown(found: str) -> str:
    if not found.strip() or found.startswith(";"):
        return "the end of the line"
    first = found.splitlines()[0]
    return f"`{first}`" if first == found and len(found) <= 40 else f"`{first[:40]}…`"


def _known(problem: SyntaxProblem, keywords: list[str]) -> str:
    """The keywords that can stand there, and what else can."""
    others = [expected.words for expected in problem.expected if not expected.keyword]
    return did_you_mean(problem.found, keywords, limit=_KEYWORDS) + (f"; or {_either(others)}" if others else "")


def _expected(problem: SyntaxProblem, most: int = 14) -> str:
    words = [expected.words for expected in problem.expected]
    return "expected " + _either(words if len(words) <= most else [*words[:most], "…"])


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]
