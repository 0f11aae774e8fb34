"""Reports are kept up to date, and only what changed is read."""

from __future__ import annotations

import json
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.analysis.survey import Stamp, stamp
from evalkit.errors import HarnessError
from evalkit.records import BadRecord, write_record
from evalkit.report.row import Row, failed_row
from evalkit.report.update import REPORTS, ReportState, report_changes, update_report
from tests.unit.report.results import a_check, a_judged, a_result, a_trial

A1, A2, B1 = "claude/m/a/trial-1", "claude/m/a/trial-2", "claude/m/b/trial-1"
AGGREGATES = ("claude/m/a/aggregate.json", "claude/m/b/aggregate.json")


class Run:
    """A run on disk, with its cache."""

    def __init__(self, root: Path) -> None:
        self.folder, self.cache = root / "results/latest", root / "cache/latest"

    def keep(self, place: str, status: Any = "pass") -> None:
        """Put a result in its place."""
        result = a_result(a_check("c", status), a_judged("j", 7.0), number=int(place.rpartition("-")[2]))
        write_record(self.folder / place / "result.json", result)

    def update(self, *places: str, **choices: Any) -> ReportState:
        """An update; it tells what `report_changes` did before it."""
        before = self.changes(*places)
        state = self.update_with_others(*places, **choices)
        assert state.changes == tuple(before)
        return state._replace(changes=())

    def update_with_others(self, *places: str, **choices: Any) -> ReportState:
        return update_report(self.folder, self.cache, [f"latest/{place}" for place in places], **choices)

    def changes(self, *places: str) -> list[str]:
        return report_changes(self.folder, self.cache, [f"latest/{place}" for place in places])

    def read(self, name: str = "summary.json") -> Any:
        return json.loads((self.folder / name).read_bytes())

    def statuses(self) -> dict[str, str]:
        return {trial["place"]: trial["status"] for trial in self.read()["trials"]}


@pytest.fixture(autouse=True)
def _coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock of fine grain: what was just written counts as settled, so that reads can be counted."""
    monkeypatch.setattr("evalkit.report.refresh._GRAIN", -60_000_000_000)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Three trials of two units, summed up."""
    run = Run(tmp_path)
    for place in (A1, A2, B1):
        run.keep(place)
    assert run.update() == ReportState(3, 3, (*AGGREGATES, *REPORTS), ())
    return run


def test_where_nothing_changed_nothing_is_read(run: Run) -> None:
    """Nor written."""
    assert run.update(A1, A2, B1) == ReportState(3, 0, (), ())
    assert run.changes(A1, A2, B1) == []


def test_a_result_that_changed_is_read(run: Run) -> None:
    """It alone; its unit's aggregate and the summary follow."""
    run.keep(A2, "fail")
    assert run.changes() == [f"{A2}/result.json"]
    assert run.update() == ReportState(3, 1, (AGGREGATES[0], *REPORTS), ())
    assert run.statuses() == {A1: "pass", A2: "fail", B1: "pass"}
    assert (run.read()["counts"]["fail"], run.read(AGGREGATES[0])["pass_rate"]) == (1, 0.5)
    assert run.changes() == []


def test_what_the_caller_looked_at_is_not_looked_at(run: Run) -> None:
    """Neither its result nor its aggregate; others are. Where the summary is another, nothing is taken on trust."""
    held = [f"latest/{A1}", f"latest/{A2}"]
    for place in (A1, B1):
        run.keep(place, "fail")
    assert (AGGREGATES[1], *REPORTS) == run.update_with_others(A1, B1, held=held).written
    assert run.statuses() == {A1: "pass", A2: "pass", B1: "fail"}
    run.keep(B1)
    (run.folder / "summary.json").write_text("{}")
    assert (*AGGREGATES, *REPORTS) == run.update_with_others(A1, B1, held=held).written
    assert run.statuses() == {A1: "fail", A2: "pass", B1: "pass"}


def test_a_result_of_equal_bytes_makes_nothing_new(run: Run) -> None:
    """It was deleted and made again: it is read, and that is all."""
    (run.folder / A2 / "result.json").unlink()
    run.keep(A2)
    assert run.update() == ReportState(3, 1, (), ())
    assert run.update() == ReportState(3, 0, (), ())


def test_a_result_that_tells_the_same_needs_no_texts(run: Run) -> None:
    """Where only its stamp, or what no report tells, is another, nothing is written, and the texts stay as they are."""
    texts = run.cache.with_name(f".{run.cache.name}.texts")
    before = stamp(str(texts))
    path = run.folder / A2 / "result.json"
    path.write_bytes(path.read_bytes() + b"\n")
    assert run.update() == ReportState(3, 1, (), ())
    assert run.update() == ReportState(3, 0, (), ())
    assert before == stamp(str(texts))
    run.keep(A2, "fail")
    assert AGGREGATES[0] in run.update().written
    assert before != stamp(str(texts))


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:-9])],
                         ids=["none", "cut"])
