"""The agent `palette`: which command a prompt is nearest to, and what can be read off it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from evalkit.errors import UserError
from evalkit.execute.agents.palette import arguments, best, make
from evalkit.execute.agents.registry import Wanted
from evalkit.execute.models.chat import Tool

ON = {"type": "boolean"}


def tool(name: str, description: str, required: tuple[str, ...] = (), **properties: Any) -> Tool:
    return Tool(name, description, {"type": "object", "properties": properties, "required": list(required)})


TOOLS = (
    tool("setColorMode", "How points are coloured.", ("mode",), mode={"enum": ["elevation", "intensity", "plain-rgb"]}),
    tool("setPointSize", "The size of points in pixels.", ("px",), px={"type": "number", "minimum": 1, "maximum": 20}),
    tool("setLayer", "Shows or hides a layer.", ("layer", "visible"),
         layer={"enum": ["deck", "piers", "vegetation"]}, visible=ON),
    tool("measure", "The distance between two points.", ("a", "b"), a={"type": "number"}, b={"type": "number"}),
    tool("select", "Selects layers by name.", layers={"type": "array", "items": {"enum": ["deck", "piers"]}}),
    tool("addNote", "Writes a note.", ("text",), text={"type": "string", "minLength": 3}),
)


@pytest.mark.parametrize(("prompt", "name", "given"), [
    ("Color by elevation", "setColorMode", {"mode": "elevation"}),
    ("Colour it by intensty", "setColorMode", {"mode": "intensity"}),
    ("colors: plain RGB", "setColorMode", {"mode": "plain-rgb"}),
    ("Points of size 3, please", "setPointSize", {"px": 3}),
    ("Point size 300", "setPointSize", {}),
    ("Hide the vegetation", "setLayer", {"layer": "vegetation", "visible": False}),
    ("Turn the layer of the piers on", "setLayer", {"layer": "piers", "visible": True}),
    ("What is the distance from -2.5 to 12?", "measure", {"a": -2.5, "b": 12}),
    ("Select the deck and the piers", "select", {"layers": ["deck", "piers"]}),
    ('Write a note: "bearing replaced"', "addNote", {"text": "bearing replaced"}),
])
def test_a_prompt_becomes_a_call(prompt: str, name: str, given: dict[str, Any]) -> None:
    """Values of enums (misspelt ones, too), numbers within bounds, on and off, lists, quoted texts."""
    found = best(prompt, TOOLS, {})
    assert found is not None
    assert (name, given) == (found.name, arguments(prompt, found))


def test_a_title_counts_as_a_name() -> None:
    """What a command is called for people may be all that a prompt says."""
    assert best("magnify", TOOLS, {}) is None
    found = best("magnify", TOOLS, {"measure": "Magnify the view"})
    assert found is not None
    assert "measure" == found.name


def test_nothing_is_near() -> None:
    assert best("xyzzy quux", TOOLS, {}) is None
    assert best("", TOOLS, {}) is None
    assert best("color", (), {}) is None


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the extra."""
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    with pytest.raises(UserError) as error:
        make(Wanted("palette", Path()))
    assert ("agent=palette needs the package `rapidfuzz`", "pip install 'evalkit[commands]'") == (
        error.value.message, error.value.hint)


def test_its_version_is_that_of_the_library_too() -> None:
    assert make(Wanted("palette", Path())).traits.version.startswith("1 rapidfuzz 3.")
