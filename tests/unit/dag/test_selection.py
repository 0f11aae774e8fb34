"""What a command line means."""

from __future__ import annotations

import pytest

from evalkit.dag.selection import cases_meant, expand
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
    ("case:no*", "`doit list` shows cases and suites"),
])
def test_a_name_that_is_none_gets_a_hint(asked: str, hint: str) -> None:
    """The nearest name, or what there is."""
    with pytest.raises(UserError) as caught:
        expand([asked], NAMES)
    assert hint in caught.value.hint


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
