"""The table of a regrading."""

from __future__ import annotations

import io
from collections.abc import Sequence

from evalkit.report.changes import TRIAL, Change, Changes, print_changes

CLAUDE = "claude anthropic/claude-sonnet-5"


def table(*changes: Change, trials: int = 3, graded: int = 3, kept: int = 9, before: dict[str, int] | None = None,
          after: dict[str, int] | None = None, notes: Sequence[str] = (), width: int | None = None) -> list[str]:
    stream = io.StringIO()
    print_changes(Changes("latest", trials, graded, kept, changes, before or {"pass": 3}, after or {"pass": 3}, notes),
                  stream, width)
    return stream.getvalue().splitlines()


def change(number: int = 1, check: str = "greets", old: str = "pass", new: str = "fail", why: str = "check changed", *,
           unit: str = "greeting", subject: str = CLAUDE) -> Change:
    return Change(unit, subject, "local", number, check, old, new, why)


def test_nothing_changed() -> None:
    """Only the totals."""
    assert table(graded=0, kept=12) == [
        "3 trials of latest: 12 verdicts, 0 changed, 12 unchanged",
        "0 verdicts graded anew, 12 still hold",
        "before: 3 passed (100.0 %)",
        "after:  3 passed (100.0 %)"]


def test_equal_changes_are_one_line_with_their_trials() -> None:
    """A part a subject; trials as ranges; another reason is another line; the trial's own status too."""
    assert table(*(change(number) for number in (1, 2, 3, 7)), change(4, why="check changed: x"),
                 change(1, TRIAL, why="failed: greets"), change(1, subject="oracle"), after={"pass": 1, "fail": 2}) == [
        f"{CLAUDE}, local lane",
        "case      #       check    verdict",
        "greeting  1-3, 7  greets   pass → fail",
        "    check changed",
        "greeting  4       greets   pass → fail",
        "    check changed: x",
        "greeting  1       (trial)  pass → fail",
        "    failed: greets",
        "",
        "oracle, local lane",
        "case      #       check    verdict",
        "greeting  1       greets   pass → fail",
        "    check changed",
        "",
        "3 trials of latest: 12 verdicts, 6 changed, 6 unchanged",
        "3 verdicts graded anew, 9 still hold",
        "before: 3 passed (100.0 %)",
        "after:  1 passed, 2 failed (33.3 %)"]


def test_new_and_gone_checks() -> None:
    """What was, or is, not there is a dash; a check that is gone is no verdict."""
    lines = table(change(old="", new="pass"), change(new=""), after={"pass": 2, "error": 1})
    assert "greeting  1  greets  - → pass" in lines
    assert "greeting  1  greets  pass → -" in lines
    assert "3 trials of latest: 12 verdicts, 1 changed, 11 unchanged, 1 gone" in lines
    assert "after:  2 passed, 1 in error (66.7 %)" in lines


def test_it_keeps_to_the_width() -> None:
    """Long names and reasons go on in the next line; blanks never end one."""
    long = change(unit="a-case-with-a-name-that-is-much-longer-than-the-column", check="c" * 40,
                  why="check changed: " + "word " * 30)
    lines = table(long, change(old="skipped", new="error"), *(change(number) for number in range(1, 60, 2)),
                  notes=["n" * 190])
    assert max(map(len, lines)) <= 80
    assert lines == [line.rstrip() for line in lines]
    assert any(line.startswith("a-case-with-a-name-that-i") for line in lines)
    assert max(map(len, table(change(unit="u" * 50, check="c" * 40), width=50))) <= 50
    assert any("  1, 3, 5, " in line for line in lines)


def test_nothing_drives_the_terminal() -> None:
    """What comes from an agent's files is printed without control characters, and a pipe gets no colour."""
    text = "\n".join(table(change(why="found: \x1b[31mred\x07\n")))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "    found: red\\x07\\n" in text


def test_notes() -> None:
    """What else to know stands before the totals."""
    lines = table(notes=["there is no `x` any more: it keeps its old verdicts"])
    assert lines[:2] == ["note: there is no `x` any more: it keeps its old verdicts", ""]
