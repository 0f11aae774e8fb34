"""Grades one check of one final tree: picks the grader, times it, and turns our own tools' failures into errors."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.analysis.model import (
    CallsSpec,
    Case,
    Check,
    CheckSpec,
    ExistsSpec,
    GrepSpec,
    HiddenTestsSpec,
    PageSpec,
    PluginSpec,
    RunSpec,
    ScoreSpec,
    SnapshotSpec,
    StateSpec,
    StepsSpec,
    TranscriptSpec,
)
from evalkit.digest import digest
from evalkit.errors import HarnessError
from evalkit.execute.secrets import Redactor
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.recording import Recording
from evalkit.grade.verdict import Grade, Verdict, could_not_tell
from evalkit.plan.keys import Inputs
from evalkit.plugins import distribution_files, find_plugin
from evalkit.values import evolve

if TYPE_CHECKING:
    from evalkit.execute.live_lane import LiveLane

__all__ = ["grade_check", "grader_files", "grader_version", "lane_names"]

_MODULES: dict[type[CheckSpec], str] = {
    GrepSpec: "grep", ExistsSpec: "exists", HiddenTestsSpec: "hidden_tests", RunSpec: "run", StepsSpec: "run",
    TranscriptSpec: "transcript", CallsSpec: "calls", StateSpec: "state",
    SnapshotSpec: "live",
}
"""The modules of graders beside this one; each is imported when a check needs it."""


def grader_version(spec: CheckSpec) -> str:
    """The version of the code that grades such a check: part of its key."""
    if isinstance(spec, PluginSpec):
        return str(_module("plugin").plugin_version(spec.grader))
    if isinstance(spec, ScoreSpec):
        return str(_module("score").score_version(spec))
    if isinstance(spec, PageSpec):
        return str(_module("page").page_version())
    name = _MODULES.get(type(spec))
    return "none" if name is None else str(_module(name).VERSION)


def grader_files(spec: CheckSpec) -> Iterator[Path]:
    """Files of other distributions that tell the version of what grades: while they are as they were, it is the same.
    """
    if isinstance(spec, PluginSpec) and (plugin := find_plugin("graders", spec.grader)):
        yield from plugin.files
    elif isinstance(spec, ScoreSpec | PageSpec):
        names = _module("page").DISTRIBUTIONS if isinstance(spec, PageSpec) else \
            _module("score").score_distributions(spec)
        for name in names:
            yield from distribution_files(name)


def _module(name: str) -> Any:
    return import_module(f"evalkit.grade.{name}")


def lane_names(lane: str) -> set[str]:
    """What a check's `on` may call a lane."""
    system = {"Darwin": "macos", "Linux": "linux"}.get(platform.system(), platform.system().lower())
    return {lane, f"{system}-{lane}"}


def grade_check(case: Case, check: Check, tree: FinalTree, inputs: Inputs, lane: str,
                recording: Recording | None = None, screenshots: Path | None = None,
                live: LiveLane | None = None) -> Grade:
    """Grade; never raises for what the agent left behind. recording: for checks that read what it did.

    screenshots: the folder in which a check that sees a page keeps a picture of it, under its own name.
    live: where apps are shown; None: nowhere.
    """
    began = time.monotonic()
    if skipped := case.skips(check):
        verdict = Verdict("skipped", skipped)
    elif check.lanes and not lane_names(lane) & set(check.lanes):
        verdict = Verdict("skipped", f"not graded on the {lane} lane (only on {', '.join(check.lanes)})")
    else:
        try:
            verdict = _grade(case, check.spec, tree, recording,
                             None if screenshots is None else screenshots / f"{check.id}.png", live)
        except HarnessError as error:
            verdict = could_not_tell(error)
    verdict = cleaned(verdict, tree.session.redactor)
    return Grade(check.id, check.kind, verdict, digest(inputs), inputs, round(time.monotonic() - began, 3))


def cleaned(verdict: Verdict, redactor: Redactor) -> Verdict:
    """A verdict without keys, whatever a command, a file or an error told it."""
    summary, evidence = redactor.text(verdict.summary), redactor.text(verdict.evidence)
    same = summary == verdict.summary and evidence == verdict.evidence
    return verdict if same else evolve(verdict, summary=summary, evidence=evidence)


def _grade(case: Case, spec: CheckSpec, tree: FinalTree, recording: Recording | None,
           screenshot: Path | None, live: LiveLane | None) -> Verdict:
    toolchains = case.setup.toolchains
    if case.setup.network:
        tree = evolve(tree, network=case.setup.network)
    match spec:
        case GrepSpec():
            from evalkit.grade.grep import grade_grep

            return grade_grep(spec, tree)
        case ExistsSpec():
            from evalkit.grade.exists import grade_exists

            return grade_exists(spec, tree)
        case RunSpec():
            from evalkit.grade.run import grade_run

            return grade_run(spec, tree, toolchains)
        case StepsSpec():
            from evalkit.grade.run import grade_steps

            return grade_steps(spec, tree, toolchains)
        case HiddenTestsSpec():
            from evalkit.grade.hidden_tests import grade_hidden_tests

            return grade_hidden_tests(spec, tree, toolchains)
        case TranscriptSpec():
            from evalkit.grade.transcript import grade_transcript

            return grade_transcript(spec, recording)
        case PageSpec():
            from evalkit.grade.page import grade_page

            return grade_page(spec, tree, toolchains, screenshot)
        case ScoreSpec():
            from evalkit.grade.score import grade_score

            return grade_score(spec, tree, toolchains)
        case CallsSpec():
            from evalkit.grade.calls import grade_calls

            return grade_calls(spec, recording)
        case StateSpec():
            from evalkit.grade.state import grade_state

            return grade_state(spec, tree)
        case PluginSpec():
            from evalkit.grade.plugin import grade_plugin

            return grade_plugin(spec, tree)
        case SnapshotSpec():
            if live is None:
                return Verdict("skipped", "live checks are not run here")
            from evalkit.grade.live import grade_snapshot

            return grade_snapshot(spec, case.setup, tree, live, screenshot)
