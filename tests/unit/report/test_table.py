"""The table, whole, as a pipe of 80 columns gets it."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from evalkit.grade.audit_record import Audit, Finding
from evalkit.report import table as table_module
from evalkit.report.layout import Page
from evalkit.report.result import TrialResult
from evalkit.report.row import Row, failed_row, row_of
from evalkit.report.table import print_table
from evalkit.values import evolve
from tests.unit.report.results import a_check, a_judged, a_result, a_trial, an_ending


def row(result: TrialResult) -> Row:
    """The row of a result, as `doit run` makes it."""
    return row_of(result, f"{result.run}/{result.agent}/{result.case}/trial-{result.trial}")


def a_failed_row(reason: str, *, status: Literal["error", "not run"] = "error", name: str = "kanban-board",
                 number: int = 1) -> Row:
    """The row of a trial that has no result."""
    return failed_row(a_trial(name=name, number=number), reason, status=status)


def table(*rows: Row, width: int | None = None) -> str:
    stream = io.StringIO()
    print_table(rows, stream, width, results=str(Path("results").absolute()))
    return stream.getvalue()


def test_one_pass() -> None:
    """A single trial shows every check by its description, and why a check was skipped."""
    result = a_result(
        a_check("own-tests", description="its own tests pass"), a_check("run-c5ab82", summary="`x` exited with 0"),
        a_check("live", "skipped", "the local lane has no live checks", description="the live board"),
        a_judged("quality", 7.25, threshold=6, advisory=True, title="quality beyond compliance"))
    assert table(row(result)) == """\
claude anthropic/claude-sonnet-5, local lane
case          result  checks  judge  turns  tokens   cost   time
kanban-board  pass    ✓✓s✓      7.2     31    1.2k  $1.20  4m08s

  ✓ own-tests   its own tests pass
  ✓ run-c5ab82  `x` exited with 0
  s live        the live board
      the local lane has no live checks
  ✓ quality     quality beyond compliance  (advisory)
      7.2 of 10 (wanted 6)

1 passed
"""


def test_a_fail_with_its_evidence() -> None:
    """The first lines of the evidence stand under the check; where all of it is comes last."""
    evidence = "error: 'tests.test.moves' failed:\n       expected 3, found 4\n\n" + "\n".join("abcdefg")
    result = a_result(a_check("own-tests", "fail", "`zig test` exited with 1", evidence, description="its own tests"),
                      a_check("grep-12ab", "fail", "1 of 1 not found: src/*", '"x": not found in 1 file'))
    assert table(row(result)) == """\
