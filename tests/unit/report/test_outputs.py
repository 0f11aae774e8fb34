"""What stands in summary.md, junit.xml and results.csv cannot break them; how rates are told with and without scipy."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.dag.step_summary import tell_github
from evalkit.report.csv_file import COLUMNS, csv_text
from evalkit.report.figures import figures
from evalkit.report.junit import Suite, junit_text
from evalkit.report.markdown import markdown_text
from evalkit.report.markdown_parts import code
from evalkit.report.rates import pass_rate, unit_rate
from evalkit.report.row import failed_row
from evalkit.report.summary import TrialSummary, line_of, line_of_row, line_text
from evalkit.report.told import told_of
from evalkit.values import evolve
from tests.unit.report.results import a_check, a_result, a_trial
from tests.unit.report.test_compare import line, many
from tests.unit.report.test_summary import PLACE, data_of

ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def parts_of(name: str, evidence: str, reason: str) -> tuple[TrialSummary, Any]:
    """A failed trial of a case whose texts are anything."""
    result = data_of(evolve(a_result(a_check("own", "fail", evidence, evidence, description=name)), reason=reason,
                            model=name))
    trial = line_of(result, PLACE)
    return trial, told_of(trial, result)


@given(ANY, ANY, ANY)
def test_junit_is_xml_whatever_it_holds(name: str, evidence: str, reason: str) -> None:
    """Characters that XML cannot hold are replaced; all others come back as they were, but for line ends."""
    trial, told = parts_of(name, evidence, reason)
    root = ElementTree.fromstring(junit_text("latest", [Suite([json.loads(line_text(trial))], [told.test])]))
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    printable = reason.isprintable()
    assert not printable or failure.get("message") == reason


@given(ANY, ANY)
def test_csv_has_a_line_a_trial(name: str, reason: str) -> None:
    """Whatever texts hold: line ends, quotes; none is a formula to a spreadsheet."""
    _, told = parts_of(name, "", reason)
    assert 1 == told.row.count("\n")
    rows = list(csv.reader(io.StringIO(csv_text([told.row]), newline="")))
    assert [list(COLUMNS), len(COLUMNS)] == [rows[0], len(rows[1])]
    assert 2 == len(rows)
    cell = dict(zip(rows[0], rows[1], strict=True))["reason"]
    assert cell[:1] not in ("=", "+", "-", "@")


@given(ANY)
def test_a_code_span_holds_all_of_its_text(text: str) -> None:
    """No backtick of its own ends it, and no bar a cell."""
    span = code(text)
    ticks = len(span) - len(span.lstrip("`"))
    inner = span[ticks:-ticks] if text else ""
    assert "`" * ticks not in inner.replace("`" * (ticks + 1), "")
    assert inner.replace("\\|", "").count("|") == 0
    assert "\n" not in span


def test_evidence_cannot_close_its_block() -> None:
    """The fence is longer than any that the evidence has."""
    trial, told = parts_of("a", "```\n# a heading\n`````", "failed: own")
    lines = [one.strip() for one in told.block.splitlines()]
    assert ["``````text", "``````"] == [one for one in lines if one.startswith("``````")]
    assert "### `kanban-board`, trial 1 of claude a: fail" in markdown_text(
        "latest", [json.loads(line_text(trial))], [told.block])


def test_only_some_of_many_fails_are_told() -> None:
    """The file stays readable; where the rest is, is said."""
    text = markdown_text("latest", [line(f"c{n}", "fail") for n in range(60)], ["### one\n"] * 60)
    assert 50 == text.count("### one")
    assert "… and 10 more: `results.csv` has a line for every trial." in text


def test_what_did_not_run_is_told_in_its_line() -> None:
    """A budget may stop hundreds: they are no fails to read."""
    trial = line_of_row(failed_row(a_trial(), "budget", status="not run"), PLACE)
    told = told_of(trial)
    assert "" == told.block
    assert '<skipped type="not run" message="budget"></skipped>' in told.test
    assert "| `kanban-board` | not run (budget) |" in markdown_text("latest", [json.loads(line_text(trial))], [""])


def test_rates_of_tiers() -> None:
    """A column a subject, and a last line for all; what did not run is in none; without tiers there is no such part."""
    runs = [line("a", model="v/m", tier="flat"), line("b", "fail", model="v/m", tier="flat"),
            line("c", "error", model="v/m", tier="deep"), line("a", model="v/n", tier="flat")]
    text = markdown_text("latest", runs, [])
    assert """\
