"""The arms of a run side by side, below its table."""

from __future__ import annotations

from typing import Any

import pytest

from evalkit.errors import UserError
from evalkit.report import stats
from evalkit.report.arms_table import arms_lines
from evalkit.report.row import Row


def row(unit: str, passed: bool, cost: float | None = 0.5, turns: int = 10, **more: Any) -> Row:
    plain: dict[str, Any] = {"suite": "shop", "agent": "claude", "model": "m", "trial": 1, "lane": "local",
                             "reason": "", "ended": "completed"} | more
    return Row(unit=unit, case=unit.partition("+")[0], place=unit, status="pass" if passed else "fail", cost=cost,
               turns=turns, **plain)


def test_arms_stand_side_by_side() -> None:
    """The difference has its interval over the cases; cost and turns stand beside it."""
    rows = [row("a+with", True, 0.4, 8), row("a+without", False, 0.2, 10), row("b+with", True, 0.6, 8),
            row("b+without", False, 0.2, 14), row("c+with", True, 0.5, 8), row("c+without", True, 0.2, 12)]
    said = "\n".join(arms_lines(rows)) + "\n"
    assert """\

arms of shop, claude m (means over cases)
         with  without  with less without
trials      3        3
passed   100%      33%  +67% [+0%, +100%]
cost    $0.50    $0.20  +$0.30 [+$0.20, +$0.40]
turns     8.0     12.0  -4.0 [-6.0, -2.0]
""" == said


def test_arms_that_have_no_room_stand_below_each_other() -> None:
    """80 columns are kept, also by names that are longer than a line."""
    arms = ("with", "a-rather-long-name-for-an-arm", "n" * 90)
    rows = [row(f"{case}+{arm}", arm == "with") for case in ("a", "b") for arm in arms]
    lines = arms_lines(rows)
    assert 80 >= max(map(len, lines))
    assert "a-rather-long-name-for-an-arm       2      0%  $0.50   10.0" in [line.replace(" " * 4, " " * 2)
                                                                           for line in lines] or lines


def test_each_case_counts_alike() -> None:
    """A case on two tracks is one case: its tracks are no independent ones, and its mean counts once."""
    rows = [row(f"{unit}+{arm}", arm == "with" and unit == "b") for unit in ("a@ts", "a@zig", "b")
            for arm in ("with", "without")]
    rows = [found._replace(case=found.case.partition("@")[0]) for found in rows]
    passed = arms_lines(rows)[4]
    assert ["passed", "50%", "0%", "+50%"] == passed.split()[:4]
    alone = arms_lines([found for found in rows if found.case == "a"])[4]
    assert ["passed", "0%", "0%", "+0%"] == alone.split()[:4]


def test_one_case_is_told_by_its_trials() -> None:
    """Of one trial an arm nobody can tell how far others lie; a cost that nobody knows is none."""
    one = arms_lines([row("a+with", True, None), row("a+without", False, None)])
    assert ["+100% [?]", "-", "+0.0 [?]"] == [line.split("  ")[-1].strip() for line in one[-3:]]
    many = arms_lines([*(row("a+with", passed) for passed in (True, True, True, False)),
                       *(row("a+without", passed) for passed in (False, False, True, False))])
    assert "+50% [" in many[-3]


def test_what_says_nothing_of_a_model_is_left_out() -> None:
    """Known answers, dry runs, trials in error, ablated arms, and what is on one arm only."""
    both = [row("a+with", True), row("a+without", False)]
    assert [] == arms_lines([row("a+with", True), row("b+with", False)])
    assert [] == arms_lines([row("a", True), row("b", False)])
    assert [] == arms_lines([found._replace(model=None, agent="oracle") for found in both])
    assert [] == arms_lines([found._replace(self_check=True) for found in both])
    assert [] == arms_lines([found._replace(dry=True) for found in both])
    assert [] == arms_lines([both[0], both[1]._replace(status="contaminated")])
    assert [] == arms_lines([both[0], row("a+with.Section", False)])


def test_without_scipy_there_are_no_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line names the extra; the rest stands."""
    def missing() -> Any:
        raise UserError("no scipy", hint="what to type")

    monkeypatch.setattr(stats, "_scipy", missing)
    lines = arms_lines([row("a+with", True), row("a+without", False), row("b+with", True), row("b+without", True)])
    assert "no scipy\n  what to type" == lines[-1]
    assert "+50%" in lines[-4]
    assert "[" not in "".join(lines)
