"""JSON Schemas of the records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from attrs import frozen

from evalkit.records import write_record
from evalkit.report.metrics import group_metrics
from evalkit.report.metrics_data import RunMetrics
from evalkit.report.regraded import RegradedTrial
from evalkit.report.schemas import RECORDS, schema, write_schemas
from evalkit.report.update import update_report
from tests.unit.report.metrics_trials import told
from tests.unit.report.results import a_check, a_judged, a_record, a_result, an_ending

FOLDER = Path(__file__).parents[3] / "docs/schemas"


def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


def records(folder: Path) -> dict[str, Any]:
    """One record of each kind, as written on disk."""
    _, grade = a_judged("quality", 7.5)
    result = a_result(a_check("a", "fail", "no", "why"), a_judged("quality", 7.5), a_judged("none", None))
    again = RegradedTrial("kanban-board", "latest", 1, "local", "claude", None, "pass", "passed", an_ending(), (grade,),
                          "transcript", "d0", ("a.txt cannot be rebuilt",), "0.1.0")
    metrics = RunMetrics("latest", 0.95, group_metrics([told("ts"), told("zig")], ("ts", "zig")), {"x": "it is error"})
    for name, record in (("agent", a_record(model=None)), ("authoring-metrics", metrics), ("grade", grade),
                         ("regrade", again), ("x/trial-1/result", result)):
        write_record(folder / f"{name}.json", record)
    update_report(folder, folder / "cache")
    return {"agent": read(folder / "agent.json"), "aggregate": read(folder / "x/aggregate.json"),
            "authoring-metrics": read(folder / "authoring-metrics.json"), "grade": read(folder / "grade.json"),
            "regrade": read(folder / "regrade.json"),
            "result": read(folder / "x/trial-1/result.json"), "summary": read(folder / "summary.json")}


def test_the_files_are_current(tmp_path: Path) -> None:
    """Otherwise: python -m evalkit.report.schemas"""
    write_schemas(tmp_path)
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert written == {path.name: path.read_text() for path in FOLDER.iterdir()}


@pytest.mark.parametrize("name", RECORDS)
def test_records_fit_their_schema(tmp_path: Path, name: str) -> None:
    """What is written validates, a schema names every key, and what has no schema number or a wrong type does not."""
    record, made = records(tmp_path)[name], schema(RECORDS[name])
    jsonschema.Draft202012Validator.check_schema(made)
    validator = jsonschema.Draft202012Validator(made)
    assert [error.message for error in validator.iter_errors(record)] == []
    assert set(record) == set(made["properties"])
    assert not validator.is_valid({**record, "schema": 2})
    for key in made["required"]:
        assert not validator.is_valid({other: value for other, value in record.items() if other != key})
        assert not validator.is_valid({**record, key: [None]})


def test_a_type_that_json_lacks_is_refused() -> None:
    """A record with a field that could not be read again is found when its schema is made."""
    @frozen
    class Odd:
        """Odd."""

        place: complex

    with pytest.raises(TypeError, match="no record holds a <class 'complex'>"):
        schema(Odd)
