"""A data set: a survey of a structure, as its file tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from viewer.geometry import Box, Point, box_of

__all__ = ["CLASSES", "Dataset", "Element"]

CLASSES = ("structure", "ground", "vegetation", "water", "noise")


@dataclass(frozen=True)
class Element:
    """A part of the structure. name: its short name on drawings."""

    name: str
    title: str
    box: Box

    def told(self) -> dict[str, Any]:
        return {"name": self.name, "title": self.title, **self.box.told()}


@dataclass(frozen=True)
class Dataset:
    """bounds: of all points. points: how many there are, by class in `classes`. ground: its elevation."""

    id: str
    name: str
    crs: str
    crs_name: str
    vertical_datum: str
    surveyed: str
    easting: float
    northing: float
    bounds: Box
    classes: Mapping[str, int]
    ground: float
    elements: tuple[Element, ...]

    @property
    def points(self) -> int:
        return sum(self.classes.values())

    def element(self, name: str) -> Element | None:
        """By its short name or its title, whatever their case."""
        wanted = name.casefold()
        return next((one for one in self.elements if wanted in (one.name.casefold(), one.title.casefold())), None)

    def local(self, easting: float, northing: float, elevation: float) -> Point:
        """A place of the plane coordinate system, in the local frame."""
        return easting - self.easting, northing - self.northing, elevation

    def elevation(self, x: float, y: float) -> tuple[float, str]:
        """What is highest at a place: its elevation, and the element's name or `ground`."""
        over = [(one.box.high[2], one.name) for one in self.elements
                if one.box.low[0] <= x <= one.box.high[0] and one.box.low[1] <= y <= one.box.high[1]]
        return max(over, default=(self.ground, "ground"))

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Dataset:
        """What `told()` told. Raises KeyError or ValueError."""
        classes = {name: int(told["classes"].get(name, 0)) for name in CLASSES}
        if unknown := set(told["classes"]) - set(CLASSES):
            raise ValueError(f"there is no class of points {sorted(unknown)[0]!r}")
        if sum(classes.values()) != told["points"]:
            raise ValueError("the classes of points do not add up to the points")
        return cls(str(told["id"]), str(told["name"]), str(told["crs"]), str(told["crsName"]),
                   str(told["verticalDatum"]), str(told["surveyed"]), float(told["origin"]["easting"]),
                   float(told["origin"]["northing"]), box_of(told["alignedBounds"]), classes,
                   float(told["groundElevation"]),
                   tuple(Element(one["name"], one["title"], box_of(one)) for one in told["elements"]))

    def told(self) -> dict[str, Any]:
        return {"id": self.id, "name": self.name, "crs": self.crs, "crsName": self.crs_name,
                "verticalDatum": self.vertical_datum, "surveyed": self.surveyed,
                "origin": {"easting": self.easting, "northing": self.northing}, "alignedBounds": self.bounds.told(),
                "points": self.points, "classes": dict(self.classes), "groundElevation": self.ground,
                "elements": [one.told() for one in self.elements]}
