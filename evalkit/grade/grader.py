"""Grades one check of one final tree: picks the grader, times it, and turns our own tools' failures into errors."""

from __future__ import annotations

import platform
import time

from evalkit.analysis.model import (
    Case,
    Check,
    CheckSpec,
    ExistsSpec,
    GrepSpec,
    HiddenTestsSpec,
    RunSpec,
    SnapshotSpec,
    StepsSpec,
)
from evalkit.digest import digest
from evalkit.errors import HarnessError
from evalkit.grade import exists, grep, hidden_tests, run
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.verdict import Grade, Verdict, could_not_tell
from evalkit.plan.keys import Inputs

__all__ = ["grade_check", "grader_version", "lane_names"]

_VERSIONS: dict[type[CheckSpec], str] = {
    GrepSpec: grep.VERSION, ExistsSpec: exists.VERSION, HiddenTestsSpec: hidden_tests.VERSION, RunSpec: run.VERSION,
    StepsSpec: run.VERSION, SnapshotSpec: "snapshot 0",
}


def grader_version(spec: CheckSpec) -> str:
    """The version of the code that grades such a check: part of its key."""
    return _VERSIONS.get(type(spec), "none")


def lane_names(lane: str) -> set[str]:
    """What a check's `on` may call a lane."""
    system = {"Darwin": "macos", "Linux": "linux"}.get(platform.system(), platform.system().lower())
    return {lane, f"{system}-{lane}"}


def grade_check(case: Case, check: Check, tree: FinalTree, inputs: Inputs, lane: str) -> Grade:
    """Grade; never raises for what the agent left behind."""
    began = time.monotonic()
    if skipped := case.skips(check):
        verdict = Verdict("skipped", skipped)
    elif check.lanes and not lane_names(lane) & set(check.lanes):
        verdict = Verdict("skipped", f"not graded on the {lane} lane (only on {', '.join(check.lanes)})")
    else:
        try:
            verdict = _grade(case, check.spec, tree)
        except HarnessError as error:
            verdict = could_not_tell(error)
    return Grade(check.id, check.kind, verdict, digest(inputs), inputs, round(time.monotonic() - began, 3))


def _grade(case: Case, spec: CheckSpec, tree: FinalTree) -> Verdict:
    toolchains = case.setup.toolchains
    match spec:
        case GrepSpec():
            return grep.grade_grep(spec, tree)
        case ExistsSpec():
            return exists.grade_exists(spec, tree)
        case RunSpec():
            return run.grade_run(spec, tree, toolchains)
        case StepsSpec():
            return run.grade_steps(spec, tree, toolchains)
        case HiddenTestsSpec():
            return hidden_tests.grade_hidden_tests(spec, tree, toolchains)
        case SnapshotSpec():
            return Verdict("skipped", "the local lane has no live checks: they need the sandbox lane")
    return Verdict("error", "this evalkit compiles such a check, but has no grader for it yet")
