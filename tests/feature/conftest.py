"""Fixtures of the feature tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evalkit.gateway import Reply, ScriptedGateway, ToolCall
from tests.feature.project import KEY, MiniProject, fake_claude

LONG = ("test_api", "test_audit", "test_broken", "test_budget", "test_calls", "test_command_line", "test_crash",
        "test_disk", "test_edits", "test_escape", "test_gateway", "test_guidance", "test_html_report",
        "test_incremental", "test_judges", "test_left_out", "test_parallel", "test_plan_command", "test_planted",
        "test_plugins", "test_regrade", "test_retries", "test_sandbox", "test_sandbox_kill", "test_secrets",
        "test_settled", "test_signals", "test_statuses", "test_two_runs", "test_upload", "test_viewer", "test_why")
"""Modules whose tests run many runs each, or kill and interrupt them: no part of the quick tests."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent and item.path.stem in LONG:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def project(tmp_path: Path) -> MiniProject:
    """A small project on disk."""
    return MiniProject.make(tmp_path)


def scores(request: dict[str, Any]) -> Reply:
    """A judge's answer: 8 for every criterion that the request asks for."""
    count = request["tools"][0]["input_schema"]["properties"]["scores"]["maxItems"]
    entries = [{"criterion": number, "score": 8, "reason": "It is."} for number in range(1, count + 1)]
    return Reply((ToolCall(request["tools"][0]["name"], {"scores": entries}),))


@contextmanager
def judged_project(folder: Path) -> Iterator[tuple[MiniProject, ScriptedGateway]]:
    """A project whose judge is a scripted gateway on loopback and whose agent is a counting stand-in."""
    project = MiniProject.make(folder)
    with ScriptedGateway([scores] * 50) as gateway:
        program, _ = fake_claude(folder / "fake")
        project.env |= {"AI_GATEWAY_API_KEY": KEY, "EVALKIT_GATEWAY": gateway.url, "EVALKIT_CLAUDE": str(program)}
        yield project, gateway


@pytest.fixture
def judged(tmp_path: Path) -> Iterator[tuple[MiniProject, ScriptedGateway]]:
    """`judged_project` for one test."""
    with judged_project(tmp_path) as made:
        yield made
