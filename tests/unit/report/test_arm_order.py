"""Arms stand in reports as their suites declare them."""

from __future__ import annotations

import pytest

from evalkit.report.arm_order import arm_order, place_order
from evalkit.report.html.matrix import matrix
from evalkit.report.rates import groups

DECLARED = {"a@zig+with": 0, "a@zig+bare": 1, "a@ts+with": 2, "a@ts+bare": 3}


def test_places_of_units_are_sorted_as_they_are_declared() -> None:
    """Subjects and cases by name, trials by number; what is not declared comes last, in the order of others."""
    places = ["c/m/a%40zig+gone/trial-1", "c/m/a@ts+bare/trial-1", "c/m/a@zig+bare/trial-10",
              "c/m/a@zig+bare/trial-2", "c/m/a@zig+with/trial-1", "c/m/a-b/trial-1", "b/a@ts+with/trial-1"]
    assert ["b/a@ts+with/trial-1", "c/m/a@zig+with/trial-1", "c/m/a@zig+bare/trial-2", "c/m/a@zig+bare/trial-10",
            "c/m/a@ts+bare/trial-1", "c/m/a%40zig+gone/trial-1", "c/m/a-b/trial-1"] == sorted(
                places, key=place_order(DECLARED))
    gone = [f"c/gone+{arm}/trial-1" for arm in ("with", "bare", "other")]
    assert gone == sorted(sorted(gone), key=place_order({"a+with": 0, "a+bare": 1}))
    assert ["c/x+bare/trial-1", "c/x+with/trial-1"] == sorted(
        ["c/x+with/trial-1", "c/x+bare/trial-1"], key=place_order({}))


@pytest.mark.parametrize(("found", "order"), [
    ([], []), ([("a", "")], [""]), ([("a", "with"), ("a", "bare")], ["with", "bare"]),
    ([("a", "bare"), ("b", "with"), ("b", "bare"), ("c", "other")], ["with", "bare", "other"])])
def test_the_case_on_most_arms_has_their_order(found: list[tuple[str, str]], order: list[str]) -> None:
    """One whose trial on the first arm has no result yet does not turn them round."""
    assert order == [*arm_order(found)]


def lines() -> list[dict[str, object]]:
    """Case `a` has a trial on the second arm alone, `b` on both."""
    return [{"place": f"claude/m/{case}+{arm}/trial-1", "agent": "claude", "model": model, "played": "",
             "lane": "local", "unit": f"{case}+{arm}", "case": case, "suite": "s", "status": "pass", "trial": 1,
             "tier": "",
             "checks": {}, "reason": "", "self_check": False, "dry": False, "note": "", "ended": "completed"}
            for model in ("m", "n") for case, arm in (("a", "bare"), ("b", "with"), ("b", "bare"))]


def test_groups_and_columns_have_that_order() -> None:
    """Of each subject; subjects keep theirs."""
    wanted = [("m", "with"), ("m", "bare"), ("n", "with"), ("n", "bare")]
    assert wanted == [(group.subject[-1], group.arm) for group in groups(lines())]
    made = matrix(lines())
    assert wanted == [(column.model, column.arm) for column in made.columns]
    assert [[0, 1, 0, 1], [1, 1, 1, 1]] == [list(map(len, row.cells)) for row in made.suites[0].rows]