def test_without_the_texts_all_is_read(run: Run, damage: Any) -> None:
    """Where they are needed, and gone or those of another update."""
    damage(run.cache.with_name(f".{run.cache.name}.texts"))
    run.keep(A2, "fail")
    assert run.update().read == 3
    assert run.statuses() == {A1: "pass", A2: "fail", B1: "pass"}


def test_a_new_trial_is_found_where_it_is_named(run: Run) -> None:
    """What comes from elsewhere is found by a full walk, or where the summary was deleted."""
    places = [f"claude/m/a/trial-{number}" for number in (3, 10)]
    for place in places:
        run.keep(place)
    assert run.update() == ReportState(3, 0, (), ())
    assert run.changes(places[0]) == [f"{places[0]}/result.json"]
    assert run.update(places[0]).read == 1
    assert run.update(full=True).read == 1
    assert list(run.statuses()) == [A1, A2, *places, B1], "in the order of units and numbers"
    run.keep("claude/m/a/trial-4")
    (run.folder / "summary.json").unlink()
    assert run.update().trials == 6


def test_what_is_gone_is_dropped(run: Run) -> None:
    """By hand, a result or a whole unit; the aggregate of a unit without trials goes too."""
    (run.folder / A1 / "result.json").unlink()
    (run.folder / B1 / "result.json").unlink()
    assert run.update() == ReportState(1, 0, (AGGREGATES[0], *REPORTS), ())
    assert (run.statuses(), (run.folder / AGGREGATES[1]).exists()) == ({A2: "pass"}, False)
    shutil.rmtree(run.folder)
    assert (run.update(A1).trials, run.statuses()) == (0, {})


@pytest.mark.parametrize("name", [*REPORTS, *AGGREGATES])
@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_text("{}")], ids=["deleted", "changed"])
def test_reports_are_made_again(run: Run, name: str, damage: Any) -> None:
    """Whoever deleted or changed them."""
    before = (run.folder / name).read_bytes()
    damage(run.folder / name)
    assert run.changes() == [name]
    assert run.update().written == (name,)
    assert before == (run.folder / name).read_bytes()
    assert run.changes() == []


@pytest.mark.parametrize("data", [b"", b"x", b'{"schema": 1}', b'{"schema": 2}', b"[]"])
def test_a_damaged_result_is_said(run: Run, data: bytes) -> None:
    """Each time, until it is whole again; all others are in the summary."""
    (run.folder / A1 / "result.json").write_bytes(data)
    for _ in range(2):
        state = run.update()
        assert [type(error) for error in state.errors] == [BadRecord]
        assert f"{A1}/result.json" in str(state.errors[0])
        assert run.statuses() == {A2: "pass", B1: "pass"}
    run.keep(A1, "fail")
    assert run.update().errors == ()
    assert run.statuses() == {A1: "fail", A2: "pass", B1: "pass"}


@pytest.mark.parametrize("damage", [
    Path.unlink, lambda path: path.write_bytes(b""), lambda path: path.write_bytes(path.read_bytes()[:-9]),
    lambda path: path.write_bytes(path.read_bytes().replace(b"trial-1", b"trial-2"))],
    ids=["none", "empty", "cut", "other"])
def test_a_damaged_cache_is_no_cache(run: Run, damage: Any) -> None:
    """All is read again, and nothing is lost."""
    damage(run.cache)
    assert run.changes() == ["summary.json"]
    assert run.update() == ReportState(3, 3, (), ())
    assert run.update() == ReportState(3, 0, (), ())


def test_without_a_place_for_the_cache(run: Run) -> None:
    """Each update reads everything, and is right."""
    run.cache = run.folder / "summary.json/cache"
    run.keep(A2, "fail")
    for _ in range(2):
        assert run.update().read == 3
        assert run.statuses() == {A1: "pass", A2: "fail", B1: "pass"}


