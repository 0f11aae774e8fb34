"""The toolchains of a suite: pinned packages, checkouts, and what they put into the environment."""

from __future__ import annotations

from evalkit.analysis import model as m
from evalkit.analysis.findings import Findings, Names
from evalkit.analysis.twice import report_twice
from evalkit.analysis.values import Values
from evalkit.syntax import nodes as n

__all__ = ["resolve_toolchain"]

_FOLDERS = ("npm", "pip", "toolchain")


def resolve_toolchain(findings: Findings, node: n.Toolchain) -> m.Toolchain:
    values = Values(findings)
    report_twice(findings, node.body)
    npm: list[str] = []
    pip: list[str] = []
    apt: list[str] = []
    programs: list[tuple[str, str]] = []
    env: list[tuple[str, str]] = []
    checkout = next((item for item in node.body if isinstance(item, n.Checkout)), None)
    known = _FOLDERS if checkout is None else (*_FOLDERS, "checkout")
    names = {n.Program: Names(findings, "program"), n.Env: Names(findings, "variable")}
    for statement in node.body:
        match statement:
            case n.Npm(pins=pins):
                npm += [values.pin(pin, "@", 'a version: "name@1.2.3"') for pin in pins]
            case n.Pip(pins=pins):
                pip += [values.pin(pin, "==", 'a version: "name==1.2.3" or "name==1.*"') for pin in pins]
            case n.Apt(packages=packages):
                apt += [values.word(package, "a package's name") for package in packages]
            case n.Program(name=name, path=path):
                names[n.Program].add(name)
                values.placeholders(path, known)
                programs.append((name.value, path.value))
            case n.Env(name=name, value=value):
                names[n.Env].add(name)
                values.placeholders(value, known)
                env.append((values.variable(name), value.value))
            case n.Checkout():
                pass
    return m.Toolchain(node.name.value, tuple(npm), tuple(pip), tuple(programs), tuple(env), str(node.span),
                       tuple(apt), _checkout(values, checkout) if checkout else None)


def _checkout(values: Values, node: n.Checkout) -> m.Checkout:
    """Where it is depends on the machine: it is looked up when it is needed."""
    path = node.path.value
    if not path or not path.isprintable() or "\\" in path:
        values.report("E041", f"`{path}` is not a path", node.path.span,
                      help="write it relative to the project's root, with `/`")
    return m.Checkout(values.variable(node.variable) if node.variable else None, path,
                      values.command(node.build, ("checkout",), node.limit), str(node.span))
