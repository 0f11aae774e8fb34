"""Merges the levels of a project and looks every name up: syntax nodes -> compiled units.

Suites first, with their profiles and arms, which are resolved by themselves too, so that what is wrong in one is found
before a case uses it; then the cases (units.py). What an inner level says replaces (scaffold, skills, guidance,
prewarm, caches, starter, a limit) or is added (checks, judges, wrong answers, allow, deny, env, tags); `none` empties.
The rules stand in docs/language.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from evalkit.analysis import model as m
from evalkit.analysis.agents import resolve_agent
from evalkit.analysis.checks import LANES, About, Checks
from evalkit.analysis.findings import Findings, Names, TooMany
from evalkit.analysis.levels import Block, Levels
from evalkit.analysis.scope import Scope
from evalkit.analysis.setup import (
    DEFAULT_JUDGE_MODEL,
    DEFAULT_MODEL,
    resolve_limits,
    resolve_model,
    resolve_setup,
    resolve_trials,
)
from evalkit.analysis.silences import resolve_silences
from evalkit.analysis.suites import Suite, index_suites
from evalkit.analysis.trace import FileTrace, Trace
from evalkit.analysis.units import resolve_case
from evalkit.diagnostics import Diagnostic
from evalkit.syntax import nodes as n

__all__ = ["LANES", "compile_units", "resolve"]


def compile_units(
    root: Path, files: Sequence[tuple[Path, n.File]], trace: Trace | None = None,
    tracks: Mapping[str, Collection[str]] | None = None, *, beside: Mapping[str, Collection[str]] | None = None,
    sound: Collection[tuple[str, str]] = (),
) -> tuple[dict[str, tuple[m.Case, ...]], dict[str, m.SuiteInfo], list[Diagnostic]]:
    """Compile the parsed files of a project: the units of its cases, its suites and what is wrong, up to a number.

    What is compiled is whole only where nothing was found. `trace` gets what was looked at.

    `tracks`: these are only some of the files of a project that was compiled before, whose suites have these tracks, by
    their folders. The files of the suites concerned are among them; what these say by themselves is known to be right.
    `beside`: tracks of cases that are left out, by the folders of their suites, where nothing is known to be right.
    `sound`: regexes with their flags that need not be looked at: they were compiled before.
    """
    findings = Findings(sound)
    try:
        units, suites = _compile(findings, root, files, trace or Trace(), tracks, beside or {})
    except TooMany:
        return {}, {}, findings.diagnostics
    return units, suites, findings.diagnostics


def resolve(
    root: Path, files: Sequence[tuple[Path, n.File]]
) -> tuple[dict[str, m.Case], dict[str, m.SuiteInfo], list[Diagnostic]]:
    """As `compile_units`, with the first unit of each case."""
    units, suites, found = compile_units(root, files)
    return {name: mine[0] for name, mine in units.items()}, suites, found


def _compile(
    findings: Findings, root: Path, files: Sequence[tuple[Path, n.File]], trace: Trace,
    tracks: Mapping[str, Collection[str]] | None, beside: Mapping[str, Collection[str]],
) -> tuple[dict[str, tuple[m.Case, ...]], dict[str, m.SuiteInfo]]:
    suites = index_suites(findings, root, files)
    homes = {path: next((suites[folder] for folder in path.parents if folder in suites), None) for path, _ in files}
    declared = {path: {item.name.value for case in file.cases for item in case.body if isinstance(item, n.Track)}
                for path, file in files}
    for path, names_of_tracks in declared.items():
        if home := homes[path]:
            home.tracks |= names_of_tracks
    for folder, suite in suites.items():
        suite.tracks |= {*beside.get(str(folder), ())}
    if tracks is None:
        _check_suites(findings, suites.values())
    else:
        for folder, suite in suites.items():
            suite.tracks |= {*tracks.get(str(folder), ())}
    trace.looked, trace.reads, _ = findings.take_looks()
    units: dict[str, tuple[m.Case, ...]] = {}
    names = Names(findings, "case")
    for path, file in files:
        home = homes[path]
        for node in file.cases:
            names.add(node.name)
            if home is None:
                findings.report("E027", f"case `{node.name.value}` belongs to no suite", node.name.span,
                                help="put a `suite.eval` with `suite NAME { … }` into its folder or one above")
                continue
            units[node.name.value] = resolve_case(findings, home, path.parent, node)
        looked, reads, regexes = findings.take_looks()
        trace.files[str(path)] = FileTrace(
            tuple(node.name.value for node in file.cases), len(file.suites), str(home.folder) if home else None,
            tuple(sorted(declared[path])), tuple(sorted(looked)), tuple(sorted(reads)),
            tuple(sorted(regexes)))
        trace.reads = {**reads, **trace.reads}
    return units, {suite.info.name: suite.info for suite in suites.values()}


def _check_suites(findings: Findings, suites: Iterable[Suite]) -> None:
    """Find what is wrong in suites by themselves."""
    for suite in suites:
        _check_alone(findings, suite, Block.of("suite", suite.folder, suite.node.body))
        for profile in suite.profiles.values():
            suite.levels(profile, findings)
            _check_alone(findings, suite, Block.of("profile", suite.folder, profile.body))
        for arm in suite.arms.values():
            block = Block.of("arm", suite.folder, arm.body)
            for use in block.all(n.UseProfile):
                suite.profile(use.name, findings)
            _check_alone(findings, suite, block)


def _check_alone(findings: Findings, suite: Suite, block: Block) -> None:
    """Find what is wrong in the block of a suite, a profile or an arm, whatever case will use it."""
    scope = Scope(findings, suite, Levels((block,)))
    resolve_setup(scope)
    resolve_limits(scope)
    resolve_trials(scope)
    agents = {agent.name.value for agent in block.all(n.Agent)} or {"claude"}
    for agent in sorted(agents):
        resolve_agent(scope, agent)
    resolve_model(scope, "model", "model", DEFAULT_MODEL)
    resolve_model(scope, "judge-model", "judge_model", DEFAULT_JUDGE_MODEL)
    resolve_silences(findings, block.all(n.Silence))
    checks = Checks(scope, About())
    checks.checks()
    checks.judges()
