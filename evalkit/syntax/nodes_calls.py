"""What `expect`, `never` and `check state` hold: calls of commands, and tests of their arguments and of the state.

Few files have any: who lowers or resolves them imports this.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from evalkit.diagnostics import Span
from evalkit.syntax.nodes_values import Data, Name, Range, Real, Regex, Str
from evalkit.values import Node

__all__ = [
    "AnyOrder", "ArgumentApprox", "ArgumentCompare", "ArgumentIn", "ArgumentIncludes", "ArgumentIs", "ArgumentMatches",
    "ArgumentNode", "ArgumentOneOf", "ArgumentPresence", "ArgumentType", "Call", "Either", "Expected",
]


# ---- tests of one argument, or of one value of the state ----
class ArgumentIs(Node):
    key: Name
    value: Data
    span: Span


class ArgumentCompare(Node):
    key: Name
    operator: Literal[">", ">=", "<", "<=", "=="]
    value: Real
    span: Span


class ArgumentOneOf(Node):
    key: Name
    values: tuple[Data, ...]
    span: Span


class ArgumentIncludes(Node):
    key: Name
    values: tuple[Data, ...]
    span: Span


class ArgumentIn(Node):
    key: Name
    range: Range
    span: Span


class ArgumentApprox(Node):
    """A number, or a list of numbers and lists, each within the tolerance."""

    key: Name
    value: Data
    tolerance: Real
    span: Span


class ArgumentMatches(Node):
    """`example`: a value that matches, for who has to make one up."""

    key: Name
    pattern: Regex
    example: Str | None
    span: Span


class ArgumentType(Node):
    key: Name
    type: Literal["number", "string", "boolean", "array", "object"]
    span: Span


class ArgumentPresence(Node):
    """It is there, whatever it is; or it is not."""

    key: Name
    wanted: Literal["any", "absent"]
    span: Span


ArgumentNode: TypeAlias = (
    ArgumentIs | ArgumentCompare | ArgumentOneOf | ArgumentIncludes | ArgumentIn | ArgumentApprox | ArgumentMatches
    | ArgumentType | ArgumentPresence)


# ---- calls ----
class Call(Node):
    """exact: no other arguments. succeeds: the application did it. confirmed: with the token that it was given."""

    name: Name
    arguments: tuple[ArgumentNode, ...]
    span: Span
    exact: bool = False
    succeeds: bool = False
    confirmed: bool = False


class Either(Node):
    """One of the branches; the calls of a branch come in its order."""

    branches: tuple[tuple[Expected, ...], ...]
    span: Span


class AnyOrder(Node):
    """All items, in whichever order."""

    items: tuple[tuple[Expected, ...], ...]
    span: Span


Expected: TypeAlias = Call | Either | AnyOrder
