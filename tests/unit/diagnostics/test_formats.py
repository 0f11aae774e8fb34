"""Severity, colour, and the forms for programs."""

from __future__ import annotations

import io
from pathlib import Path

from evalkit.diagnostics import Diagnostic, Span, render
from evalkit.diagnostics.colour import Paint, wants_colour
from evalkit.diagnostics.formats import as_data, as_github
from evalkit.syntax import Source

SOURCE = Source(Path("a"), "a", "one\ntwo three\n")
WARNING = Diagnostic("W001", "doubtful", Span(SOURCE, 4, 7), help="mend it", notes=(("see", Span(SOURCE, 0, 5)),))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_code_says_how_bad_it_is() -> None:
    """E is an error, W a warning; both are drawn with their severity."""
    assert ("warning", "error") == (WARNING.severity, Diagnostic("E012", "", Span(SOURCE, 0, 1)).severity)
    assert """\
warning[W001]: doubtful
 --> a:2:1
  |
2 | two three
  | ^^^
note: see
 --> a:1:1
  |
1 | one
  | ^^^
  = mend it""" == render(WARNING)


def test_colour() -> None:
    """The same text with codes around its parts."""
    shown = render(WARNING, colour=True)

    assert [
        "\x1b[1;33mwarning[W001]\x1b[0m\x1b[1m: doubtful\x1b[0m", " \x1b[34m-->\x1b[0m a:2:1",
    ] == shown.split("\n")[:2]
    assert "  \x1b[34m|\x1b[0m \x1b[33m^^^\x1b[0m\n" in shown
    assert "plain" == Paint(False)("plain", "red", bold=True)
    assert "" == Paint(True)("", "red")


def test_who_gets_colour() -> None:
    """A terminal that is not dumb, where nobody has said no."""
    assert wants_colour(Terminal(), {"TERM": "xterm", "NO_COLOR": ""})
    assert not wants_colour(Terminal(), {"NO_COLOR": "1"})
    assert not wants_colour(Terminal(), {"TERM": "dumb"})
    assert not wants_colour(io.StringIO(), {})


def test_data_and_annotations() -> None:
    """A span over two lines has its end on the second one."""
    assert {"schema": 1, "findings": [{
        "code": "W001", "severity": "warning", "message": "doubtful", "file": "a", "line": 2, "column": 1,
        "end_line": 2, "end_column": 4, "help": "mend it",
        "notes": [{"message": "see", "file": "a", "line": 1, "column": 1, "end_line": 2, "end_column": 2}],
    }]} == as_data([WARNING])
    assert "::warning file=sub/a,line=2,col=1,title=W001::doubtful%0Asee: sub/a:1:1%0Amend it\n" == as_github(
        [WARNING], within="sub")
