"""W005: a file in a case's folder that nothing names.

Every string of the case file counts as a path, whatever statement it stands in, and so do the files that checks put
into a workspace: a rule that knew each statement would be wrong about the next one. Left alone are folders that hold a
suite (its files are for all its cases), hidden files, and README files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from evalkit.analysis import model as m
from evalkit.diagnostics import Diagnostic
from evalkit.lint.finding import Finding
from evalkit.lint.subject import CaseView, Subject
from evalkit.lint.walk import walk
from evalkit.syntax import nodes as n

__all__ = ["CODE", "find"]

CODE = "W005"
MOST = 5
"""Files of a case that are told."""


def find(subject: Subject) -> Iterator[Finding]:
    with_suite = {path.parent for path, file in subject.files if file.suites}
    by_folder: dict[Path, list[CaseView]] = {}
    for view in subject.views.values():
        if view.path.parent not in with_suite:
            by_folder.setdefault(view.path.parent, []).append(view)
    homes = {path.parent for path, _ in subject.files}
    named_elsewhere = _put(subject) | {text for suite in subject.suites for text in _strings(suite.path, suite.node)}
    for folder, views in by_folder.items():
        if not all(view.units for view in views):
            continue  # what it names is not known
        named = named_elsewhere | {text for view in views for text in _strings(view.path, view.node)}
        first = views[0].node
        unused = list(_unused(folder, named, homes))
        for path in unused[:MOST]:
            shown = path.relative_to(folder).as_posix() + ("/" if path.is_dir() else "")
            yield Finding(Diagnostic(
                CODE, f"nothing names `{shown}`", first.name.span,
                help=f"it is beside {first.name.span.source.shown}: name it in a statement, or delete it"),
                views[0].units[0])


def _strings(path: Path, block: n.Case | n.Suite) -> Iterator[str]:
    """Every string of a block, read as a path."""
    return (os.path.normpath(path.parent / node.value) for node, _ in walk(block)
            if isinstance(node, n.Str) and not node.block and node.value and "\0" not in node.value)


def _put(subject: Subject) -> set[str]:
    return {os.path.normpath(subject.root / step.source) for _, unit in subject.compiled() for check in unit.checks
            if isinstance(check.spec, m.StepsSpec) for step in check.spec.steps if isinstance(step, m.Put)}


def _unused(folder: Path, named: set[str], homes: set[Path]) -> Iterator[Path]:
    """Files and folders that are not named and hold nothing named; of a folder only itself."""
    for entry in sorted(folder.iterdir()):
        if (os.path.normpath(entry) in named or entry in homes or entry.name.startswith((".", "README"))
                or entry.suffix == ".eval" or entry.name == "__pycache__"):
            continue
        below = f"{os.path.normpath(entry)}{os.sep}"
        holds = any(path.startswith(below) for path in named) or any(entry in home.parents for home in homes)
        if entry.is_dir() and not entry.is_symlink() and holds:
            yield from _unused(entry, named, homes)
        else:
            yield entry
