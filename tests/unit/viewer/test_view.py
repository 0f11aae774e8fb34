"""What commands do to the view, and the view's way to JSON and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from viewer import build_system, registry

from tests.unit.viewer.opened import CALLS, confirmed, fixture, rejected, session


def test_the_fixture_is_a_typical_start() -> None:
    state = session().state()
    assert "EPSG:6677" == state["dataset"]["crs"]
    assert {"min": [0, -8, 2], "max": [160, 8, 42]} == state["dataset"]["alignedBounds"]
    assert (None, None, "rgb", 1.0) == tuple(state[key] for key in ("selection", "section", "colorMode", "pointSize"))
    assert ["published", "draft", "draft", "draft"] == [one["status"] for one in state["findings"]]
    assert "confirmationKey" not in state


@pytest.mark.parametrize("names", [[], *([name] for name in CALLS), list(CALLS)], ids=lambda names: "-".join(names[:1]))
def test_a_state_goes_to_json_and_back(names: list[str]) -> None:
    viewer = session()
    for name in names:
        told = viewer.call(name, CALLS[name]) if name != "deleteFinding" else {}
        if isinstance(told, dict) and "confirmation" in told:
            viewer.call(name, {**CALLS[name], "confirm": told["confirmation"]["token"]})
    state = json.loads(json.dumps(viewer.state()))
    assert state == registry.start(state).state()


def test_sessions_share_nothing() -> None:
    one, other = session(), session()
    one.call("setPointSize", {"px": 9})
    one.call("setLayerVisible", {"layer": "mesh", "visible": True})
    one.call("createFinding", {"kind": "leak"})
    assert session().state() == other.state()


@pytest.mark.parametrize(("name", "key", "value"), [
    ("setColorMode", "colorMode", "elevation"), ("setColorRamp", "ramp", "turbo"),
    ("setElevationRange", "elevationRange", [5, 30]), ("setPointSize", "pointSize", 3),
    ("setBackground", "background", "white"), ("setEdl", "edl", 0), ("setGrid", "grid", True),
    ("setProjection", "projection", "orthographic"), ("setClassVisible", "hiddenClasses", ["vegetation"]),
    ("exportImage", "exports", ["kasado-bridge-1.png"]),
])
def test_a_setting_is_in_the_state(name: str, key: str, value: Any) -> None:
    viewer = session()
    before = viewer.state()
    viewer.call(name, CALLS[name])
    assert {**before, key: value} == viewer.state()


def test_layers() -> None:
    viewer = session()
    viewer.call("setLayerVisible", {"layer": "mesh", "visible": True})
    viewer.call("setLayerOpacity", {"layer": "mesh", "opacity": 0.3})
    mesh = next(one for one in viewer.call("listLayers", {}) if one["name"] == "mesh")
    assert {"name": "mesh", "visible": True, "opacity": 0.3} == mesh
    assert viewer.state()["layers"] == viewer.call("listLayers", {})


def test_classes_are_hidden_once_and_shown_again() -> None:
    viewer = session()
    for _ in range(2):
        viewer.call("setClassVisible", {"class": "water", "visible": False})
    assert ["water"] == viewer.state()["hiddenClasses"]
    viewer.call("setClassVisible", {"class": "water", "visible": True})
    assert [] == viewer.state()["hiddenClasses"]


def test_a_range_of_elevations_has_two_ends() -> None:
    assert "min must be below max" in rejected(session(), "setElevationRange", min=10, max=10)


def test_statistics() -> None:
    viewer = session()
    told = viewer.call("queryStats", {"scope": "all"})
    assert 48_200_000 == told["points"] == sum(told["classes"].values())
    assert "nothing is selected" in rejected(viewer, "queryStats", scope="selection")
    viewer.call("selectBox", CALLS["selectBox"])
    assert 24_100_000 == viewer.call("queryStats", {"scope": "selection"})["points"]


def test_deleted_points_are_gone() -> None:
    viewer = session()
    assert {"deleted": 200_000, "points": 48_000_000} == confirmed(viewer, "deletePoints", scope="noise")
    assert "no points of noise" in rejected(viewer, "deletePoints", scope="noise")
    assert "nothing is selected" in rejected(viewer, "deletePoints", scope="selection")
    viewer.call("selectBox", CALLS["selectBox"])
    assert {"deleted": 24_000_000, "points": 24_000_000} == confirmed(viewer, "deletePoints", scope="selection")
    assert viewer.state()["selection"] is None
    assert all(count >= 0 for count in viewer.call("queryStats", {"scope": "all"})["classes"].values())


def test_what_is_asked_is_answered() -> None:
    viewer = session()
    assert {"elevation": 30.5, "of": "deck", "verticalDatum": "Tokyo Peil (T.P.)"} == viewer.call(
        "queryElevationAt", {"x": 20, "y": 0})
    assert "mast" == viewer.call("queryElevationAt", {"x": 80, "y": 5.8})["of"]
    assert "ground" == viewer.call("queryElevationAt", {"x": 80, "y": -7.5})["of"]
    assert "outside" in rejected(viewer, "queryElevationAt", x=161, y=0)
    assert ["F-1"] == viewer.call("queryElement", {"element": "western pier"})["findings"]
    assert "there are: A1, P1, P2" in rejected(viewer, "queryElement", element="P9")
    assert "EPSG:6677" == viewer.call("queryDataset", {})["crs"]
    assert 4 == viewer.call("getState", {})["findings"]


def test_the_prompt_is_made_of_the_state() -> None:
    """All numbers that places are reckoned from, and nothing that a command must be asked for."""
    said = build_system(fixture())
    for part in ("Kasado Bridge", "EPSG:6677", "Tokyo Peil", "x from 0 to 160; y from -8 to 8; z from 2 to 42",
                 "easting -35200", "northing -18400", "Nothing is selected", "There is no section"):
        assert part in said
    for secret in ("F-1", "P1", "48200000", "kasado-bridge-fixture"):
        assert secret not in said
    viewer = session()
    viewer.call("selectBox", CALLS["selectBox"])
    viewer.call("setSection", CALLS["setSection"])
    later = build_system(viewer.state())
    assert "Nothing is selected" not in later
    assert "'at': 52" in later


@pytest.mark.parametrize(("change", "said"), [
    ({"points": 1}, "do not add up"),
    ({"alignedBounds": {"min": [0, 0, 0], "max": [1, 1, 0]}}, "min below max"),
    ({"classes": {"lava": 48_200_000}}, "'lava'"),
])
def test_what_is_no_data_set(change: dict[str, Any], said: str) -> None:
    state = fixture()
    with pytest.raises(ValueError, match=said):
        registry.start({**state, "dataset": {**state["dataset"], **change}})


@pytest.mark.parametrize("state", [None, "", [], {}, {"dataset": None}, {"dataset": []}])
def test_what_is_no_state_is_refused(state: Any) -> None:
    """Such as an empty file: it is said, by the session and by the prompt."""
    for use in (registry.start, build_system):
        with pytest.raises(ValueError, match="a state is a mapping with a `dataset`"):
            use(state)
