"""A compiled unit as rows: every value with where it comes from."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.analysis import load_project
from evalkit.analysis.model import Case
from evalkit.authoring.show import Row, lines, rows
from tests.unit.language.plugins import offer
from tests.unit.language.project import write

SUITE = """\
suite s {
  about "All of it."
  toolchain tools { npm "a@1"; env A = "1" }
  agent claude { allow Read, "Bash(ls *)"; env CI = "1" }
  limits { turns 7; cost $1.50 }
  profile base {
    scaffold copy "skeleton"
    skills writing from "skills"
    check run "true" as base
    caches "a", "b"
  }
  profile app extends base { limits { time 90s }; prewarm "make", "make all" time 1h30m }
  define check holds(path) { run "test -f {path}" }
  arm plain { }
  arm bare { skills none }
}
"""
CASE = """\
case it {
  use app
  prompt "PROMPT.md"
  tags one, two
  agent claude { allow Write; suffix "Be brief." }
  check grep "*.txt", "*.md" lacks "say \\"x\\"", /a+/i as words on local advisory "no such words"
  check holds "note.txt" as holds for track left
  judge "good" as good { files "*"; pass at 6; criterion "Is."; criterion "Was." }
  wrong "wrong/one" fails words
  track left { starter "solution" }
  track right { model env WHO else "m/x" }
}
"""


@pytest.fixture
def units(tmp_path: Path) -> dict[str, Case]:
    root = write(tmp_path, {"cases/s/it.eval": CASE}, suite=SUITE)
    return {unit.unit: unit for unit in load_project(root).units["it"]}


def told(unit: Case, *names: str) -> list[tuple[str, str, str]]:
    """The rows below the headings of these names: name, value, and the file and line without its folder."""
    table = list(rows(unit))
    start = 0
    depth = -1
    for name in names:
        start = next(index for index in range(start, len(table)) if table[index].name == name
                     and table[index].depth > depth) + 1
        depth = table[start - 1].depth
    end = next((index for index in range(start, len(table)) if table[index].depth <= depth
               and table[index].name), len(table))
    return [(row.name, row.value, row.origin.removeprefix("cases/s/")) for row in table[start - 1 : end]]


def test_a_value_has_the_place_of_the_level_that_says_it(units: dict[str, Case]) -> None:
    """The innermost level wins: suite, profile; what nobody says is a default."""
    assert [("limits", "", ""), ("turns", "7", "suite.eval:5"), ("time", "90s", "suite.eval:12"),
            ("cost", "$1.50", "suite.eval:5")] == told(units["it@left+plain"], "limits")
    assert [("model", "m/x (or what WHO says)", "it.eval:11")] == told(units["it@right+plain"], "model")
    assert [("model", "anthropic/claude-sonnet-5", "default")] == told(units["it@left+plain"], "model")


def test_values_that_add_up_have_each_its_own(units: dict[str, Case]) -> None:
    """A list that several levels add to is told line by line; one that a single line says, on one line."""
    unit = units["it@left+plain"]
    assert [("agent", "claude", "default"), ("allow", "Read", "suite.eval:4"), ("", "Bash(ls *)", "suite.eval:4"),
            ("", "Write", "it.eval:5"), ("suffix", "Be brief.", "it.eval:5"), ("env", 'CI = "1"', "suite.eval:4"),
            ("permissions", "accept-edits", "default")] == told(unit, "agent")
    assert [("tags", "one, two", "it.eval:4")] == told(unit, "tags")
    assert [("caches", "a, b", "suite.eval:10")] == told(unit, "setup", "caches")
    assert [("prewarm", "make (at most 1h30m)", "suite.eval:12"),
            ("", "make all (at most 1h30m)", "suite.eval:12")] == told(unit, "setup", "prewarm")


def test_what_is_emptied_is_told_what_nobody_said_is_not(units: dict[str, Case]) -> None:
    """`skills none` of an arm has its place; a starter that there is not has no row."""
    assert [("skills", "none", "suite.eval:15")] == told(units["it@right+bare"], "setup", "skills")
    assert [("skills", "", ""), ("writing", "cases/s/skills/writing", "suite.eval:8")] == told(
        units["it@right+plain"], "setup", "skills")
    assert [("starter", "cases/s/solution", "it.eval:10")] == told(units["it@left+plain"], "setup", "starter")
    assert "starter" not in {row.name for row in rows(units["it@right+plain"])}


def test_checks_are_told_in_the_words_of_the_language(units: dict[str, Case]) -> None:
    """Id and kind, then what it looks for and where it counts; values that are defaults are left out."""
    unit = units["it@right+plain"]
    assert [("words", "grep", "it.eval:6"), ("globs", "*.txt, *.md", "it.eval:6"), ("expect", "lacks", "it.eval:6"),
            ("patterns", '"say \\"x\\"", /a+/i', "it.eval:6"), ("lanes", "local", "it.eval:6"),
            ("advisory", "yes", "it.eval:6"), ("description", "no such words", "it.eval:6")
            ] == told(unit, "checks", "words")
    assert ("holds", "holds (not graded on this track (only on left))", "it.eval:7") == told(
        unit, "checks", "holds")[0]
    assert ("base", "run", "suite.eval:9") == told(unit, "checks", "base")[0]
    assert [("good", "", "it.eval:8"), ("title", "good", "it.eval:8"), ("files", "*", "it.eval:8"),
            ("threshold", "6", "it.eval:8"), ("criteria", "Is.", "it.eval:8"),
            ("", "Was.", "it.eval:8")] == told(unit, "judges", "good")
    assert [("one", "", "it.eval:9"), ("folder", "cases/s/wrong/one", "it.eval:9"), ("fails", "words", "it.eval:9")
            ] == told(unit, "wrongs", "one")


def test_what_a_definition_says_has_its_place_there(tmp_path: Path) -> None:
    """Steps and the description of a `define check` are the suite's; what the check says itself is the case's."""
    suite = """suite s {
      define check built(target) "It builds." {
        put "PROMPT.md" as "a.md"
        run "make {target}"
        run "test -f {target}"
      }
    }"""
    text = """case it "Do it." { scaffold copy "skeleton"
      check built "x" as one advisory
      check built "x" "Still." as two
    }"""
    unit = load_project(write(tmp_path, {"cases/s/it.eval": text}, suite=suite)).cases["it"]

    steps = [("steps", "", ""), ("put", "", "suite.eval:3"), ("source", "cases/s/PROMPT.md", "suite.eval:3"),
             ("target", "a.md", "suite.eval:3"), ("run", "make x (at most 10m)", "suite.eval:4"),
             ("run", "test -f x (at most 10m)", "suite.eval:5")]
    assert [("one", "built", "it.eval:2"), *steps, ("advisory", "yes", "it.eval:2"),
            ("description", "It builds.", "suite.eval:2")] == told(unit, "checks", "one")
    assert [("two", "built", "it.eval:3"), *steps, ("description", "Still.", "it.eval:3")
            ] == told(unit, "checks", "two")


def test_track_and_arm(units: dict[str, Case]) -> None:
    """A unit says on which track and arm it is."""
    assert ["it@left+plain", "it@left+bare", "it@right+plain", "it@right+bare"] == [*units]
    assert [("track", "right", "it.eval:11")] == told(units["it@right+bare"], "track")
    assert [("arm", "bare", "suite.eval:15")] == told(units["it@right+bare"], "arm")


def test_calls(tmp_path: Path) -> None:
    """Expected calls are told as they are written."""
    text = """case it { prompt "PROMPT.md"
      expect one(a: "x", b > 1.5) then two(c one of 1, true, d in -1..2, e number); expect only three; never four
      check state five has at least 2 where six = 7 as seven }"""
    unit = load_project(write(tmp_path, {"cases/s/it.eval": text}, suite="suite s { }")).cases["it"]
    found = {row.name: row.value for row in rows(unit)}
    assert ('expect one(a: "x", b > 1.5) then two(c one of 1, true, d in -1..2, e number); expect only three; '
            "never four") == found["calls"]
    assert "five has at least 2 where six = 7" == found["wanted"]


def test_a_check_of_a_plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its settings by their names."""
    offer(monkeypatch)
    check = 'check plugin words { b "2"; files "x/**"; a "1" } as w'
    write(tmp_path, {"cases/s/it.eval": f'case it {{ prompt "PROMPT.md"; scaffold copy "skeleton"\n{check}\n}}\n'})
    told = [(row.name, row.value) for row in rows(load_project(tmp_path).cases["it"])]
    at = told.index(("w", "plugin"))
    assert [("grader", "words"), ("globs", "x/**"), ("settings", 'a = "1", b = "2"')] == told[at + 1 : at + 4]


