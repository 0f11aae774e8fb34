"""The toolchains of a suite: pinned packages, checkouts, and what they put into the environment."""

from __future__ import annotations

from collections.abc import Iterable

from evalkit.analysis import model as m
from evalkit.analysis.findings import Findings, Names
from evalkit.analysis.levels import Statement
from evalkit.analysis.twice import report_twice
from evalkit.analysis.values import Values
from evalkit.diagnostics import Span
from evalkit.syntax import nodes as n
from evalkit.values import evolve

__all__ = ["resolve_toolchain"]

_FOLDERS = ("npm", "pip", "toolchain")
_OF_CHECKOUT = (*_FOLDERS, "checkout")


def resolve_toolchain(findings: Findings, node: n.Toolchain) -> m.Toolchain:
    values = Values(findings)
    report_twice(findings, node.body)
    checkout = next((item for item in node.body if isinstance(item, n.Checkout)), None)
    instead = next((item for item in node.body if isinstance(item, n.CheckoutInstead)), None)
    toolchain = evolve(
        _with(findings, m.Toolchain(node.name.value, origin=str(node.span)), node.body,
              _OF_CHECKOUT if checkout else _FOLDERS),
        checkout=_checkout(values, checkout) if checkout else None)
    return evolve(toolchain, instead=_instead(findings, values, toolchain, instead)) if instead else toolchain


def _with(findings: Findings, outer: m.Toolchain, body: Iterable[Statement], known: tuple[str, ...]) -> m.Toolchain:
    """A toolchain with these statements: packages of a registry replace those that there were, the rest is by name."""
    values = Values(findings)
    pins: dict[type, list[str]] = {}
    programs, env = dict(outer.programs), dict(outer.env)
    names = {n.Program: Names(findings, "program"), n.Env: Names(findings, "variable")}
    for statement in body:
        match statement:
            case n.Npm(pins=given):
                pins.setdefault(n.Npm, []).extend(values.pin(pin, "@", 'a version: "name@1.2.3"') for pin in given)
            case n.Pip(pins=given):
                pins.setdefault(n.Pip, []).extend(
                    values.pin(pin, "==", 'a version: "name==1.2.3" or "name==1.*"') for pin in given)
            case n.NpmNone():
                pins.setdefault(n.Npm, [])
            case n.PipNone():
                pins.setdefault(n.Pip, [])
            case n.Apt(packages=packages):
                pins.setdefault(n.Apt, []).extend(values.word(package, "a package's name") for package in packages)
            case n.Program(name=name, path=path):
                names[n.Program].add(name)
                values.placeholders(path, known)
                programs[name.value] = path.value
            case n.Env(name=name, value=value):
                names[n.Env].add(name)
                values.placeholders(value, known)
                env[values.variable(name)] = value.value
            case _:
                pass

    def of(kind: type, before: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(pins[kind]) if kind in pins else before

    return evolve(outer, npm=of(n.Npm, outer.npm), pip=of(n.Pip, outer.pip), apt=of(n.Apt, outer.apt),
                  programs=tuple(programs.items()), env=tuple(env.items()))


def _checkout(values: Values, node: n.Checkout) -> m.Checkout:
    """Where it is depends on the machine: it is looked up when it is needed."""
    path = node.path.value
    if not path or not path.isprintable() or "\\" in path:
        values.report("E041", f"`{path}` is not a path", node.path.span,
                      help="write it relative to the project's root, with `/`")
    return m.Checkout(values.variable(node.variable) if node.variable else None, path,
                      values.command(node.build, ("checkout",), node.limit), str(node.span))


def _instead(findings: Findings, values: Values, outer: m.Toolchain, node: n.CheckoutInstead) -> m.Toolchain:
    """What the toolchain is where the variable names a checkout: what stands around the block, with what is in it."""
    build = next((item for item in node.body if isinstance(item, n.Build)), None)
    if build is None:
        values.report("E032", "a checkout is built by a command", node.variable.span, help='add `build "make"`')
        return outer
    caches = [values.within_workspace(path) for item in node.body if isinstance(item, n.Caches) for path in item.paths]
    hides = [values.within_workspace(path) for item in node.body if isinstance(item, n.Hides) for path in item.paths]
    inner = _with(findings, outer, node.body, _OF_CHECKOUT)
    for what, template in (*inner.programs, *inner.env):
        for kind, packages in (("npm", inner.npm), ("pip", inner.pip)):
            if f"{{{kind}}}" in template and not packages:
                _lost(values, node.variable.span, what, kind)
    checkout = m.Checkout(values.variable(node.variable), "", values.command(build.command, ("checkout",), build.limit),
                          str(node.span), tuple(caches), tuple(hides))
    return evolve(inner, checkout=checkout)


def _lost(values: Values, span: Span, what: str, kind: str) -> None:
    values.report("E032", f"`{what}` is in a package of {kind}, and this checkout installs none", span,
                  help=f"say in the block where `{what}` is in the checkout, or install the package beside it")
