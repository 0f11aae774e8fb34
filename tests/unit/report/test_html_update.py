"""report.html is kept up to date: what did not change is not made again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from bench.report_runs import Made, make_page, make_run, make_summary
from evalkit.execute.secrets import Redactor
from evalkit.records import read_record, write_record
from evalkit.report.html import PageState, update_page
from evalkit.report.result import TrialResult
from evalkit.values import evolve
from tests.unit.report.html_hostile import KEY, hostile_run

PLACE = "claude/anthropic%2Fclaude-sonnet-5/kanban-board/trial-1"


@pytest.fixture
def made(tmp_path: Path) -> Made:
    run = make_run(tmp_path, 3)
    assert 4 == len(make_page(run).written)
    return run


def changed(made: Made, place: str = PLACE) -> None:
    """Give a trial another result."""
    path = made.folder / place / "result.json"
    write_record(path, evolve(read_record(path, TrialResult), note="another"))


def data_of(made: Made, place: str = PLACE) -> dict[str, object]:
    text = (made.folder / f"report-data/{place}.js").read_text(encoding="utf-8")
    assert text.startswith("evalkit(")
    found: dict[str, object] = json.loads(text.removeprefix("evalkit(").removesuffix(");\n"))
    return found


def test_what_it_writes(made: Made) -> None:
    """A page, and a file for each trial with all that the trial's page shows."""
    files = {path.relative_to(made.folder).as_posix() for path in made.folder.rglob("*") if path.is_file()}
    assert {"report.html", f"report-data/{PLACE}.js"} <= files
    data = data_of(made)
    assert (PLACE, "kanban-board", "native") == (data["place"], data["case"], data["suite"])
    assert {"checks", "changes", "talk", "pictures", "spans", "facts", "usage", "audit"} <= data.keys()


def test_nothing_is_made_again(made: Made) -> None:
    """Not where nothing changed, and not where another trial did."""
    before = {path: path.stat().st_mtime_ns for path in made.folder.rglob("*.js")}
    assert () == make_page(made).written
    changed(made)
    assert {f"report-data/{PLACE}.js", "report.html"} >= {*make_page(made).written} >= {f"report-data/{PLACE}.js"}
    after = {path: path.stat().st_mtime_ns for path in made.folder.rglob("*.js")}
    assert [made.folder / f"report-data/{PLACE}.js"] == [path for path in before if before[path] != after[path]]
    assert "another" == data_of(made)["note"]


def test_what_was_deleted_is_made_again(made: Made) -> None:
    """The page, the data of a trial, or the cache."""
    (made.folder / "report.html").unlink()
    assert ("report.html",) == make_page(made).written
    (made.folder / f"report-data/{PLACE}.js").unlink()
    assert (f"report-data/{PLACE}.js",) == make_page(made).written
    shutil.rmtree(made.root / ".evalkit/cache/page")
    make_page(made)
    assert () == make_page(made).written


def update_holding(made: Made, *places: str) -> PageState:
    """Update the summary, and the page with these trials held."""
    make_summary(made)
    return update_page(made.folder, made.root / ".evalkit/cache/page/latest", made.store, Redactor.of({}),
                       held=[f"latest/{place}" for place in places])


def test_what_is_held_is_not_looked_at(made: Made) -> None:
    """A trial that the caller found unmoved stays as it is; any other is looked at, also where the summary stands."""
    others = {path.parent.relative_to(made.folder).as_posix() for path in made.folder.rglob("result.json")} - {PLACE}
    changed(made)
    assert f"report-data/{PLACE}.js" in update_holding(made, *others).written
    (made.folder / f"report-data/{PLACE}.js").unlink()
    assert () == update_holding(made, PLACE, *others).written
    assert (f"report-data/{PLACE}.js",) == update_holding(made, *others).written


def test_nothing_is_held_without_data(made: Made) -> None:
    """Who deletes the folder of data, or the cache, has all of it made anew."""
    places = [path.parent.relative_to(made.folder).as_posix() for path in made.folder.rglob("result.json")]
    shutil.rmtree(made.folder / "report-data")
    assert 3 == len(update_holding(made, *places).written)
    (made.root / ".evalkit/cache/page/latest").unlink()
    assert 4 == len(update_holding(made, *places).written)


