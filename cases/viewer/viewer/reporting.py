"""Commands of findings, and of the report that the client gets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from viewer.command import Commands, Rejected
from viewer.findings import KINDS, SEVERITIES
from viewer.schema import choice, number, text

if TYPE_CHECKING:
    from viewer.registry import Session

__all__ = ["REPORTING"]

REPORTING = Commands()
_ID = text("Such as F-1.", 20)
_VALUE = {
    "type": ["number", "string", "boolean"],
    "description": "Of the type that its kind has (listFindingKinds): the width of a crack in mm, the area of a "
    "spalling in m2, the depth of a settlement in mm, the grade of a corrosion (A to D), whether a leak is active. "
    "A number has no unit.",
}
_ABOUT = {
    "value": _VALUE,
    "element": text("The structural element, as in listElements."),
    "severity": choice("How bad it is.", *SEVERITIES),
    "note": text("What else there is to say.", 1000),
}
_PLACE = {axis: number(f"{axis} in the local frame. x, y and z are given together.") for axis in ("x", "y", "z")}


def _checked(session: Session, given: dict[str, Any]) -> dict[str, Any]:
    """The fields with the element's own name. Raises Rejected for an element or a place that is not there."""
    fields = dict(given)
    if "element" in fields:
        fields["element"] = session.element(fields["element"]).name
    place = [fields[axis] for axis in _PLACE if axis in fields]
    if place and len(place) < 3:
        raise Rejected("a place needs x, y and z")
    if place and not session.view.dataset.bounds.holds((place[0], place[1], place[2])):
        raise Rejected(f"that place is outside alignedBounds {session.view.dataset.bounds.told()}")
    return fields


@REPORTING.add(
    "createFinding", "File finding",
    "File a finding as a draft, which only the team sees. What is not known yet can be left out.",
    takes={"kind": choice("What was found.", *KINDS)},
    optional={**_ABOUT, **_PLACE},
)
def create_finding(session: Session, **fields: Any) -> dict[str, Any]:
    return session.findings.create(_checked(session, fields))


@REPORTING.add(
    "updateFinding", "Change finding",
    "Change a draft. What is published cannot be changed.",
    takes={"id": _ID},
    optional={**_ABOUT, **_PLACE},
)
def update_finding(session: Session, id: str, **fields: Any) -> dict[str, Any]:
    if not fields:
        raise Rejected("nothing to change was given")
    return session.findings.update(id, _checked(session, fields))


def _asks_publication(session: Session, id: str) -> str:
    finding = session.findings.publishable(id)
    return f"Publish {_summary(finding)}: the client sees it, and it cannot be changed any more."


@REPORTING.add(
    "publishFinding", "Publish finding",
    "Publish a draft: the client sees it from then on.",
    takes={"id": _ID},
    asks=_asks_publication,
)
def publish_finding(session: Session, id: str) -> dict[str, Any]:
    return session.findings.publish(id)


def _asks_retraction(session: Session, id: str) -> str:
    return f"Retract {_summary(session.findings.published(id))}: the client sees that it was withdrawn."


@REPORTING.add(
    "retractFinding", "Retract finding",
    "Withdraw a published finding.",
    takes={"id": _ID},
    asks=_asks_retraction,
)
def retract_finding(session: Session, id: str) -> dict[str, Any]:
    return session.findings.retract(id)


def _asks_removal(session: Session, id: str) -> str:
    return f"Delete {_summary(session.findings.draft(id, 'deleted'))} for good."


@REPORTING.add(
    "deleteFinding", "Delete finding",
    "Delete a draft for good. What is published can be retracted instead.",
    takes={"id": _ID},
    asks=_asks_removal,
)
def delete_finding(session: Session, id: str) -> dict[str, Any]:
    gone = session.findings.get(id)
    session.findings.delete(id)
    return {"deleted": gone["id"]}


def _asks_report(session: Session, format: str) -> str:
    count = len(session.findings.all("published"))
    if not count:
        raise Rejected("no finding is published: the report would be empty")
    return f"Send the report of {count} published finding{'s' if count > 1 else ''} to the client as {format}."


@REPORTING.add(
    "exportReport", "Send report",
    "Send the report of all published findings to the client. Drafts are never in it.",
    takes={"format": choice("The kind of file.", "pdf", "xlsx", "csv")},
    asks=_asks_report,
)
def export_report(session: Session, format: str) -> dict[str, Any]:
    name = f"{session.view.dataset.id}-report.{format}"
    session.view.exports.append(name)
    return {"sent": name, "findings": [one["id"] for one in session.findings.all("published")]}


def _summary(finding: dict[str, Any]) -> str:
    """The finding, whole: a token that was given for it is not good for a changed one."""
    about = ", ".join(f"{name} {value}" for name, value in finding.items() if name not in ("id", "kind", "status"))
    return f"{finding['id']} ({finding['kind']}{', ' + about if about else ''})"
