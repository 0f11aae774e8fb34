"""Results for tests of what is said of them, put together by the rules that real ones are."""

from __future__ import annotations

from evalkit.analysis.model import Check, Command, Judge, RunSpec
from evalkit.execute.outcome import AgentRecord, Ending, Usage
from evalkit.execute.tree import Manifest
from evalkit.grade.verdict import Grade, Judging, KeptStatus, Status, Verdict
from evalkit.plan.trials import AgentTraits, Subject, Trial
from evalkit.report.result import TrialResult, build_result
from evalkit.values import evolve
from tests.unit.grade.trees import a_case

__all__ = ["Graded", "a_check", "a_judged", "a_record", "a_result", "a_trial", "an_ending"]

MODEL = "anthropic/claude-sonnet-5"
Graded = tuple[Check | Judge, Grade]


def an_ending(status: str = "completed", detail: str = "done", *, notes: tuple[str, ...] = (),
              turns: int | None = 31) -> Ending:
    usage = Usage(turns=turns, input_tokens=1000, output_tokens=200, cost=1.204, cost_source="agent")
    return Ending(status, detail, usage, notes)  # type: ignore[arg-type]


def a_record(agent: str = "claude", model: str | None = MODEL, ending: Ending | None = None,
             left_out: tuple[str, ...] = ()) -> AgentRecord:
    return AgentRecord(
        key="a0" * 32, inputs={"prompt": "p"}, agent=agent, agent_version="2.1", model=model,
        ending=ending or an_ending(), seconds=248.2, prewarm_seconds=20.0, tree=Manifest({"src/a": "f0"}, left_out, 3),
        tree_digest="d0", versions={"zig": "0.16.0"}, finished_at="2026-01-02T03:04:05+00:00")


def a_check(name: str, status: Status = "pass", summary: str = "", evidence: str = "", *, description: str = "",
            advisory: bool = False) -> Graded:
    """A check and its grade; the summary is its status unless said."""
    check = Check(name, "run", RunSpec(Command(("true",), 5)), (), advisory, description, "x.eval:1:1")
    return check, Grade(name, "run", Verdict(status, summary or status, evidence), "c0", {"check": "1"}, 0.5)


def a_judged(name: str, score: float | None, *, threshold: int | None = None, advisory: bool = False,
             status: KeptStatus = "pass", title: str = "quality") -> Graded:
    judge = Judge(name, title, ("**",), threshold, advisory, ("It is good.",), (), "x.eval:1:1")
    verdict = Verdict(status, status if score is None else f"{score:.1f} of 10", "", score,
                      None if score is None else Judging("judge-model", Usage(input_tokens=9, output_tokens=2)))
    return judge, Grade(name, "judge", verdict, "e0", {"judging": "on"}, 2.0)


def a_trial(*graded: Graded, name: str = "kanban-board", agent: str = "claude", model: str | None = MODEL,
            number: int = 1, run: str = "latest", dry: bool = False) -> Trial:
    checks = tuple(item for item, _ in graded if isinstance(item, Check))
    judges = tuple(item for item, _ in graded if isinstance(item, Judge))
    case = evolve(a_case(), name=name, checks=checks, judges=judges)
    traits = AgentTraits("1", frozenset(), sampled=True, builds=True)
    return Trial(case, Subject(agent, model), traits, number, run, "local", dry)


def a_result(*graded: Graded, name: str = "kanban-board", agent: str = "claude", model: str | None = MODEL,
             number: int = 1, run: str = "latest", dry: bool = False, ending: Ending | None = None,
             left_out: tuple[str, ...] = ()) -> TrialResult:
    trial = a_trial(*graded, name=name, agent=agent, model=model, number=number, run=run, dry=dry)
    return build_result(trial, a_record(agent, model, ending, left_out), [grade for _, grade in graded], "0.1.0")
