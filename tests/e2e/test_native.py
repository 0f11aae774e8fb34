"""The case kanban-board on the real Native SDK, in the local lane (tests/e2e/test_native_proof.py: in the sandbox)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import RealProject

pytestmark = pytest.mark.slow

CASE = "cases/native/kanban-board"
GRADED = {"own-tests", "loop", "identity", "no-dialog", "markup"}


def verdicts(project: RealProject, subject: str) -> dict[str, str]:
    """Status by check, from result.json."""
    result = project.root / f"results/latest/{subject}/kanban-board/trial-1/result.json"
    checks: list[dict[str, Any]] = json.loads(result.read_text())["checks"]
    return {check["id"].removesuffix("-" + check["id"].rpartition("-")[2]) if check["kind"] == "markup"
            else check["id"]: check["verdict"]["status"] for check in checks}


def test_the_reference_answer_passes_every_check_that_is_not_live(real: RealProject) -> None:
    """Without a key the first command plays the reference answer, says so everywhere, and passes."""
    done = real.doit("run", "case:kanban-board")
    assert 0 == done.status, done.err + done.out
    assert done.out.startswith("self-check: reference answer, no model was called")
    assert dict.fromkeys(GRADED, "pass") | {"live": "skipped", "quality": "skipped"} == verdicts(real, "oracle")
    summary = json.loads((real.root / "results/latest/summary.json").read_text())
    assert summary["trials"][0]["self_check"] is True
    again = real.doit("run", "case:kanban-board")
    assert {} == again.ran
    assert done.out == again.out


def test_a_failing_test_added_to_an_answer_is_seen(real: RealProject, tmp_path: Path) -> None:
    """No cache of the earlier build answers for the changed tree: zig would otherwise grade the other one."""
    tests = real.root / CASE / "solution/src/tests.zig"
    kept = tests.read_bytes()
    tests.write_bytes(kept + b'\ntest "planted" {\n    try std.testing.expectEqual(@as(u32, 1), 2);\n}\n')
    try:
        done = real.doit("run", "case:kanban-board", "agent=oracle")
    finally:
        tests.write_bytes(kept)
    assert 1 == done.status, done.err + done.out
    assert "fail" == verdicts(real, "oracle")["own-tests"]
    assert "tests.test.planted' failed" in done.out, "the evidence must show the failing test"


def test_caches_are_in_no_archive(real: RealProject) -> None:
    """What the profile names as caches is neither archived nor carried anywhere."""
    import tarfile

    import zstandard

    archives = list((real.root / ".evalkit/store").rglob("*.tar.zst"))
    assert archives
    for archive in archives:
        with archive.open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as plain, \
                tarfile.open(fileobj=plain, mode="r|") as tar:
            names = {member.name.split("/")[0] for member in tar}
        assert not names & {".native", ".zig-cache", "zig-out"}, archive
        assert "src" in names


def test_an_unknown_skill_is_the_cases_mistake(real: RealProject) -> None:
    """The command that prints skills does not know it: its words are shown, with the place of the name."""
    suite = real.root / "cases/native/suite.eval"
    kept = suite.read_text()
    suite.write_text(kept.replace("skills   native-ui, zig by", "skills   native-uii, zig by"))
    try:
        done = real.doit("run", "case:kanban-board", "agent=oracle")
    finally:
        suite.write_text(kept)
    assert 2 == done.status, done.err
    assert "skill `native-uii`" in done.err
    assert "cases/native/suite.eval:" in done.err


def test_a_dry_run_shows_everything_but_the_call(real: RealProject) -> None:
    """Workspace, skills and prewarm are real (of a case that is soon built: tests/e2e/test_claude.py prewarms an app);
    the environment and the command line are shown without the key.
    """
    real.env["AI_GATEWAY_API_KEY"] = "vck_planted-in-a-dry-run"
    try:
        done = real.doit("run", "case:ts-habits-core", "dry=1")
    finally:
        del real.env["AI_GATEWAY_API_KEY"]
    assert 0 == done.status, done.err + done.out
    assert "dry run: no model was called" in done.out
    assert "prewarm: sh check.sh" in done.err
    assert "ANTHROPIC_AUTH_TOKEN=[EVALKIT_TOKEN]" in done.err
    assert "--permission-mode acceptEdits" in done.err
    assert "vck_planted" not in done.err + done.out
    shutil.rmtree(real.root / "results/dry")
