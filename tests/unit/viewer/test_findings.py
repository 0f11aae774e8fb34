"""The rules of findings, and the two steps of what cannot be taken back."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from viewer import registry
from viewer.findings import KINDS

from tests.unit.viewer.opened import CALLS, confirmed, fixture, rejected, session

GOOD: dict[str, list[Any]] = {"crack": [0.01, 0.3, 50], "spalling": [0.1, 500], "settlement": [12, 5000],
                              "corrosion": ["A", "D"], "leak": [True, False]}
BAD: dict[str, list[Any]] = {"crack": [0, -0.3, 50.1, "0.3", "0.3 mm", True, "B"], "spalling": [0, 501, "large", False],
                             "settlement": [0, "deep"], "corrosion": ["E", "a", 2, True, ""],
                             "leak": ["yes", 1, 0, "true"]}
GUARDED = [name for name in CALLS if name in ("deletePoints", "publishFinding", "retractFinding", "deleteFinding",
                                              "exportReport")]


def test_each_kind_is_tried() -> None:
    assert set(KINDS) == set(GOOD) == set(BAD)
    told = {one["kind"]: one for one in session().call("listFindingKinds", {})}
    assert {"kind": "crack", "value": "width", "type": "number", "unit": "mm"} == told["crack"]
    assert ["A", "B", "C", "D"] == told["corrosion"]["oneOf"]
    assert "boolean" == told["leak"]["type"]


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind, values in GOOD.items() for value in values])
def test_a_value_keeps_its_type(kind: str, value: Any) -> None:
    viewer = session()
    filed = viewer.call("createFinding", {"kind": kind, "value": value})
    assert {"id": "F-5", "kind": kind, "status": "draft", "value": value} == filed
    assert type(value) is type(viewer.call("queryFinding", {"id": "F-5"})["value"])


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind, values in BAD.items() for value in values])
def test_a_value_of_another_type_is_rejected(kind: str, value: Any) -> None:
    viewer = session()
    said = rejected(viewer, "createFinding", kind=kind, value=value)
    assert "value" in said
    viewer.call("createFinding", {"kind": kind})
    rejected(viewer, "updateFinding", id="F-5", value=value)


def test_a_rejected_filing_uses_up_no_number() -> None:
    viewer = session()
    rejected(viewer, "createFinding", kind="crack", value="wide")
    assert "F-5" == viewer.call("createFinding", {"kind": "crack"})["id"]
    confirmed(viewer, "deleteFinding", id="F-5")
    assert "F-6" == viewer.call("createFinding", {"kind": "crack"})["id"]


def test_where_a_finding_is() -> None:
    viewer = session()
    assert "P2" == viewer.call("createFinding", {"kind": "crack", "element": "Eastern Pier"})["element"]
    assert "no element 'P7'" in rejected(viewer, "createFinding", kind="crack", element="P7")
    assert "needs x, y and z" in rejected(viewer, "createFinding", kind="crack", x=1, y=2)
    assert "outside alignedBounds" in rejected(viewer, "createFinding", kind="crack", x=1, y=2, z=99)


def test_findings_are_listed_by_status_and_kind() -> None:
    viewer = session()
    assert ["F-1", "F-2", "F-3", "F-4"] == [one["id"] for one in viewer.call("listFindings", {})]
    assert ["F-3"] == [one["id"] for one in viewer.call("listFindings", {"status": "draft", "kind": "crack"})]
    assert "there are: F-1, F-2, F-3, F-4" in rejected(viewer, "queryFinding", id="F-9")
    assert "F-1" == viewer.call("queryFinding", {"id": "f-1"})["id"]


def test_a_draft_changes() -> None:
    viewer = session()
    told = viewer.call("updateFinding", {"id": "F-3", "value": 0.25, "note": "Grown."})
    assert (0.25, "Grown.", "deck") == (told["value"], told["note"], told["element"])
    assert "nothing to change" in rejected(viewer, "updateFinding", id="F-3")


def test_what_is_published_stays() -> None:
    viewer = session()
    told = confirmed(viewer, "publishFinding", id="F-2")
    assert "published" == told["status"]
    for name in ("F-1", "F-2"):
        assert "only drafts can be changed" in rejected(viewer, "updateFinding", id=name, value=0.5)
        assert "only drafts can be deleted" in rejected(viewer, "deleteFinding", id=name)
        assert "only drafts can be published" in rejected(viewer, "publishFinding", id=name)


def test_the_store_itself_keeps_what_is_published() -> None:
    """Whatever command forgets to ask."""
    store = session().findings._db
    for statement in ("UPDATE findings SET value = '9' WHERE number = 1", "DELETE FROM findings WHERE number = 1",
                      "UPDATE findings SET status = 'draft' WHERE number = 1",
                      "UPDATE findings SET status = 'published' WHERE number = 4"):
        with pytest.raises(sqlite3.IntegrityError):
            store.execute(statement)


def test_what_lacks_its_value_cannot_be_published() -> None:
    viewer = session()
    assert "F-4 has no value yet: grade is missing" in rejected(viewer, "publishFinding", id="F-4")
    viewer.call("updateFinding", {"id": "F-4", "value": "C"})
    assert "published" == confirmed(viewer, "publishFinding", id="F-4")["status"]


def test_a_retracted_finding_is_over() -> None:
    viewer = session()
    assert "F-2 is a draft, not published" in rejected(viewer, "retractFinding", id="F-2")
    assert "retracted" == confirmed(viewer, "retractFinding", id="F-1")["status"]
    assert "not published" in rejected(viewer, "retractFinding", id="F-1")
    assert "only drafts" in rejected(viewer, "publishFinding", id="F-1")


def test_the_report_has_what_is_published() -> None:
    viewer = session()
    assert ["F-1"] == confirmed(viewer, "exportReport", format="pdf")["findings"]
    assert ["kasado-bridge-report.pdf"] == viewer.state()["exports"]
    confirmed(viewer, "retractFinding", id="F-1")
    assert "would be empty" in rejected(viewer, "exportReport", format="pdf")


@pytest.mark.parametrize("name", GUARDED)
def test_two_steps(name: str) -> None:
    """The first call does nothing, the second one acts, a third one cannot."""
    viewer = session()
    before = viewer.state()
    asked = viewer.call(name, CALLS[name])["confirmation"]
    assert {"token", "what"} == set(asked)
    assert before == viewer.state()
    viewer.call(name, {**CALLS[name], "confirm": asked["token"]})
    assert before != viewer.state()
    rejected(viewer, name, **CALLS[name], confirm=asked["token"])


@pytest.mark.parametrize("name", GUARDED)
@pytest.mark.parametrize("token", ["yes", "true", "0123456789", "confirmed"])
def test_a_token_that_was_made_up(name: str, token: str) -> None:
    viewer = session()
    assert "never given" in rejected(viewer, name, **CALLS[name], confirm=token)
    viewer.call(name, CALLS[name])
    assert "never given" in rejected(viewer, name, **CALLS[name], confirm=token)


def test_a_token_that_was_used() -> None:
    viewer = session()
    asked = viewer.call("exportReport", {"format": "pdf"})["confirmation"]
    viewer.call("exportReport", {"format": "pdf", "confirm": asked["token"]})
    assert "has been used" in rejected(viewer, "exportReport", format="pdf", confirm=asked["token"])


def test_a_token_of_another_call() -> None:
    viewer = session()
    asked = viewer.call("publishFinding", {"id": "F-2"})["confirmation"]
    assert "another call" in rejected(viewer, "publishFinding", id="F-3", confirm=asked["token"])
    assert "another call" in rejected(viewer, "deleteFinding", id="F-2", confirm=asked["token"])
    viewer.call("publishFinding", {"id": "F-2", "confirm": asked["token"]})


def test_a_token_of_another_session() -> None:
    one, other = (registry.start({**fixture(), "confirmationKey": key}) for key in ("one", "other"))
    token = one.call("publishFinding", {"id": "F-2"})["confirmation"]["token"]
    other.call("publishFinding", {"id": "F-2"})
    assert "never given" in rejected(other, "publishFinding", id="F-2", confirm=token)


def test_a_token_for_what_has_changed_since() -> None:
    viewer = session()
    asked = viewer.call("publishFinding", {"id": "F-2"})["confirmation"]
    viewer.call("updateFinding", {"id": "F-2", "value": 0.9})
    assert "things have changed" in rejected(viewer, "publishFinding", id="F-2", confirm=asked["token"])


def test_a_first_call_that_cannot_be_done_gets_no_token() -> None:
    viewer = session()
    assert "no finding" in rejected(viewer, "publishFinding", id="F-9")
    assert "only drafts" in rejected(viewer, "deleteFinding", id="F-1")


def test_tokens_repeat_with_a_key_alone() -> None:
    """So that recorded conversations can be played; two questions never have the same token."""
    def first(state: dict[str, Any]) -> str:
        return str(registry.start(state).call("publishFinding", {"id": "F-2"})["confirmation"]["token"])
    assert first(fixture()) == first(fixture())
    without = {key: value for key, value in fixture().items() if key != "confirmationKey"}
    assert first(without) != first(without)
    viewer = session()
    assert 2 == len({viewer.call("publishFinding", {"id": "F-2"})["confirmation"]["token"] for _ in range(2)})
