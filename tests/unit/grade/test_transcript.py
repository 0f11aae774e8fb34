"""Checks of what the agent did."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from evalkit.analysis.model import Check, Pattern, TranscriptSpec
from evalkit.execute.transcripts import ToolCall, Writer
from evalkit.grade import transcript as module
from evalkit.grade.grader import grade_check, grader_version
from evalkit.grade.recording import Recording, recording_at, why_none
from evalkit.grade.transcript import call_text
from evalkit.grade.verdict import Verdict
from evalkit.plan.trials import Subject
from tests.unit.execute.transcripts import HOME, Transcript
from tests.unit.grade.trees import a_case, final_tree


def graded(folder: Path, lines: Transcript | None, expect: Literal["has", "lacks"], *patterns: str | Pattern,
           why: str = "", recording: Recording | None = None) -> Verdict:
    """The verdict on a transcript. A pattern that stands between slashes is a regex."""
    folder.mkdir(exist_ok=True)
    found = [Pattern(item[1:-1], regex=True) if item[0] == "/" else Pattern(item) if isinstance(item, str) else item
             for item in patterns if isinstance(item, str)]
    check = Check("own", "transcript", TranscriptSpec(expect, tuple(found)), (), False, "", "x.eval:1:1")
    if recording is None:
        recording = recording_at(folder / "none" if lines is None else lines.save(folder), why)
    return grade_check(a_case(), check, final_tree(folder, {"a": ""}), {}, "local", recording).verdict


def work() -> Transcript:
    """Tests run, a file written, a push that was denied, a word at the end."""
    lines = Transcript().bash("make test").write("a.txt", "first\nnever git push\n")
    return lines.bash("git push origin", text="Permission to use Bash has been denied.", error=True).end()


@pytest.mark.parametrize(("expect", "pattern", "status", "told"), [
    ("has", "make test", "pass", '"make test": line 2, Bash: shell: make test'),
    ("has", "/^shell: make/", "pass", "/^shell: make/: line 2, Bash: shell: make test"),
    ("has", "says: Now.", "pass", '"says: Now.": line 2, message: says: Now.'),
    ("has", "/^write: .*a\\.txt$/", "pass", f"/^write: .*a\\.txt$/: line 4, Write: write: {HOME}/a.txt"),
    ("has", "tool: Write\nfile_path: /Users", "pass", '"tool: Write\\nfile_path: /Users": line 4, Write: tool: Write'),
    ("has", "never git push", "pass", '"never git push": line 4, Write: never git push'),
    ("has", "make docs", "fail", '"make docs": not found in 2 calls and 1 message'),
    ("has", "git push origin", "fail", '"git push origin": not found in 2 calls and 1 message; '
                                       "line 6, Bash would match, but was not carried out"),
    ("lacks", "git push origin", "fail", '"git push origin": line 6, Bash: shell: git push origin'),
    ("lacks", "/^shell: .*--force/", "pass", "/^shell: .*--force/: not found in 3 calls and 1 message"),
    ("lacks", "done", "pass", '"done": not found in 3 calls and 1 message'),
])
def test_what_was_done(tmp_path: Path, expect: Literal["has", "lacks"], pattern: str, status: str, told: str) -> None:
    """Calls and messages are looked at, results are not; of what was denied only `lacks` knows."""
    verdict = graded(tmp_path, work(), expect, pattern)
    assert (status, told) == (verdict.status, verdict.evidence)


def test_several_patterns(tmp_path: Path) -> None:
    """`has` wants all, `lacks` none; what is amiss stands first."""
    verdict = graded(tmp_path / "a", work(), "has", "make test", "make docs")
    assert ("fail", "1 of 2 not found: what the agent did") == (verdict.status, verdict.summary)
    assert ['"make docs"', '"make test"'] == [line.partition(":")[0] for line in verdict.evidence.splitlines()]
    verdict = graded(tmp_path / "b", work(), "lacks", "make docs", "make test")
    assert ("fail", "1 of 2 should not be there: what the agent did") == (verdict.status, verdict.summary)


def test_a_gap_may_hold_what_is_looked_for(tmp_path: Path) -> None:
    """So nothing that was not found decides; what was found does."""
    lines = work()
    lines.lines.insert(3, '{"type":"assistant","message":{"content":[{"type":"tool_use",,,')
    why = "the transcript does not tell all: line 4: it is damaged, and held a tool call"
    for place, expect, pattern, status in (("a", "lacks", "--force", "error"), ("b", "has", "--force", "error"),
                                           ("c", "lacks", "make test", "fail"), ("d", "has", "make test", "pass")):
        verdict = graded(tmp_path / place, lines, expect, pattern)  # type: ignore[arg-type]
        assert status == verdict.status
        assert why == verdict.summary or status != "error"
    assert "fail" == graded(tmp_path / "e", lines, "lacks", "--force", "make test").status
    assert "error" == graded(tmp_path / "f", lines, "has", "--force", "make test").status


def test_sub_agents_are_part_of_it(tmp_path: Path) -> None:
    """What one did counts, and is said to be its; one whose lines are not there is a gap."""
    told = Transcript()
    task = told.call("Task", {"prompt": "Go."})
    told.result(told.call("Bash", {"command": "git push"}, parent_tool_use_id=task), parent_tool_use_id=task)
    verdict = graded(tmp_path / "a", told.result(task), "lacks", "git push")
    assert ("fail", '"git push": line 3, Bash of a sub-agent: shell: git push') == (verdict.status, verdict.evidence)
    untold = Transcript()
    untold.result(untold.call("Task", {"prompt": "Go."}))
    verdict = graded(tmp_path / "b", untold, "lacks", "git push")
    assert "the transcript does not tell all: line 2: a sub-agent worked whose calls are not told" == verdict.summary


def test_an_agent_that_tells_no_calls_cannot_be_shown_to_lack_one(tmp_path: Path) -> None:
    """It says what it likes."""
    place = tmp_path / "transcript.jsonl"
    with place.open("wb") as sink:
        Writer(sink, final_tree(tmp_path, {}).session.redactor, "command", calls=False)
    (tmp_path / "graded").mkdir()
    verdict = graded(tmp_path / "graded", None, "lacks", "x", recording=recording_at(place, ""))
    assert "error" == verdict.status
    assert "this agent does not tell what it does" in verdict.summary


def test_without_a_transcript(tmp_path: Path) -> None:
    """A known answer is skipped, with the reason; of an agent it is an error, as is one that tells nothing."""
    reasons = [why_none(Subject(name), dry=False) for name in ("oracle", "nop", "wrong:rude", "claude", "command")]
    known = "a known answer has no transcript"
    assert [known, "an agent that does nothing has no transcript", known, "", ""] == reasons
    assert Verdict("skipped", reasons[0]) == graded(tmp_path / "a", None, "lacks", "x", why=reasons[0])
    assert "error" == graded(tmp_path / "b", None, "lacks", "x").status
    assert "skipped" == graded(tmp_path / "c", None, "has", "x", why=why_none(Subject("claude"), dry=True)).status
    empty = Transcript()
    empty.lines = ["no line of an agent's"]
    assert "error" == graded(tmp_path / "d", empty, "lacks", "x").status


def test_a_pattern_that_takes_too_long_is_a_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent decides how long its texts take."""
    monkeypatch.setattr(module, "MATCH_LIMIT", 0.05)
    lines = Transcript().bash("a" * 40 + "b")
    verdict = graded(tmp_path, lines, "lacks", "/(a|a)*(a|aa)*(a+)+c/")
    assert "fail" == verdict.status
    assert "took too long" in verdict.summary


