"""What a provider fails is tried again, where it passes by itself, and is never an outcome; no verdict is retried."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.feature.project import on_path
from tests.feature.units import Units, units

QUICK = "import random\nrandom.random = lambda: 0.001\n"
"""Pauses between attempts are a random part of a window: a small one."""


def quick(made: Units, folder: Path) -> None:
    """Let retries come soon: Python imports such a module by itself."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(QUICK)
    made.project.env["PYTHONPATH"] = on_path(folder)


def test_an_overloaded_provider_is_asked_again(tmp_path: Path) -> None:
    """529 twice, and then it answers: one outcome, which tells of both; what the attempts cost is counted."""
    with units(tmp_path, 1, fails=2, judged=False) as made:
        quick(made, tmp_path / "quick")
        done = made.project.doit("run", "suite:mini")
        assert 0 == done.status, done.err
        assert "(status 529): API Error: 529 overloaded: again in 0.0 s (retry 1 of 2)" in done.err
        assert "(retry 2 of 2)" in done.err
        assert "2 attempts before failed (for $0.50)" in done.out
        assert "this run: $0.75 spent" in done.err
        assert 3 == made.agent.starts["unit-01"]
        assert 1 == len(made.kept())
        result = json.loads(next(made.project.path("results").rglob("result.json")).read_text())
        assert ("pass", "completed", 2) == (result["status"], result["ending"]["status"], len(result["failed"]))
        assert {} == made.project.doit("run", "suite:mini").ran


@pytest.mark.parametrize(("manners", "attempts", "said"), [
    ({"fails": 3}, 3, "the provider failed the agent (status 529): API Error: 529 overloaded (after 3 attempts)"),
    ({"fails": 3, "exit": 0}, 3, "the provider failed the agent (status 529)"),
    ({"fails": 1, "status": 400}, 1, "the provider failed the agent (status 400)"),
    ({"fails": 1, "status": 401}, 1, "refused the key in AI_GATEWAY_API_KEY"),
    ({"ends": "mute"}, 1, "Claude Code ended without a result (exit status 0)"),
    ({"ends": "killed"}, 1, "Claude Code ended without a result (exit status -9)"),
], ids=["for too long", "with exit status 0", "for good", "for its key", "without a result line", "killed"])
def test_what_a_provider_failed_is_no_outcome(
    tmp_path: Path, manners: dict[str, Any], attempts: int, said: str
) -> None:
    """Status 3, no fail of the agent's, nothing in the store; the next run begins it again, and keeps what comes."""
    with units(tmp_path, 1, judged=False, **manners) as made:
        quick(made, tmp_path / "quick")
        done = made.project.doit("run", "suite:mini")
        assert 3 == done.status, done.err + done.out
        assert said in done.err
        assert attempts == made.agent.starts["unit-01"]
        assert set() == made.kept()
        assert [] == [*made.project.path("results").rglob("result.json")]
        costs = manners.get("fails")
        line = json.loads(made.project.path("results/latest/summary.json").read_text())["trials"][0]
        assert (0.25 * costs if costs else 0.0004, attempts - 1) == (line["failed_cost"], line["retries"])
        assert ["unit-01  error"] == [line[:14] for line in done.out.splitlines() if line.startswith("unit-01 ")]

        made.agent.behave()
        again = made.project.doit("run", "suite:mini")
        assert 0 == again.status, again.err
        assert attempts + 1 == made.agent.starts["unit-01"]
        assert 1 == len(made.kept())


def test_retries_can_be_forbidden(tmp_path: Path) -> None:
    """retries=0: the first failure is the last."""
    with units(tmp_path, 1, fails=1, judged=False) as made:
        assert 3 == made.project.doit("run", "suite:mini", "retries=0").status
        assert 1 == made.agent.starts["unit-01"]


def test_a_verdict_is_never_retried(tmp_path: Path) -> None:
    """A failed check is graded once, the agent runs once, and a second run of the same runs nothing."""
    with units(tmp_path, 1, judged=False) as made:
        log = tmp_path / "checks"
        made.project.edit("cases/mini/unit-01.eval", "  check exists",
                          f"  check run \"sh -c 'echo graded >> {log}; exit 1'\"\n  check exists")
        first = made.project.doit("run", "suite:mini")
        second = made.project.doit("run", "suite:mini")
        assert (1, 1) == (first.status, second.status)
        assert first.out == second.out
        assert {} == second.ran
        assert "graded\n" == log.read_text()
        assert Counter(made.names) == made.agent.starts


def test_what_fails_alike_is_told_once(tmp_path: Path) -> None:
    """Of three units that a provider failed with the same words; the table has a line for each."""
    with units(tmp_path, 3, judged=False, fails=1, status=404) as made:
        done = made.project.doit("run", "suite:mini")
        assert 3 == done.status
        assert 1 == done.err.count("has no model `anthropic/claude-sonnet-5`")
        assert "(the same in 2 other tasks)" in done.err
        assert 3 == done.out.count("no result:")
