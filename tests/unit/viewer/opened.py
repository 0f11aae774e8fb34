"""Sessions of the viewer, and calls that work on its fixture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from viewer import Session, registry
from viewer.command import Rejected

__all__ = ["CALLS", "FIXTURE", "SUITE", "confirmed", "fixture", "rejected", "session"]

SUITE = Path(__file__).resolve().parents[3] / "cases/viewer"
FIXTURE = SUITE / "state/kasado-bridge.yaml"
BOX = {"minX": 0, "maxX": 80, "minY": -8, "maxY": 8, "minZ": 2, "maxZ": 42}
CAMERA = {"easting": -35120, "northing": -18450, "elevation": 50, "targetEasting": -35120, "targetNorthing": -18400,
          "targetElevation": 22}
CALLS: dict[str, dict[str, Any]] = {
    "setColorMode": {"mode": "elevation"}, "setColorRamp": {"ramp": "turbo"},
    "setElevationRange": {"min": 5, "max": 30}, "setPointSize": {"px": 3}, "setBackground": {"color": "white"},
    "setEdl": {"strength": 0}, "setGrid": {"visible": True}, "setProjection": {"mode": "orthographic"},
    "setView": {"side": "top"}, "fitAll": {}, "zoom": {"factor": 2},
    "setLayerVisible": {"layer": "mesh", "visible": True}, "setLayerOpacity": {"layer": "points", "opacity": 0.5},
    "setClassVisible": {"class": "vegetation", "visible": False}, "exportImage": {"format": "png"},
    "selectBox": BOX, "clearSelection": {}, "setSection": {"axis": "x", "at": 52, "thickness": 1}, "clearSection": {},
    "lookAlong": {"axis": "y", "direction": "negative"}, "setCameraReal": CAMERA,
    "measureDistance": {"from": [0, 0, 28], "to": [160, 0, 28]}, "clearMeasurements": {},
    "deletePoints": {"scope": "noise"}, "getState": {}, "queryDataset": {}, "queryStats": {"scope": "all"},
    "queryElevationAt": {"x": 20, "y": 0}, "listLayers": {}, "listElements": {}, "queryElement": {"element": "P1"},
    "listFindings": {"status": "draft", "kind": "crack"}, "listFindingKinds": {}, "queryFinding": {"id": "F-1"},
    "createFinding": {"kind": "crack", "value": 0.2, "element": "P2", "severity": "low", "note": "New.", "x": 1, "y": 1,
                      "z": 10},
    "updateFinding": {"id": "F-3", "value": 0.2}, "publishFinding": {"id": "F-2"}, "retractFinding": {"id": "F-1"},
    "deleteFinding": {"id": "F-3"}, "exportReport": {"format": "pdf"},
}
"""For each command arguments that are right on the fixture."""


def fixture() -> dict[str, Any]:
    state: dict[str, Any] = yaml.safe_load(FIXTURE.read_text(encoding="utf-8"))
    return state


def session() -> Session:
    return registry.start(fixture())


def confirmed(viewer: Session, name: str, **arguments: Any) -> Any:
    """Walk both steps of a command."""
    asked = viewer.call(name, arguments)
    return viewer.call(name, {**arguments, "confirm": asked["confirmation"]["token"]})


def rejected(viewer: Session, name: str, **arguments: Any) -> str:
    """Why a call is rejected; it must be, and change nothing."""
    before = viewer.state()
    with pytest.raises(Rejected) as raised:
        viewer.call(name, arguments)
    assert before == viewer.state()
    return str(raised.value)