def test_values_with_parts(tmp_path: Path) -> None:
    """What a command says, a guidance without a section, a silenced finding and an empty start, each on one line."""
    suite = "suite s { arm less { ablate guidance by section } }"
    text = """case it "Do it." {
      guidance "guide.md"
      check run "true" has "x", /y/ lacks "z" as ran allow W001 "because"
      expect one
    }"""
    files = {"cases/s/it.eval": text, "cases/s/guide.md": "## One\nx\n## Two\ny\n"}
    units = load_project(write(tmp_path, files, suite=suite)).units["it"]
    assert ["it+less.one", "it+less.two"] == [unit.unit for unit in units]
    assert [("guidance", "cases/s/guide.md (without Two)", "it.eval:2")] == told(units[1], "setup", "guidance")
    assert [("scaffold", "an empty folder", "default")] == told(units[1], "setup", "scaffold")
    assert [("outputs", 'has "x", /y/', "it.eval:3"), ("", 'lacks "z"', "it.eval:3")] == told(
        units[1], "checks", "ran", "outputs")
    assert [("silenced", "", ""), ("W001", "because", "it.eval:3")] == told(units[1], "checks", "ran", "silenced")


def test_the_hidden_tests_that_a_wrong_answer_fails(tmp_path: Path) -> None:
    """Each on a line, as it is written; a linked skill says that it is one."""
    text = """case it "Do it." {
      scaffold copy "skill"; skills note from "skill" linked
      check hidden-tests "tests" run "true {report}" as hidden
      wrong "bad" fails hidden "a is b", "c"
    }"""
    files = {"cases/s/it.eval": text, "cases/s/tests/a": "", "cases/s/bad/a": "", "cases/s/skill/SKILL.md": "x"}
    (unit,) = load_project(write(tmp_path, files)).units["it"]
    assert [("tests", 'hidden "a is b"', "it.eval:4"), ("", 'hidden "c"', "it.eval:4")] == told(
        unit, "wrongs", "bad", "tests")
    assert [("linked", "yes", "it.eval:2")] == told(unit, "setup", "skills", "note", "linked")


