"""Merges the levels of a project and looks every name up: syntax nodes -> compiled cases.

A case is read from the outside in: the suite, then its profile and those that the profile extends (the base first),
then the case itself. What an inner level says replaces (scaffold, skills, prewarm, caches, starter, a limit) or is
added (checks, judges, allow, deny, env); `none` empties. The rules stand in docs/language.md.

Suites and their profiles are resolved by themselves too, so that what is wrong in one is found before a case uses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import TypeVar

from evalkit.analysis import model as m
from evalkit.analysis.checks import LANES, Checks
from evalkit.analysis.files import relative
from evalkit.analysis.findings import Findings, Names, TooMany
from evalkit.analysis.levels import Levels, Statement
from evalkit.analysis.setup import (
    AGENTS,
    DEFAULT_JUDGE_MODEL,
    DEFAULT_MODEL,
    resolve_agent,
    resolve_limits,
    resolve_model,
    resolve_setup,
)
from evalkit.analysis.suites import Suite, index_suites, report_twice
from evalkit.diagnostics import Diagnostic, did_you_mean
from evalkit.syntax import nodes as n

__all__ = ["AGENTS", "LANES", "resolve"]

T = TypeVar("T")


def resolve(
    root: Path, files: Sequence[tuple[Path, n.File]]
) -> tuple[dict[str, m.Case], dict[str, m.SuiteInfo], list[Diagnostic]]:
    """Compile the parsed files of a project: its cases, its suites and what is wrong, up to a number.

    What is compiled is whole only where nothing was found.
    """
    findings = Findings()
    try:
        cases, suites = _resolve(findings, root, files)
    except TooMany:
        return {}, {}, findings.diagnostics
    return cases, suites, findings.diagnostics


def _resolve(
    findings: Findings, root: Path, files: Sequence[tuple[Path, n.File]]
) -> tuple[dict[str, m.Case], dict[str, m.SuiteInfo]]:
    suites = index_suites(findings, root, files)
    for suite in suites.values():
        _check_alone(findings, suite, suite.node.body)
        for profile in suite.profiles.values():
            suite.levels(profile, findings)
            _check_alone(findings, suite, profile.body)
    cases: dict[str, m.Case] = {}
    names = Names(findings, "case")
    for path, file in files:
        home = next((suites[folder] for folder in path.parents if folder in suites), None)
        for node in file.cases:
            names.add(node.name)
            if home is None:
                findings.report("E027", f"case `{node.name.value}` belongs to no suite", node.name.span,
                                help="put a `suite.eval` with `suite NAME { … }` into its folder or one above")
                continue
            cases[node.name.value] = _CaseResolver(findings, home, path.parent, node).resolve()
    return cases, {suite.info.name: suite.info for suite in suites.values()}


def _check_alone(findings: Findings, suite: Suite, body: Sequence[Statement]) -> None:
    """Find what is wrong in the block of a suite or a profile, whatever case will use it."""
    levels = Levels(((suite.folder, body),))
    resolve_setup(findings, suite, levels)
    resolve_limits(findings, levels)
    resolve_agent(findings, levels)
    checks = Checks(findings, suite, None)
    checks.checks(levels)
    checks.judges(levels)


class _CaseResolver:
    """Compiles one case."""

    def __init__(self, findings: Findings, suite: Suite, folder: Path, node: n.Case) -> None:
        self.findings = findings
        self.report = findings.report
        self.suite = suite
        self.folder = folder
        self.node = node

    def resolve(self) -> m.Case:
        node, findings, suite = self.node, self.findings, self.suite
        report_twice(findings, node.body)
        profile = next((suite.profile(use.name, findings) for use in self._own(n.UseProfile)), None)
        outer = suite.levels(profile, findings)
        levels = Levels((*outer.blocks, (self.folder, node.body)))
        resolver = Checks(findings, suite, self.folder)
        checks, judges = resolver.checks(levels), resolver.judges(levels)
        if not checks and not judges:
            self.report("E032", f"case `{node.name.value}` has no check", node.name.span,
                        help='say what a right answer is: `check run "…"`, `check grep "FILES" has "…"`')
        setup = resolve_setup(findings, suite, levels)
        if not levels.innermost(n.ScaffoldRun, n.ScaffoldCopy):
            self.report("E032", f"case `{node.name.value}` has no scaffold", node.name.span,
                        help='say what the workspace starts from: `scaffold copy "FOLDER"` or `scaffold run "…"`, '
                        "here or in a profile that the case uses")
        return m.Case(
            name=node.name.value,
            suite=suite.info,
            about="".join(about.text.value for about in self._own(n.About)),
            folder=relative(self.folder, suite.files.root),
            origin=str(node.span),
            prompt=self._prompt(),
            profile=profile.name.value if profile else "",
            setup=setup,
            limits=resolve_limits(findings, levels),
            agent=resolve_agent(findings, levels),
            model=resolve_model(levels, "model", DEFAULT_MODEL),
            judge_model=resolve_model(levels, "judge-model", DEFAULT_JUDGE_MODEL),
            checks=checks,
            judges=judges,
            solution=next((suite.files.find(self.folder, solution.path.value, solution.path.span, "folder")
                           for solution in self._own(n.Solution)), None),
            wrongs=self._wrongs({*(check.id for check in checks), *(judge.id for judge in judges)}),
        )

    def _own(self, kind: type[T]) -> list[T]:
        """The case's own statements of a kind, not those of outer levels."""
        return [statement for statement in self.node.body if isinstance(statement, kind)]

    def _prompt(self) -> str:
        text = next((prompt.text for prompt in self._own(n.Prompt)), None)
        if text is None:
            self.report("E032", f"case `{self.node.name.value}` has no prompt", self.node.name.span,
                        help='add `prompt """ … """` or `prompt "PROMPT.md"`')
            return ""
        value = text.value if text.block else self._prompt_file(text)
        if value is not None and not value.strip():
            self.report("E032", "the prompt is empty", text.span)
        return value or ""

    def _prompt_file(self, text: n.Str) -> str | None:
        if not text.value.endswith((".md", ".txt")):
            self.report("E053", "a quoted prompt names a file that ends in .md or .txt", text.span,
                        help='write the prompt itself as a text block: prompt """ … """')
            return None
        path = self.suite.files.find(self.folder, text.value, text.span, "file")
        if path is None:
            return None
        try:
            return (self.suite.files.root / path).read_text(encoding="utf-8-sig")
        except OSError as error:
            self.report("E040", f"`{text.value}` cannot be read: {error.strerror}", text.span)
        except UnicodeDecodeError:
            self.report("E040", f"`{text.value}` is not UTF-8", text.span, help="save it as UTF-8")
        return None

    def _wrongs(self, known: set[str]) -> tuple[m.Wrong, ...]:
        wrongs = []
        names = Names(self.findings, "wrong answer")
        for statement in self._own(n.Wrong):
            for check in statement.fails:
                if check.value not in known:
                    self.report("E022", f"case `{self.node.name.value}` has no check `{check.value}`", check.span,
                                help=did_you_mean(check.value, known))
            folder = self.suite.files.find(self.folder, statement.path.value, statement.path.span, "folder")
            if folder is not None:
                name = n.Name(PurePosixPath(folder).name, statement.path.span)
                names.add(name)
                wrongs.append(m.Wrong(name.value, folder, tuple(check.value for check in statement.fails),
                                      str(statement.span)))
        return tuple(wrongs)