claude anthropic/claude-sonnet-5, local lane
case          result  checks  judge  turns  tokens   cost   time
kanban-board  fail    ✗✗          -     31    1.2k  $1.20  4m08s

  ✗ own-tests  its own tests
      `zig test` exited with 1
      | error: 'tests.test.moves' failed:
      |        expected 3, found 4
      | a
      | b
      | c
      | d
      | … 3 more lines
  ✗ grep-12ab  1 of 1 not found: src/*
      | "x": not found in 1 file
  all evidence: results/latest/claude/kanban-board/trial-1/result.json

0 passed, 1 failed
"""


def test_why_nothing_was_graded() -> None:
    """No check is amiss: the trial alone says it."""
    told = table(row(a_result(a_check("looks", advisory=True))))
    assert "\nkanban-board: nothing was graded: every check was skipped or is advisory" in told


def test_where_the_output_of_a_trial_without_a_result_lies(tmp_path: Path) -> None:
    """Its path stands there where an attempt left any."""
    row = a_failed_row("the agent ended without a result")
    out = io.StringIO()
    print_table([row], out, results=str(tmp_path))
    assert "failed" not in out.getvalue()
    folder = tmp_path / row.place / "failed"
    folder.mkdir(parents=True)
    print_table([row], out, results=str(tmp_path))
    assert f"  what it printed: {folder}\n" in out.getvalue()


def test_a_row_without_a_result() -> None:
    """An error has a row of its own and says why there is no result."""
    assert table(a_failed_row("toolchain `sdk` could not be installed: pip failed (exit status 1)")) == """\
claude anthropic/claude-sonnet-5, local lane
case          result  checks  judge  turns  cost  time
kanban-board  error

kanban-board: no result: toolchain `sdk` could not be installed: pip failed
(exit status 1)

0 passed, 1 in error
"""


def test_several_trials() -> None:
    """A line for all trials of a unit, how often each check passed, and then the trials in which something is amiss."""
    fine = [a_result(a_check("a"), a_check("b"), a_judged("j", 8.0 - number), number=number) for number in (1, 2)]
    failed = a_result(a_check("a"), a_check("b", "fail", "`b` exited with 1", "error: b"), a_judged("j", 5.0), number=3)
    broken = a_result(a_check("a"), a_check("b", "error", "no `b` here", description="builds"), a_judged("j", 7.0),
                      number=4)
    rows = [*map(row, [*fine, failed, broken]), a_failed_row("429 for an hour", number=5),
            a_failed_row("budget", status="not run", number=6)]
    assert table(*rows) == """\
claude anthropic/claude-sonnet-5, local lane
case          result      checks  judge  turns  tokens   cost    time
kanban-board  2/3         ✓~✓       6.2    124    4.8k  $4.82  16m33s
              2 in error
              1 not run

kanban-board (claude anthropic/claude-sonnet-5): 2/3 trials passed, 2 in error,
1 not run (budget)
  ✓ 4/4  a  pass
  ~ 2/3  b  (1 in error)
  ✓ 4/4  j  quality  (mean score 6.2)

kanban-board (claude anthropic/claude-sonnet-5, trial 3): failed: b
  ✗ b  `b` exited with 1
      | error: b
  all evidence: results/latest/claude/kanban-board/trial-3/result.json

kanban-board (claude anthropic/claude-sonnet-5, trial 4): could not be graded: b
  ! b  builds
      no `b` here
  all evidence: results/latest/claude/kanban-board/trial-4/result.json

kanban-board (claude anthropic/claude-sonnet-5, trial 5): no result: 429 for an
hour

2 passed, 1 failed, 2 in error, 1 not run (budget)
"""


def test_several_trials_and_single_ones() -> None:
    """Each unit has a line; where all is well no more is said, and what is not known of a trial is told by "≥"."""
    silent = row(a_result(a_check("a"), number=2))._replace(cost=None, turns=None, retries=1)
    alone = row(a_result(a_check("a", "fail", "no"), a_check("hint", "fail", "no", advisory=True), name="alone"))
    nop = row(a_result(a_check("a", "skipped"), agent="nop", model=None))
    got = table(row(a_result(a_check("a"))), silent, alone, nop, nop._replace(trial=2))
    assert got.partition("\n\nalone")[0] == """\
claude anthropic/claude-sonnet-5, local lane
case          result      checks  judge  turns  tokens    cost   time
kanban-board  2/2         ✓           -    ≥31    2.4k  ≥$1.20  8m16s
alone         fail        ✗✗          -     31    1.2k   $1.20  4m08s

nop, local lane
case          result      checks  judge  turns  tokens    cost   time
kanban-board  2 in error  s           -      -       -       -  8m16s"""
    assert "\nkanban-board (nop): 0/0 trials passed, 2 in error\n  s 0/0  a  (2 skipped)\n" in got
    assert got.endswith("\n\n2 passed, 1 failed, 2 in error, 1 retry\n")


def test_the_trials_of_one_unit_alone() -> None:
    """Its checks are told one by one, also where all is well."""
    assert table(*(row(a_result(a_check("a"), number=number)) for number in (1, 2))) == """\
claude anthropic/claude-sonnet-5, local lane
case          result  checks  judge  turns  tokens   cost   time
kanban-board  2/2     ✓           -     62    2.4k  $2.41  8m16s

kanban-board (claude anthropic/claude-sonnet-5): 2/2 trials passed
  ✓ 2/2  a  pass

2 passed
"""


@pytest.mark.parametrize(("tokens", "shown"), [
    (0, "0"), (999, "999"), (1000, "1k"), (1234, "1.23k"), (45_678, "45.7k"), (999_499, "999k"), (999_600, "1M"),
    (1_234_567_890, "1.23G"), (1_234_567_890_000, "1235G")])
def test_tokens_are_short(tokens: int, shown: str) -> None:
    """Three digits and a unit."""
    one, other = (row(a_result(a_check("a"), number=number)) for number in (1, 2))
    assert table(one._replace(tokens=tokens), other._replace(tokens=0)).splitlines()[2].split()[-3] == shown


def test_the_self_check_is_said_first_and_last() -> None:
    """An agent that calls no model has neither turns nor cost."""
    assert table(row(a_result(a_check("a"), agent="oracle", model=None))) == """\
self-check: reference answer, no model was called
oracle, local lane
case          result  checks  judge  turns  cost   time
kanban-board  pass    ✓           -      -     -  4m08s

  ✓ a  pass

1 passed (self-check: reference answer, no model was called)
"""


def test_a_self_check_among_agents_is_said_at_its_rows() -> None:
    """A part for each subject, columns under each other; nobody takes the oracle's rows for an agent's."""
    rows = [row(a_result(a_check("a"), agent="oracle", model=None)), row(a_result(a_check("a"))),
            row(a_result(a_check("a"), agent="oracle", model=None, name="other"))]
    assert table(*rows) == """\
oracle, local lane (self-check: reference answer, no model was called)
case          result  checks  judge  turns  tokens   cost   time
kanban-board  pass    ✓           -      -       -      -  4m08s
other         pass    ✓           -      -       -      -  4m08s

claude anthropic/claude-sonnet-5, local lane
case          result  checks  judge  turns  tokens   cost   time
kanban-board  pass    ✓           -     31    1.2k  $1.20  4m08s

3 passed
"""


def test_a_dry_run_is_said_first() -> None:
    """Its fails are no news, and it has no turns."""
    result = a_result(a_check("a", "fail", "no"), dry=True, run="dry")
    assert table(row(result)) == """\
dry run: no model was called; fails are expected
claude anthropic/claude-sonnet-5, local lane
case          result  checks  judge  turns  cost   time
kanban-board  fail    ✗           -      -     -  4m08s

  ✗ a  no
  all evidence: results/dry/claude/kanban-board/trial-1/result.json

0 passed, 1 failed
"""


def test_how_the_agent_ended() -> None:
    """A timeout, a turn limit and what was left out of the tree are said."""
    ending = an_ending("timeout", "its 20 minutes were over", notes=("a note",), turns=None)
    result = a_result(a_check("a"), ending=ending, left_out=("pipe: neither a file nor a folder",))
    assert table(row(result)) == """\
claude anthropic/claude-sonnet-5, local lane
case          result  checks  judge  turns  tokens   cost   time
kanban-board  fail    ✓           -      -    1.2k  $1.20  4m08s

  the agent's run: timeout: its 20 minutes were over
  ✓ a  pass
  note: pipe: neither a file nor a folder
  note: a note

0 passed, 1 failed
"""


def test_long_names_and_many_checks_share_80_columns() -> None:
    """The name and the marks go on in the next line; no mark is lost, and what is not in a column is cut."""
    checks = [a_check(f"check-{number}") for number in range(19)]
    checks[3] = a_check("a-check-with-a-rather-long-name", "fail", "no", description="the description " * 6)
    result = a_result(*checks, a_judged("quality", 10.0), name="a-case-with-a-name-of-well-over-thirty-characters")
    assert table(row(result), row(a_result(a_check("a"), number=2))) == """\
claude anthropic/claude-sonnet-5, local lane
case                     #  result  checks    judge  turns  tokens   cost   time
a-case-with-a-name-of-w  1  fail    ✓✓✓✗✓✓✓✓   10.0     31    1.2k  $1.20  4m08s
ell-over-thirty-charact             ✓✓✓✓✓✓✓✓
ers                                 ✓✓✓✓
kanban-board             2  pass    ✓             -     31    1.2k  $1.20  4m08s

a-case-with-a-name-of-well-over-thirty-characters (claude
anthropic/claude-sonnet-5, trial 1): failed: a-check-with-a-rather-long-name
  ✗ a-check-with-a-rather-long-name  the description the description the descri…
      no
  all evidence: results/latest/claude/a-case-with-a-name-of-well-over-thirty-characters/trial-1/result.json

1 passed, 1 failed
"""


def test_a_name_keeps_some_columns_on_the_narrowest_terminal() -> None:
    """Lines are longer than it, then: nobody reads a name of one letter a line."""
    lines = table(a_failed_row("gone", name="kanban-board"), width=20).splitlines()
    assert any(line.startswith("kanban-boa  error") for line in lines)


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_any_width_keeps_every_mark(width: int) -> None:
    """A narrow terminal gets more lines, not less of the result."""
    result = a_result(*[a_check(f"c{number}", "skipped" if number % 2 else "fail") for number in range(21)],
                      name="a-case-of-twenty-five-chr")
    lines = table(row(result), width=width).partition("\n\n")[0].splitlines()[1:]
    assert sum(line.count("✗") for line in lines) == 11
    assert all(line == line.rstrip() for line in lines)
    if width >= 80:
        assert "a-case-of-twenty-five-chr  fail" in "\n".join(lines)


HOSTILE = "\x1b[2J\x1b]0;owned\x07[red]red[/red] [/] [link=x]y :warning: \x1b[31merror\u202e\x07"


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_lines_are_the_same_however_they_are_made(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are formatted at once, and those that are put together piece by piece."""
    one = row(a_result(a_check("c"), a_judged("j", 7.0)))
    names = ("a", "a-long-name-of-a-case" * 3, "名前", "b c ")
    rows = [one._replace(unit=name, case=name, place=name) for name in names]
    rows += [one._replace(unit="many", place="many", checks=one.checks * 30), a_failed_row("no", status="not run"),
             one._replace(unit="other", place="other", model=None, dry=True, status="fail")]
    several = [one._replace(place=f"t{number}", trial=number) for number in (1, 2)]
    at_once = [table(*rows, width=width), table(*rows, *several, width=width)]

    def by_pieces(page: Page, lines: Iterable[Any], widths: Sequence[int]) -> None:
        for line in lines:
            table_module._add_cells(page, line, widths)

    monkeypatch.setattr(table_module, "_add_lines", by_pieces)
    assert [table(*rows, width=width), table(*rows, *several, width=width)] == at_once


def test_hostile_words_are_printed_as_they_stand() -> None:
    """Neither escape sequences nor rich's markup or emoji of evidence, names and endings act on the screen."""
    graded = a_check("[bold]", "fail", HOSTILE, f"{HOSTILE}\n[/]", description=HOSTILE)
    result = a_result(graded, ending=an_ending("capped", HOSTILE, notes=(HOSTILE,)), left_out=(f"{HOSTILE}: x",))
    got = table(row(result)._replace(model=HOSTILE), a_failed_row(HOSTILE, name="other"), width=200)
    assert "\x1b" not in got
    assert all(line.isprintable() for line in got.splitlines())
    said = "[red]red[/red] [/] [link=x]y :warning: error\\u202e\\x07"
    assert got.count(said) >= 8
    assert "      | [/]\n" in got


def test_no_colour_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Colour codes are for terminals."""
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    assert "\x1b" not in table(row(a_result(a_check("a", "fail", "no", "x"))))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one they are there."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = Terminal()
    print_table([row(a_result(a_check("a")))], stream, width=80)
    assert "\x1b[32m✓\x1b[0m" in stream.getvalue()


def test_contaminated_trials_stand_apart() -> None:
    """Neither passed nor failed: a mark of their own, in the line, in the counts and at the end; and what they saw."""
    seen = Finding("the solution", "path", "read", "Bash", "t1", 12, "cases/a/solution/a.ts", "cat x")
    bad = evolve(a_result(a_check("a"), number=2), status="contaminated", reason="contaminated: it read the solution",
                 audit=Audit("k", True, (seen,)))
    alone = table(row(bad))
    assert "contaminated" in alone.splitlines()[2]
    assert "note: it read the solution: cases/a/solution/a.ts (by Bash, line 12 of the" in alone
    assert "0 passed, 1 contaminated" == alone.splitlines()[-1]
    several = table(row(a_result(a_check("a"))), row(bad))
    assert "1/1" in several
    assert "1/1 trials passed, 1 contaminated" in " ".join(several.split())
    assert "1 passed, 1 contaminated" == several.splitlines()[-1]


def test_what_decides_nothing_and_could_not_be_graded_is_told_last() -> None:
    """A pass must not look like one in which all was looked at."""
    broken = a_judged("tone", None, advisory=True, status="error")
    told = table(row(a_result(a_check("own"), broken, a_check("hint", "error", advisory=True))))
    assert "1 passed\nadvisory, and could not be graded: hint, tone\n" == told[told.index("1 passed"):]
    told = table(*[row(a_result(a_check("own"), broken, number=number)) for number in (1, 2)])
    assert "2 passed\nadvisory, and could not be graded: tone (2 trials)\n" == told[told.index("2 passed\n"):]
    assert "advisory, and" not in table(row(a_result(a_check("own"), a_judged("j", 2.0, advisory=True))))


def many() -> list[Row]:
    """Trials of 40 cases: each fails the check `a` of the suite, the last one also another, and one has no result."""
    failed = [row(a_result(a_check("a", "fail", "no", "error: a"), name=f"case-{at:02}")) for at in range(40)]
    last = row(a_result(a_check("a", "fail", "no"), a_check("b", "fail", "no", "error: b"), name="last"))
    return [*failed, last, a_failed_row("no space left", name="full")]


def test_many_failed_trials_do_not_scroll_the_table_away() -> None:
    """Ten are told of, one for each thing that went wrong before any again; the others are counted."""
    got = table(*many())
    assert got.count("all evidence:") == 9
    assert "| error: b" in got
    assert "full (claude anthropic/claude-sonnet-5, trial 1): no result: no space left" in got
    assert got.endswith("""
… and 32 more trials like these (32 failed), of 32 cases.
`evalkit report latest --all` tells of each.

0 passed, 41 failed, 1 in error
""")


def test_all_failed_trials_on_request(tmp_path: Path) -> None:
    """Without a limit every one is told of, and nothing is said of others."""
    out = io.StringIO()
    print_table(many(), out, results=str(tmp_path), most=None)
    assert out.getvalue().count("all evidence:") == 41
    assert "more trials" not in out.getvalue()


def test_reports_that_are_there_are_named(tmp_path: Path) -> None:
    """A path stands there where the others are told of, if the file is there."""
    (tmp_path / "latest").mkdir()
    (tmp_path / "latest" / "summary.md").touch()
    out = io.StringIO()
    print_table(many(), out, results=str(tmp_path))
    assert f"\n  {tmp_path}/latest/summary.md\n" in out.getvalue()
    assert "report.html" not in out.getvalue()


def test_units_of_which_no_trial_is_told_have_no_counts() -> None:
    """Several trials of each unit: the counts of checks are as many as the units that are told of."""
    rows = [one._replace(trial=number) for one in many()[:40] for number in (1, 2)]
    got = table(*rows)
    assert got.count("0/2 trials passed") == 10
    assert "… and 70 more trials like these (70 failed), of 40 cases." in got


def test_ten_failed_trials_are_all_told() -> None:
    """At the limit nothing is left out."""
    got = table(*many()[:10])
    assert got.count("all evidence:") == 10
    assert "more trials" not in got
