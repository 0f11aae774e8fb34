"""The check `calls` of a unit: the commands that its `expect` statements want, and those that `never` forbids.

And `check state`: the values that the application's state has when the calls are done.
"""

from __future__ import annotations

from collections.abc import Iterator

from evalkit.analysis import model as m
from evalkit.analysis.dialect import compile_regex
from evalkit.analysis.findings import Findings
from evalkit.analysis.scope import Scope
from evalkit.analysis.values import Values
from evalkit.diagnostics import Span
from evalkit.syntax import nodes as n
from evalkit.syntax import nodes_calls as nc

__all__ = ["CALLS", "expected_calls", "first_call", "resolve_calls", "resolve_state"]

CALLS = "calls"
"""The id and the kind of the check."""
_EXAMPLE_LIMIT = 1.0
"""Seconds that the example of a regex is looked at."""


def _statements(scope: Scope) -> list[n.Expect | n.Never]:
    return [*(node for _, node in scope.levels.all(n.Expect)), *(node for _, node in scope.levels.all(n.Never))]


def first_call(scope: Scope) -> Span:
    """The place of the check: that of the first such statement."""
    return _statements(scope)[0].span


def expected_calls(given: tuple[m.Expected, ...]) -> Iterator[m.Call]:
    """All calls of an expectation, those of every branch too, in the order of the text."""
    for item in given:
        if isinstance(item, m.Call):
            yield item
        elif isinstance(item, m.AnyOrder):
            yield from expected_calls(item.items)
        else:
            for branch in item.branches:
                yield from expected_calls(branch)


def resolve_calls(scope: Scope, agent: str) -> m.Check:
    """The check of a unit that has such statements. Both stand in a case or a track, whose statements add up."""
    first = first_call(scope)
    if agent not in ("tools", "palette"):
        scope.report("E036", f"agent `{agent}` calls no commands: `expect` and `never` are for agent `tools`", first,
                     help="leave `use agent` out, or say `use agent tools`")
    calls = _Calls(scope)
    expects = [node for _, node in scope.levels.all(n.Expect)]
    sequences = tuple(calls.sequence(expect.calls) for expect in expects)
    forbidden = [call for _, never in scope.levels.all(n.Never) for call in never.calls]
    wanted = {call.name for sequence in sequences for call in expected_calls(sequence)}
    for call in forbidden:
        if _is_plain(call) and call.name.value in wanted:
            scope.report("E053", f"`{call.name.value}` is expected, and must never be called", call.name.span,
                         help="say which calls are meant: `never NAME(argument: value)`")
    spec = m.CallsSpec(
        sequences=sequences,
        never=tuple(dict.fromkeys(call.name.value for call in forbidden if _is_plain(call))),
        never_calls=tuple(calls.call(call) for call in forbidden if not _is_plain(call)),
        only=tuple(number for number, expect in enumerate(expects) if expect.only),
    )
    scope.note(f"checks.{CALLS}", first)
    return m.Check(CALLS, CALLS, spec, (), False, "", str(first))


def _is_plain(call: nc.Call) -> bool:
    """Whether a call is its name alone."""
    return not (call.arguments or call.exact or call.succeeds or call.confirmed)


def resolve_state(findings: Findings, node: n.CheckState) -> m.StateSpec:
    where = _Tests(findings, "field").tests(node.where)
    if node.count is None:
        return m.StateSpec(node.path.value, "value", "exactly", 1, where)
    return m.StateSpec(node.path.value, "entries", node.bound, node.count.value, where)


