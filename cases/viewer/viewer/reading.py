"""Commands that only read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from viewer.command import Commands, Rejected
from viewer.findings import KINDS, STATUSES
from viewer.schema import choice, number, text

if TYPE_CHECKING:
    from viewer.registry import Session

__all__ = ["READING"]

READING = Commands()


@READING.add(
    "getState", "State",
    "What is shown now: camera, colours, layers, selection, section, measurements.",
    reads=True,
)
def get_state(session: Session) -> dict[str, Any]:
    told = session.view.told()
    return {**told, "dataset": session.view.dataset.id, "findings": len(session.findings.all())}


@READING.add(
    "queryDataset", "Data set",
    "What is known of the data set: coordinate system, datum, date of the survey, origin and bounds.",
    reads=True,
)
def query_dataset(session: Session) -> dict[str, Any]:
    told = session.view.dataset.told()
    return {name: value for name, value in told.items() if name not in ("elements", "points", "classes")}


@READING.add(
    "queryStats", "Point statistics",
    "How many points there are, in all and by class, or about how many are selected.",
    takes={"scope": choice("What is counted.", "all", "selection")},
    reads=True,
)
def query_stats(session: Session, scope: str) -> dict[str, Any]:
    view = session.view
    if scope == "all":
        return {"points": view.dataset.points, "classes": dict(view.dataset.classes)}
    if view.selection is None:
        raise Rejected("nothing is selected")
    return {"points": view.share(view.selection), "selection": view.selection.told()}


@READING.add(
    "queryElevationAt", "Elevation at a place",
    "The elevation of what is highest at a place, and what that is.",
    takes={"x": number("Along the bridge, in the local frame."), "y": number("Across the bridge.")},
    reads=True,
)
def query_elevation_at(session: Session, x: float, y: float) -> dict[str, Any]:
    dataset = session.view.dataset
    if not dataset.bounds.holds((x, y, dataset.bounds.low[2])):
        raise Rejected(f"that is outside alignedBounds {dataset.bounds.told()}")
    elevation, what = dataset.elevation(x, y)
    return {"elevation": elevation, "of": what, "verticalDatum": dataset.vertical_datum}


@READING.add(
    "listLayers", "Layers",
    "The layers, which are shown, and how opaque they are.",
    reads=True,
)
def list_layers(session: Session) -> list[dict[str, Any]]:
    return session.view.layers()


@READING.add(
    "listElements", "Structural elements",
    "The parts of the structure by name: abutments, piers, deck and so on.",
    reads=True,
)
def list_elements(session: Session) -> list[dict[str, Any]]:
    return [{"name": one.name, "title": one.title} for one in session.view.dataset.elements]


@READING.add(
    "queryElement", "Structural element",
    "Where a part of the structure is: its box in the local frame, and its findings.",
    takes={"element": text("Its name, as in listElements.")},
    reads=True,
)
def query_element(session: Session, element: str) -> dict[str, Any]:
    found = session.element(element)
    findings = [one["id"] for one in session.findings.all() if one.get("element") == found.name]
    return {**found.told(), "findings": findings}


@READING.add(
    "listFindings", "Findings",
    "The findings, all or those of a status or a kind.",
    optional={
        "status": choice("Only those of this status.", *STATUSES),
        "kind": choice("Only those of this kind.", *KINDS),
    },
    reads=True,
)
def list_findings(session: Session, status: str | None = None, kind: str | None = None) -> list[dict[str, Any]]:
    return session.findings.all(status, kind)


@READING.add(
    "listFindingKinds", "Kinds of findings",
    "The kinds of findings, and what the value of each is.",
    reads=True,
)
def list_finding_kinds(session: Session) -> list[dict[str, Any]]:
    return [kind.told() for kind in KINDS.values()]


@READING.add(
    "queryFinding", "Finding",
    "All that is known of a finding.",
    takes={"id": text("Such as F-1.", 20)},
    reads=True,
)
def query_finding(session: Session, id: str) -> dict[str, Any]:
    return session.findings.get(id)