def test_a_place_that_cannot_be_written(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error; the next update, where it can, does all that this one could not."""
    run.keep(A2, "fail")

    def refuse(*_: object, **__: object) -> None:
        raise HarnessError("cannot write")

    with monkeypatch.context() as patched:
        patched.setattr("evalkit.report.refresh.write_bytes", refuse)
        with pytest.raises(HarnessError, match="cannot write"):
            run.update()
    assert run.update().written == (AGGREGATES[0], *REPORTS)


def row_of_trial(place: str, status: Any = "error") -> Row:
    """The row of a trial without a result."""
    return failed_row(a_trial(number=int(place[-1])), "budget", status=status)._replace(place=f"latest/{place}")


def test_a_trial_without_a_result(run: Run) -> None:
    """It is told of as long as it has none, also where an older result is there; a new one takes its place."""
    new = "claude/m/b/trial-2"
    state = run.update(unfinished=[row_of_trial(new, "not run"), row_of_trial(A1)])
    expected = {A1: "error", A2: "pass", B1: "pass", new: "not run"}
    assert (state.trials, run.statuses()) == (4, expected)
    assert run.read(AGGREGATES[1])["trials"] == {"pass": 1, "fail": 0, "contaminated": 0, "error": 0, "not run": 1}
    assert run.update(A1, A2, B1, new) == ReportState(4, 0, (), ())
    assert (run.update(A1, full=True).trials, run.statuses()) == (4, expected)
    run.keep(new)
    run.keep(A1, "fail")
    assert sorted(run.changes()) == [f"{A1}/result.json", f"{new}/result.json"]
    run.update()
    assert run.statuses() == {A1: "fail", A2: "pass", B1: "pass", new: "pass"}


def test_a_result_that_may_still_change_is_compared(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written within the clock's grain, it can get other bytes and keep its stamp. That it might is no change."""
    monkeypatch.setattr("evalkit.report.refresh._GRAIN", 60_000_000_000)
    run.keep(A1, "fail")
    assert (run.update().read, run.changes(), run.update().read) == (1, [], 0)
    stamps = {str(run.folder / A1 / "result.json"): stamp(str(run.folder / A1 / "result.json"))}
    run.keep(A1, "error")

    def frozen(path: str) -> Stamp:
        return stamps.get(path) or stamp(path)

    monkeypatch.setattr("evalkit.report.refresh.stamp", frozen)
    monkeypatch.setattr("evalkit.report.update.changed_stamps", lambda known: {
        path: frozen(path) for path, before in known.items() if frozen(path) != before})
    assert run.changes() == [f"{A1}/result.json"]
    assert (run.update().read, run.statuses()[A1], run.changes()) == (1, "error", [])


def test_updates_at_the_same_time(run: Run) -> None:
    """Each adds its trial to those of the others."""
    places = [f"claude/m/{unit}/trial-1" for unit in "cdefghij"]
    for place in places:
        run.keep(place)
    with ThreadPoolExecutor(len(places)) as pool:
        assert all(state.read == 1 for state in pool.map(run.update_with_others, places))
    assert list(run.statuses()) == [A1, A2, B1, *places]


def test_folders_that_look_like_trials(tmp_path: Path) -> None:
    """A unit may be named like a trial; what is in a trial's own folders is no result, and links are not followed."""
    run = Run(tmp_path)
    run.keep("claude/trial-1/trial-2")
    shutil.copytree(run.folder / "claude/trial-1/trial-2", run.folder / "claude/other/trial-x")
    run.keep("claude/trial-1/trial-2/grades/trial-1")
    (run.folder / "claude/loop").symlink_to(run.folder)
    assert (run.update().trials, list(run.statuses())) == (1, ["claude/trial-1/trial-2"])


PLACES = [A1, A2, B1, "claude/m/b/trial-2"]
STEPS = st.one_of(
    st.tuples(st.just("keep"), st.sampled_from(PLACES), st.sampled_from(["pass", "fail", "error"])),
    st.tuples(st.sampled_from(["delete", "damage"]), st.sampled_from(PLACES), st.just("")),
    st.tuples(st.sampled_from(["drop cache", "drop summary", "drop aggregates"]), st.just(""), st.just("")))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(STEPS, max_size=4), max_size=5))
def test_an_update_comes_to_what_a_full_walk_does(rounds: list[list[tuple[str, str, str]]]) -> None:
    """After any edits, deletions and damages: the same files, byte for byte."""
    with tempfile.TemporaryDirectory() as root:
        run = Run(Path(root))
        for steps in rounds:
            for step, place, status in steps:
                path = run.folder / place / "result.json"
                if step == "keep":
                    run.keep(place, status)
                elif step == "drop cache":
                    run.cache.unlink(missing_ok=True)
                elif step == "drop summary":
                    (run.folder / "summary.json").unlink(missing_ok=True)
                elif step == "drop aggregates":
                    for name in AGGREGATES:
                        (run.folder / name).unlink(missing_ok=True)
                elif path.is_file():
                    path.unlink() if step == "delete" else path.write_bytes(b"damaged")
            run.update(*PLACES)
            got = {name: (run.folder / name).read_bytes() for name in ("summary.json", *AGGREGATES)
                   if (run.folder / name).is_file()}
            shutil.rmtree(run.cache.parent)
            for name in got:
                (run.folder / name).unlink()
            run.update()
            assert got == {name: (run.folder / name).read_bytes() for name in ("summary.json", *AGGREGATES)
                           if (run.folder / name).is_file()}


def test_units_stand_as_they_are_declared(run: Run) -> None:
    """Reports are written again where that is another order than before, once; who does not know it changes nothing."""
    def order() -> list[str]:
        return [trial["place"] for trial in run.read()["trials"]]

    places = ["claude/m/x+bare/trial-1", "claude/m/x+with/trial-1"]
    for place in places:
        run.keep(place)
    run.update(*places, full=True)
    before = order()
    declared = {"x+with": 0, "x+bare": 1}
    written = run.update(full=True, declared=declared).written
    assert [place for place in before if "x+" in place] == places
    assert [place for place in order() if "x+" in place] == places[::-1]
    assert {"summary.json", "results.csv"} <= set(written)
    assert () == run.update(full=True, declared=declared).written
    assert () == run.update(full=True).written
    assert [place for place in order() if "x+" in place] == places[::-1]
