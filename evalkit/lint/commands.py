"""E081 to E084: `expect` and `never` against the registry of the application's commands.

E084: the registry cannot be loaded. E081: it has no such command. E082: an argument that its schema does not have, or a
test of one that no value passes. E083: a tier that the commands of a case contradict.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalkit.analysis import model as m
from evalkit.analysis.calls import expected_calls
from evalkit.diagnostics import Diagnostic, Span, did_you_mean
from evalkit.lint.arguments import amiss, call_amiss, is_known, never_met
from evalkit.lint.finding import Finding
from evalkit.lint.registry import Loading, Registry
from evalkit.lint.schema import follow, hint, is_flat
from evalkit.lint.subject import CaseView, Subject
from evalkit.lint.walk import walk
from evalkit.syntax import nodes as n
from evalkit.syntax import nodes_calls as nc

__all__ = ["ARGUMENT", "COMMAND", "REGISTRY", "TIER", "find"]

COMMAND, ARGUMENT, TIER, REGISTRY = "E081", "E082", "E083", "E084"


def find(subject: Subject) -> Iterator[Finding]:
    loaded: dict[object, Loading] = {}
    tiers: set[str] = set()
    for view, unit in subject.compiled():
        if not unit.agent.has_commands or not any(isinstance(check.spec, m.CallsSpec) for check in unit.checks):
            continue
        key = (unit.agent.registry, unit.agent.registry_command, unit.agent.state, unit.suite.folder)
        if key not in loaded:
            loaded[key] = _load(subject, unit)
        loading = loaded[key]
        if loading.registry is None:
            yield _not_loaded(subject, view, unit, loading)
            continue
        yield from _unit(subject, view, unit, loading.registry)
        yield from _tiers(subject, unit, loading.registry, tiers)


def _load(subject: Subject, unit: m.Case) -> Loading:
    folders = (subject.root / unit.suite.folder, subject.root)
    if unit.agent.registry_command is not None:
        state = subject.root / unit.agent.state if unit.agent.state is not None else None
        return subject.load_server(unit.agent.registry_command.words, state, folders)
    return subject.load(unit.agent.registry or "", folders)


def _not_loaded(subject: Subject, view: CaseView, unit: m.Case, loading: Loading) -> Finding:
    if unit.agent.registry_command is not None:
        server = subject.node(unit.origins.get("agent.registry_command", ""), n.RegistryMcp)
        place, words = (server.command.span if server else None), unit.agent.registry_command.words
        what = f"MCP server `{' '.join(words)}` cannot be asked"
        told = "its command is run in the suite's folder"
    else:
        node = subject.node(unit.origins.get("agent.registry", ""), n.Registry)
        place = node.name.span if node else None
        what = f"registry `{unit.agent.registry}` cannot be loaded"
        told = "modules are looked for in the suite's folder, in the project's, and among what is installed"
    return Finding(Diagnostic(REGISTRY, f"{what}: {loading.problem}", place or view.node.name.span, help=told),
                   None if place else unit)


def _unit(subject: Subject, view: CaseView, unit: m.Case, registry: Registry) -> Iterator[Finding]:
    specs = [check.spec for check in unit.checks if isinstance(check.spec, m.CallsSpec)]
    expected = [call for spec in specs for sequence in spec.sequences for call in expected_calls(sequence)]
    nodes = [node for call in expected if (node := subject.node(call.origin, nc.Call)) is not None]
    never = [call for node, _ in walk(view.node) if isinstance(node, n.Never) for call in node.calls]
    for name in (*(node.name for node in nodes), *(node.name for node in never)):
        if name.value not in registry.commands:
            yield Finding(Diagnostic(COMMAND, f"the registry has no command `{name.value}`", name.span,
                                     help=did_you_mean(name.value, registry.commands)), unit)
    for call in (*expected, *(call for spec in specs for call in spec.never_calls)):
        schema, node = registry.commands.get(call.name), subject.node(call.origin, nc.Call)
        if schema is not None and node is not None:
            yield from _call(call, node, schema, unit)
    tier = next((tier for tier in unit.suite.tiers if tier.name == unit.tier), None)
    if tier is not None:
        yield from _tier(view, unit, tier, nodes, [node.name for node in never], registry)


# ---- arguments ----
def _call(call: m.Call, node: nc.Call, schema: Any, unit: m.Case) -> Iterator[Finding]:
    together: dict[str, list[m.ArgumentTest]] = {}
    for test, argument in zip(call.arguments, node.arguments, strict=True):
        if not is_known(test.key, schema):
            known = follow(schema, schema)["properties"]
            name = test.key.partition(".")[0]
            yield Finding(Diagnostic(ARGUMENT, f"command `{call.name}` has no argument `{name}`", argument.key.span,
                                     help=did_you_mean(name, known)), unit)
            continue
        said, told = amiss(test, schema)
        if not said:
            others = together.setdefault(test.key, [])
            before = never_met(others)
            others.append(test)
            said = "" if before else never_met(others)
        if said:
            yield Finding(Diagnostic(ARGUMENT, f"`{test.key}` of `{call.name}` {said}", _value(argument), help=told),
                          unit)
    for message, told in call_amiss(call, schema):
        yield Finding(Diagnostic(ARGUMENT, message, node.name.span, help=told), unit)


def _value(node: nc.ArgumentNode) -> Span:
    """The place behind the key."""
    return Span(node.span.source, node.key.span.start, node.span.end)


# ---- tiers ----
def _tier(view: CaseView, unit: m.Case, tier: m.Tier, nodes: list[nc.Call], never: list[n.Name],
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
    if tier.commands and nodes and not any(node.name.value in tier.commands for node in nodes):
        yield Finding(Diagnostic(TIER, f"tier `{tier.name}` requires one of {', '.join(tier.commands)}: the case "
                                 "expects none of them", place), unit)


def _tiers(subject: Subject, unit: m.Case, registry: Registry, seen: set[str]) -> Iterator[Finding]:
    """The commands that tiers name, each tier once."""
    for tier in unit.suite.tiers:
        node = subject.node(tier.origin, n.Tier)
        if tier.origin in seen or node is None:
            continue
        seen.add(tier.origin)
        for name in node.commands:
            if name.value not in registry.commands:
                yield Finding(Diagnostic(COMMAND, f"the registry has no command `{name.value}`", name.span,
                                         help=did_you_mean(name.value, registry.commands)))
