"""Widths and folds of lines."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from evalkit.report.layout import Page, chop, coloured, folded, styled, terminal_width, text_width


class Terminal(io.StringIO):
    """A terminal without a size."""

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError


@given(st.text(alphabet="ab /-板é ", max_size=90), st.integers(2, 30))
def test_lines_are_folded_as_rich_folds_them(text: str, width: int) -> None:
    """Also where words are longer than a line, or hold characters of two columns."""
    console = Console(file=io.StringIO(), width=width)
    expected = [line.plain.rstrip() for line in Text(text).wrap(console, width, overflow="fold")]
    assert expected == folded(text, width)
    assert all(text_width(line) <= width for line in folded(text, width))


@given(st.text(alphabet="ab 板é", max_size=40), st.integers(2, 9))
def test_pieces_fit_and_nothing_is_lost(text: str, width: int) -> None:
    """A text that is cut into pieces is the same text."""
    assert "".join(chop(text, width)) == text
    assert all(cell_len(piece) <= width for piece in chop(text, width))


@pytest.mark.parametrize(("columns", "expected"), [("132", 132), ("0", 80), ("wide", 80), ("", 80)])
def test_how_wide_a_terminal_is(monkeypatch: pytest.MonkeyPatch, columns: str, expected: int) -> None:
    """COLUMNS says it, else the terminal; a pipe is 80 columns wide whatever COLUMNS says."""
    monkeypatch.setenv("COLUMNS", columns)
    assert (terminal_width(Terminal()), terminal_width(io.StringIO())) == (expected, 80)


@pytest.mark.parametrize(("name", "value", "expected"), [
    ("NO_COLOR", "1", False), ("NO_COLOR", "", True), ("TERM", "dumb", False), ("TERM", "xterm", True)])
def test_when_there_are_colours(monkeypatch: pytest.MonkeyPatch, name: str, value: str, expected: bool) -> None:
    """On a terminal that can, unless NO_COLOR is set to something; never in a pipe."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv(name, value)
    assert (coloured(Terminal()), coloured(io.StringIO())) == (expected, False)


def test_styles_are_closed() -> None:
    """A style ends with its text; no text and no style need no codes."""
    assert ["\x1b[31mx\x1b[0m", "x", ""] == [styled("x", "red"), styled("x", ""), styled("", "red")]


def test_a_folded_line_keeps_its_indent() -> None:
    """What follows stands under it: evidence has its mark in each line."""
    page = Page(16, lambda text, style: text)
    page.add("      | one two three")
    page.add("  four five six seven")
    assert ["      | one two", "      | three", "  four five six", "  seven"] == page.lines
