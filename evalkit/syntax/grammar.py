"""The one place that touches Lark: builds the parser, drives it past errors, and tells what each of them expected.

The parser reads a text once. At an error its stack is cut back to the block that the broken statement stands in, the
text is skipped to the end of that statement (recover.py), and parsing goes on: all errors are found in one pass, in
time that grows with the text and not with the errors.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar, Literal

import orjson
from lark import Lark, Token, Tree, UnexpectedInput, UnexpectedToken
from lark.parsers.lalr_analysis import Shift

from evalkit.syntax.fast import MAX_DEPTH, MAX_TOKENS
from evalkit.syntax.problems import Expected, SyntaxProblem
from evalkit.syntax.recover import statement_end
from evalkit.syntax.table import Table, grammar_file
from evalkit.syntax.tree import Token as OwnToken
from evalkit.syntax.tree import Tree as OwnTree

__all__ = ["lark_table", "lark_tree"]

_BRACKETS = {"LPAR": 1, "LSQB": 1, "RPAR": -1, "RSQB": -1}
_WORDS = {
    "NAME": "a name", "STRING": "a quoted string", "TEXT": 'a """ text block', "REGEX": "a /regex/",
    "DURATION": "a duration such as `20m`", "INT": "a whole number", "DECIMAL": "a decimal number",
    "MONEY": "an amount such as `$2.50`", "SIZE": "a size such as `24KB`", "RANGE": "a range such as `1..5`",
    "COMPARE": "a comparison such as `>=`", "_SEP": "the end of the line", "_COMMA": "`,`",
    "$END": "the end of the file", "LBRACE": "`{`", "RBRACE": "`}`", "LPAR": "`(`", "RPAR": "`)`", "LSQB": "`[`",
    "RSQB": "`]`", "EQUAL": "`=`", "COLON": "`:`", "TILDE": "`~`",
}
_WORD = re.compile(r"[\w.-]+|.", re.DOTALL)


class _Tokens(threading.local):
    """Between the lexer and the parser: counts tokens, drops line ends within brackets, opens the lexer to values.

    Since the contextual lexer cuts them also where the parser takes none, an unknown keyword is one whole token, and
    the parser (not the lexer, a character at a time) refuses it.
    """

    always_accept: ClassVar[tuple[str, ...]] = (
        "NAME", "STRING", "TEXT", "REGEX", "DURATION", "INT", "DECIMAL", "MONEY", "SIZE", "RANGE", "COMPARE", "_SEP")
    left = 0
    brackets = 0
    """Brackets that are open."""

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        for token in stream:
            self.left -= 1
            if self.left < 0:
                raise _TooMuch("long", token.start_pos or 0)
            kind = token.type
            if kind in _BRACKETS:
                self.brackets += _BRACKETS[kind]
                if self.brackets > MAX_DEPTH:
                    raise _TooMuch("deep", token.start_pos or 0)
            elif kind == "_SEP" and self.brackets > 0 and ";" not in token:
                continue
            yield token


class _TooMuch(Exception):
    """There are more tokens than MAX_TOKENS, or more open brackets than MAX_DEPTH; the first too many is at `at`."""

    def __init__(self, kind: Literal["long", "deep"], at: int) -> None:
        super().__init__(at)
        self.kind = kind
        self.at = at


def lark_tree(text: str, most: int) -> tuple[OwnTree | None, list[SyntaxProblem]]:
    """The parse tree of a file without its broken statements, and the problems, at most so many.

    There is no tree where the file ends too early or has too many problems.
    """
    problems: list[SyntaxProblem] = []

    def go_on(error: UnexpectedInput) -> bool:
        problem = _problem(text, error)
        problems.append(problem)
        never_ends = problem.kind == "end" or (problem.kind == "text" and text.startswith('"""', problem.start))
        if never_ends or len(problems) >= most:
            return False
        state: Any = error.interactive_parser.parser_state
        end = statement_end(text, problem.start)
        _cut_back(state)
        if text.startswith("}", end) and "RBRACE" not in _accepted(state):
            end += 1  # it closes nothing
        state.lexer.state.line_ctr.char_pos = end
        _tokens.brackets = 0
        return True

    _tokens.left = MAX_TOKENS
    _tokens.brackets = 0
    try:
        return _own(_parser().parse(text, on_error=go_on)), problems
    except UnexpectedInput:
        return None, problems
    except _TooMuch as error:
        return None, [*problems, SyntaxProblem(error.kind, error.at, error.at + 1)]


_tokens = _Tokens()


@cache
def _parser() -> Lark:
    return Lark(
        grammar_file().read_text(encoding="utf-8"),
        parser="lalr", start="file", propagate_positions=True, maybe_placeholders=False, postlex=_tokens,
    )


def _own(tree: Tree[Token]) -> OwnTree:
    """Lark's tree as ours."""
    children: list[OwnTree | OwnToken] = [
        _own(child) if isinstance(child, Tree) else OwnToken.of(child.type, str(child), child.start_pos or 0)
        for child in tree.children]
    if tree.meta.empty:
        return OwnTree(str(tree.data), children, -1, -1)
    return OwnTree(str(tree.data), children, tree.meta.start_pos, tree.meta.end_pos)


