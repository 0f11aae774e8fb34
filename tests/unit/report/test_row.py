"""Rows: what the table needs of a trial, as plain data."""

from __future__ import annotations

import ast
import inspect
import sys
from types import ModuleType

import orjson
import pytest

import evalkit.report.row as row_module
from evalkit.execute.outcome import Usage
from evalkit.grade.audit_record import Audit, Finding
from evalkit.report import findings, layout, table
from evalkit.report.row import EVIDENCE_LINES, LONGEST_LINE, Row, failed_row, row_of
from evalkit.values import evolve
from tests.unit.report.results import MODEL, Graded, a_check, a_judged, a_result, a_trial, an_ending

LEAN = [module.__name__ for module in (row_module, layout, findings, table)]
PLACE = "latest/claude/kanban-board/trial-1"
SEEN = Finding("the solution", "path", "read", "Bash", "t1", 12, "cases/a/solution/a.ts", "cat x")
ROWS = {
    "pass": row_of(a_result(a_check("a"), a_check("b", description="builds")), PLACE),
    "all kinds of checks": row_of(a_result(
        a_check("a", "fail", "no", "why\nand how", description="works"), a_check("b", "skipped", "no key"),
        a_check("hint", advisory=True), a_check("c", "error", "gone", "\n".join("abcdefghij")),
        a_judged("j", 7.25, threshold=8), a_judged("k", None, status="skipped", advisory=True),
        ending=an_ending("capped", "80 turns", notes=("a note",)), left_out=("pipe: no file",)), PLACE),
    "self-check": row_of(a_result(a_check("a"), agent="oracle", model=None), PLACE),
    "contaminated": row_of(evolve(a_result(a_check("a")), status="contaminated", audit=Audit("k", True, (SEEN,) * 5, (
        evolve(SEEN, outcome="denied", what="the store", path=".evalkit/store"),), 7)), PLACE),
    "failed": failed_row(a_trial(), "429 for an hour", cost=0.5, retries=4),
    "not run": failed_row(a_trial(dry=True), "budget", status="not run"),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_read_as_it_was_kept(name: str) -> None:
    """Through JSON, with all that was in it."""
    assert ROWS[name] == Row.from_data(orjson.loads(orjson.dumps(ROWS[name].to_data())))


@pytest.mark.parametrize("data", [
    {}, {**ROWS["pass"].to_data(), "later": 1}, {**ROWS["pass"].to_data(), "checks": [["a"]]},
    {**ROWS["pass"].to_data(), "checks": [[1, 2, 3, 4, 5, 6, [], 8, 9]]}, {**ROWS["pass"].to_data(), "notes": None}])
def test_what_is_not_a_row_is_refused(data: dict[str, object]) -> None:
    """Another evalkit may have kept it: the caller makes the row again."""
    with pytest.raises(ValueError, match="not a row of this evalkit"):
        Row.from_data(data)


def test_what_a_row_tells() -> None:
    """Of checks that are amiss the first lines of evidence; of tokens their sum; of the agent its own time."""
    row = ROWS["all kinds of checks"]
    assert (row.subject, row.status, row.ended, row.detail) == (f"claude {MODEL}", "error", "capped", "80 turns")
    assert (row.turns, row.tokens, row.cost, row.seconds, row.scores) == (31, 1200, 1.204, 248.2, [7.25])
    assert row.notes == ("pipe: no file", "a note")
    assert [(check.id, check.said, check.why, check.evidence, check.more) for check in row.checks] == [
        ("a", "works", "no", ("why", "and how"), 0), ("b", "no key", "", (), 0), ("hint", "pass", "", (), 0),
        ("c", "gone", "", tuple("abcdefghij"[:EVIDENCE_LINES]), 4),
        ("j", "quality", "7.2 of 10 (wanted 8)", (), 0), ("k", "quality", "skipped", (), 0)]


@pytest.mark.parametrize(("failed", "note"), [
    ((), ()), ((Usage(cost=0.25), Usage(cost=0.5)), ("attempts before this one that the provider failed: 2 ($0.75)",)),
    ((Usage(cost=0.25), Usage()), ("attempts before this one that the provider failed: 2 ($0.25 or more)",)),
    ((Usage(),), ("attempts before this one that the provider failed: 1",))])
def test_failed_attempts_are_told(failed: tuple[Usage, ...], note: tuple[str, ...]) -> None:
    """With what they cost, as far as that is known; the cost of the run that counts is its own."""
    row = row_of(evolve(a_result(a_check("a")), failed=failed), PLACE)
    assert (row.notes, row.retries, row.cost) == (note, len(failed), 1.204)


def test_a_judge_that_was_asked_again() -> None:
    """Its retries count with those of the agent."""
    judge, grade = a_judged("j", 7.0)
    assert grade.verdict.judging is not None
    verdict = evolve(grade.verdict, judging=evolve(grade.verdict.judging, retries=2))
    assert row_of(evolve(a_result((judge, evolve(grade, verdict=verdict))), failed=(Usage(),)), PLACE).retries == 3


def test_a_row_without_a_result() -> None:
    """It knows who was to be measured on what, and why that was not."""
    row = failed_row(a_trial(number=2), "no\x1b[31m disk\x07", cost=0.5)
    assert (row.place, row.trial, row.status, row.reason, row.cost) == (
        "latest/claude/anthropic%2Fclaude-sonnet-5/kanban-board/trial-2", 2, "error", "no disk\\x07", 0.5)
    assert (row.ended, row.amiss) == ("", True)


@pytest.mark.parametrize(("graded", "status", "amiss"), [
    ([a_check("a")], "completed", False), ([a_check("a"), a_check("b", "skipped")], "completed", False),
    ([a_check("a")], "capped", True), ([a_check("a"), a_check("b", "fail", advisory=True)], "completed", True)])
def test_what_is_amiss(graded: list[Graded], status: str, amiss: bool) -> None:
    """A fail, a hint that was not taken, an agent that was stopped; no skipped check."""
    assert row_of(a_result(*graded, ending=an_ending(status)), PLACE).amiss is amiss


def test_texts_are_short_and_harmless() -> None:
    """A row is kept for each trial, and a terminal shows it as it stands."""
    row = row_of(a_result(a_check("a", "fail", "\x1b[2Jno\n" + "x" * 999, "y" * 999 + "\x07"),
                          ending=an_ending("capped", "\x1b]0;t\x07z")), PLACE)
    assert (len(row.checks[0].said), row.checks[0].said[:5]) == (LONGEST_LINE, "no\\nx")
    assert (row.checks[0].evidence[0][-2:], row.detail) == ("y…", "z")


@pytest.mark.parametrize("module", [row_module, layout, findings, table])
def test_rows_and_their_table_import_little(module: ModuleType) -> None:
    """The table of a run that is up to date is printed without attrs and rich."""
    for node in ast.parse(inspect.getsource(module)).body:
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else (
            [alias.name for alias in node.names] if isinstance(node, ast.Import) else [])
        for name in names:
            assert name.partition(".")[0] in sys.stdlib_module_names or name in LEAN


def test_what_is_said_of_a_contaminated_trial() -> None:
    """What it saw, some of it, and what it was kept from."""
    seen = "it read the solution: cases/a/solution/a.ts (by Bash, line 12 of the transcript)"
    assert (seen, seen, seen, "and 9 more such findings",
            "it was refused the store: .evalkit/store (by Bash, line 12 of the transcript): no contamination",
            ) == ROWS["contaminated"].notes


@pytest.mark.parametrize(("count", "last"), [(6, "6: a fifo"), (7, "and 2 more notes: result.json has them")])
def test_notes_that_are_not_shown_are_counted(count: int, last: str) -> None:
    """As lines of evidence are: one of them may say that the answer itself was left out."""
    row = row_of(a_result(a_check("a"), left_out=tuple(f"{number + 1}: a fifo" for number in range(count))), PLACE)
    assert (6, last) == (len(row.notes), row.notes[-1])