class _Tests:
    """Resolves tests of values. what: what they are called."""

    def __init__(self, findings: Findings, what: str) -> None:
        self.report = findings.report
        self.values = Values(findings)
        self.what = what

    def tests(self, nodes: tuple[nc.ArgumentNode, ...]) -> tuple[m.ArgumentTest, ...]:
        found = tuple(self._test(node) for node in nodes)
        absent = {node.key.value for node in nodes if isinstance(node, nc.ArgumentPresence) and node.wanted == "absent"}
        for node in nodes:
            others = sum(other.key.value == node.key.value for other in nodes)
            if node.key.value in absent and others > 1:
                self.report("E053", f"{self.what} `{node.key.value}` is absent, and is tested otherwise as well",
                            node.span)
                break
        return found

    def _test(self, node: nc.ArgumentNode) -> m.ArgumentTest:
        key = node.key.value
        match node:
            case nc.ArgumentIs(value=value):
                return m.ArgumentTest(key, "is", (value.value,))
            case nc.ArgumentOneOf(values=values):
                return m.ArgumentTest(key, "one of", tuple(value.value for value in values))
            case nc.ArgumentIncludes(values=values):
                return m.ArgumentTest(key, "includes", tuple(value.value for value in values))
            case nc.ArgumentCompare(operator=operator, value=number):
                return m.ArgumentTest(key, operator, (number.value,))
            case nc.ArgumentIn(range=ends):
                if ends.low > ends.high:
                    self.report("E053", "this range is empty", ends.span, help="the lower number stands first")
                return m.ArgumentTest(key, "in", (ends.low, ends.high))
            case nc.ArgumentApprox(value=value, tolerance=tolerance):
                if not _numbers(value.value):
                    self.report("E053", "`approx` takes a number, or a list of numbers", value.span,
                                help="a text is compared with `:`, or with `~ /…/`")
                if tolerance.value < 0:
                    self.report("E053", "a tolerance is not below 0", tolerance.span)
                return m.ArgumentTest(key, "approx", (value.value, tolerance.value))
            case nc.ArgumentMatches():
                return m.ArgumentTest(key, "~", self._pattern(node))
            case nc.ArgumentType(type=kind):
                return m.ArgumentTest(key, "type", (kind,))
            case nc.ArgumentPresence(wanted=wanted):
                return m.ArgumentTest(key, wanted, ())

    def _pattern(self, node: nc.ArgumentMatches) -> tuple[str, ...]:
        pattern = self.values.patterns((node.pattern,))[0]
        if node.example is None:
            return pattern.text, pattern.flags
        if (amiss := _no_example(pattern, node.example.value)):
            self.report("E053", amiss, node.example.span)
        return pattern.text, pattern.flags, node.example.value


def _no_example(pattern: m.Pattern, example: str) -> str:
    """Why a text is no example of a pattern; "" where it is one, or where the pattern is none."""
    import regex  # only here, as in dialect.py

    try:
        found = compile_regex(pattern.text, pattern.flags).search(example, timeout=_EXAMPLE_LIMIT)
    except TimeoutError:
        return "matching this example takes too long"
    except (regex.error, ValueError, OverflowError, RecursionError, KeyError):
        return ""  # the pattern is reported
    return "" if found else "this example does not match the regex"


def _numbers(value: n.Json) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_numbers, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


class _Calls:
    """Resolves what is expected."""

    def __init__(self, scope: Scope) -> None:
        self.report = scope.report
        self.arguments = _Tests(scope.findings, "argument")

    def call(self, node: nc.Call) -> m.Call:
        return m.Call(node.name.value, self.arguments.tests(node.arguments), str(node.span), node.exact, node.succeeds,
                      node.confirmed)

    def sequence(self, nodes: tuple[nc.Expected, ...]) -> tuple[m.Expected, ...]:
        return tuple(self._expected(node) for node in nodes)

    def _expected(self, node: nc.Expected) -> m.Expected:
        match node:
            case nc.Call():
                return self.call(node)
            case nc.Either(branches=branches):
                for branch in branches:
                    if not branch:
                        self.report("E053", "a branch without a call is met by anything", node.span)
                return m.Either(tuple(map(self.sequence, branches)), str(node.span))
            case nc.AnyOrder(items=items):
                if not items:
                    self.report("E053", "`in any order` has no call", node.span)
                return m.AnyOrder(tuple(self._single(item) for item in items), str(node.span))

    def _single(self, item: tuple[nc.Expected, ...]) -> m.Call | m.Either:
        """An item of `in any order`: one call, or one call of several."""
        calls = self.sequence(item)
        first = calls[0]
        if len(calls) > 1 or isinstance(first, m.AnyOrder) or not _is_single(first):
            self.report("E053", "each item of `in any order` is one call, or one call of several", item[-1].span,
                        help="an order within it is an `expect` of its own: each is looked for by itself")
        return first if not isinstance(first, m.AnyOrder) else m.Either((), "")


def _is_single(expected: m.Expected) -> bool:
    """Whether exactly one call meets it."""
    return isinstance(expected, m.Call) or (
        isinstance(expected, m.Either) and all(len(branch) == 1 and _is_single(branch[0])
                                               for branch in expected.branches))
