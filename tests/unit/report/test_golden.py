"""Every output of the fixed small run, whole. `GOLDEN=write pytest …` writes them; read the diff."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
import xmlschema

from evalkit.cli import main
from evalkit.report.schemas import PRINTED, RECORDS, schema
from evalkit.report.table import print_table
from evalkit.report.update import REPORTS
from tests.golden.run import write_run

FOLDER = Path(__file__).parents[2] / "golden"


def compare(name: str, text: str) -> None:
    """A text with the file of its name."""
    place = FOLDER / "expected" / name
    if os.environ.get("GOLDEN") == "write":
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    assert place.read_text(encoding="utf-8") == text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("golden")
    write_run(root)
    return root / "results/latest"


def test_the_table(tmp_path: Path) -> None:
    """In 80 columns, without colour."""
    out = io.StringIO()
    print_table(write_run(tmp_path), out)
    compare("table.txt", out.getvalue())
    wide = [line for line in out.getvalue().splitlines() if len(line) > 80 and not line.startswith("  all evidence: ")]
    assert [] == wide


@pytest.mark.parametrize("name", REPORTS)
def test_reports(folder: Path, name: str) -> None:
    """Those that every run writes."""
    compare(name, (folder / name).read_text(encoding="utf-8"))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two runs, of which the second is better."""
    write_run(tmp_path)
    write_run(tmp_path, "after", better=True)
    (tmp_path / "cases").mkdir()
    (tmp_path / "pyproject.toml").write_text("[tool.evalkit]\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "words"), [
    ("report.txt", ["report"]), ("report-k.txt", ["report", "after", "--k", "2"]),
    ("report.json", ["report", "--json"]),
    ("compare-runs.txt", ["compare", "latest", "after"]),
    ("compare-subjects.txt", ["compare", "haiku", "sonnet", "--detect", "20pp"]),
    ("compare-subjects.json", ["compare", "haiku", "sonnet", "--json"]),
    ("compare-check.txt", ["compare", "latest:sonnet", "after:sonnet", "--check", "own"]),
    ("history.txt", ["history", "board"]), ("history.json", ["history", "inbox@ts", "--json"])])
@pytest.mark.usefixtures("project")
def test_commands(name: str, words: list[str], capsys: pytest.CaptureFixture[str],
                  monkeypatch: pytest.MonkeyPatch) -> None:
    """Of past runs, in a pipe: 80 columns but for paths, no colour."""
    monkeypatch.setattr("evalkit.authoring.report.find_spec", lambda name: None)
    assert 0 == main(words)
    text = capsys.readouterr().out
    compare(name, text)
    assert "\x1b" not in text
    if name.endswith(".json"):
        jsonschema.validate(json.loads(text), schema(PRINTED[words[0]]), cls=jsonschema.Draft202012Validator)
    if name.endswith(".txt"):
        assert [] == [line for line in text.splitlines() if len(line) > 80 and "result.json" not in line]


def test_json_fits_its_schema(folder: Path) -> None:
    """The summary, and the aggregate of each unit."""
    found = {"summary": [folder / "summary.json"], "aggregate": [*folder.rglob("aggregate.json")]}
    for name, paths in found.items():
        for path in paths:
            jsonschema.validate(json.loads(path.read_bytes()), schema(RECORDS[name]),
                                cls=jsonschema.Draft202012Validator)
    assert 11 == len(found["aggregate"])
    compare("aggregate.json", (folder / "claude/anthropic%2Fclaude-sonnet-5/board/aggregate.json").read_text())


def test_junit_fits_the_common_schema(folder: Path) -> None:
    """That of Jenkins' xUnit plug-in, as packages of test runners carry it; one suite a unit and subject."""
    known = xmlschema.XMLSchema(FOLDER / "schemas/junit-10.xsd")
    known.validate(str(folder / "junit.xml"))
    root = ElementTree.parse(folder / "junit.xml").getroot()
    assert 11 == len(root.findall("testsuite"))
    assert ("14", "4", "3") == (root.get("tests"), root.get("failures"), root.get("errors"))
