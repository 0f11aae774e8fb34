"""E081 to E084: `expect` and `never` against the registry of the application's commands.

E084: the registry cannot be loaded. E081: it has no such command. E082: an argument that its schema does not have, or a
test of one that no value passes. E083: a tier that the schemas of a case's commands contradict.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalkit.analysis import model as m
from evalkit.analysis.calls import expected_calls
from evalkit.diagnostics import Diagnostic, Span, did_you_mean
from evalkit.lint.finding import Finding
from evalkit.lint.registry import Loading, Registry
from evalkit.lint.schema import allows, follow, hint, is_flat, problem
from evalkit.lint.subject import CaseView, Subject
from evalkit.lint.walk import walk
from evalkit.syntax import nodes as n

__all__ = ["ARGUMENT", "COMMAND", "REGISTRY", "TIER", "find"]

COMMAND, ARGUMENT, TIER, REGISTRY = "E081", "E082", "E083", "E084"


def find(subject: Subject) -> Iterator[Finding]:
    loaded: dict[tuple[str, str], Loading] = {}
    for view, unit in subject.compiled():
        name = unit.agent.registry
        if name is None or not any(isinstance(check.spec, m.CallsSpec) for check in unit.checks):
            continue
        key = (name, unit.suite.folder)
        if key not in loaded:
            loaded[key] = subject.load(name, (subject.root / unit.suite.folder, subject.root))
        loading = loaded[key]
        if loading.registry is None:
            place = subject.node(unit.origins.get("agent.registry", ""), n.Registry)
            yield Finding(Diagnostic(REGISTRY, f"registry `{name}` cannot be loaded: {loading.problem}",
                                     place.name.span if place else view.node.name.span,
                                     help="modules are looked for in the suite's folder, in the project's, and among "
                                     "what is installed"),
                          None if place else unit)
            continue
        yield from _unit(subject, view, unit, loading.registry)


def _unit(subject: Subject, view: CaseView, unit: m.Case, registry: Registry) -> Iterator[Finding]:
    calls = [call for check in unit.checks if isinstance(check.spec, m.CallsSpec)
             for sequence in check.spec.sequences for call in expected_calls(sequence)]
    nodes = [node for call in calls if (node := subject.node(call.origin, n.Call)) is not None]
    never = [call.name for node, _ in walk(view.node) if isinstance(node, n.Never) for call in node.calls]
    for name in (*(node.name for node in nodes), *never):
        if name.value not in registry.commands:
            yield Finding(Diagnostic(COMMAND, f"the registry has no command `{name.value}`", name.span,
                                     help=did_you_mean(name.value, registry.commands)), unit)
    for call, node in zip(calls, nodes, strict=True) if len(calls) == len(nodes) else ():
        schema = registry.commands.get(call.name)
        if schema is not None:
            for test, argument in zip(call.arguments, node.arguments, strict=True):
                yield from _argument(call.name, test, argument, schema, unit)
    tier = next((tier for tier in unit.suite.tiers if tier.name == unit.tier), None)
    if tier is not None and tier.requires is not None:
        yield from _tier(view, unit, tier, nodes, never, registry)


# ---- arguments ----
def _argument(command: str, test: m.ArgumentTest, node: n.ArgumentNode, schema: Any, case: m.Case) -> Iterator[Finding]:
    properties = follow(schema, schema).get("properties")
    properties = properties if isinstance(properties, dict) else {}
    if test.key not in properties:
        if properties and not schema.get("additionalProperties"):
            yield Finding(Diagnostic(ARGUMENT, f"command `{command}` has no argument `{test.key}`", node.key.span,
                                     help=did_you_mean(test.key, properties)), case)
        return
    said = _refused(test, properties[test.key], schema)
    if said:
        yield Finding(Diagnostic(ARGUMENT, f"`{test.key}` of `{command}` {said}", _value(node)), case)


def _refused(test: m.ArgumentTest, schema: Any, root: Any) -> str:
    """Why no call that the schema allows passes a test; "" where one might."""
    match test.test:
        case "is" | "one of" | "==":
            return next((said for value in test.values if (said := problem(value, schema, root))), "")
        case "type":
            fits = allows(schema, root, test.values[0])
            return "" if fits else f"is never {'an' if test.values[0][0] in 'ao' else 'a'} {test.values[0]}"
    if not allows(schema, root, "number"):
        return "is never a number"
    low, high = _bounds(follow(schema, root))
    at_least, at_most = (test.values if test.test == "in" else
                         (test.values[0], high) if ">" in test.test else (low, test.values[0]))
    if at_least > high or (at_least == high and test.test == ">"):
        return f"is at most {high:g}"
    if at_most < low or (at_most == low and test.test == "<"):
        return f"is at least {low:g}"
    return ""


def _bounds(schema: Any) -> tuple[float, float]:
    found = []
    for inclusive, exclusive, none, closest in (("minimum", "exclusiveMinimum", float("-inf"), max),
                                                ("maximum", "exclusiveMaximum", float("inf"), min)):
        given = [schema.get(inclusive), schema.get(exclusive)]
        found.append(closest([none, *(bound for bound in given if isinstance(bound, int | float)
                                      and not isinstance(bound, bool))]))
    return found[0], found[1]


def _value(node: n.ArgumentNode) -> Span:
    """The place behind the key."""
    return Span(node.span.source, node.key.span.start, node.span.end)


# ---- tiers ----
def _tier(view: CaseView, unit: m.Case, tier: m.Tier, nodes: list[n.Call], never: list[n.Name],
          registry: Registry) -> Iterator[Finding]:
    place = view.node.tier.span if view.node.tier else view.node.name.span
    notes = (("the case is of this tier", place),)
    for node in nodes:
        schema = registry.commands.get(node.name.value)
        if schema is None:
            continue
        if tier.requires == "schema flat" and not is_flat(follow(schema, schema)):
            yield Finding(Diagnostic(TIER, f"command `{node.name.value}` takes lists or objects, and tier "
                                     f"`{tier.name}` requires flat arguments", node.name.span, notes=notes), unit)
        elif tier.requires == "read" and not hint(schema, "readOnlyHint"):
            yield Finding(Diagnostic(TIER, f"command `{node.name.value}` does not say that it only reads, which tier "
                                     f"`{tier.name}` requires", node.name.span, notes=notes,
                                     help="its schema says so by annotations: readOnlyHint"), unit)
    names = [*(node.name.value for node in nodes), *(name.value for name in never)]
    known = [registry.commands[name] for name in names if name in registry.commands]
    if tier.requires == "confirmation" and known and not any(hint(schema, "destructiveHint") for schema in known):
        yield Finding(Diagnostic(TIER, f"tier `{tier.name}` requires a command that needs a confirmation: the "
                                 "case neither expects nor forbids one", place,
                                 help="the schema of such a command says so by annotations: destructiveHint"),
                      unit)
