"""Regular expressions of the package mean the same on every Python that it runs on."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import pytest

import evalkit
from evalkit.execute.secret_shapes import _SHAPES

parser, op = import_module("re._parser"), import_module("re._constants")
ONE_CHARACTER = (op.IN, op.LITERAL, op.NOT_LITERAL, op.ANY, op.CATEGORY)


def patterns() -> Iterator[tuple[str, Any]]:
    """Those of modules, also where `re` is given a text, and of the shapes of keys, by names."""
    for found in walk_packages(evalkit.__path__, "evalkit."):
        if found.name.rpartition(".")[2] != "__main__":
            module = import_module(found.name)
            for name, value in vars(module).items():
                if isinstance(value, re.Pattern):
                    yield f"{found.name}.{name}", value.pattern
            for node in ast.walk(ast.parse(inspect.getsource(module))):
                if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.") and node.args:
                    first = node.args[0]
                    value = vars(module).get(first.id) if isinstance(first, ast.Name) else getattr(first, "value", None)
                    if isinstance(value, str | bytes):
                        yield f"{found.name}:{node.lineno}", value
    for number, shape in enumerate(_SHAPES):
        yield f"shape {number}", shape._written


def repeated_groups(items: Any) -> Iterator[Any]:
    """Possessive repeats of more than a character, in a parsed pattern."""
    for code, argument in items:
        if code is op.POSSESSIVE_REPEAT and [part for part, _ in argument[2]] not in [[one] for one in ONE_CHARACTER]:
            yield argument
        stack = [argument]
        while stack:
            part = stack.pop()
            if isinstance(part, parser.SubPattern):
                yield from repeated_groups(part)
            elif isinstance(part, list | tuple):
                stack.extend(part)


def test_no_group_is_repeated_for_good() -> None:
    """`(…)*+` leaves what a last try took, before Python 3.11.5 (CPython issue 106052); `(?>(…)*)` does not."""
    found = dict(patterns())
    assert len(found) > 100
    assert [] == [name for name, text in found.items() if any(repeated_groups(parser.parse(text)))]


@pytest.mark.parametrize(("pattern", "many"), [(r"(?:ab?)*+", 1), (r"a*+[bc]++", 0), (r"x(?=(?:a|bc){2,3}+)", 1),
                                               (r"(?>(?:ab?)*)", 0), (r"y|(?P<n>(?:ab)++)", 1)])
def test_such_groups_are_found(pattern: str, many: int) -> None:
    assert many == len(list(repeated_groups(parser.parse(pattern))))
