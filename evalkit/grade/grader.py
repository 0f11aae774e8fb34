"""Grades one check of one final tree: picks the grader, times it, and turns our own tools' failures into errors."""

from __future__ import annotations

import platform
import time

from evalkit.analysis.model import Case, Check, CheckSpec, GrepSpec, RunSpec, SnapshotSpec
from evalkit.digest import digest
from evalkit.errors import HarnessError
from evalkit.grade import grep, run
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.verdict import Grade, Verdict, could_not_tell
from evalkit.plan.keys import Inputs

__all__ = ["grade_check", "grader_version", "lane_names"]

_SNAPSHOT_VERSION = "snapshot 0"


def grader_version(spec: CheckSpec) -> str:
    """The version of the code that grades such a check: part of its key."""
    if isinstance(spec, GrepSpec):
        return grep.VERSION
    return _SNAPSHOT_VERSION if isinstance(spec, SnapshotSpec) else run.VERSION


def lane_names(lane: str) -> set[str]:
    """What a check's `on` may call a lane."""
    system = {"Darwin": "macos", "Linux": "linux"}.get(platform.system(), platform.system().lower())
    return {lane, f"{system}-{lane}"}


def grade_check(case: Case, check: Check, tree: FinalTree, inputs: Inputs, lane: str) -> Grade:
    """Grade; never raises for what the agent left behind."""
    began = time.monotonic()
    if check.lanes and not lane_names(lane) & set(check.lanes):
        verdict = Verdict("skipped", f"not graded on the {lane} lane (only on {', '.join(check.lanes)})")
    else:
        try:
            verdict = _grade(case, check.spec, tree)
        except HarnessError as error:
            verdict = could_not_tell(error)
    return Grade(check.id, check.kind, verdict, digest(inputs), inputs, round(time.monotonic() - began, 3))


def _grade(case: Case, spec: CheckSpec, tree: FinalTree) -> Verdict:
    if isinstance(spec, GrepSpec):
        return grep.grade_grep(spec, tree)
    if isinstance(spec, SnapshotSpec):
        return Verdict("skipped", "the local lane has no live checks: they need the sandbox lane")
    if isinstance(spec, RunSpec):
        return run.grade_run(spec, tree, case.setup.toolchains)
    return run.grade_steps(spec, tree, case.setup.toolchains)
