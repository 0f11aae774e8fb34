"""The values that statements are made of, each with the span that it came from."""

from __future__ import annotations

from typing import TypeAlias

from evalkit.diagnostics import Span
from evalkit.values import Node

__all__ = ["Data", "Json", "Name", "Number", "Pattern", "Range", "Real", "Regex", "Silence", "Str"]

Json: TypeAlias = "str | int | float | bool | list[Json] | None"


class Name(Node):
    value: str
    span: Span


class Str(Node):
    """A string. `block` tells a text block from a quoted string; `value` has escapes and indentation resolved."""

    value: str
    span: Span
    block: bool = False


class Regex(Node):
    pattern: str
    flags: str
    span: Span


class Number(Node):
    """A count, a duration in seconds, or a size in bytes."""

    value: int
    span: Span


class Real(Node):
    """A number that may have decimals, or an amount in dollars. It is an int where it was written as one."""

    value: int | float
    span: Span


class Range(Node):
    """`10..20`: both ends are in it."""

    low: int | float
    high: int | float
    span: Span


class Data(Node):
    """A value of an argument, as JSON has it."""

    value: Json
    span: Span


Pattern: TypeAlias = Str | Regex


class Silence(Node):
    """`allow W012 "reason"`, as a statement or as an option of a check."""

    code: Name
    reason: Str
    span: Span
