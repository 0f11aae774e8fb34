"""summary.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalkit.records import BadRecord, write_record
from evalkit.report.result import TrialResult
from evalkit.report.summary import report_inputs, write_report
from tests.unit.report.results import a_check, a_judged, a_result

EXPECTED = """\
{
  "counts": {
    "error": 0,
    "fail": 1,
    "pass": 1
  },
  "run": "latest",
  "schema": 1,
  "trials": [
    {
      "agent": "claude",
      "case": "kanban-board",
      "checks": {
        "bad": "fail",
        "quality": "pass"
      },
      "cost": 1.204,
      "dry": false,
      "judge": [
        7.5
      ],
      "lane": "local",
      "model": "anthropic/claude-sonnet-5",
      "note": "",
      "place": "claude/m/kanban-board/trial-1",
      "reason": "failed: bad",
      "seconds": 248.2,
      "self_check": false,
      "status": "fail",
      "suite": "suite",
      "trial": 1,
      "turns": 31,
      "unit": "kanban-board"
    },
    {
      "agent": "oracle",
      "case": "other",
      "checks": {
        "good": "pass"
      },
      "cost": 1.204,
      "dry": false,
      "judge": [],
      "lane": "local",
      "model": null,
      "note": "self-check: reference answer, no model was called",
      "place": "oracle/other/trial-1",
      "reason": "passed 1 of 1 checks",
      "seconds": 248.2,
      "self_check": true,
      "status": "pass",
      "suite": "suite",
      "trial": 1,
      "turns": 31,
      "unit": "other"
    }
  ]
}
"""


def keep(folder: Path, place: str, result: TrialResult) -> None:
    write_record(folder / place / "result.json", result)


def test_the_whole_file(tmp_path: Path) -> None:
    """A line a trial, in the order of their folders, with counts and the schema's number; stable to the byte."""
    keep(tmp_path, "oracle/other/trial-1", a_result(a_check("good"), name="other", agent="oracle", model=None))
    keep(tmp_path, "claude/m/kanban-board/trial-1", a_result(a_check("bad", "fail"), a_judged("quality", 7.5)))
    assert write_report(tmp_path, "latest") == {"trials": 2}
    assert (tmp_path / "summary.json").read_text() == EXPECTED
    write_report(tmp_path, "latest")
    assert (tmp_path / "summary.json").read_text() == EXPECTED


def test_an_empty_run_has_an_empty_summary(tmp_path: Path) -> None:
    """No result is no reason to fail."""
    assert write_report(tmp_path, "r") == {"trials": 0}
    assert json.loads((tmp_path / "summary.json").read_text())["counts"] == {"pass": 0, "fail": 0, "error": 0}


def test_inputs_are_the_results(tmp_path: Path) -> None:
    """A new or another result makes a new summary; other files do not."""
    assert report_inputs(tmp_path) == {}
    keep(tmp_path, "a/trial-1", a_result(a_check("c")))
    before = report_inputs(tmp_path)
    assert list(before) == ["a/trial-1"]
    (tmp_path / "a/trial-1/transcript.jsonl").write_text("{}")
    assert before == report_inputs(tmp_path)
    keep(tmp_path, "a/trial-1", a_result(a_check("c", "fail")))
    assert before != report_inputs(tmp_path)


def test_a_damaged_result_is_named(tmp_path: Path) -> None:
    """Neither skipped in silence nor a bug."""
    keep(tmp_path, "a/trial-1", a_result(a_check("c")))
    (tmp_path / "a/trial-1/result.json").write_text('{"schema": 1}')
    with pytest.raises(BadRecord, match=r"trial-1/result\.json is damaged"):
        write_report(tmp_path, "latest")
