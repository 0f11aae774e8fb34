"""Subjects and trials: their names and the answers that they play."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest

from evalkit.plan.trials import AgentTraits, Subject, Trial
from evalkit.values import evolve
from tests.unit.language.project import compile_case

TRAITS = AgentTraits("1", frozenset(), sampled=False, builds=False)


@pytest.mark.parametrize(("subject", "path", "shown"), [
    (Subject("nop"), "nop", "nop"),
    (Subject("claude", "a/b-1.5"), "claude/a%2Fb-1.5", "claude a/b-1.5"),
    (Subject("wrong:one two/…"), "wrong%3Aone%20two%2F%E2%80%A6", "wrong:one two/…"),
])
def test_a_subject_is_a_path_that_can_be_read_back(subject: Subject, path: str, shown: str) -> None:
    """Whatever an agent or a model is called, it is one part of a path, and reversible."""
    assert (path, shown) == (subject.path, subject.shown)
    assert [subject.agent, *([subject.model] if subject.model else [])] == [unquote(part) for part in path.split("/")]


def test_only_the_oracle_measures_the_case() -> None:
    """A wrong answer and a real agent do not."""
    assert [True, False, False] == [Subject(name).self_check for name in ("oracle", "wrong:a", "claude")]


def test_a_trial_is_named_by_run_subject_case_and_number(tmp_path: Path) -> None:
    """The name is its path under results/."""
    case = compile_case(tmp_path)

    assert "r/claude/m%2Fn/it/trial-3" == Trial(case, Subject("claude", "m/n"), TRAITS, 3, "r").id
    on_track = evolve(case, track="t", arm="a")
    assert "r/nop/it@t+a/trial-1" == Trial(on_track, Subject("nop"), TRAITS, 1, "r").id


@pytest.mark.parametrize(("agent", "answer"), [
    ("oracle", "cases/s/solution"), ("wrong:two", "cases/s/wrong/two"), ("wrong:three", None), ("claude", None),
])
def test_the_answer_that_a_subject_plays(agent: str, answer: str | None, tmp_path: Path) -> None:
    """The oracle plays the solution, `wrong:NAME` the answer of that name, others none."""
    case = compile_case(tmp_path, """
        solution "solution"; wrong "wrong/one" fails a; wrong "wrong/two" fails a; check run "x" as a
        """)

    assert answer == Trial(case, Subject(agent), TRAITS, 1, "latest").answer


def test_an_agent_with_a_long_argument_has_a_short_path() -> None:
    """A folder's name has at most 255 bytes; two long arguments never meet."""
    one, other = (Subject(f"command:{'x ' * 200}{end}").path for end in "ab")

    assert one != other
    assert (120, 120) == (len(one), len(other))
    assert one.startswith("command%3Ax%20x")
