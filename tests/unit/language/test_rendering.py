"""Diagnostics as a person sees them: whole outputs, with carets."""

from __future__ import annotations

from pathlib import Path

from evalkit.diagnostics import Diagnostic, render, render_all
from evalkit.diagnostics.suggest import did_you_mean, nearest
from evalkit.syntax import Source
from tests.unit.language.project import CASE, diagnose, parse_text, write


def rendered(text: str) -> str:
    return render_all(parse_text(text)[1])


def test_a_tab_is_four_blanks() -> None:
    """A tab before and within the span is drawn as blanks, and the caret stands below the span."""
    assert rendered('case a {\n\tabuot\t"x"\n}\n') == """\
error[E010]: unknown keyword `abuot`
 --> it.eval:2:2
  |
2 |     abuot    "x"
  |     ^^^^^
  = did you mean `about`?"""


def test_wide_characters_move_the_caret() -> None:
    """A character that takes two columns takes two in the underline as well; the column counts characters."""
    assert rendered('case a { about "漢字" "\u0301e" }\n') == """\
error[E012]: `"\u0301e"` cannot stand here
 --> it.eval:1:21
  |
1 | case a { about "漢字" "\u0301e" }
  |                       ^^^
  = expected `}` or the end of the line"""


def test_control_and_direction_characters_are_shown_as_escapes() -> None:
    """Nothing that a file holds can move the cursor, change colours or turn a line around, in the message either."""
    assert rendered("case a \u202e\x1b[31m { }\n") == """\
error[E012]: `\\u{202e}` cannot stand here
 --> it.eval:1:8
  |
1 | case a \\u{202e}\\u{1b}[31m { }
  |        ^^^^^^^^
  = expected `{`, a name, a quoted string or a \"\"\" text block"""


def test_an_error_at_the_end_of_the_file() -> None:
    """The caret stands behind the last character, and the brace that is open is shown."""
    assert rendered("case a {\n  use b\n\n") == """\
error[E012]: the file ends in the middle of a statement
 --> it.eval:2:8
  |
2 |   use b
  |        ^
note: this brace is not closed
 --> it.eval:1:8
  |
1 | case a {
  |        ^
  = is a `}` missing?"""


def test_two_errors_in_one_file_with_windows_line_ends() -> None:
    """Both are told, in the order of their places; a carriage return is no part of a line."""
    assert rendered('case a {\r\n  about\r\n  about "ok"\r\n  limits { turns x }\r\n}\r\n') == """\
error[E012]: the end of the line cannot stand here
 --> it.eval:2:8
  |
2 |   about
  |        ^
  = expected a quoted string or a \"\"\" text block

error[E012]: `x` cannot stand here
 --> it.eval:4:18
  |
4 |   limits { turns x }
  |                  ^
  = expected a whole number"""


def test_a_note_shows_a_second_place(tmp_path: Path) -> None:
    """A name that is taken is shown with the place that took it first."""
    write(tmp_path, {"cases/s/it.eval": CASE.format('check run "true" as same\ncheck run "false" as Same')})

    assert render_all(diagnose(tmp_path)) == """\
error[E030]: there are two checks named `Same`
 --> cases/s/it.eval:3:22
  |
3 | check run "false" as Same
  |                      ^^^^
note: the first is here
 --> cases/s/it.eval:2:21
  |
2 | check run "true" as same
  |                     ^^^^
  = names are compared without case; give one of them another name"""


def test_a_long_line_is_cut_around_the_span() -> None:
    """80 columns are shown before the span, within it and behind it."""
    text = "x" * 100 + "!" * 100 + "y" * 100
    shown = render(Diagnostic("E012", "too long", Source(Path("a"), "a", text).span(100, 200))).splitlines()

    assert shown[3] == "1 | …" + "x" * 80 + "!" * 80 + "…"
    assert shown[4] == "  | " + " " * 81 + "^" * 81


def test_help_and_label_of_several_lines() -> None:
    """Help goes on below itself; a label stands behind the carets; the gutter is as wide as the line's number."""
    source = Source(Path("a"), "a", "\n" * 99 + "word")

    assert render(Diagnostic("E012", "no", source.span(99, 103), label="this", help="one\ntwo")) == """\
error[E012]: no
   --> a:100:1
    |
100 | word
    | ^^^^ this
  = one
    two"""


def test_an_empty_file_can_be_pointed_into() -> None:
    """A span at the start of nothing has one caret."""
    assert render(Diagnostic("E001", "gone", Source(Path("a"), "a", "").span(0, 0))) == """\
error[E001]: gone
 --> a:1:1
  |
1 |
  | ^"""


def test_the_nearest_name_is_suggested() -> None:
    """A close name is asked about; else what is known is listed, up to a number."""
    assert nearest("Skils", ["skills", "about"]) == "skills"
    assert nearest("xyz", ["skills"]) is None
    assert did_you_mean("skils", ["about", "skills"]) == "did you mean `skills`?"
    assert did_you_mean("xyz", ["b", "a", "c"], limit=2) == "known here: `a`, `b` and 1 more"
    assert did_you_mean("xyz", []) == ""
