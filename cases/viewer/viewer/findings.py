"""The store of findings: SQLite in memory, with the rules of what a finding may be and become.

A finding is a draft until it is published, and a published one until it is retracted. Only drafts change and can be
deleted. A draft may lack its value, a published finding may not. A value is of its kind's type.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from viewer.command import Rejected

__all__ = ["KINDS", "SEVERITIES", "STATUSES", "Findings", "Kind"]

STATUSES = ("draft", "published", "retracted")
SEVERITIES = ("low", "medium", "high")
_FIELDS = ("kind", "status", "value", "element", "severity", "note", "x", "y", "z")


@dataclass(frozen=True)
class Kind:
    """What is found. unit: of its value; grades: what the value is one of, where it is no number."""

    name: str
    measures: str
    unit: str | None = None
    grades: tuple[str, ...] = ()
    most: float = 0

    def problem(self, value: Any) -> str:
        """Why this cannot be the value; "" where it can."""
        if self.grades:
            return "" if value in self.grades else f"{self._is()}: one of {', '.join(self.grades)}"
        if self.unit is None:
            return "" if isinstance(value, bool) else f"{self._is()}: true or false"
        if isinstance(value, bool) or not isinstance(value, int | float):
            return f"{self._is()}: a number of {self.unit}"
        return "" if 0 < value <= self.most else f"{self._is()}: more than 0 and up to {self.most:g} {self.unit}"

    def _is(self) -> str:
        return f"the value of a {self.name} is its {self.measures}"

    def told(self) -> dict[str, Any]:
        kind = "text" if self.grades else "boolean" if self.unit is None else "number"
        return {"kind": self.name, "value": self.measures, "type": kind, **({"unit": self.unit} if self.unit else {}),
                **({"oneOf": list(self.grades)} if self.grades else {})}


KINDS = {kind.name: kind for kind in (
    Kind("crack", "width", "mm", most=50),
    Kind("spalling", "area", "m2", most=500),
    Kind("settlement", "depth", "mm", most=5000),
    Kind("corrosion", "grade", grades=("A", "B", "C", "D")),
    Kind("leak", "activity (whether water runs now)"),
)}


class Findings:
    """The findings of one session."""

    def __init__(self, given: Iterable[Mapping[str, Any]] = ()) -> None:
        self._db = sqlite3.connect(":memory:", isolation_level=None)
        self._db.execute("""
            CREATE TABLE findings (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                kind TEXT NOT NULL,
                status TEXT NOT NULL CHECK (status IN ('draft', 'published', 'retracted')),
                value TEXT, element TEXT, severity TEXT, note TEXT, x REAL, y REAL, z REAL,
                CHECK (status = 'draft' OR value IS NOT NULL))""")
        self._db.execute("""
            CREATE TRIGGER published_is_fixed BEFORE UPDATE ON findings
            WHEN OLD.status <> 'draft' AND NOT (OLD.status = 'published' AND NEW.status = 'retracted')
            BEGIN SELECT RAISE(ABORT, 'what is published cannot be changed'); END""")
        self._db.execute("""
            CREATE TRIGGER published_stays BEFORE DELETE ON findings WHEN OLD.status <> 'draft'
            BEGIN SELECT RAISE(ABORT, 'what is published cannot be deleted'); END""")
        for one in given:
            self._add(int(str(one["id"]).removeprefix("F-")), {"status": "draft", **one})

    def create(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """File a draft. Raises Rejected where its value is not of its kind's type."""
        return self.get(self._add(None, {**fields, "status": "draft"}))

    def _add(self, number: int | None, fields: Mapping[str, Any]) -> str:
        self._fits(fields["kind"], fields.get("value"))
        row = [_stored(name, fields.get(name)) for name in _FIELDS]
        cursor = self._db.execute(f"INSERT INTO findings (number, {', '.join(_FIELDS)}) VALUES "
                                  f"(?{', ?' * len(_FIELDS)})", (number, *row))
        return f"F-{cursor.lastrowid}"

    def update(self, name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Change a draft. Raises Rejected."""
        finding = self.draft(name, "changed")
        self._fits(finding["kind"], fields.get("value"))
        for key, value in fields.items():
            self._set(name, key, value)
        return self.get(name)

    def publishable(self, name: str) -> dict[str, Any]:
        """A draft that is complete. Raises Rejected for any other."""
        finding = self.draft(name, "published")
        if finding.get("value") is None:
            raise Rejected(f"{finding['id']} has no value yet: {KINDS[finding['kind']].measures} is missing")
        return finding

    def publish(self, name: str) -> dict[str, Any]:
        self.publishable(name)
        self._set(name, "status", "published")
        return self.get(name)

    def published(self, name: str) -> dict[str, Any]:
        """A published finding. Raises Rejected for any other."""
        finding = self.get(name)
        if finding["status"] != "published":
            raise Rejected(f"{finding['id']} is {_a(finding['status'])}, not published")
        return finding

    def retract(self, name: str) -> dict[str, Any]:
        self.published(name)
        self._set(name, "status", "retracted")
        return self.get(name)

    def delete(self, name: str) -> None:
        self.draft(name, "deleted")
        self._db.execute("DELETE FROM findings WHERE number = ?", (self._number(name),))

    def draft(self, name: str, done: str) -> dict[str, Any]:
        """A draft; of what is published it is said that it cannot be `done`."""
        finding = self.get(name)
        if finding["status"] != "draft":
            raise Rejected(f"{finding['id']} is {_a(finding['status'])}: only drafts can be {done}")
        return finding

    def get(self, name: str) -> dict[str, Any]:
        """Raises Rejected where there is none of that id."""
        found = self._rows("WHERE number = ?", self._number(name))
        if not found:
            known = ", ".join(one["id"] for one in self.all())
            raise Rejected(f"there is no finding {name!r}; there are: {known or 'none'}")
        return found[0]

    def all(self, status: str | None = None, kind: str | None = None) -> list[dict[str, Any]]:
        return self._rows("WHERE status = coalesce(?, status) AND kind = coalesce(?, kind)", status, kind)

    def _rows(self, where: str, *values: Any) -> list[dict[str, Any]]:
        rows = self._db.execute(f"SELECT number, {', '.join(_FIELDS)} FROM findings {where} ORDER BY number", values)
        return [{"id": f"F-{row[0]}", **{name: _read(name, value) for name, value in zip(_FIELDS, row[1:], strict=True)
                                         if value is not None}} for row in rows.fetchall()]

    def _set(self, name: str, key: str, value: Any) -> None:
        if key not in _FIELDS:
            raise KeyError(key)
        self._db.execute(f"UPDATE findings SET {key} = ? WHERE number = ?", (_stored(key, value), self._number(name)))

    def _fits(self, kind: str, value: Any) -> None:
        if value is not None and (said := KINDS[kind].problem(value)):
            raise Rejected(f"{said}; it was given as {json.dumps(value, ensure_ascii=False)}")

    def _number(self, name: str) -> int:
        digits = name.strip().upper().removeprefix("F-")
        return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else -1


def _stored(name: str, value: Any) -> Any:
    """Values keep their type: they are stored as JSON."""
    return json.dumps(value) if name == "value" and value is not None else value


def _read(name: str, value: Any) -> Any:
    return json.loads(value) if name == "value" else value


def _a(status: str) -> str:
    return "a draft" if status == "draft" else status
