"""Selections, sections and cameras against alignedBounds."""

from __future__ import annotations

import math
from typing import Any

import pytest
from viewer.geometry import Box, Camera, look, slab

from tests.unit.viewer.opened import BOX, CAMERA, rejected, session

BOUNDS = Box((0, -8, 2), (160, 8, 42))


def camera_of(told: dict[str, Any]) -> Camera:
    return Camera(tuple(told["camera"]["position"]), tuple(told["camera"]["target"]))


def test_a_selection_is_what_was_given() -> None:
    viewer = session()
    told = viewer.call("selectBox", {**BOX, "minX": 48, "maxX": 56})
    assert {"min": [48, -8, 2], "max": [56, 8, 42]} == told["selection"] == viewer.state()["selection"]
    assert round(48_200_000 * 8 / 160) == told["points"]
    viewer.call("clearSelection", {})
    assert viewer.state()["selection"] is None


def test_a_selection_ends_where_the_points_end() -> None:
    told = session().call("selectBox", {"minX": -99, "maxX": 999, "minY": -99, "maxY": 0, "minZ": 0, "maxZ": 99})
    assert {"min": [0, -8, 2], "max": [160, 0, 42]} == told["selection"]


@pytest.mark.parametrize(("sides", "said"), [
    ({"minX": 200, "maxX": 300}, "outside alignedBounds"), ({"minX": 160, "maxX": 300}, "outside alignedBounds"),
    ({"minZ": 42, "maxZ": 2}, "min below max"), ({"minY": 0, "maxY": 0}, "min below max"),
])
def test_a_box_that_selects_nothing(sides: dict[str, float], said: str) -> None:
    assert said in rejected(session(), "selectBox", **{**BOX, **sides})


@pytest.mark.parametrize(("axis", "inside", "outside"), [("x", (0, 80, 160), (-0.1, 160.1)),
                                                         ("y", (-8, 0, 8), (-8.1, 8.1)), ("z", (2, 42), (1.9, 42.1))])
def test_a_section_is_within_the_bounds(axis: str, inside: tuple[float, ...], outside: tuple[float, ...]) -> None:
    viewer = session()
    for at in inside:
        assert {"axis": axis, "at": at, "thickness": 0.5} == viewer.call(
            "setSection", {"axis": axis, "at": at})["section"]
    for at in outside:
        assert f"where {axis} has points" in rejected(viewer, "setSection", axis=axis, at=at)
    viewer.call("clearSection", {})
    assert viewer.state()["section"] is None


def test_a_section_shows_the_share_of_its_slice() -> None:
    assert Box((51, -8, 2), (53, 8, 42)) == slab(BOUNDS, "x", 52, 2)
    assert Box((0, -8, 2), (1, 8, 42)) == slab(BOUNDS, "x", 0, 2)
    assert slab(BOUNDS, "z", 50, 2) is None
    assert 602_500 == session().call("setSection", {"axis": "x", "at": 52, "thickness": 2})["points"]


@pytest.mark.parametrize(("axis", "direction", "way"), [
    ("x", "positive", (1, 0, 0)), ("x", "negative", (-1, 0, 0)), ("y", "positive", (0, 1, 0)),
    ("y", "negative", (0, -1, 0)), ("z", "positive", (0, 0, 1)), ("z", "negative", (0, 0, -1)),
])
def test_a_look_along_an_axis(axis: str, direction: str, way: tuple[float, float, float]) -> None:
    """The camera stands outside, looks at the centre, and sees all corners."""
    viewer = session()
    camera = camera_of(viewer.call("lookAlong", {"axis": axis, "direction": direction}))
    assert way == pytest.approx(camera.direction)
    assert BOUNDS.centre == camera.target
    assert not BOUNDS.holds(camera.position)
    assert sees(camera, BOUNDS)


def test_a_look_at_a_section() -> None:
    viewer = session()
    viewer.call("setSection", {"axis": "x", "at": 52})
    camera = camera_of(viewer.call("lookAlong", {"axis": "x", "direction": "positive"}))
    assert camera.target == pytest.approx((52, 0, 22))
    assert sees(camera, BOUNDS)


def sees(camera: Camera, box: Box) -> bool:
    """Whether every corner is within the cone of the field of view."""
    for x in (box.low[0], box.high[0]):
        for y in (box.low[1], box.high[1]):
            for z in (box.low[2], box.high[2]):
                to = [at - eye for at, eye in zip((x, y, z), camera.position, strict=True)]
                cosine = sum(one * two for one, two in zip(to, camera.direction, strict=True)) / math.hypot(*to)
                if cosine < math.cos(math.radians(30)) - 1e-9:
                    return False
    return True


@pytest.mark.parametrize(("side", "way"), [("top", (0, 0, -1)), ("south", (0, 1, 0)), ("west", (1, 0, 0))])
def test_standard_views_look_from_their_side(side: str, way: tuple[float, float, float]) -> None:
    camera = camera_of(session().call("setView", {"side": side}))
    assert way == pytest.approx(camera.direction)
    assert sees(camera, BOUNDS)


def test_fit_and_zoom_keep_the_direction() -> None:
    viewer = session()
    first = camera_of(viewer.call("setView", {"side": "south"}))
    near = camera_of(viewer.call("zoom", {"factor": 2}))
    assert math.dist(first.position, first.target) / 2 == pytest.approx(math.dist(near.position, near.target))
    fitted = camera_of(viewer.call("fitAll", {}))
    assert first.position == pytest.approx(fitted.position)


def test_a_camera_at_coordinates() -> None:
    viewer = session()
    assert Camera((80, -50, 50), (80, 0, 22)) == camera_of(viewer.call("setCameraReal", CAMERA))
    place = {key: CAMERA[key] for key in ("easting", "northing", "elevation")}
    target = {f"target{key.capitalize()}": value for key, value in place.items()}
    assert "where it is" in rejected(viewer, "setCameraReal", **place, **target)
    assert "origin is at easting -35200" in rejected(viewer, "setCameraReal", **{**CAMERA, "easting": 80})


def test_measurements() -> None:
    viewer = session()
    told = viewer.call("measureDistance", {"from": [0, 0, 28], "to": [30, 40, 28]} | {"to": [3, 4, 40]})
    assert (13, 5, 12) == (told["distance"], told["horizontal"], told["vertical"])
    assert [told] == viewer.state()["measurements"]
    assert "`to` is outside" in rejected(viewer, "measureDistance", **{"from": [0, 0, 28], "to": [0, 0, 50]})
    assert "are the same" in rejected(viewer, "measureDistance", **{"from": [0, 0, 28], "to": [0, 0, 28]})
    assert {"cleared": 1} == viewer.call("clearMeasurements", {})
    assert [] == viewer.state()["measurements"]


def test_a_look_is_of_any_length() -> None:
    one, other = look(BOUNDS, (0, 0, -1)), look(BOUNDS, (0, 0, -20))
    assert one.position == pytest.approx(other.position)
