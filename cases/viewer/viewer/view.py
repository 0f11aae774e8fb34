"""What the viewer shows: the state that commands change, and its form as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from viewer.dataset import CLASSES, Dataset
from viewer.geometry import Box, Camera, box_of, look, point_of

__all__ = ["BACKGROUNDS", "COLOR_MODES", "ISOMETRIC", "LAYERS", "PROJECTIONS", "RAMPS", "Section", "View"]

COLOR_MODES = ("rgb", "elevation", "intensity", "classification")
RAMPS = ("viridis", "turbo", "terrain", "gray")
BACKGROUNDS = ("black", "gray", "white", "sky")
PROJECTIONS = ("perspective", "orthographic")
LAYERS = ("points", "mesh", "centerline", "drawings", "orthophoto", "findings")
_SHOWN_AT_FIRST = ("points", "centerline", "findings")
ISOMETRIC = (1.0, 1.0, -1.0)


@dataclass(frozen=True)
class Section:
    """A slice that alone is shown."""

    axis: str
    at: float
    thickness: float

    def told(self) -> dict[str, Any]:
        return {"axis": self.axis, "at": self.at, "thickness": self.thickness}


@dataclass
class View:
    """point_size: pixels. elevation_range: metres, which the ramp of colours goes over; None: all of the data set.
    edl: strength of eye-dome lighting, 0 is off."""

    dataset: Dataset
    camera: Camera
    color_mode: str = "rgb"
    ramp: str = "viridis"
    elevation_range: tuple[float, float] | None = None
    point_size: float = 1.0
    background: str = "gray"
    edl: float = 1.0
    grid: bool = False
    projection: str = "perspective"
    visible: dict[str, bool] = field(default_factory=lambda: {name: name in _SHOWN_AT_FIRST for name in LAYERS})
    opacity: dict[str, float] = field(default_factory=lambda: dict.fromkeys(LAYERS, 1.0))
    hidden_classes: list[str] = field(default_factory=list)
    selection: Box | None = None
    section: Section | None = None
    measurements: list[dict[str, Any]] = field(default_factory=list)
    exports: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> View:
        """From a data set and as much of what `told()` tells as is known. Raises KeyError or ValueError."""
        if not isinstance(told, Mapping) or not isinstance(told.get("dataset"), Mapping):
            raise ValueError("a state is a mapping with a `dataset`, which is one too")
        dataset = Dataset.of(told["dataset"])
        view = cls(dataset, look(dataset.bounds, ISOMETRIC))
        plain = {"colorMode": "color_mode", "ramp": "ramp", "pointSize": "point_size", "background": "background",
                 "edl": "edl", "grid": "grid", "projection": "projection"}
        for key, name in plain.items():
            if key in told:
                setattr(view, name, told[key])
        if "camera" in told:
            view.camera = Camera(point_of(told["camera"]["position"]), point_of(told["camera"]["target"]))
        if told.get("elevationRange"):
            low, high = told["elevationRange"]
            view.elevation_range = (float(low), float(high))
        for layer in told.get("layers", ()):
            view.visible[layer["name"]], view.opacity[layer["name"]] = layer["visible"], layer["opacity"]
        view.hidden_classes = list(told.get("hiddenClasses", ()))
        view.selection = box_of(told["selection"]) if told.get("selection") else None
        view.section = Section(**told["section"]) if told.get("section") else None
        view.measurements = [dict(one) for one in told.get("measurements", ())]
        view.exports = list(told.get("exports", ()))
        return view

    def told(self) -> dict[str, Any]:
        return {
            "dataset": self.dataset.told(),
            "camera": self.camera.told(),
            "colorMode": self.color_mode,
            "ramp": self.ramp,
            "elevationRange": None if self.elevation_range is None else list(self.elevation_range),
            "pointSize": self.point_size,
            "background": self.background,
            "edl": self.edl,
            "grid": self.grid,
            "projection": self.projection,
            "layers": self.layers(),
            "hiddenClasses": sorted(self.hidden_classes, key=CLASSES.index),
            "selection": None if self.selection is None else self.selection.told(),
            "section": None if self.section is None else self.section.told(),
            "measurements": [dict(one) for one in self.measurements],
            "exports": list(self.exports),
        }

    def delete(self, scope: str, count: int) -> None:
        """Take points out of the data set: of the selection, evenly from all classes, or of a class."""
        classes = dict(self.dataset.classes)
        if scope == "selection":
            all_of_them, left = self.dataset.points, count
            for name in sorted(classes, key=classes.__getitem__):
                gone = min(classes[name], round(count * classes[name] / all_of_them), left)
                classes[name], left = classes[name] - gone, left - gone
            largest = max(classes, key=classes.__getitem__)
            classes[largest] -= left
            self.selection = None
        else:
            classes[scope] -= count
        self.dataset = replace(self.dataset, classes=classes)

    def layers(self) -> list[dict[str, Any]]:
        return [{"name": name, "visible": self.visible[name], "opacity": self.opacity[name]} for name in LAYERS]

    def share(self, box: Box | None) -> int:
        """About how many points are in a box, as if they were spread evenly."""
        if box is None:
            return self.dataset.points
        common = self.dataset.bounds.common(box)
        return round(self.dataset.points * common.volume / self.dataset.bounds.volume) if common else 0
