"""Parses a file without errors; of any other it says nothing but that it is one.

An LALR parser driven by Lark's own table (table.py), without what Lark needs for its errors: three times as fast. It
reads the text once, token by token: while the state's row says to reduce, the top of the stack becomes a tree; then the
token is shifted. A file that it refuses, or that is over a limit, is parsed again by Lark (grammar.py), which tells
what is wrong.

A word is the keyword where the parser's state takes that keyword, and a name elsewhere, as in Lark's contextual lexer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson

from evalkit.kept import user_cache
from evalkit.syntax.table import Table, load_table
from evalkit.syntax.tree import Token, Tree

if TYPE_CHECKING:
    from evalkit.syntax.problems import SyntaxProblem

__all__ = ["MAX_DEPTH", "MAX_TOKENS", "fast_parser", "parse_tree"]

MAX_TOKENS = 30_000
"""Words, values and signs of one file; a hundred times a long case. It bounds the time that a file can take."""
MAX_DEPTH = 64
"""Brackets within each other. Blocks cannot be deeper than the grammar lets them."""
_BRACKETS = {"LPAR": 1, "LSQB": 1, "RPAR": -1, "RSQB": -1}


def parse_tree(text: str, most: int) -> tuple[Tree | None, list[SyntaxProblem]]:
    """The parse tree of a file without its broken statements, and the problems, at most so many.

    There is no tree where the file ends too early or has too many problems.
    """
    tree = _parser()(text)
    if tree is not None:
        return tree, []
    from evalkit.syntax.grammar import lark_tree  # Lark is imported where a file has errors

    return lark_tree(text, most)


@cache
def _parser() -> Callable[[str], Tree | None]:
    return fast_parser(load_table(user_cache(os.environ)), MAX_TOKENS)


class _States(dict[int, dict[str, int]]):
    """States that are read when they are asked for."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts

    def __missing__(self, number: int) -> dict[str, int]:
        found: dict[str, int] = orjson.loads(self._texts[number])
        self[number] = found
        return found


def fast_parser(table: Table, most: int) -> Callable[[str], Tree | None]:
    """A function from a text to its tree; None where the text has errors, or more than `most` tokens."""
    lexer = re.compile(table.lexer)
    match, keywords, kept = lexer.match, table.keywords, table.kept
    states, rules, origins = _States(table.states), table.rules, table.origins
    names = {index: name for name, index in lexer.groupindex.items()}
    first, last = table.start, table.end

    def parse(text: str) -> Tree | None:
        position, left, brackets = 0, most, 0
        stack = [first]
        # What stands on the stack: a token, a tree, the parts of a rule that is taken apart, or None for a sign;
        # and where each starts and ends (-1: it is made of nothing).
        values: list[Any] = []
        starts: list[int] = []
        ends: list[int] = []
        while True:
            found = match(text, position)
            if found is None:
                return None
            group = found.lastindex
            if group is None:
                kind = "$END"
                start = position = found.end()
            else:
                kind = names[group]
                start, position = found.span(group)
                left -= 1
                if left < 0:
                    return None
                if kind in _BRACKETS:
                    brackets += _BRACKETS[kind]
                    if brackets > MAX_DEPTH:
                        return None
                elif brackets > 0 and kind == "_SEP" and ";" not in text[start:position]:
                    continue  # a line end within brackets ends nothing
            actions = states[stack[-1]]
            if kind == "NAME":
                keyword = keywords.get(text[start:position])
                if keyword is not None and keyword in actions:
                    kind = keyword
            while True:
                action = actions.get(kind)
                if action is None:
                    return None
                if action >= 0:
                    break
                name, size, parts = rules[~action]
                children: list[Any] = []
                begin = end = -1
                if size:
                    pieces = values[-size:]
                    for part, piece in zip(parts, pieces, strict=True):
                        if part == 1:
                            children.append(piece)
                        elif part == 2:
                            if children:
                                children += piece
                            else:
                                children = piece
                    begin, end = starts[-size], ends[-1]
                    if begin < 0 or end < 0:
                        begin = next((at for at in starts[-size:] if at >= 0), -1)
                        end = next((at for at in reversed(ends[-size:]) if at >= 0), -1)
                    del values[-size:], starts[-size:], ends[-size:], stack[-size:]
                state = states[stack[-1]]
                origin = origins[~action]
                stack.append(state[origin])
                values.append(Tree(name, children, begin, end) if name else children)
                starts.append(begin)
                ends.append(end)
                actions = states[stack[-1]]
                if kind == "$END" and stack[-1] == last:
                    whole: Tree = values[-1]
                    return whole
            stack.append(action)
            if kind in kept:
                token = Token(text[start:position])
                token.type = kind
                token.start_pos = start
                values.append(token)
            else:
                values.append(None)
            starts.append(start)
            ends.append(position)

    return parse
