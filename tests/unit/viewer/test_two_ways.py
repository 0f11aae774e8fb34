"""The viewer as a Python object and as an MCP server: the same definitions, the same verdicts, the same state."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from viewer import build_system, tool_definitions

from evalkit.analysis.model import AgentConfig, Command
from evalkit.execute.commands import CommandLayer, open_layer
from evalkit.execute.running import begin
from tests.unit.viewer.opened import CALLS, FIXTURE, SUITE, fixture

ROOT = SUITE.parents[1]
WRONG: list[tuple[str, dict[str, Any]]] = [
    ("setColorMode", {"mode": "height"}), ("setPointSize", {}), ("setPointSize", {"px": "3"}), ("fitAll", {"x": 1}),
    ("selectBox", {**CALLS["selectBox"], "minX": 500}), ("setSection", {"axis": "x", "at": 161}),
    ("createFinding", {"kind": "crack", "value": "wide"}), ("publishFinding", {"id": "F-4"}),
    ("publishFinding", {"id": "F-2", "confirm": "yes"}), ("updateFinding", {"id": "F-1", "value": 0.4}),
]


@pytest.fixture
def layers(tmp_path: Path) -> Iterator[tuple[CommandLayer, CommandLayer]]:
    begin()
    state = FIXTURE.relative_to(ROOT).as_posix()

    @contextmanager
    def opened(name: str, **given: Any) -> Iterator[CommandLayer]:
        home = tmp_path / name
        home.mkdir()
        with open_layer(AgentConfig("tools", state=state, **given), root=ROOT, suite=SUITE,
                        env={"PATH": "/usr/bin:/bin"}, home=home) as layer:
            yield layer

    command = Command((sys.executable, "-B", "-m", "viewer.mcp", "{state}"), 60)
    with (opened("python", registry="viewer:registry", system_function="viewer:build_system") as one,
          opened("mcp", registry_command=command) as other):
        yield one, other


def test_the_definitions_and_the_prompt(layers: tuple[CommandLayer, CommandLayer]) -> None:
    """They are the application's own, word by word."""
    one, other = layers
    own = [(tool["name"], tool["description"], tool["input_schema"]) for tool in tool_definitions()]
    for layer in (one, other):
        assert own == [(tool.name, tool.description, tool.schema) for tool in layer.tools]
        assert build_system(fixture()) == layer.system


def test_the_verdicts(layers: tuple[CommandLayer, CommandLayer]) -> None:
    """Each command done right, done twice, done wrong; with tokens, used again."""
    one, other = layers
    calls = [*CALLS.items(), *WRONG, *CALLS.items()]
    done = 0
    for name, arguments in calls:
        told = [layer.call(name, arguments, 10) for layer in (one, other)]
        assert told[0] == told[1], name
        done += not told[0].rejected
        answer = orjson.loads(told[0].text) if not told[0].rejected else None
        if isinstance(answer, dict) and "confirmation" in answer:
            again = {**arguments, "confirm": answer["confirmation"]["token"]}
            for _ in range(2):
                told = [layer.call(name, again, 10) for layer in (one, other)]
                assert told[0] == told[1], name
            assert told[0].rejected
        assert one.state(10) == other.state(10), name
    assert len(CALLS) < done < len(calls)
