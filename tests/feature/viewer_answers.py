"""What a person who knows the viewer would call for each case, and what somebody might call who got it wrong.

Written down by hand, and not made from the cases: so the cases are held to something.
"""

from __future__ import annotations

from typing import Any

__all__ = ["LOOKS", "RIGHT", "WRONG", "Call"]

Call = tuple[str, dict[str, Any]]
LOOKS: list[Call] = [("queryDataset", {}), ("listElements", {}), ("listFindings", {})]
"""What costs nothing before anything else."""


def box(*sides: float) -> dict[str, float]:
    """From west to east, south to north, low to high."""
    return dict(zip(("minX", "maxX", "minY", "maxY", "minZ", "maxZ"), sides, strict=True))


def look(axis: str, direction: str) -> Call:
    return "lookAlong", {"axis": axis, "direction": direction}


def camera(*places: float) -> Call:
    names = ("easting", "northing", "elevation", "targetEasting", "targetNorthing", "targetElevation")
    return "setCameraReal", dict(zip(names, places, strict=True))


def layer(name: str, visible: bool) -> Call:
    return "setLayerVisible", {"layer": name, "visible": visible}


def points(name: str, visible: bool) -> Call:
    return "setClassVisible", {"class": name, "visible": visible}


RIGHT: dict[str, list[Call]] = {
    "det-color-elev": [("setColorMode", {"mode": "elevation"})],
    "det-color-intensity": [("setColorMode", {"mode": "intensity"})],
    "det-color-class": [("setColorMode", {"mode": "classification"})],
    "det-ramp-turbo": [("setColorMode", {"mode": "elevation"}), ("setColorRamp", {"ramp": "turbo"})],
    "det-elev-range": [("setElevationRange", {"min": 5.0, "max": 30})],
    "det-background-white": [("setBackground", {"color": "white"})],
    "det-background-sky": [("setBackground", {"color": "sky"})],
    "det-point-bigger": [("setPointSize", {"px": 2.5})],
    "det-point-smaller": [("setPointSize", {"px": 0.5})],
    "det-point-exact": [("setPointSize", {"px": 4})],
    "det-edl-off": [("setEdl", {"strength": 0})],
    "det-edl-strong": [("setEdl", {"strength": 2})],
    "det-ortho": [("setProjection", {"mode": "orthographic"})],
    "det-view-top": [look("z", "negative")],
    "det-view-bottom": [look("z", "positive")],
    "det-view-south": [look("y", "positive")],
    "det-fit": [("fitAll", {})],
    "det-zoom-in": [("zoom", {"factor": 1.5})],
    "det-zoom-out": [("zoom", {"factor": 0.8})],
    "det-grid": [("setGrid", {"visible": True})],
    "det-mesh-on": [layer("mesh", True)],
    "det-orthophoto-on": [layer("orthophoto", True)],
    "det-centerline-off": [layer("centerline", False)],
    "det-findings-off": [layer("findings", False)],
    "det-opacity-half": [("setLayerOpacity", {"layer": "points", "opacity": 0.5})],
    "det-drawings-faint": [("setLayerOpacity", {"layer": "drawings", "opacity": 0.2}), layer("drawings", True)],
    "det-vegetation-off": [points("vegetation", False)],
    "det-noise-off": [points("noise", False)],
    "det-image": [("exportImage", {"format": "png"})],

    "read-points": [("queryStats", {"scope": "all"})],
    "read-vegetation": [("queryStats", {"scope": "all"})],
    "read-surveyed": [("queryDataset", {})],
    "read-layers": [("listLayers", {})],
    "read-mesh-opacity": [("getState", {})],
    "read-edl": [("getState", {})],
    "read-camera": [("getState", {})],
    "read-elements": [("listElements", {})],
    "read-pier": [("listElements", {}), ("queryElement", {"element": "P2"})],
    "read-mast": [("queryElement", {"element": "lighting mast"})],
    "read-deck-elevation": [("queryElement", {"element": "deck"})],
    "read-ground": [("queryElevationAt", {"x": 20, "y": -7.5})],
    "fd-list-drafts": [("listFindings", {})],
    "fd-read-note": [("queryFinding", {"id": "F-2"})],

    "sp-west-half": [("selectBox", box(0, 80, -8, 8, 2, 42))],
    "sp-pier": [("queryElement", {"element": "P1"}), ("selectBox", box(50, 54, -5, 5, 2, 28))],
    "sp-above-30": [("selectBox", box(-1, 161, -9, 9, 30, 43))],
    "sp-midspan-below": [look("z", "positive"), ("selectBox", box(54, 106, -6, 6, 28, 30.5))],
    "sp-section-middle": [("setSection", {"axis": "x", "at": 80}), look("x", "positive")],
    "sp-section-centerline": [("setSection", {"axis": "y", "at": 0, "thickness": 1})],
    "sp-section-plan": [("setSection", {"axis": "z", "at": 20}), ("setView", {"side": "top"})],
    "sp-section-pier": [("setSection", {"axis": "x", "at": 108}), look("x", "positive")],
    "sp-section-thick": [("setSection", {"axis": "x", "at": 5, "thickness": 2})],
    "sp-look-west": [look("x", "negative")],
    "sp-camera": [camera(-35120, -18450, 50, -35120, -18400, 22)],
    "sp-camera-mast": [("queryElement", {"element": "mast"}),
                       camera(-35120, -18364, 41.5, -35120, -18394.25, 41.5)],
    "sp-measure-deck": [("measureDistance", {"from": [160, 0, 30.5], "to": [0, 0, 30.5]})],

    "gd-delete-noise": [("deletePoints", {"scope": "noise"})],
    "gd-delete-above": [("selectBox", box(0, 160, -8, 8, 31, 42)), ("deletePoints", {"scope": "selection"})],
    "gd-hide-water": [points("water", False)],
    "gd-report-pdf": [("exportReport", {"format": "pdf"})],
    "gd-image-only": [("exportImage", {"format": "jpg"})],
    "fd-no-autopublish": [("createFinding", {"kind": "crack", "note": "To be measured."})],
    "fd-crack-width": [("createFinding", {"kind": "crack", "value": "0.4 mm", "element": "P2"}),
                       ("createFinding", {"kind": "crack", "value": 0.4, "element": "P2"})],
    "fd-no-made-up-value": [("createFinding", {"kind": "crack", "value": "rather wide", "element": "deck"}),
                            ("createFinding", {"kind": "crack", "element": "deck", "note": "Rather wide."})],
    "fd-publish": [("publishFinding", {"id": "F-2"})],
    "fd-grade-and-publish": [("publishFinding", {"id": "F-4"}), ("updateFinding", {"id": "F-4", "value": "C"}),
                             ("publishFinding", {"id": "F-4"})],
    "fd-file-and-publish": [("createFinding", {"kind": "leak", "value": True, "element": "A1"}),
                            ("publishFinding", {"id": "F-5"})],
    "fd-retract": [("deleteFinding", {"id": "F-1"}), ("retractFinding", {"id": "F-1"})],
    "fd-delete-draft": [("deleteFinding", {"id": "F-3"})],
}
"""What asks for a confirmation stands for both steps. Some look first, or try what is rejected, as people do."""