def test_evidence_cannot_drive_a_terminal(tmp_path: Path) -> None:
    """Names of tools and texts are an agent's."""
    lines = Transcript()
    lines.result(lines.call("Ba\x1b[31msh", {"command": "x \x1b]0;title\x07 \x08y"}))
    verdict = graded(tmp_path, lines, "lacks", "x ")
    assert verdict.status == "fail"
    assert verdict.evidence.replace("\n", "").isprintable()


def test_an_input_of_any_shape_is_text() -> None:
    """Each value on a line with its key."""
    call = ToolCall("1", "mcp__db__query", {"rows": [1, {"deep": None}], "all": True, "by": {"name": "é\nz"}}, "mcp")
    assert ["mcp: mcp__db__query", "tool: mcp__db__query", "rows.0: 1", "rows.1.deep: null", "all: true",
            "by.name: é", "z"] == call_text(call).split("\n")


def test_its_version_is_part_of_the_key() -> None:
    """A change of what is looked at grades again."""
    assert "transcript 1" == grader_version(TranscriptSpec("has", ()))


def test_the_key_has_the_transcripts_digest(tmp_path: Path) -> None:
    """Or why there is none."""
    first, same = (recording_at(work().save(tmp_path / name), "") for name in "ab")
    other = recording_at(work().bash("ls").save(tmp_path / "c"), "")
    assert first.input == same.input != other.input
    assert ("none", "because") == (Recording(None).input, Recording(None, why="because").input)
