"""A small run with one of everything that can become of a trial, written to disk as a run writes it.

Of two subjects, one of them with a case on a track: passes and fails, a check that was skipped, one in error, an
advisory fail, a judge's scores, a capped agent, one that timed out, a contaminated trial, one that the harness failed,
and one that the budget kept from running. Some evidence is meant to break whatever it is put into.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evalkit.analysis.model import Check, Judge, SuiteInfo
from evalkit.execute.outcome import Ending, Usage
from evalkit.grade.audit_record import Audit, Finding
from evalkit.grade.verdict import Status
from evalkit.plan.trials import Subject, Trial
from evalkit.records import write_record
from evalkit.report.result import build_result
from evalkit.report.row import Row, failed_row, row_of
from evalkit.report.update import update_report
from evalkit.values import evolve
from tests.unit.report.results import Graded, a_check, a_judged, a_record, a_trial

__all__ = ["HAIKU", "SONNET", "write_run"]

SONNET, HAIKU = "anthropic/claude-sonnet-5", "anthropic/claude-haiku-5"
HOSTILE = "</failure><script>alert(1)</script> ]]> ``` | a & b\n| one | two |\n````\n# no heading\n<!-- no comment"
_SEEN = Finding("the solution", "path", "read", "Read", "call-7", 41, "cases/mini/inbox/solution/inbox.zig", "inbox")


class _Writer:
    """Writes trials below results/<run>, and remembers their rows."""

    def __init__(self, root: Path, run: str) -> None:
        self.root = root
        self.run = run
        self.rows: list[Row] = []

    def _trial(self, unit: str, number: int, model: str, graded: tuple[Graded, ...]) -> Trial:
        trial = a_trial(*graded, name=unit.partition("+")[0].partition("@")[0], model=model, number=number,
                        run=self.run)
        track = unit.partition("+")[0].partition("@")[2] or None
        case = evolve(trial.case, suite=SuiteInfo("mini", "", "cases", "x.eval:1:1"), track=track,
                      arm=unit.partition("+")[2] or None)
        return evolve(trial, case=case, subject=Subject("claude", model))

    def add(self, unit: str, number: int, *graded: Graded, model: str = SONNET, ended: str = "completed",
            detail: str = "done", turns: int | None = 31, tokens: int = 1200, cost: float | None = 1.2,
            seconds: float = 248.2, audit: Audit | None = None, day: int = 2) -> None:
        """A trial with a result."""
        trial = self._trial(unit, number, model, graded)
        usage = Usage(turns=turns, input_tokens=tokens, output_tokens=200, cost=cost,
                      cost_source="" if cost is None else "agent")
        ending = Ending(ended, detail, usage)  # type: ignore[arg-type]
        record = evolve(a_record(model=model, ending=ending), seconds=seconds,
                        finished_at=f"2026-01-{day:02d}T03:04:{number:02d}+00:00")
        result = build_result(trial, record, [grade for _, grade in graded], "0.1.0", audit)
        write_record(self.root / "results" / trial.id / "result.json", result)
        self.rows.append(row_of(result, trial.id))

    def lose(self, unit: str, number: int, reason: str, *, model: str = SONNET, **more: Any) -> None:
        """A trial without a result."""
        self.rows.append(failed_row(self._trial(unit, number, model, ()), reason, **more))


def _board(own: Any = "pass", loop: Any = "pass", score: float | None = 8.0, *, evidence: str = "",
           summary: str = "") -> tuple[tuple[Check | Judge, Any], ...]:
    return (a_check("own", own, summary if own != "pass" else "exit status 0", evidence if own != "pass" else "",
                    description="the workspace's own check passes"),
            a_check("loop", loop, summary if loop != "pass" else "found in src/main.zig",
                    evidence if loop != "pass" else "", description="the game loop draws"),
            a_check("window", "skipped", "not in the local lane", description="a window opens"),
            a_judged("quality", score, threshold=7, advisory=True, title="is it good?",
                     status="pass" if score is not None else "skipped"))


def write_run(root: Path, run: str = "latest", *, better: bool = False) -> list[Row]:
    """Write the run below `root`/results, with its summary; the rows of its table. better: some fails are passes."""
    writer = _Writer(root, run)
    day = 3 if better else 2
    failed: Status = "pass" if better else "fail"
    writer.add("board", 1, *_board(), day=day)
    writer.add("board", 2, *_board(loop=failed, score=5.5, summary="exit status 1",
                                   evidence="src/main.zig:12:5: error: no member named `draw`\nbuild failed"),
               cost=0.9, turns=24, seconds=180.0, day=day)
    writer.add("board", 3, *_board(), ended="capped", detail="its 40 turns were used up", turns=40, cost=1.8, day=day)
    writer.add("inbox@ts", 1, a_check("own"), a_check("opens", "fail", "2 of 3 tests failed", HOSTILE,
                                                      description="mail | opens <b>fast</b>"), day=day)
    writer.add("inbox@ts", 2, a_check("own"), a_check("opens", description="mail | opens <b>fast</b>"), day=day,
               audit=Audit("a0" * 32, True, findings=(_SEEN,)))
    writer.add("tray", 1, a_check("own", failed, f"exit status {0 if better else 2}", "line\n" * 9), day=day)
    writer.add("clock", 1, a_check("own", "error", "zig is not there", "zig: not found"), a_check("ticks"), day=day)
    writer.add("slow", 1, a_check("own"), ended="timeout", detail="its 20 minutes were over", turns=None, cost=None,
               seconds=1200.0, day=day)
    writer.add("plain", 1, a_check("own"), a_check("tidy", "fail", "TODO found", advisory=True), day=day)
    writer.lose("menu", 1, "the provider answered 529 three times: overloaded", cost=0.25, retries=2)
    writer.lose("sheet", 1, "budget", status="not run")
    for unit in ("board", "tray", "plain"):
        writer.add(unit, 1, *(_board() if unit == "board" else [a_check("own")]), model=HAIKU, cost=0.1, turns=12,
                   seconds=61.0, day=day)
    folder = root / "results" / run
    update_report(folder, root / ".evalkit/cache/report" / run, [row.place for row in writer.rows if row.ended],
                  unfinished=[row for row in writer.rows if not row.ended])
    return writer.rows
