"""The values that statements are made of, each with the span that it came from."""

from __future__ import annotations

from typing import TypeAlias

from evalkit.diagnostics import Span
from evalkit.syntax.node import node

__all__ = ["Data", "Json", "Name", "Number", "Pattern", "Range", "Real", "Regex", "Silence", "Str"]

Json: TypeAlias = "str | int | float | bool | list[Json] | None"


@node
class Name:
    value: str
    span: Span


@node
class Str:
    """A string. `block` tells a text block from a quoted string; `value` has escapes and indentation resolved."""

    value: str
    span: Span
    block: bool = False


@node
class Regex:
    pattern: str
    flags: str
    span: Span


@node
class Number:
    """A count, a duration in seconds, or a size in bytes."""

    value: int
    span: Span


@node
class Real:
    """A number that may have decimals, or an amount in dollars. It is an int where it was written as one."""

    value: int | float
    span: Span


@node
class Range:
    """`10..20`: both ends are in it."""

    low: int | float
    high: int | float
    span: Span


@node
class Data:
    """A value of an argument, as JSON has it."""

    value: Json
    span: Span


Pattern: TypeAlias = Str | Regex


@node
class Silence:
    """`allow W012 "reason"`, as a statement or as an option of a check."""

    code: Name
    reason: Str
    span: Span
