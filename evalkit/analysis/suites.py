"""The suites of a project: each with its profiles, its checks and its toolchains by name."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from attrs import define, field

from evalkit.analysis import model as m
from evalkit.analysis.files import Files, relative
from evalkit.analysis.findings import Findings, Names
from evalkit.analysis.levels import Levels, Statement
from evalkit.analysis.values import Values
from evalkit.diagnostics import Span, did_you_mean
from evalkit.syntax import nodes as n

__all__ = ["PRIMITIVES", "Suite", "index_suites", "report_twice"]

PRIMITIVES = ("run", "grep", "snapshot")
"""The checks that the language has itself."""

DEEPEST = 16
"""Profiles, each of which extends the next."""


@define
class Suite:
    """A suite with its names indexed."""

    info: m.SuiteInfo
    folder: Path
    node: n.Suite
    files: Files
    profiles: dict[str, n.Profile] = field(factory=dict)
    checks: dict[str, n.Define] = field(factory=dict)
    toolchains: tuple[m.Toolchain, ...] = ()

    def profile(self, name: n.Name, findings: Findings) -> n.Profile | None:
        """The profile of that name. None, and a report, where there is none."""
        profile = self.profiles.get(name.value)
        if profile is None:
            findings.report("E020", f"suite `{self.info.name}` has no profile `{name.value}`", name.span,
                            help=did_you_mean(name.value, self.profiles))
        return profile

    def levels(self, profile: n.Profile | None, findings: Findings) -> Levels:
        """The suite, then a profile with those that it extends, the base first."""
        chain: list[n.Profile] = []
        while profile is not None:
            if any(profile is earlier for earlier in chain):
                findings.report("E029", f"profile `{profile.name.value}` extends itself", profile.name.span,
                                help="the chain of `extends` must end")
                break
            if len(chain) == DEEPEST:
                findings.report("E029", f"more than {DEEPEST} profiles extend each other", chain[0].name.span,
                                help="say in fewer profiles what they share")
                break
            chain.append(profile)
            profile = self.profile(profile.extends, findings) if profile.extends else None
        return Levels(tuple((self.folder, body) for body in (self.node.body, *(p.body for p in reversed(chain)))))


def index_suites(findings: Findings, root: Path, files: Iterable[tuple[Path, n.File]]) -> dict[Path, Suite]:
    """The suites by their folders."""
    suites: dict[Path, Suite] = {}
    names = Names(findings, "suite")
    for path, file in files:
        for node in file.suites:
            if path.name != "suite.eval":
                findings.report("E028", f"suite `{node.name.value}` stands in `{path.name}`", node.name.span,
                                help="a suite stands in a file named `suite.eval`: it holds for that file's folder")
                continue
            names.add(node.name)
            if path.parent in suites:
                findings.report("E031", "a folder has one suite", node.name.span,
                                notes=(("the first is here", suites[path.parent].node.name.span),))
                continue
            suites[path.parent] = _index(findings, root, path.parent, node)
    return suites


def _index(findings: Findings, root: Path, folder: Path, node: n.Suite) -> Suite:
    about = [statement.text.value for statement in node.body if isinstance(statement, n.About)]
    info = m.SuiteInfo(node.name.value, "".join(about[-1:]), relative(folder, root), str(node.span))
    suite = Suite(info, folder, node, Files(findings, root, folder))
    report_twice(findings, node.body)
    profiles, checks, toolchains = (Names(findings, what) for what in ("profile", "check", "toolchain"))
    found: list[m.Toolchain] = []
    for statement in node.body:
        if isinstance(statement, n.Profile):
            profiles.reserve(statement.name, ("none", "agent"))
            profiles.add(statement.name)
            suite.profiles.setdefault(statement.name.value, statement)
            report_twice(findings, statement.body)
        elif isinstance(statement, n.Define):
            checks.reserve(statement.name, PRIMITIVES)
            checks.add(statement.name)
            suite.checks.setdefault(statement.name.value, statement)
            _define(findings, statement)
        elif isinstance(statement, n.Toolchain):
            toolchains.add(statement.name)
            found.append(_toolchain(findings, statement))
    suite.toolchains = tuple(found)
    return suite


def _define(findings: Findings, node: n.Define) -> None:
    """What is wrong with a check whatever its arguments are."""
    params = Names(findings, "parameter")
    for param in node.params:
        params.reserve(param, ("case", "file", "workspace"))
        params.add(param)
    if not any(isinstance(step, n.StepRun | n.StepEach) for step in node.steps):
        findings.report("E032", f"check `{node.name.value}` runs nothing, so it cannot fail", node.name.span,
                        help='add a step `run "…"` or `each "FILES" run "…"`')


def _toolchain(findings: Findings, node: n.Toolchain) -> m.Toolchain:
    values = Values(findings)
    npm: list[str] = []
    pip: list[str] = []
    programs: list[tuple[str, str]] = []
    env: list[tuple[str, str]] = []
    names = {n.Program: Names(findings, "program"), n.Env: Names(findings, "variable")}
    for statement in node.body:
        if isinstance(statement, n.Npm):
            npm += [values.pin(pin, "@", 'a version: "name@1.2.3"') for pin in statement.pins]
        elif isinstance(statement, n.Pip):
            pip += [values.pin(pin, "==", 'a version: "name==1.2.3" or "name==1.*"') for pin in statement.pins]
        else:
            names[type(statement)].add(statement.name)
            value = statement.path if isinstance(statement, n.Program) else statement.value
            values.placeholders(value, ("npm", "pip", "toolchain"))
            target = programs if isinstance(statement, n.Program) else env
            target.append((statement.name.value, value.value))
    return m.Toolchain(node.name.value, tuple(npm), tuple(pip), tuple(programs), tuple(env), str(node.span))


_ONCE: tuple[tuple[type, ...], ...] = (
    (n.About,), (n.Prompt,), (n.Starter,), (n.Solution,), (n.UseAgent,), (n.UseProfile, n.UseNone), (n.Limits,),
    (n.ScaffoldRun, n.ScaffoldCopy))


def report_twice(findings: Findings, body: Collection[Statement]) -> None:
    """Report statements that may stand once in a block and stand twice."""
    first: dict[object, Span] = {}
    for statement in body:
        key: object = statement.role if isinstance(statement, n.Model) else next(
            (kinds for kinds in _ONCE if isinstance(statement, kinds)), None)
        if key is not None and first.setdefault(key, statement.span) is not statement.span:
            findings.report("E031", "this statement stands twice in one block", statement.span,
                            help="keep one of them", notes=(("the first is here", first[key]),))
    nothing = next((statement for statement in body if isinstance(statement, n.SkillsNone)), None)
    some = next((statement for statement in body if isinstance(statement, n.Skills)), None)
    if nothing and some:
        findings.report("E031", "`skills none` stands beside other skills", nothing.span, help="keep one of them",
                        notes=(("the others are here", some.span),))
