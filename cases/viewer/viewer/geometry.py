"""Boxes and views in the local frame: metres, x along the bridge, y across it, z up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

__all__ = ["AXES", "Box", "Camera", "Point", "box_of", "distance", "look", "point_of", "slab"]

AXES = ("x", "y", "z")
FIELD_OF_VIEW = 60.0
"""Degrees, from top to bottom."""
Point = tuple[float, float, float]


def point_of(values: Any) -> Point:
    """Three numbers as a point. Raises ValueError."""
    x, y, z = (float(value) for value in values)
    return x, y, z


@dataclass(frozen=True)
class Box:
    """A box with sides along the axes."""

    low: Point
    high: Point

    @property
    def centre(self) -> Point:
        return point_of((low + high) / 2 for low, high in zip(self.low, self.high, strict=True))

    @property
    def size(self) -> Point:
        return point_of(high - low for low, high in zip(self.low, self.high, strict=True))

    @property
    def volume(self) -> float:
        return math.prod(self.size)

    def holds(self, point: Point) -> bool:
        return all(low <= value <= high for low, value, high in zip(self.low, point, self.high, strict=True))

    def common(self, other: Box) -> Box | None:
        """What two boxes share; None where they share no volume."""
        low = point_of(map(max, self.low, other.low))
        high = point_of(map(min, self.high, other.high))
        return Box(low, high) if all(one < two for one, two in zip(low, high, strict=True)) else None

    def told(self) -> dict[str, list[float]]:
        return {"min": list(self.low), "max": list(self.high)}


def box_of(told: Any) -> Box:
    """A box from its `min` and `max`. Raises ValueError where a side is turned round or empty."""
    box = Box(point_of(told["min"]), point_of(told["max"]))
    if any(low >= high for low, high in zip(box.low, box.high, strict=True)):
        raise ValueError(f"a box needs min below max in x, y and z, not {box.told()}")
    return box


@dataclass(frozen=True)
class Camera:
    """Where one looks from, and at what."""

    position: Point
    target: Point

    @property
    def direction(self) -> Point:
        """The way of the look, of length 1."""
        way = point_of(to - at for at, to in zip(self.position, self.target, strict=True))
        length = math.hypot(*way)
        return point_of(part / length for part in way)

    def told(self) -> dict[str, list[float]]:
        return {"position": list(self.position), "target": list(self.target)}


def look(box: Box, way: Point, at: Point | None = None) -> Camera:
    """A camera that looks in a direction (any length but 0) and sees all of a box. at: its target, else the centre."""
    length = math.hypot(*way)
    way = point_of(part / length for part in way)
    target = box.centre if at is None else at
    radius = math.hypot(*box.size) / 2 + distance(target, box.centre)
    away = radius / math.sin(math.radians(FIELD_OF_VIEW / 2))
    return Camera(point_of(part - away * step for part, step in zip(target, way, strict=True)), target)


def slab(bounds: Box, axis: str, at: float, thickness: float) -> Box | None:
    """The slice of a box that is `thickness` thick around `axis` = `at`; None where it has none."""
    index = AXES.index(axis)
    low, high = list(bounds.low), list(bounds.high)
    low[index], high[index] = at - thickness / 2, at + thickness / 2
    return bounds.common(Box(point_of(low), point_of(high)))


def distance(one: Point, other: Point) -> float:
    return math.dist(one, other)