def test_another_program_makes_the_page_anew(made: Made, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its template, style and script are part of what it hangs on."""
    monkeypatch.setattr("evalkit.report.html.update.program_files", lambda: [str(tmp_path)])
    assert ("report.html",) == make_page(made).written
    assert () == make_page(made).written


def test_trials_that_are_gone_leave_nothing(made: Made) -> None:
    """Neither their data nor empty folders, also where the cache is gone."""
    shutil.rmtree((made.folder / PLACE).parent)
    (made.folder / "summary.json").unlink()
    make_page(made)
    assert not (made.folder / f"report-data/{PLACE}.js").parent.exists()
    stray = made.folder / "report-data/old/case/trial-1.js"
    stray.parent.mkdir(parents=True)
    stray.write_text("")
    shutil.rmtree(made.root / ".evalkit/cache/page")
    make_page(made)
    assert not stray.exists()


def test_a_trial_without_a_result_has_no_data(made: Made) -> None:
    """An older result that lies in its place is not shown as its own."""
    summary = json.loads((made.folder / "summary.json").read_text())
    for line in summary["trials"]:
        if line["place"] == PLACE:
            line |= {"status": "error", "ended": "", "reason": "the disk is full"}
    (made.folder / "summary.json").write_text(json.dumps(summary))
    update_page(made.folder, made.root / "cache", made.store, Redactor.of({}))
    assert not (made.folder / f"report-data/{PLACE}.js").exists()
    assert "the disk is full" in (made.folder / "report.html").read_text(encoding="utf-8")


def test_a_damaged_result_is_told_and_others_are_shown(made: Made) -> None:
    """One file that cannot be read keeps no other from being read."""
    (made.folder / PLACE / "result.json").write_text('{"schema": 1}')
    state = update_page(made.folder, made.root / "other-cache", made.store, Redactor.of({}))
    assert ["is damaged" in error.message for error in state.errors] == [True]
    assert 2 == len([path for path in state.written if path.endswith(".js")])


def test_without_a_summary_there_is_nothing_to_do(tmp_path: Path) -> None:
    """A folder that is no run stays as it is."""
    assert PageState() == update_page(tmp_path, tmp_path / "cache", tmp_path, Redactor.of({}))
    assert [] == list(tmp_path.iterdir())


def test_keys_are_in_no_file(tmp_path: Path) -> None:
    """Not where a transcript, a tree, evidence or a name has one; one that is known later makes all of it anew."""
    made = hostile_run(tmp_path)
    (result,) = made.folder.rglob("result.json")
    record = read_record(result, TrialResult)
    checks = tuple(evolve(check, verdict=evolve(check.verdict, evidence=f"it printed {KEY}"))
                   for check in record.checks)
    write_record(result, evolve(record, checks=checks, versions={"tool": KEY}))
    with (result.parent / "transcript.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"type": "assistant", "message": {"id": "k", "content": [
            {"type": "text", "text": f"{KEY} {'x' * 60_000} {KEY}"}]}}) + "\n")
    redactor = Redactor.of({"AI_GATEWAY_API_KEY": KEY})
    make_page(made)
    assert 2 == len(make_page(made, redactor).written)
    texts = [path.read_text(encoding="utf-8") for path in (made.folder / "report.html",
                                                           *(made.folder / "report-data").rglob("*.js"))]
    assert not [text for text in texts if KEY in text or KEY[8:30] in text]
    assert "[AI_GATEWAY_API_KEY redacted]" in texts[1]


def test_hostile_data_is_one_literal(tmp_path: Path) -> None:
    """The file of a trial is a call with JSON in it, without `<`, whatever its texts are."""
    made = hostile_run(tmp_path)
    assert () == make_page(made).errors
    (path,) = (made.folder / "report-data").rglob("*.js")
    text = path.read_text(encoding="utf-8")
    assert not {"<", ">", "&", "\u2028", "\u2029"} & {*text}
    json.loads(text.removeprefix("evalkit(").removesuffix(");\n"))


def test_the_prompt_begins_the_conversation(made: Made) -> None:
    """Where somebody knows it; the inputs of the agent run say whether it is the one."""
    def prompt(case: str, unit: str, inputs: Mapping[str, str]) -> str:
        return f"Do {case}, {unit}, {sorted(inputs)}"

    update_page(made.folder, made.root / "other-cache", made.store, Redactor.of({}), prompt=prompt)
    talk = data_of(made)["talk"]
    assert isinstance(talk, dict)
    assert {"k": "text", "line": 0, "role": "prompt", "sub": "",
            "text": "Do kanban-board, kanban-board, ['workspace']"} == talk["events"][0]


@pytest.mark.parametrize("place", ["../../outside/trial-1", "/tmp/outside/trial-1", "a/../../../outside/trial-1"])
def test_a_place_outside_the_run_is_none(made: Made, place: str) -> None:
    """A summary of somebody else's makes nothing be read or written elsewhere."""
    summary = json.loads((made.folder / "summary.json").read_text())
    (made.root / "results/outside").mkdir()
    shutil.copytree(made.folder / PLACE, made.root / "results/outside/trial-1")
    summary["trials"][0]["place"] = place
    (made.folder / "summary.json").write_text(json.dumps(summary))
    before = {*made.root.rglob("*")}
    update_page(made.folder, made.root / ".evalkit/cache/page/latest", made.store, Redactor.of({}))
    assert not {*made.root.rglob("*")} - before