## Pass rate by tier

| tier | claude v/m, local lane | claude v/n, local lane |
| --- | ---: | ---: |
| flat | 1/2  50% | 1/1 100% |
| deep | 0/0    - |  |
| all tiers | 1/2  50% | 1/1 100% |
""" in text
    assert "by tier" not in markdown_text("latest", [line("a")], [])


def test_known_answers_have_no_intervals() -> None:
    """Nor do single trials; three trials have one."""
    oracle = [line("a", agent="oracle", model=None, self_check=True, number=n) for n in (1, 2, 3)]
    assert [False, False, True] == [found is not None and found.drawn for found in (
        unit_rate(oracle), unit_rate([line("a")]), unit_rate([line("a", number=n) for n in (1, 2, 3)]))]
    assert None is unit_rate([line("a", "error")])
    assert not [*figures(oracle)]


def test_a_rate_over_cases() -> None:
    """Cases count alike; with single trials the interval is Wilson's, with several Student's, within 0 and 1."""
    single = pass_rate(many("+++-"))
    assert single is not None
    assert (0.75, 4, "Wilson interval") == (single.value, single.count, single.method)
    several = pass_rate([line("a", number=n) for n in range(9)] + [line("b", "fail", 1), line("b", "fail", 2)])
    assert several is not None
    assert (0.5, 0.0, 1.0, 2, "t interval") == (several.value, several.low, several.high, several.count, several.method)


def test_pass_at_k_over_cases() -> None:
    """Of the cases that have k trials: 2 of 3 and 0 of 3 make (1 + 0) / 2 and (1/3 + 0) / 2."""
    lines = [line("a", "pass" if n else "fail", n) for n in range(3)] + [line("b", "fail", n) for n in range(3)]
    (group,) = figures([*lines, line("c")], 2)
    assert group.at is not None
    assert group.hat is not None
    assert (0.5, 0.1667, 2) == (group.at.value, round(group.hat.value, 4), group.at.count)
    assert [None] == [unit.at for unit in group.units if unit.unit == "c"]


def test_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rates stand without intervals, and the extra is named."""
    monkeypatch.setattr("evalkit.report.stats.available", lambda: False)
    lines = [line("a", number=n) for n in (1, 2)] + [line("b", "fail")]
    text = markdown_text("latest", lines, [])
    assert "Pass rate over 2 cases: **50 %**\n" in text
    assert "| `a` | 2/2 | 100 % |" in text
    assert text.endswith("Intervals need scipy: `pip install 'evalkit[stats]'`.\n")
    assert "scipy" not in markdown_text("latest", [line("a")], [])


def test_a_scipy_that_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Is as good as none: a run's end does not fail for it."""
    monkeypatch.setattr("evalkit.report.stats.available", lambda: True)
    monkeypatch.setitem(sys.modules, "scipy", None)
    text = markdown_text("latest", [line("a", number=n) for n in (1, 2)], [])
    assert "| `a` | 2/2 | 100 % |" in text
    assert "Intervals need scipy" in text


def test_a_step_s_summary_has_an_end(tmp_path: Path) -> None:
    """GitHub shows none of one that is too long: whole lines are kept, and the rest is said to be elsewhere."""
    place = tmp_path / "step"
    (tmp_path / "summary.md").write_text("a line\n" * 200_000)
    tell_github({"GITHUB_STEP_SUMMARY": str(place)}, tmp_path)
    text = place.read_text()
    assert 1024 * 1024 - 100 < len(text) <= 1024 * 1024
    assert text.endswith("a line\n\n... the rest is in the run's summary.md\n")
    tell_github({"GITHUB_STEP_SUMMARY": str(place)}, tmp_path)
    assert place.read_text() == text
