"""Why a task runs again, in words."""

from __future__ import annotations

import pytest

from evalkit.plan.keys import ABSENT, changes

OLD, NEW = "a" * 64, "b" * 64


def told(name: str, had: dict[str, str], has: dict[str, str]) -> str:
    """What is said of a folder that held one thing and holds another."""
    return changes({name: OLD}, {name: NEW}, {OLD: had, NEW: has}.get)


def test_inputs_by_their_names() -> None:
    """Short values are shown, digests are not; what comes and what goes is told."""
    assert "never run" == changes(None, {})
    before = {"agent version": "2.1.197", "prompt": OLD, "seed": "1"}
    now = {"agent version": "2.1.201", "prompt": NEW, "temperature": "0"}
    assert "agent version 2.1.197 → 2.1.201, prompt changed, temperature is new, seed is gone" == changes(before, now)


@pytest.mark.parametrize(("name", "expected"), [
    ("cases/x/hidden", "hidden/a.ts changed"),
    ("starter cases/x/base", "base/a.ts changed"),
    ("answer cases/x/solution", "solution/a.ts changed"),
    ("scaffold skeleton", "skeleton/a.ts changed"),
    ("skill writing", "skills/writing/a.ts changed"),
    ("state cases/x/world", "world/a.ts changed"),
])
def test_a_file_of_a_folder_is_named(name: str, expected: str) -> None:
    """After the folder's own name, whatever the folder is for."""
    assert expected == told(name, {"a.ts": "1", "b.ts": "1"}, {"a.ts": "2", "b.ts": "1"})


def test_files_that_come_and_go() -> None:
    """Each is told with what became of it, in the order of their names."""
    assert "solution/a is gone, solution/b changed, solution/c/d is new" == told(
        "answer cases/x/solution", {"a": "1", "b": "1"}, {"b": "2", "c/d": "1"})


def test_of_many_files_three_are_named() -> None:
    """The others are counted."""
    has = {f"{number}.txt": "1" for number in range(7)}
    assert "base/0.txt is new, base/1.txt is new, base/2.txt is new and 4 more" == told("starter base", {}, has)
    del has["6.txt"], has["5.txt"], has["4.txt"], has["3.txt"]
    assert "base/0.txt is new, base/1.txt is new, base/2.txt is new" == told("starter base", {}, has)


def test_what_is_not_known_any_more_is_told_by_its_name() -> None:
    """A folder of which one state is not known, and a file."""
    assert "starter base changed" == changes({"starter base": OLD}, {"starter base": NEW}, {NEW: {"a": "1"}}.get)
    assert "starter base changed" == changes({"starter base": OLD}, {"starter base": NEW}, {OLD: {"a": "1"}}.get)
    assert "guidance a.md changed" == changes({"guidance a.md": OLD}, {"guidance a.md": NEW})


def test_a_folder_that_is_not_there() -> None:
    """It comes or goes as a whole."""
    assert "starter base is gone" == changes({"starter base": OLD}, {"starter base": ABSENT})
    assert "starter base is new" == changes({"starter base": ABSENT}, {"starter base": NEW})
