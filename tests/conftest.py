"""The order of the modules: those that take longest begin, so that no worker works on alone in the end.

xdist deals modules out as they were collected (`--no-loadscope-reorder` in pyproject.toml: left to itself it begins
with those of the most tests, and a module of one long test comes last).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Some thousand processes import evalkit: where none may keep what it compiled, each compiles all of it again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

LONGEST = (
    "e2e/test_xrblocks", "e2e/test_native_proof", "e2e/test_supabase", "feature/test_parallel", "e2e/test_sandbox",
    "e2e/test_live", "feature/test_crash", "e2e/test_claude", "e2e/test_native_checkout", "e2e/test_native",
    "feature/test_signals", "feature/test_edits", "feature/test_settled", "feature/test_viewer", "feature/test_planted",
    "e2e/test_page", "e2e/test_report", "e2e/test_audit", "feature/test_disk", "feature/test_calls",
    "feature/test_sandbox_kill", "feature/test_broken", "feature/test_two_runs", "feature/test_regrade",
)
"""Modules that take more than half a minute, by the CPU that they took, most first."""
_TESTS = Path(__file__).parent


def place_of(item: pytest.Item) -> int:
    """Where a test's module stands in LONGEST; behind it, where it does not."""
    name = item.path.relative_to(_TESTS).with_suffix("").as_posix()
    return LONGEST.index(name) if name in LONGEST else len(LONGEST)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=place_of)
