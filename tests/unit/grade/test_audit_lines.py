"""The lines of what is hidden, and what is forgotten of them because the agent may know it."""

from __future__ import annotations

from evalkit.grade.audit_lines import Lines, Source

SECRET = "the deck of the bridge is measured twice a year"
SHARED = "the piers of the bridge are painted green this time"


def test_a_known_line_is_forgotten_however_often_it_is_told() -> None:
    """A prompt may hold a line of the hidden file twice; the other lines are still known."""
    lines = Lines()
    lines.add(Source("hidden", "tests/a.py", 1, 10, made=False), f"{SECRET}\n{SHARED}\n")
    lines.drop(f"{SHARED}\n  {SHARED}\n")
    lines.seal()
    assert [] == list(lines.found(SHARED))
    assert [SECRET] == [line for line, _ in lines.found(f"{SHARED}\n{SECRET}\n")]


def test_everything_may_be_known() -> None:
    lines = Lines()
    lines.add(Source("hidden", "tests/a.py", 1, 10, made=False), SHARED)
    lines.drop("\n".join([SHARED] * 3))
    lines.seal()
    assert not lines
