"""What a snapshot shows: widgets by the lines that tell of them, and which one a step means."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from attrs import field, frozen

from evalkit.analysis.dialect import compile_regex
from evalkit.analysis.model import Pattern
from evalkit.analysis.model_live import Target
from evalkit.grade.search import finder, shown

__all__ = ["Snapshot", "Widget", "read_snapshot", "told_target"]

MOST = 20_000
"""Lines of a snapshot that are looked at."""
_LINE_LIMIT = 1.0
"""Seconds for a regex on one line."""


@frozen
class Widget:
    """groups: what its line says of it, by the groups of the suite's regex."""

    groups: Mapping[str, str]

    @property
    def id(self) -> str:
        return self.groups.get("id", "")

    @property
    def view(self) -> str:
        return self.groups.get("view", "")

    @property
    def parent(self) -> str:
        return self.groups.get("parent", "")


@frozen
class Snapshot:
    """lines: of the text. widgets: in its order. views: that have a screenshot, each once."""

    lines: tuple[str, ...]
    widgets: tuple[Widget, ...] = ()
    views: tuple[str, ...] = ()
    _by_id: Mapping[tuple[str, str], Widget] = field(factory=dict, repr=False)

    def find(self, target: Target) -> Widget | None:
        """The widget that is meant, the first of several; None where there is none."""
        fitting = [widget for widget in self.widgets if _fits(widget, target)]
        if target.inside is not None:
            fitting = [widget for widget in fitting
                       if any(_named(around, target.inside) for around in self._around(widget))]
        if target.near is None or not fitting:
            return next(iter(fitting), None)
        # What is around each that fits, up to the first that also holds one of the name: how much is in that?
        holders = {(around.view, around.id) for named in self.widgets if _named(named, target.near)
                   for around in (named, *self._around(named))}
        best: tuple[int, int] | None = None
        chosen: Widget | None = None
        sizes = self._sizes()
        for index, widget in enumerate(fitting):
            for around in (widget, *self._around(widget)):
                if (around.view, around.id) in holders:
                    rank = (sizes[around.view, around.id], index)
                    if best is None or rank < best:
                        best, chosen = rank, widget
                    break
        return chosen

    def _around(self, widget: Widget) -> Iterator[Widget]:
        """The widgets that one is in, the innermost first."""
        seen = {widget.id}
        while widget.parent and widget.parent not in seen:
            seen.add(widget.parent)
            found = self._by_id.get((widget.view, widget.parent))
            if found is None:
                return
            yield found
            widget = found

    def _sizes(self) -> dict[tuple[str, str], int]:
        """How many widgets are in each, itself included."""
        sizes = {(widget.view, widget.id): 1 for widget in self.widgets}
        for widget in self.widgets:
            for around in self._around(widget):
                sizes[around.view, around.id] += 1
        return sizes

    def matching(self, pattern: Pattern) -> str | None:
        """The first line in which a pattern is found. Raises TimeoutError."""
        return next((line for line in self.lines if _found(pattern, line)), None)

    def matching_all(self, patterns: tuple[Pattern, ...]) -> str | None:
        """The first line in which all are found. Raises TimeoutError."""
        return next((line for line in self.lines if all(_found(pattern, line) for pattern in patterns)), None)


def read_snapshot(text: str, widget: Pattern | None, views: Pattern | None) -> Snapshot:
    """Raises TimeoutError where a regex takes too long, which the app decides."""
    lines = tuple(text.replace("\r\n", "\n").split("\n")[:MOST])
    widgets = tuple(Widget(groups) for groups in _groups(widget, lines))
    named = [groups["view"] for groups in _groups(views, lines)] if views is not None else \
        [found.view for found in widgets if found.view]
    by_id: dict[tuple[str, str], Widget] = {}
    for found in widgets:
        by_id.setdefault((found.view, found.id), found)
    return Snapshot(lines, widgets, tuple(dict.fromkeys(named)), by_id)


def _groups(pattern: Pattern | None, lines: tuple[str, ...]) -> Iterator[dict[str, str]]:
    if pattern is None:
        return
    compiled = compile_regex(pattern.text, pattern.flags)
    until = time.monotonic() + 10 * _LINE_LIMIT
    for line in lines:
        if time.monotonic() > until:
            raise TimeoutError
        if (match := compiled.search(line, timeout=_LINE_LIMIT)) is not None:
            yield {name: value for name, value in match.groupdict().items() if value is not None}


def _found(pattern: Pattern, line: str) -> bool:
    return finder(pattern)(line, _LINE_LIMIT) is not None


def _is(value: str | None, pattern: Pattern) -> bool:
    """Whether a value is a text, or has a match of a regex."""
    if value is None:
        return False
    return _found(pattern, value) if pattern.regex else value == pattern.text


def _named(widget: Widget, pattern: Pattern) -> bool:
    return _is(widget.groups.get("name"), pattern)


def _fits(widget: Widget, target: Target) -> bool:
    return all(_is(widget.groups.get(name), pattern) for name, pattern in target.attributes)


def told_target(target: Target) -> str:
    """A target as it stands in a case."""
    said = " ".join(f"{name}={shown(pattern)}" for name, pattern in target.attributes)
    if target.inside is not None:
        said += f" in {shown(target.inside)}"
    return said + (f" near {shown(target.near)}" if target.near is not None else "")
