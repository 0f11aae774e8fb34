"""W003: a judge whose globs match no file that the case is known to have.

What a command makes is not known. So a judge is looked at only where the case copies its scaffold or has a solution.
"""

from __future__ import annotations

from collections.abc import Iterator

from evalkit.analysis import model as m
from evalkit.analysis.globs import matching
from evalkit.diagnostics import Diagnostic
from evalkit.lint.finding import Finding
from evalkit.lint.subject import Subject
from evalkit.lint.trees import files_below
from evalkit.syntax import nodes as n

__all__ = ["CODE", "find"]

CODE = "W003"


def find(subject: Subject) -> Iterator[Finding]:
    listed: dict[str, list[str]] = {}
    for _, case in subject.compiled():
        folders = _folders(case)
        if not folders or not case.judges:
            continue
        for folder in folders:
            if folder not in listed:
                listed[folder] = files_below(subject.root / folder)
        names = [name for folder in folders for name in listed[folder]]
        for judge in case.judges:
            node = subject.node(judge.origin, n.Judge)
            if node is not None and node.files and not matching(names, judge.files):
                yield Finding(Diagnostic(
                    CODE, f"judge `{judge.id}` is given no file: nothing of `{case.name}` matches its globs",
                    node.files[0].span, help=f"looked in {', '.join(f'{folder}/' for folder in folders)}"), case)


def _folders(case: m.Case) -> list[str]:
    """The folders that a finished workspace holds the files of; none where not enough of it is known."""
    scaffold = case.setup.scaffold.folder
    if scaffold is None and case.solution is None:
        return []
    return [folder for folder in (case.solution, case.setup.starter, scaffold) if folder is not None]
