"""Commands that need places: selections, sections, views along an axis, measurements, and the deletion of points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from viewer.command import Commands, Rejected
from viewer.dataset import CLASSES
from viewer.geometry import AXES, Box, Camera, Point, box_of, distance, look, point_of, slab
from viewer.schema import choice, number, point
from viewer.view import Section

if TYPE_CHECKING:
    from viewer.registry import Session

__all__ = ["SPATIAL"]

SPATIAL = Commands()
FARTHEST = 10_000.0
"""Metres between a camera and the middle of the data set."""
_LOCAL = "in the local frame, in metres"


@SPATIAL.add(
    "selectBox", "Select box",
    "Select the points in a box with sides along the axes. Sides beyond alignedBounds are moved to them. It takes the "
    "place of the last selection.",
    takes={
        "minX": number(f"The western side, {_LOCAL}."),
        "maxX": number("The eastern side."),
        "minY": number("The southern side."),
        "maxY": number("The northern side."),
        "minZ": number("The lower side, an elevation."),
        "maxZ": number("The upper side, an elevation."),
    },
)
def select_box(session: Session, **sides: float) -> dict[str, Any]:
    low, high = ([sides[f"{end}{axis.upper()}"] for axis in AXES] for end in ("min", "max"))
    try:
        box = box_of({"min": low, "max": high})
    except ValueError as error:
        raise Rejected(str(error)) from None
    bounds = session.view.dataset.bounds
    common = bounds.common(box)
    if common is None:
        raise Rejected(f"the box has no points: it is outside alignedBounds {bounds.told()}")
    session.view.selection = common
    return {"selection": common.told(), "points": session.view.share(common)}


@SPATIAL.add(
    "clearSelection", "Clear selection",
    "Select nothing.",
)
def clear_selection(session: Session) -> dict[str, Any]:
    session.view.selection = None
    return {"selection": None}


@SPATIAL.add(
    "setSection", "Section",
    "Cut a slice: only points near a plane across an axis are shown. A cut across x is a cross section of the bridge, "
    "one across y a longitudinal section, one across z a plan.",
    takes={
        "axis": choice("The axis that the plane is across.", *AXES),
        "at": number(f"Where on that axis the plane is, {_LOCAL}."),
    },
    optional={"thickness": number("Metres of the slice; 0.5 if it is left out.", minimum=0.01, maximum=50)},
)
def set_section(session: Session, axis: str, at: float, thickness: float = 0.5) -> dict[str, Any]:
    bounds = session.view.dataset.bounds
    index = AXES.index(axis)
    if not bounds.low[index] <= at <= bounds.high[index]:
        raise Rejected(f"at must be from {bounds.low[index]:g} to {bounds.high[index]:g}, where {axis} has points; it "
                       f"is {at:g}")
    session.view.section = Section(axis, at, thickness)
    return {"section": session.view.section.told(), "points": session.view.share(slab(bounds, axis, at, thickness))}


@SPATIAL.add(
    "clearSection", "Clear section",
    "Show all points again, not only those of the section.",
)
def clear_section(session: Session) -> dict[str, Any]:
    session.view.section = None
    return {"section": None}


@SPATIAL.add(
    "lookAlong", "Look along axis",
    "Look along an axis, at the section if there is one, else at the middle of the data set. Along x positive is from "
    "the west end to the east end, along y positive from south to north, along z negative straight down.",
    takes={"axis": choice("The axis.", *AXES), "direction": choice("Which way.", "positive", "negative")},
)
def look_along(session: Session, axis: str, direction: str) -> dict[str, Any]:
    bounds, section = session.view.dataset.bounds, session.view.section
    way = [0.0, 0.0, 0.0]
    way[AXES.index(axis)] = 1.0 if direction == "positive" else -1.0
    at = list(bounds.centre)
    if section is not None:
        at[AXES.index(section.axis)] = section.at
    session.view.camera = look(bounds, point_of(way), point_of(at))
    return {"camera": session.view.camera.told()}


@SPATIAL.add(
    "setCameraReal", "Camera at coordinates",
    "Put the camera at a place of the plane coordinate system, and look at another one.",
    takes={
        "easting": number("Of the camera, in metres."),
        "northing": number("Of the camera, in metres."),
        "elevation": number("Of the camera, in metres above the vertical datum."),
        "targetEasting": number("Of what is looked at."),
        "targetNorthing": number("Of what is looked at."),
        "targetElevation": number("Of what is looked at."),
    },
)
def set_camera_real(session: Session, easting: float, northing: float, elevation: float, targetEasting: float,
                    targetNorthing: float, targetElevation: float) -> dict[str, Any]:
    dataset = session.view.dataset
    camera = Camera(dataset.local(easting, northing, elevation),
                    dataset.local(targetEasting, targetNorthing, targetElevation))
    if camera.position == camera.target:
        raise Rejected("the camera cannot look at the place where it is")
    for place in (camera.position, camera.target):
        if distance(place, dataset.bounds.centre) > FARTHEST:
            raise Rejected(f"that is more than {FARTHEST:g} m from the data set; its origin is at easting "
                           f"{dataset.easting:g}, northing {dataset.northing:g}")
    session.view.camera = camera
    return {"camera": camera.told()}


@SPATIAL.add(
    "measureDistance", "Measure distance",
    "Measure between two places, and show the measurement.",
    takes={"from": point(f"x, y, z {_LOCAL}."), "to": point(f"x, y, z {_LOCAL}.")},
)
def measure_distance(session: Session, **ends: list[float]) -> dict[str, Any]:
    one, other = point_of(ends["from"]), point_of(ends["to"])
    _apart(session.view.dataset.bounds, one, other)
    measured = {"from": list(one), "to": list(other), "distance": round(distance(one, other), 3),
                "horizontal": round(math.dist(one[:2], other[:2]), 3), "vertical": round(other[2] - one[2], 3)}
    session.view.measurements.append(measured)
    return measured


def _apart(bounds: Box, one: Point, other: Point) -> None:
    for name, place in (("from", one), ("to", other)):
        if not bounds.holds(place):
            raise Rejected(f"`{name}` is outside alignedBounds {bounds.told()}")
    if one == other:
        raise Rejected("the two places are the same")


@SPATIAL.add(
    "clearMeasurements", "Clear measurements",
    "Take the measurements off the screen.",
)
def clear_measurements(session: Session) -> dict[str, Any]:
    count = len(session.view.measurements)
    session.view.measurements.clear()
    return {"cleared": count}


def _deleted(session: Session, scope: str) -> int:
    """How many points would go. Raises Rejected where it would be none."""
    view = session.view
    if scope == "selection" and view.selection is None:
        raise Rejected("nothing is selected")
    count = view.share(view.selection) if scope == "selection" else view.dataset.classes[scope]
    if not count:
        raise Rejected(f"there are no points of {scope}")
    return count


def _asks_deletion(session: Session, scope: str) -> str:
    what = "the selection" if scope == "selection" else f"the class {scope}"
    return f"Delete {_deleted(session, scope)} points of {what} from {session.view.dataset.name} for good."


@SPATIAL.add(
    "deletePoints", "Delete points",
    "Delete points from the data set for good: those that are selected, or all of a class. To hide a class is "
    "setClassVisible.",
    takes={"scope": choice("Which points.", "selection", *CLASSES)},
    asks=_asks_deletion,
)
def delete_points(session: Session, scope: str) -> dict[str, Any]:
    count = _deleted(session, scope)
    session.view.delete(scope, count)
    return {"deleted": count, "points": session.view.dataset.points}
