"""What a command line means."""

from __future__ import annotations

import pytest

from evalkit.dag.selection import ablation, cases_meant, expand
from evalkit.errors import UserError

NAMES = ["case:kanban-board", "case:habits", "suite:native", "all", "agent:latest/nop/kanban-board/trial-1"]
SUITES = {"native": ["kanban-board", "habits"]}


def test_names_and_wildcards_are_expanded_in_order_without_doubles() -> None:
    """Each task once, in the order of the command line."""
    assert ["case:habits", "case:kanban-board"] == expand(["case:habits", "case:*", "case:habits"], NAMES)


@pytest.mark.parametrize(("asked", "hint"), [
    ("case:kanban-bord", "did you mean `case:kanban-board`?"),
    ("kanban-board", "did you mean `case:kanban-board`?"),
    ("native", "did you mean `suite:native`?"),
    ("suite:nativ", "did you mean `suite:native`?"),
    ("zzz", "known here: `case:habits`, `case:kanban-board`, `suite:native`"),
    ("case:habits,case:kanban-board", "several are given with spaces: `case:habits case:kanban-board`"),
    ("case:habits,kanban-board", "several are given with spaces: `case:habits case:kanban-board`"),
    ("case:habits,none", "did you mean `case:habits`?"),
    ("case:no*", "`doit list` shows cases and suites"),
])
def test_a_name_that_is_none_gets_a_hint(asked: str, hint: str) -> None:
    """The nearest name, or what there is."""
    with pytest.raises(UserError) as caught:
        expand([asked], NAMES)
    assert hint in caught.value.hint


def test_the_beginning_of_several_names_gets_a_hint() -> None:
    """How such are asked for: `case:sp` alone is no name."""
    with pytest.raises(UserError) as caught:
        expand(["case:sp-"], ["case:sp-pier", "case:sp-camera", "case:fd-publish"])
    assert "2 cases begin so: `case:sp-*`, or `case=sp-` beside a suite" == caught.value.hint


def test_only_the_cases_that_a_selection_can_name_are_built() -> None:
    """Cases, suites and inner tasks name their cases; anything else means all."""
    cases = {"kanban-board": "kanban-board", "habits": "habits", "habits@ts": "habits"}
    assert ["habits"] == cases_meant(["case:habits@ts"], cases, SUITES)
    assert ["habits"] == cases_meant(["result:latest/nop/habits@ts/trial-1"], cases, SUITES)
    assert ["habits"] == cases_meant(["case:habits"], cases, SUITES)
    assert ["kanban-board", "habits"] == cases_meant(["suite:native"], cases, SUITES)
    assert ["kanban-board"] == cases_meant(["grade:latest/nop/kanban-board/trial-1:loop"], cases, SUITES)
    assert cases_meant(["all"], cases, SUITES) is None
    assert cases_meant(["case:*"], cases, SUITES) is None


UNITS = {"told": ["told@a+with", "told@a+bare", "told@a+cut.one", "told@a+cut.two", "told@a+files.guide",
                  "told@b+with"],
         "other": ["other+base", "other+cut.x"], "plain": ["plain"], "alone": ["alone+cut.x"]}


def test_an_ablation_is_a_case_on_arms() -> None:
    """The first arm, to compare with, and the first that stands for one arm a part; or those that are named."""
    assert ablation(["case:told"], UNITS, "bare") is None
    assert (["case:told"], "with,cut") == ablation(["ablate:told"], UNITS, None)
    assert (["case:told"], "with,files,bare") == ablation(["ablate:told"], UNITS, "files,bare")
    assert (["case:told", "case:other"], "with,cut,base") == ablation(["ablate:told", "ablate:other"], UNITS, None)
    assert (["case:told"], "with,cut") == ablation(["ablate:to*"], UNITS, None)


@pytest.mark.parametrize(("asked", "told"), [
    (["ablate:tol"], "there is no task `ablate:tol`\n  did you mean `ablate:told`?"),
    (["ablate:plain"], "case `plain` has no arm that leaves out parts of its guidance"),
    (["ablate:alone"], "case `alone` has no arm with all of its guidance to compare with"),
    (["ablate:told", "case:plain"], "`case:plain` cannot be asked for beside it"),
])
def test_what_cannot_be_ablated(asked: list[str], told: str) -> None:
    """It is told before anything runs."""
    with pytest.raises(UserError) as caught:
        ablation(asked, UNITS, None)
    assert told in f"{caught.value.message}\n  {caught.value.hint}"
