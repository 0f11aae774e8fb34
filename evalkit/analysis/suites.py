"""The suites of a project: each with its profiles, checks, toolchains, tiers and arms by name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from evalkit.analysis import model as m
from evalkit.analysis.files import Files, relative
from evalkit.analysis.findings import Findings, Names
from evalkit.analysis.levels import Block, Level, Levels
from evalkit.analysis.twice import report_twice
from evalkit.diagnostics import did_you_mean
from evalkit.syntax import nodes as n
from evalkit.values import State, evolve, field

__all__ = ["MAX_ARMS", "PRIMITIVES", "Suite", "index_suites"]

PRIMITIVES = ("run", "grep", "exists", "absent", "hidden-tests", "snapshot", "page", "transcript", "state",
              "plugin")
"""The checks that the language has itself."""
TAKEN = (*PRIMITIVES, "calls", "score", "judge")
"""Kinds of checks, which no check of a suite's own can have."""

MAX_ARMS = 64
DEEPEST = 16
"""Profiles, each of which extends the next."""


class Suite(State):
    """A suite with its names indexed."""

    info: m.SuiteInfo
    folder: Path
    node: n.Suite
    files: Files
    profiles: dict[str, n.Profile] = field(factory=dict)
    checks: dict[str, n.Define] = field(factory=dict)
    toolchains: tuple[m.Toolchain, ...] = ()
    arms: dict[str, n.Arm] = field(factory=dict)
    tracks: set[str] = field(factory=set)
    """The names of the tracks of all its cases."""
    _blocks: dict[int, Block] = field(factory=dict)

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
        whole = True
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
            base = self.profile(profile.extends, findings) if profile.extends else None
            whole = base is not None or profile.extends is None
            profile = base
        blocks = [self._block("profile", node) for node in reversed(chain)]
        return Levels((self._block("suite", self.node), *blocks), whole)

    def _block(self, level: Level, node: n.Suite | n.Profile) -> Block:
        """A block of the suite, which many cases share."""
        if id(node) not in self._blocks:
            self._blocks[id(node)] = Block.of(level, self.folder, node.body)
        return self._blocks[id(node)]


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
    abouts = [statement.text.value for statement in node.body if isinstance(statement, n.About)]
    info = m.SuiteInfo(node.name.value, "".join(abouts[-1:]), relative(folder, root), str(node.span))
    suite = Suite(info, folder, node, Files(findings, root, folder))
    report_twice(findings, node.body)
    profiles, checks, toolchains, tiers, arms = (
        Names(findings, what) for what in ("profile", "check", "toolchain", "tier", "arm"))
    found: list[m.Toolchain] = []
    levels: list[m.Tier] = []
    for statement in node.body:
        if isinstance(statement, n.Profile):
            profiles.reserve(statement.name, ("none", "agent"))
            profiles.add(statement.name)
            suite.profiles.setdefault(statement.name.value, statement)
            report_twice(findings, statement.body)
        elif isinstance(statement, n.Define):
            checks.reserve(statement.name, TAKEN)
            checks.add(statement.name)
            suite.checks.setdefault(statement.name.value, statement)
            _define(findings, statement)
        elif isinstance(statement, n.Toolchain):
            from evalkit.analysis.toolchains import resolve_toolchain

            toolchains.add(statement.name)
            found.append(resolve_toolchain(findings, statement))
        elif isinstance(statement, n.Tier):
            tiers.add(statement.name)
            about = statement.about.value if statement.about else ""
            levels.append(m.Tier(statement.name.value, about, statement.requires, str(statement.span),
                                 tuple(name.value for name in statement.commands)))
        elif isinstance(statement, n.Arm):
            arms.reserve(statement.name, ("all",))
            arms.add(statement.name)
            if len(suite.arms) == MAX_ARMS:
                findings.report("E053", f"a suite has at most {MAX_ARMS} arms", statement.name.span)
                continue
            suite.arms.setdefault(statement.name.value, statement)
            report_twice(findings, statement.body)
    suite.toolchains = tuple(found)
    suite.info = evolve(suite.info, tiers=tuple(levels), arms=tuple(_arm(arm) for arm in suite.arms.values()),
                        metrics=_metrics(findings, suite))
    return suite


def _metrics(findings: Findings, suite: Suite) -> tuple[m.Metrics, ...]:
    groups = [item for item in suite.node.body if isinstance(item, n.Metrics)]
    if not groups:
        return ()
    from evalkit.analysis.metrics import resolve_metrics

    return resolve_metrics(findings, groups, suite.profiles)


def _arm(node: n.Arm) -> m.Arm:
    about = [statement.text.value for statement in node.body if isinstance(statement, n.About)]
    ablates = any(isinstance(statement, n.Ablate) for statement in node.body)
    return m.Arm(node.name.value, "".join(about[-1:]), ablates, str(node.span))


def _define(findings: Findings, node: n.Define) -> None:
    """What is wrong with a check whatever its arguments are."""
    params = Names(findings, "parameter")
    for param in node.params:
        params.reserve(param, ("case", "file", "workspace"))
        params.add(param)
    if not any(isinstance(step, n.StepRun | n.StepEach) for step in node.steps):
        findings.report("E032", f"check `{node.name.value}` runs nothing, so it cannot fail", node.name.span,
                        help='add a step `run "…"` or `each "FILES" run "…"`')
