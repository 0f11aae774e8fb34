"""What a trial is set up from: the workspace's parts, the limits, and the models of a case or a profile."""

from __future__ import annotations

import re
from pathlib import Path

from evalkit.analysis import model as m
from evalkit.analysis.findings import Names
from evalkit.analysis.guidance import resolve_guidance
from evalkit.analysis.levels import Levels
from evalkit.analysis.scope import Scope
from evalkit.diagnostics import Span
from evalkit.syntax import nodes as n

__all__ = ["DEFAULT_JUDGE_MODEL", "DEFAULT_MODEL", "MAX_TRIALS", "has_scaffold", "resolve_limits", "resolve_model",
           "resolve_setup", "resolve_trials"]

DEFAULT_MODEL = m.ModelChoice(None, "anthropic/claude-sonnet-5")
DEFAULT_JUDGE_MODEL = m.ModelChoice(None, "anthropic/claude-opus-4.8")
MAX_TRIALS = 1000
_PLACE = r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}"
MAX_COST = 10_000
"""Dollars that a trial may be allowed."""


def resolve_setup(scope: Scope) -> m.Setup:
    """The parts of a workspace. A scaffold without command and folder: there is none (the caller reports it)."""
    for toolchain in scope.suite.toolchains:
        scope.origins[f"setup.toolchains.{toolchain.name}"] = toolchain.origin
    return m.Setup(
        toolchains=scope.suite.toolchains,
        scaffold=_scaffold(scope),
        starter=_starter(scope),
        skills=_skills(scope),
        prewarm=_prewarm(scope),
        caches=_caches(scope),
        guidance=resolve_guidance(scope),
        contract=resolve_contract(scope),
        answer=_answer(scope),
        live=_live(scope),
        network=_network(scope),
    )


# ---- the workspace ----
def _scaffolds(levels: Levels) -> list[tuple[Path, n.ScaffoldRun | n.ScaffoldCopy | n.ScaffoldTemplate | n.Answer]]:
    """The statements that say what a workspace starts from, the one that wins last."""
    found: list[tuple[Path, n.ScaffoldRun | n.ScaffoldCopy | n.ScaffoldTemplate | n.Answer]] = []
    for block in levels.blocks:
        for kind in (n.ScaffoldRun, n.ScaffoldCopy, n.ScaffoldTemplate):
            found += [(block.folder, statement) for statement in block.by_kind.get(kind, ())]
        found += [(block.folder, answer) for answer in block.all(n.Answer) if answer.template is not None]
    return found


def has_scaffold(levels: Levels) -> bool:
    return bool(_scaffolds(levels))


def _scaffold(scope: Scope) -> m.Scaffold:
    found = _scaffolds(scope.levels)
    if not found:
        return m.Scaffold(None, None, "")
    folder, scaffold = found[-1]
    origin = str(scaffold.span)
    scope.origins["setup.scaffold"] = origin
    if isinstance(scaffold, n.ScaffoldRun):
        return m.Scaffold(scope.values.command(scaffold.command, ("workspace",), scaffold.limit), None, origin)
    path = scaffold.template if isinstance(scaffold, n.Answer) else scaffold.path
    assert path is not None  # only answers with one are scaffolds
    return m.Scaffold(None, scope.suite.files.find(folder, path.value, path.span, "folder"), origin)


def _starter(scope: Scope) -> str | None:
    if (found := scope.levels.last(n.Starter)) is None:
        return None
    folder, starter = found
    scope.note("setup.starter", starter.span)
    return scope.suite.files.find(folder, starter.path.value, starter.path.span, "folder")


def _skills(scope: Scope) -> tuple[m.Skill, ...]:
    skills: list[m.Skill] = []
    names = Names(scope.findings, "skill")
    for folder, statement in scope.levels.innermost(n.Skills, n.SkillsNone):
        scope.note("setup.skills", statement.span)
        if isinstance(statement, n.SkillsNone):
            continue
        command = None
        if statement.delivery == "by":
            command = scope.values.command(statement.value, ("skill",), None)
        for name in statement.names:
            if names.add(name):
                path = None if command else _skill_folder(scope, folder, statement.value, name)
                scope.note(f"setup.skills.{name.value}", name.span)
                skills.append(m.Skill(name.value, command, path, str(name.span), statement.delivery == "linked"))
    return tuple(skills)