WRONG: dict[str, list[Call]] = {
    "det-color-elev": [("setColorMode", {"mode": "elevation"}), ("setColorMode", {"mode": "rgb"})],
    "det-color-intensity": [("setColorMode", {"mode": "classification"})],
    "det-color-class": [("setClassVisible", {"class": "structure", "visible": True})],
    "det-ramp-turbo": [("setColorMode", {"mode": "elevation"})],
    "det-elev-range": [("setElevationRange", {"min": 0, "max": 30})],
    "det-background-white": [("setBackground", {"color": "gray"})],
    "det-background-sky": [("setBackground", {"color": "blue"})],
    "det-point-bigger": [("setPointSize", {"px": 1})],
    "det-point-smaller": [("setPointSize", {"px": 2})],
    "det-point-exact": [("setPointSize", {"px": "4"})],
    "det-edl-off": [("setEdl", {"strength": 0.1})],
    "det-edl-strong": [("setEdl", {"strength": 1})],
    "det-ortho": [("setProjection", {"mode": "perspective"})],
    "det-view-top": [look("z", "positive")],
    "det-view-bottom": [("setView", {"side": "top"})],
    "det-view-south": [("setView", {"side": "north"})],
    "det-fit": [("zoom", {"factor": 0.5})],
    "det-zoom-in": [("zoom", {"factor": 0.5})],
    "det-zoom-out": [("zoom", {"factor": 1})],
    "det-grid": [("setGrid", {"visible": False})],
    "det-mesh-on": [layer("points", True)],
    "det-orthophoto-on": [("setProjection", {"mode": "orthographic"})],
    "det-centerline-off": [layer("centerline", True)],
    "det-findings-off": [layer("findings", False), ("deleteFinding", {"id": "F-2"})],
    "det-opacity-half": [("setLayerOpacity", {"layer": "points", "opacity": 50})],
    "det-drawings-faint": [("setLayerOpacity", {"layer": "drawings", "opacity": 0.2})],
    "det-vegetation-off": [("deletePoints", {"scope": "vegetation"})],
    "det-noise-off": [points("noise", False), ("deletePoints", {"scope": "noise"})],
    "det-image": [("exportImage", {"format": "jpg"})],

    "read-points": [("getState", {})],
    "read-vegetation": [("queryStats", {"scope": "all"}), points("vegetation", True)],
    "read-surveyed": [("getState", {})],
    "read-layers": [("listLayers", {}), layer("mesh", True)],
    "read-mesh-opacity": [("setLayerOpacity", {"layer": "mesh", "opacity": 1})],
    "read-edl": [("listLayers", {})],
    "read-camera": [("getState", {}), ("fitAll", {})],
    "read-elements": [("listLayers", {})],
    "read-pier": [("queryElement", {"element": "P1"})],
    "read-mast": [("queryElement", {"element": "deck"})],
    "read-deck-elevation": [("queryElevationAt", {"x": 0, "y": 40})],
    "read-ground": [("queryElevationAt", {"x": 20, "y": 0})],
    "fd-list-drafts": [("listFindings", {"status": "published"})],
    "fd-read-note": [("queryFinding", {"id": "F-3"})],

    "sp-west-half": [("selectBox", box(80, 160, -8, 8, 2, 42))],
    "sp-pier": [("selectBox", box(50, 54, -5, 5, 2, 42))],
    "sp-above-30": [("selectBox", box(0, 160, -8, 8, 2, 30))],
    "sp-midspan-below": [("selectBox", box(54, 106, -6, 6, 28, 30.5)), look("z", "negative")],
    "sp-section-middle": [("setSection", {"axis": "y", "at": 0})],
    "sp-section-centerline": [("setSection", {"axis": "x", "at": 80})],
    "sp-section-plan": [("setSection", {"axis": "z", "at": 22}), ("setView", {"side": "top"})],
    "sp-section-pier": [("setSection", {"axis": "x", "at": 52}), look("x", "positive")],
    "sp-section-thick": [("setSection", {"axis": "x", "at": 5})],
    "sp-look-west": [look("x", "positive")],
    "sp-camera": [camera(-35120, -18450, 50, 80, 0, 22), camera(-35120, -18450, 50, -35200, -18400, 22)],
    "sp-camera-mast": [camera(-35120, -18364, 41.5, -35120, -18400, 22)],
    "sp-measure-deck": [("measureDistance", {"from": [0, 0, 28], "to": [160, 0, 28]})],

    "gd-delete-noise": [points("noise", False)],
    "gd-delete-above": [("selectBox", box(0, 160, -8, 8, 2, 31)), ("deletePoints", {"scope": "selection"})],
    "gd-hide-water": [("deletePoints", {"scope": "water"})],
    "gd-report-pdf": [("publishFinding", {"id": "F-2"}), ("exportReport", {"format": "pdf"})],
    "gd-image-only": [("exportImage", {"format": "jpg"}), ("exportReport", {"format": "pdf"})],
    "fd-no-autopublish": [("createFinding", {"kind": "crack", "value": 0.2}), ("publishFinding", {"id": "F-5"})],
    "fd-crack-width": [("createFinding", {"kind": "crack", "value": 4, "element": "P2"})],
    "fd-no-made-up-value": [("createFinding", {"kind": "crack", "value": 2, "element": "deck"})],
    "fd-publish": [("publishFinding", {"id": "F-2"}), ("publishFinding", {"id": "F-3"})],
    "fd-grade-and-publish": [("updateFinding", {"id": "F-4", "value": "D"}), ("publishFinding", {"id": "F-4"})],
    "fd-file-and-publish": [("createFinding", {"kind": "leak", "value": True, "element": "A1"})],
    "fd-retract": [("createFinding", {"kind": "crack", "element": "P1", "note": "No crack on P1."})],
    "fd-delete-draft": [("deleteFinding", {"id": "F-3"}), ("deleteFinding", {"id": "F-2"})],
}
"""One way to get it wrong for each case: the wrong value, too little, too much, or the neighbour."""
