"""The check `calls` of a unit: the commands that its `expect` statements want, and those that `never` forbids."""

from __future__ import annotations

from evalkit.analysis import model as m
from evalkit.analysis.scope import Scope
from evalkit.diagnostics import Span
from evalkit.syntax import nodes as n

__all__ = ["CALLS", "expects_calls", "first_call", "resolve_calls"]

CALLS = "calls"
"""The id and the kind of the check."""


def _statements(scope: Scope) -> list[n.Expect | n.Never]:
    return [*(node for _, node in scope.levels.all(n.Expect)), *(node for _, node in scope.levels.all(n.Never))]


def expects_calls(scope: Scope) -> bool:
    return bool(_statements(scope))


def first_call(scope: Scope) -> Span:
    """The place of the check: that of the first such statement."""
    return _statements(scope)[0].span


def resolve_calls(scope: Scope, agent: str) -> m.Check | None:
    """The check, where the unit has any such statement. Both stand in a case or a track, whose statements add up."""
    if not expects_calls(scope):
        return None
    expects = [node for _, node in scope.levels.all(n.Expect)]
    nevers = [node for _, node in scope.levels.all(n.Never)]
    first = first_call(scope)
    if agent != "tools":
        scope.report("E036", f"agent `{agent}` calls no commands: `expect` and `never` are for agent `tools`", first,
                     help="leave `use agent` out, or say `use agent tools`")
    spec = m.CallsSpec(
        sequences=tuple(tuple(_call(scope, call) for call in expect.calls) for expect in expects),
        never=tuple(dict.fromkeys(name.value for never in nevers for name in never.names)),
    )
    wanted = {call.name.value for expect in expects for call in expect.calls}
    for never in nevers:
        for name in never.names:
            if name.value in wanted:
                scope.report("E053", f"`{name.value}` is expected, and must never be called", name.span)
    scope.note(f"checks.{CALLS}", first)
    return m.Check(CALLS, CALLS, spec, (), False, "", str(first))


def _call(scope: Scope, node: n.Call) -> m.Call:
    return m.Call(node.name.value, tuple(_argument(scope, argument) for argument in node.arguments), str(node.span))


def _argument(scope: Scope, node: n.ArgumentNode) -> m.ArgumentTest:
    key = node.key.value
    match node:
        case n.ArgumentIs(value=value):
            return m.ArgumentTest(key, "is", (value.value,))
        case n.ArgumentOneOf(values=values):
            return m.ArgumentTest(key, "one of", tuple(value.value for value in values))
        case n.ArgumentCompare(operator=operator, value=number):
            return m.ArgumentTest(key, operator, (number.value,))
        case n.ArgumentIn(range=ends):
            if ends.low > ends.high:
                scope.report("E053", "this range is empty", ends.span, help="the lower number stands first")
            return m.ArgumentTest(key, "in", (ends.low, ends.high))
        case n.ArgumentType(type=kind):
            return m.ArgumentTest(key, "type", (kind,))