def lark_table() -> Table:
    """The grammar as a table. It reads what Lark keeps to itself: a test compares both parsers."""
    lark: Any = _parser()
    table = lark.parser.parser._parse_table
    rules: list[list[Any]] = []
    origins: list[str] = []
    numbers: dict[Any, int] = {}
    kept: set[str] = set()

    def number(rule: Any) -> int:
        if rule not in numbers:
            parts = []
            for symbol in rule.expansion:
                if symbol.is_term:
                    parts.append(0 if symbol.filter_out and not rule.options.keep_all_tokens else 1)
                    if parts[-1]:
                        kept.add(symbol.name)
                else:
                    parts.append(2 if symbol.name.startswith("_") else 1)
            name = str(rule.alias or rule.origin.name)
            assert not rule.options.expand1, f"rule `{name}` would need `?`, which fast.py does not know"
            numbers[rule] = len(rules)
            origins.append(str(rule.origin.name))
            rules.append(["" if name.startswith("_") else name, len(rule.expansion), parts])
        return numbers[rule]

    states = [orjson.dumps({name: target if action is Shift else ~number(target) for name, (action, target) in
                            table.states[state].items()}).decode() for state in range(len(table.states))]
    keywords = {}
    pieces = []
    terminals = {terminal.name: terminal for terminal in lark.terminals}
    name_like = terminals["NAME"].pattern.to_regexp()
    for terminal in sorted(lark.terminals, key=_lexer_order):
        value = terminal.pattern.value
        if terminal.pattern.type == "str" and re.fullmatch(name_like, value):
            keywords[value] = terminal.name
        elif terminal.name not in lark.ignore_tokens:
            pieces.append(f"(?P<{terminal.name}>{terminal.pattern.to_regexp()})")
    skipped = "|".join(terminals[name].pattern.to_regexp() for name in lark.ignore_tokens)
    return Table(f"(?:{skipped})*+(?:{'|'.join(pieces)}|\\Z)", keywords, frozenset(kept), states, rules, origins,
                 table.start_states["file"], table.end_states["file"])


def _lexer_order(terminal: Any) -> tuple[int, int, int, str]:
    """The order in which Lark tries terminals."""
    pattern = terminal.pattern
    return -terminal.priority, -pattern.max_width, -len(pattern.value), terminal.name


def _accepted(state: Any) -> dict[str, Any]:
    """What the parser's table says about each terminal in a state: to shift it or to reduce a rule."""
    actions = state.parse_conf.states[state.position]
    return {name: action for name, (action, _) in actions.items() if name.isupper()}


def _cut_back(state: Any) -> None:
    """Drop an unfinished statement from the parser's stacks: back to where a statement of its block can start.

    Such a state, and no other, takes a separator and something else than a separator or the block's end.
    """
    closed = 0  # blocks of the broken statement that are whole
    while len(state.state_stack) > 1:
        taken = {name for name, action in _accepted(state).items() if action is Shift}
        if not closed and "_SEP" in taken and taken - {"_SEP", "RBRACE"}:
            return
        state.state_stack.pop()
        dropped = state.value_stack.pop()
        if isinstance(dropped, Token):
            closed += {"RBRACE": 1, "LBRACE": -1}.get(dropped.type, 0)


def _problem(text: str, error: UnexpectedInput) -> SyntaxProblem:
    parser: Any = error.interactive_parser
    expected = _expected(parser.accepts())
    if not isinstance(error, UnexpectedToken):
        start = error.pos_in_stream or 0
        word = _WORD.match(text, start)
        found = word.group() if word else ""
        return SyntaxProblem("text", start, start + len(found), found, expected)
    token = error.token
    if token.type == "$END":
        # At the end of input LALR reports the place of the last token: the end is where the text stops.
        end = len(text.rstrip())
        braces = [value.start_pos for value in parser.parser_state.value_stack
                  if isinstance(value, Token) and value.type == "LBRACE"]
        return SyntaxProblem("end", end, end + 1, "", expected, braces[-1] if braces else None)
    start = token.start_pos or 0
    found = "," if token.type == "_COMMA" else str(token)  # a comma takes line ends and comments along
    return SyntaxProblem("token", start, start + len(found), found, expected, keyword=found in _keywords())


@cache
def _literals() -> dict[str, str]:
    """The patterns of all terminals by their names: those of keywords are the keywords."""
    return {terminal.name: str(terminal.pattern.value) for terminal in _parser().terminals}


@cache
def _keywords() -> frozenset[str]:
    return frozenset(pattern for name, pattern in _literals().items() if name not in _WORDS)


def _expected(names: set[str]) -> tuple[Expected, ...]:
    """What terminals look like to a person: keywords first, in alphabetical order."""
    literals = _literals()
    keywords = sorted(literals[name] for name in names - set(_WORDS))
    return (*(Expected(keyword, f"`{keyword}`") for keyword in keywords),
            *(Expected(None, _WORDS[name]) for name in sorted(names & set(_WORDS))))