def test_all_cases_of_this_repository_can_be_shown() -> None:
    """Whatever they say has a way to be told."""
    units = load_project(Path(__file__).resolve().parents[3]).units
    assert len(units) > 50
    for of_case in units.values():
        for unit in of_case:
            assert list(lines(list(rows(unit)), 120))


# ---- lines ----
def test_three_columns() -> None:
    """Name, value, origin; a long value and a text of several lines are cut so that the origin is seen."""
    table = [Row(0, "about", "Short.", "f:1"), Row(1, "prompt", "one\n  two\n", "f:2"), Row(0, "long", "x" * 60, "f:3")]
    assert [
        ("  about      Short.                           f:1", False),
        ("    prompt   one … (2 lines)                  f:2", True),
        (f"  long       {'x' * 29}…   f:3", True),
    ] == list(lines(table, 40))


def test_full() -> None:
    """Whole texts, line under line; what a terminal would obey is shown."""
    table = [Row(0, "prompt", "one\n\n  two\x1b[2J\n", "f:2"), Row(0, "long", "x" * 60, "f:3")]
    assert [
        (f"  prompt   {'one':<30}   f:2", False), ("", False), ("             two\\u{1b}[2J", False),
        (f"  long     {'x' * 60}   f:3", False),
    ] == list(lines(table, 40, full=True))


def test_nothing() -> None:
    """A table without rows has no lines."""
    assert [] == list(lines([], 80))
