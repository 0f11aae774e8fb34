"""The fields of an object in a source, taken one by one; what is of the wrong type or left over is reported."""

from __future__ import annotations

from typing import Any

from attrs import define, field

from evalkit.authoring.importers.report import Section
from evalkit.authoring.importers.source import LARGEST_TEXT
from evalkit.authoring.importers.writer import quoted

__all__ = ["Fields", "kind_of", "unusable"]

_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number",
          type(None): "null"}
LONGEST = 10_000
"""Characters of a literal of a case file."""
MOST_KEYS = 20
"""Unknown fields that are named one by one."""


def kind_of(value: object) -> str:
    """`a list`, `a number` …"""
    return _KINDS.get(type(value), f"a {type(value).__name__}")


@define
class Fields:
    """An object's fields. `label` is how the report names the object: `checks[2]`; empty for the whole file."""

    data: dict[str, Any]
    section: Section
    label: str = ""
    taken: set[str] = field(factory=set)

    def name(self, key: str) -> str:
        return f"{self.label}.{key}" if self.label else key

    def lost(self, key: str, reason: str) -> None:
        self.section.lost(self.name(key), reason)

    def take(self, key: str) -> Any:
        """The raw value; None where there is none."""
        self.taken.add(key)
        return self.data.get(key)

    def text(self, key: str, *, required: bool = False, longest: int = LONGEST) -> str | None:
        """A text; None, and a report, for one that a file cannot hold."""
        value = self.take(key)
        if isinstance(value, str) and not _unusable(value, longest):
            if required and not value.strip():
                self.lost(key, "it is empty")
                return None
            return value.replace("\r\n", "\n").replace("\r", "\n")
        if value is not None or key in self.data:
            self.lost(key, _odd_text(value, longest))
        elif required:
            self.lost(key, "it is missing")
        return None

    def texts(self, key: str, *, one: bool = False) -> list[str]:
        """A list of texts; `one`: a single text counts as a list of one. Items of other types are reported."""
        value = self.take(key)
        if value is None and key not in self.data:
            return []
        if one and isinstance(value, str):
            value = [value]
        if not isinstance(value, list):
            self.lost(key, f"it is {kind_of(value)}, not a list of texts")
            return []
        found = []
        for index, item in enumerate(value):
            if isinstance(item, str) and not _unusable(item, LONGEST) and item.strip():
                found.append(item.replace("\r\n", "\n"))
            else:
                self.lost(f"{key}[{index}]", _odd_text(item, LONGEST))
        return found

    def prompt(self) -> str | None:
        """The field `prompt`, which may be as long as a file."""
        return self.text("prompt", required=True, longest=2 * LARGEST_TEXT)

    def number(self, key: str) -> float | None:
        value = self.take(key)
        if value is None and key not in self.data:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not -1e15 < value < 1e15:
            self.lost(key, f"it is {kind_of(value)}, not a number" if not isinstance(value, int | float)
                      or isinstance(value, bool) else "no case file can hold that number")
            return None
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self.take(key)
        if isinstance(value, bool):
            return value
        if value is not None or key in self.data:
            self.lost(key, f"it is {kind_of(value)}, not true or false; taken as {str(default).lower()}")
        return default

    def objects(self, key: str) -> list[Fields]:
        """A list of objects, each with its place in the label."""
        value = self.take(key)
        if value is None and key not in self.data:
            return []
        if not isinstance(value, list):
            self.lost(key, f"it is {kind_of(value)}, not a list")
            return []
        found = []
        for index, item in enumerate(value):
            if isinstance(item, dict):
                found.append(Fields(item, self.section, self.name(f"{key}[{index}]")))
            else:
                self.lost(f"{key}[{index}]", f"it is {kind_of(item)}, not an object")
        return found

    def finish(self) -> None:
        """Report the fields that nobody took."""
        rest = [key for key in self.data if key not in self.taken]
        for key in rest[:MOST_KEYS]:
            self.lost(str(key), "the format has no such field, so that nobody knows what it asks for")
        if len(rest) > MOST_KEYS:
            self.lost("…", f"and {len(rest) - MOST_KEYS} more unknown fields")


def unusable(value: str) -> str:
    """Why a text cannot stand in a case file; empty where it can. JSON can hold halves of surrogate pairs."""
    if any(0xD800 <= ord(char) <= 0xDFFF for char in value):
        return "it holds half of a surrogate pair, which is not a character"
    return "it holds a NUL character" if "\0" in value else ""


def _unusable(value: str, longest: int) -> str:
    return unusable(value) or (f"it is longer than {longest:,} characters" if len(quoted(value)) > longest else "")


def _odd_text(value: object, longest: int) -> str:
    if isinstance(value, str):
        return _unusable(value, longest) or "it is empty"
    return f"it is {kind_of(value)}, not a text"