def _skill_folder(scope: Scope, base: Path, text: n.Str, name: n.Name) -> str | None:
    path = scope.suite.files.find(base, text.value, text.span, "folder")
    if path is None:
        return None
    for candidate in (path, f"{path}/{name.value}"):
        if (scope.suite.files.root / candidate / "SKILL.md").is_file():
            return candidate
    scope.report("E040", f"there is no skill `{name.value}` in `{text.value}`", name.span,
                 help=f"looked for {path}/SKILL.md and {path}/{name.value}/SKILL.md")
    return None


def _prewarm(scope: Scope) -> tuple[m.Command, ...]:
    found: list[m.Command] = []
    for _, prewarm in scope.levels.innermost(n.Prewarm, n.PrewarmNone):
        scope.note("setup.prewarm", prewarm.span)
        if isinstance(prewarm, n.Prewarm):
            for command in prewarm.commands:
                scope.note(f"setup.prewarm.{len(found)}", command.span)
                found.append(scope.values.command(command, (), prewarm.limit))
    return tuple(found)


def _caches(scope: Scope) -> tuple[str, ...]:
    found: list[str] = []
    for _, caches in scope.levels.innermost(n.Caches, n.CachesNone):
        scope.note("setup.caches", caches.span)
        if isinstance(caches, n.Caches):
            for path in caches.paths:
                scope.note(f"setup.caches.{len(found)}", path.span)
                found.append(scope.values.within_workspace(path))
    return tuple(found)


def _network(scope: Scope) -> tuple[str, ...]:
    found: list[str] = []
    for _, network in scope.levels.innermost(n.Network, n.NetworkNone):
        scope.note("setup.network", network.span)
        for place in network.places if isinstance(network, n.Network) else ():
            if not re.fullmatch(_PLACE, place.value) or not 0 < int(place.value.rpartition(":")[2]) < 65536:
                scope.report("E053", f"`{place.value}` is no host with a port", place.span,
                             help='such as "registry.example:443"')
            found.append(place.value.lower())
    return tuple(dict.fromkeys(found))


def resolve_contract(scope: Scope) -> str | None:
    if (found := scope.levels.last(n.Contract, n.ContractNone)) is None:
        return None
    folder, contract = found
    scope.note("setup.contract", contract.span)
    if isinstance(contract, n.ContractNone):
        return None
    return scope.suite.files.find(folder, contract.path.value, contract.path.span, "file")


def _answer(scope: Scope) -> str | None:
    if (found := scope.levels.last(n.Answer)) is None:
        return None
    _, answer = found
    scope.note("setup.answer", answer.span)
    return scope.values.within_workspace(answer.path)


def _live(scope: Scope) -> m.Live | None:
    if (found := scope.levels.last(n.Live)) is None:
        return None
    from evalkit.analysis.live import resolve_live

    return resolve_live(scope, found[1])


# ---- limits, trials, models ----
def resolve_limits(scope: Scope) -> m.Limits:
    turns, time, cost, tokens = m.Limits().turns, m.Limits().time, m.Limits().cost, m.Limits().tokens
    for _, limits in scope.levels.all(n.Limits):
        if limits.turns is not None:
            turns = limits.turns.value
            scope.note("limits.turns", limits.turns.span)
            if turns < 1:
                scope.report("E053", "an agent has at least 1 turn", limits.turns.span)
        if limits.time is not None:
            time = limits.time.value
            scope.note("limits.time", limits.time.span)
        if limits.cost is not None:
            cost = float(limits.cost.value)
            scope.note("limits.cost", limits.cost.span)
            if not 0 < cost <= MAX_COST:
                scope.report("E053", f"what a trial may cost is from $0.01 to ${MAX_COST:,}", limits.cost.span)
        if limits.tokens is not None:
            tokens = limits.tokens.value
            scope.note("limits.tokens", limits.tokens.span)
            if tokens < 1:
                scope.report("E053", "an agent has at least 1 token", limits.tokens.span)
    return m.Limits(turns, time, cost, tokens)


def resolve_trials(scope: Scope) -> int | None:
    if (found := scope.levels.last(n.Trials)) is None:
        return None
    count = found[1].count
    scope.note("trials", found[1].span)
    scope.values.bounded(count, 1, MAX_TRIALS, "the number of trials")
    return count.value


def resolve_model(scope: Scope, role: str, path: str, default: m.ModelChoice) -> m.ModelChoice:
    chosen: tuple[m.ModelChoice, Span] | None = None
    for _, statement in scope.levels.all(n.Model):
        if statement.role == role:
            variable = scope.values.variable(statement.variable) if statement.variable else None
            chosen = m.ModelChoice(variable, statement.default.value), statement.span
    if chosen is None:
        return default
    scope.note(path, chosen[1])
    return chosen[0]
