"""What a trial is set up from: the workspace's parts, the limits, the agent and the models of a case or a profile."""

from __future__ import annotations

from pathlib import Path

from evalkit.analysis import model as m
from evalkit.analysis.findings import Findings, Names
from evalkit.analysis.levels import Levels
from evalkit.analysis.suites import Suite
from evalkit.analysis.values import Values
from evalkit.diagnostics import did_you_mean
from evalkit.syntax import nodes as n

__all__ = ["AGENTS", "DEFAULT_JUDGE_MODEL", "DEFAULT_MODEL", "resolve_agent", "resolve_limits", "resolve_model",
           "resolve_setup"]

AGENTS = ("claude", "oracle", "nop")
"""Agents that `use agent` may select."""

DEFAULT_MODEL = m.ModelChoice(None, "anthropic/claude-sonnet-5")
DEFAULT_JUDGE_MODEL = m.ModelChoice(None, "anthropic/claude-opus-4.8")


def resolve_setup(findings: Findings, suite: Suite, levels: Levels) -> m.Setup:
    """The parts of a workspace. A scaffold without command and folder: there is none (the caller reports it)."""
    values = Values(findings)
    return m.Setup(
        toolchains=suite.toolchains,
        scaffold=_scaffold(values, suite, levels),
        starter=next((suite.files.find(folder, starter.path.value, starter.path.span, "folder")
                      for folder, starter in levels.innermost(n.Starter)), None),
        skills=_skills(findings, suite, levels),
        prewarm=tuple(values.command(command, (), prewarm.limit)
                      for _, prewarm in levels.innermost(n.Prewarm) for command in prewarm.commands),
        caches=tuple(values.within_workspace(path)
                     for _, caches in levels.innermost(n.Caches) for path in caches.paths),
    )


def _scaffold(values: Values, suite: Suite, levels: Levels) -> m.Scaffold:
    for folder, scaffold in levels.innermost(n.ScaffoldRun, n.ScaffoldCopy):
        origin = str(scaffold.span)
        if isinstance(scaffold, n.ScaffoldRun):
            return m.Scaffold(values.command(scaffold.command, ("workspace",), scaffold.limit), None, origin)
        found = suite.files.find(folder, scaffold.path.value, scaffold.path.span, "folder")
        return m.Scaffold(None, found, origin)
    return m.Scaffold(None, None, "")


def _skills(findings: Findings, suite: Suite, levels: Levels) -> tuple[m.Skill, ...]:
    skills: list[m.Skill] = []
    names = Names(findings, "skill")
    for folder, statement in levels.innermost(n.Skills, n.SkillsNone):
        if isinstance(statement, n.SkillsNone):
            continue
        command = None
        if statement.delivery == "by":
            command = Values(findings).command(statement.value, ("skill",), None)
        for name in statement.names:
            if names.add(name):
                path = None if command else _skill_folder(findings, suite, folder, statement.value, name)
                skills.append(m.Skill(name.value, command, path, str(name.span)))
    return tuple(skills)


def _skill_folder(findings: Findings, suite: Suite, base: Path, text: n.Str, name: n.Name) -> str | None:
    path = suite.files.find(base, text.value, text.span, "folder")
    if path is None:
        return None
    for candidate in (path, f"{path}/{name.value}"):
        if (suite.files.root / candidate / "SKILL.md").is_file():
            return candidate
    findings.report("E040", f"there is no skill `{name.value}` in `{text.value}`", name.span,
                    help=f"looked for {path}/SKILL.md and {path}/{name.value}/SKILL.md")
    return None


def resolve_limits(findings: Findings, levels: Levels) -> m.Limits:
    turns, time = m.Limits().turns, m.Limits().time
    for _, limits in levels.all(n.Limits):
        if limits.turns is not None:
            turns = limits.turns.value
            if turns < 1:
                findings.report("E053", "an agent has at least 1 turn", limits.turns.span)
        if limits.time is not None:
            time = limits.time.value
    return m.Limits(turns, time)


def resolve_agent(findings: Findings, levels: Levels) -> m.AgentConfig:
    """The agent that a case selects, with what its blocks of all levels say."""
    name = "claude"
    for _, use in levels.all(n.UseAgent):
        name = _known_agent(findings, use.name)
    allow: list[str] = []
    deny: list[str] = []
    suffix = ""
    env: dict[str, str] = {}
    for _, block in levels.all(n.Agent):
        if _known_agent(findings, block.name) != name:
            continue
        for statement in block.body:
            if isinstance(statement, n.Allow):
                allow += [tool.value for tool in statement.tools]
            elif isinstance(statement, n.Deny):
                deny += [tool.value for tool in statement.tools]
            elif isinstance(statement, n.Suffix):
                suffix = statement.text.value
            elif isinstance(statement, n.Env):
                env[statement.name.value] = statement.value.value
    return m.AgentConfig(name, tuple(dict.fromkeys(allow)), tuple(dict.fromkeys(deny)), suffix, tuple(env.items()))


def _known_agent(findings: Findings, name: n.Name) -> str:
    if name.value not in AGENTS:
        findings.report("E024", f"there is no agent `{name.value}`", name.span, help=did_you_mean(name.value, AGENTS))
    return name.value


def resolve_model(levels: Levels, role: str, default: m.ModelChoice) -> m.ModelChoice:
    for _, statement in levels.all(n.Model):
        if statement.role == role:
            default = m.ModelChoice(statement.variable.value if statement.variable else None, statement.default.value)
    return default
