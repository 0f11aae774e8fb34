"""Differences of texts: what they say is true, and they are short."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.report.html.difference import CONTEXT, difference

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "-x", "+y", "@@ z"]), max_size=30)


def texts_of(diff: str) -> tuple[list[str], list[str]]:
    """The lines of both sides that a difference shows."""
    lines = [line for line in diff.split("\n") if line and not line.startswith("@@ -")]
    return [line[1:] for line in lines if line[0] != "+"], [line[1:] for line in lines if line[0] != "-"]


@given(LINES, LINES)
def test_both_sides_can_be_read_from_it(before: list[str], after: list[str]) -> None:
    """Where all lines are near each other: the old lines are its blanks and minuses, the new ones blanks and pluses."""
    old, new = "".join(f"{line}\n" for line in before), "".join(f"{line}\n" for line in after)
    found = difference(old, new)
    assert len(after) - len(before) == found.added - found.removed
    if old == new:
        assert "" == found.text
    for shown, whole in zip(texts_of(found.text), (before, after), strict=True):
        rest = iter(whole)
        assert all(any(line == other for other in rest) for line in shown), "its lines are those of the text, in order"


def test_equal_lines_far_from_a_change_are_left_out() -> None:
    """Three of them stand around it, and the head has the numbers of both."""
    before = [f"line {number}" for number in range(1, 41)]
    after = [*before[:9], "ten", *before[10:30], "new", *before[30:]]
    found = difference("\n".join(before) + "\n", "\n".join(after) + "\n")
    assert (2, 1) == (found.added, found.removed)
    assert found.text.split("\n") == [
        "@@ -7,7 +7,7 @@", *(f" line {number}" for number in range(7, 10)), "-line 10", "+ten",
        *(f" line {number}" for number in range(11, 11 + CONTEXT)),
        "@@ -28,6 +28,7 @@", *(f" line {number}" for number in range(28, 31)), "+new",
        *(f" line {number}" for number in range(31, 31 + CONTEXT))]


@pytest.mark.parametrize(("old", "new", "text"), [
    ("", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b"), ("a\n", "", "@@ -1,1 +0,0 @@\n-a"),
    ("a\r\n", "a\n", "@@ -1,1 +1,1 @@\n-a\r\n+a"),
    ("a", "a\n", "@@ -1,2 +1,1 @@\n a\n-(no line end at the end of the file)"), ("", "", ""),
], ids=["new", "gone", "line ends", "no last line end", "nothing"])
def test_whole_files(old: str, new: str, text: str) -> None:
    """New and removed files, and what is easily overlooked."""
    assert text == difference(old, new, whole=True).text


def test_snippets_have_no_last_line_end() -> None:
    """What an edit was given is a part of a file."""
    assert "@@ -1,1 +1,1 @@\n-a\n+b" == difference("a", "b").text


def test_too_much_is_cut() -> None:
    """Texts with nothing in common are not compared line by line; long lines, and many, are cut, and it says so."""
    old = "".join(f"old {number} {'x' * 40}\n" for number in range(5_000))
    new = "".join(f"new {number} {'x' * 40}\n" for number in range(5_000))
    found = difference(old, new)
    assert (5_000, 5_000) == (found.added, found.removed)
    assert len(found.text) <= 60_000
    assert found.cut + len(found.text.split("\n")) == 10_001
    assert difference("", "x" * 100_000 + "\n").text.endswith("x… 98,000 more characters")
