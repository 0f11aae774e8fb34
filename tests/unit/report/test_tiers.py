"""Pass rates per tier in the table."""

from __future__ import annotations

from evalkit.report.layout import Page
from evalkit.report.row import Row
from evalkit.report.tiers import add_tiers, rates_of_rows


def row(agent: str, tier: str, status: str, *, suite: str = "viewer", model: str | None = None, unit: str = "u") -> Row:
    return Row(unit=unit, case=unit, suite=suite, agent=agent, model=model, trial=1, lane="local", place="p",
               status=status, reason="", tier=tier)  # type: ignore[arg-type]


def told(*rows: Row, width: int = 80) -> list[str]:
    page = Page(width, lambda text, _: text)
    add_tiers(page, rows)
    return page.lines


ROWS = [row("oracle", "deterministic", "pass"), row("oracle", "deterministic", "pass"), row("oracle", "read", "pass"),
        row("palette", "deterministic", "pass"), row("palette", "deterministic", "fail"),
        row("palette", "read", "fail"),
        row("palette", "read", "error"), row("palette", "", "pass")]


def test_subjects_stand_side_by_side() -> None:
    """Whose trials are in error, or of no tier, counts in nothing; the last line sums up."""
    assert ["", "pass rate         oracle    palette",
            "deterministic   2/2 100%   1/2  50%",
            "read            1/1 100%   0/1   0%",
            "all tiers       3/3 100%   1/3  33%"] == told(*ROWS)


def test_below_each_other_where_there_is_no_room() -> None:
    rows = [row("tools", "read", "pass", model=f"provider/a-model-with-a-name-{number}") for number in range(3)]
    assert ["", "pass rate of tools provider/a-model-with-a-name-0", "read        1/1 100%"] == told(*rows)[:3]


def test_one_tier_and_one_subject() -> None:
    assert ["", "pass rate     oracle", "read        1/1 100%"] == told(row("oracle", "read", "pass"))
    assert ["", "pass rate     oracle", "read        0/0    -"] == told(row("oracle", "read", "error"))
    assert [] == told(row("oracle", "", "pass"))


def test_suites_with_tiers_of_the_same_name() -> None:
    """Each is its own."""
    found = rates_of_rows([row("nop", "read", "pass"), row("nop", "read", "fail", suite="other")])
    assert ["viewer read", "other read"] == list(found)
