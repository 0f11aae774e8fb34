"""The values that statements are made of, each with the span that it came from."""

from __future__ import annotations

from typing import TypeAlias

from attrs import frozen

from evalkit.diagnostics import Span

__all__ = ["Data", "Json", "Name", "Number", "Pattern", "Range", "Real", "Regex", "Silence", "Str"]

Json: TypeAlias = "str | int | float | bool | list[Json] | None"


@frozen
class Name:
    value: str
    span: Span


@frozen
class Str:
    """A string. `block` tells a text block from a quoted string; `value` has escapes and indentation resolved."""

    value: str
    span: Span
    block: bool = False


@frozen
class Regex:
    pattern: str
    flags: str
    span: Span


@frozen
class Number:
    """A count, a duration in seconds, or a size in bytes."""

    value: int
    span: Span


@frozen
class Real:
    """A number that may have decimals, or an amount in dollars. It is an int where it was written as one."""

    value: int | float
    span: Span


@frozen
class Range:
    """`10..20`: both ends are in it."""

    low: int | float
    high: int | float
    span: Span


@frozen(hash=False)
class Data:
    """A value of an argument, as JSON has it."""

    value: Json
    span: Span


Pattern: TypeAlias = Str | Regex


@frozen
class Silence:
    """`allow W012 "reason"`, as a statement or as an option of a check."""

    code: Name
    reason: Str
    span: Span
