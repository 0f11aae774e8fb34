"""Which grader grades a check, and what becomes of a broken tool."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from evalkit.analysis.model import (
    Check,
    CheckSpec,
    Command,
    GrepSpec,
    Pattern,
    Run,
    RunSpec,
    SnapshotSpec,
    StepsSpec,
    Toolchain,
)
from evalkit.digest import digest
from evalkit.grade.grader import grade_check, grader_version, lane_names
from evalkit.grade.verdict import Verdict
from evalkit.values import evolve
from tests.unit.grade.trees import a_case, final_tree

GREP = GrepSpec(("a",), "has", (Pattern("x"),))
RUN = RunSpec(Command(("true",), 5))


def check(spec: CheckSpec, *, lanes: tuple[str, ...] = ()) -> Check:
    return Check("own", "kind", spec, lanes, False, "", "x.eval:1:1")


@pytest.mark.parametrize(("spec", "status", "summary"), [
    (GREP, "pass", "found in a"),
    (RUN, "pass", "`true` exited with 0"),
    (StepsSpec((Run(Command(("false",), 5)),)), "fail", "`false` exited with 1"),
    (SnapshotSpec("has", (Pattern("x"),)), "skipped", "live checks are not run here"),
])
def test_every_kind_has_its_grader(tmp_path: Path, spec: CheckSpec, status: str, summary: str) -> None:
    """The grade carries the check's id, kind, inputs and key."""
    grade = grade_check(a_case(), check(spec), final_tree(tmp_path, {"a": "x"}), {"check": "1"}, "local")
    assert (grade.verdict.status, grade.verdict.summary) == (status, summary)
    assert (grade.check, grade.kind, grade.inputs, grade.key) == ("own", "kind", {"check": "1"}, digest({"check": "1"}))
    assert grade.seconds >= 0


def test_a_check_for_other_lanes_is_skipped(tmp_path: Path) -> None:
    """It is not run at all."""
    grade = grade_check(a_case(), check(RUN, lanes=("sandbox", "solaris-local")), final_tree(tmp_path, {"a": ""}), {},
                        "local")
    assert Verdict("skipped", "not graded on the local lane (only on sandbox, solaris-local)") == grade.verdict


def test_a_lane_has_its_systems_name_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`on macos-local` is the local lane of a Mac."""
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    assert lane_names("local") == {"local", "macos-local"}
    grade = grade_check(a_case(), check(RUN, lanes=("macos-local",)), final_tree(tmp_path, {"a": ""}), {}, "local")
    assert grade.verdict.status == "pass"


def test_a_broken_tool_is_an_error(tmp_path: Path) -> None:
    """A toolchain that is not installed and an archive that is damaged are the harness's, not the agent's."""
    case = a_case()
    case = evolve(case, setup=evolve(case.setup, toolchains=(Toolchain("sdk", pip=("x==1",)),)))
    tree = final_tree(tmp_path, {"a": "x"})
    assert Verdict("error", "toolchain `sdk` is not installed",
                   "toolchain `sdk` is not installed\n  doit run toolchain:sdk") == grade_check(
        case, check(RUN), tree, {}, "local").verdict
    tree.archive.write_bytes(b"damaged")
    for spec in (GREP, RUN):
        assert grade_check(a_case(), check(spec), tree, {}, "local").verdict.status == "error"


def test_the_graders_version_is_part_of_a_checks_key() -> None:
    """Each kind has a version of its own."""
    versions = [grader_version(spec) for spec in (GREP, RUN, StepsSpec(()), SnapshotSpec("has", ()))]
    assert [version.split()[0] for version in versions] == ["grep", "run", "run", "snapshot"]
