"""The two tracks of a case are graded by one spec: its harnesses have the same tests, in the same order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "cases/native"
DUAL = sorted(path.name for path in NATIVE.glob("dual-*"))


def names(harness: Path) -> list[str]:
    """What the tests of a harness are called."""
    return re.findall(r'^test "(.+)" \{$', harness.read_text(), re.MULTILINE)


def test_there_are_six_of_them() -> None:
    assert len(DUAL) == 6


@pytest.mark.parametrize("case", DUAL)
def test_both_harnesses_assert_the_same_test_for_test(case: str) -> None:
    spec = names(NATIVE / case / "harness-ts.zig")
    assert spec, "a harness without a test accepts everything"
    assert names(NATIVE / case / "harness-zig.zig") == spec
