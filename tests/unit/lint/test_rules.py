"""The smaller rules, each with its exact output; and what silences them."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.lint.rules import RULES
from tests.unit.lint.project import CASE, findings, places, rendered, write

JUDGE = 'judge "quality" as quality { files "src/*.ts", "*.md"; criterion "Short." }\n'


def test_nothing_is_said_of_the_plain_project(tmp_path: Path) -> None:
    """The tests below see what they change, and nothing else."""
    write(tmp_path, {})

    assert "" == rendered(tmp_path)


def test_each_rule_has_a_reason() -> None:
    """One line, not a sentence."""
    assert [] == [rule.codes for rule in RULES if not rule.why or "\n" in rule.why or rule.why.endswith(".")]


# ---- W003 ----
def test_a_judge_without_files(tmp_path: Path) -> None:
    """None of its globs matches a file of the scaffold, the starter or the solution."""
    write(tmp_path, {}, case=JUDGE)

    assert """\
warning[W003]: judge `quality` is given no file: nothing of `it` matches its globs
 --> cases/s/it/it.eval:2:36
  |
2 | judge "quality" as quality { files "src/*.ts", "*.md"; criterion "Short." }
  |                                    ^^^^^^^^^^
  = looked in cases/s/it/solution/, cases/s/skeleton/""" == rendered(tmp_path)


@pytest.mark.parametrize("name", ["it/solution/src/a.ts", "skeleton/README.md", "it/begin/x.md"])
def test_a_judge_with_files(name: str, tmp_path: Path) -> None:
    """One file of any of the folders is enough."""
    write(tmp_path, {"it/begin/note.txt": "", name: ""}, case=JUDGE + 'starter "begin"\n')

    assert [] == places(tmp_path)


def test_what_a_command_makes_is_not_known(tmp_path: Path) -> None:
    """Without a folder that is copied and without a solution nothing is said of a judge."""
    case = CASE.replace('  solution "solution"\n', "").replace(
        "use app", 'use app; scaffold run "make-it {workspace}"; allow W008 "later"; allow W005 "later"')
    write(tmp_path, {"it/it.eval": case}, case=JUDGE)

    assert [] == places(tmp_path)


# ---- W005 ----
def test_an_unused_file(tmp_path: Path) -> None:
    """It is named with the folder that it is beside; a folder counts as one."""
    write(tmp_path, {"it/old/a.txt": "", "it/old/b/c.txt": "", "it/wrong/two/a.txt": "", "it/notes.txt": ""})

    assert """\
warning[W005]: nothing names `notes.txt`
 --> cases/s/it/it.eval:1:6
  |
1 | case it {
  |      ^^
  = it is beside cases/s/it/it.eval: name it in a statement, or delete it

""" == rendered(tmp_path)[: rendered(tmp_path).index("warning[W005]", 5)]
    assert [f"cases/s/it/it.eval:1:6: W005: nothing names `{name}`"
            for name in ("notes.txt", "old/", "wrong/two/")] == places(tmp_path)


def test_what_counts_as_used(tmp_path: Path) -> None:
    """Hidden files, README files, other cases' folders, what a check puts, and the files of a suite's own folder."""
    write(tmp_path, {
        "it/.gitignore": "", "it/README.md": "", "it/inner/inner.eval": CASE.replace("case it", "case inner"),
        "it/inner/PROMPT.md": "Do it.", "it/inner/solution/a": "", "it/inner/wrong/one/a": "", "it/spec/one.txt": "",
        "shared.txt": "",
        "suite.eval": 'suite s {\n  profile app { scaffold copy "skeleton" }\n'
                      '  define check spec(name) { put "{case}/spec/{name}.txt" as "spec.txt"; run "make" }\n}\n',
    }, case='check spec "one"\n')

    assert [] == places(tmp_path)


# ---- E080, W006 ----
def test_what_no_case_comes_to(tmp_path: Path) -> None:
    """A profile is an error, a check a warning; what only such a profile uses is not used."""
    write(tmp_path, {"suite.eval": """\
suite s {
  profile base { scaffold copy "skeleton" }
  profile app extends base { check used }
  profile old extends base { check unused }
  define check used { run "make used" }
  define check unused { run "make unused" }
}
"""})

    assert """\
error[E080]: no case uses profile `old`
 --> cases/s/suite.eval:4:11
  |
4 |   profile old extends base { check unused }
  |           ^^^
  = use it in a case of this suite, extend it, or delete it

warning[W006]: no case asks for check `unused`
 --> cases/s/suite.eval:6:16
  |
6 |   define check unused { run "make unused" }
  |                ^^^^^^
  = ask for it, `check unused`, or delete it""" == rendered(tmp_path)


def test_nothing_is_unreachable_where_uses_are_not_known(tmp_path: Path) -> None:
    """In a suite without cases, and where a case has errors."""
    write(tmp_path, {"../empty/suite.eval": "suite empty { profile a { limits { turns 3 } } }"}, case="use ap\n")

    assert {"E031", "E020", "E032"} >= {place.split(": ")[1] for place in places(tmp_path)}


# ---- W007 ----
def test_an_allow_that_silences_nothing(tmp_path: Path) -> None:
    """Wherever it stands."""
    write(tmp_path, {}, case='check run "make lint" as lint allow W001 "pinned"\n', suite='allow W005 "kept"\n')

    assert """\
warning[W007]: this silences nothing: there is no W001 here
 --> cases/s/it/it.eval:2:31
  |
2 | check run "make lint" as lint allow W001 "pinned"
  |                               ^^^^^^^^^^^^^^^^^^^
  = leave it out, so that it hides nothing later

warning[W007]: this silences nothing: there is no W005 here
 --> cases/s/suite.eval:2:1
  |
2 | allow W005 "kept"
  | ^^^^^^^^^^^^^^^^^
  = leave it out, so that it hides nothing later""" == rendered(tmp_path)


@pytest.mark.parametrize(("where", "statement"), [
    ("suite", 'allow W008 "later"\n'), ("case", 'allow W008 "later"\n'), ("profile", 'allow W008 "later"; '),
])
def test_an_allow_of_any_block_of_a_case(where: str, statement: str, tmp_path: Path) -> None:
    """Of the suite, of the profile that the case uses, and of the case itself."""
    case = CASE.replace('  solution "solution"\n', "")
    suite = f'suite s {{\n  profile app {{ {statement if where == "profile" else ""}scaffold copy "skeleton" }}\n}}\n'
    write(tmp_path, {"it/it.eval": case, "suite.eval": suite}, case=statement if where == "case" else "",
          suite=statement if where == "suite" else "")

    assert ["cases/s/it/it.eval:1:6: W005: nothing names `solution/`"] == places(tmp_path)


def test_an_allow_of_a_track_and_of_an_arm(tmp_path: Path) -> None:
    """It holds for the units of that track or arm: what is found for another one is told."""
    tracks = 'track a { limits { turns 3 }; %s }\ntrack b { limits { turns 4 } }\n'
    case = CASE.replace('  wrong "wrong/one" fails tests\n', 'allow W005 "later"\n')
    write(tmp_path, {"it/it.eval": case}, case=tracks % 'allow W008 "later"')
    assert ["cases/s/it/it.eval:1:6: W008: nothing proves that a wrong one fails in case `it` on track `b`"] == \
        places(tmp_path)

    arms = 'arm one { allow W008 "later" }\narm two { %s }\n'
    write(tmp_path, {"it/it.eval": case}, suite=arms % 'limits { turns 3 }')
    assert ["cases/s/it/it.eval:1:6: W008: nothing proves that a wrong one fails in case `it`"] == places(tmp_path)
    write(tmp_path, {"it/it.eval": case}, suite=arms % 'allow W008 "later"')
    assert [] == places(tmp_path)


def test_an_allow_of_another_block_silences_nothing(tmp_path: Path) -> None:
    """One that stands at a check is for what is found in that check."""
    write(tmp_path, {}, case='check grep "*.txt" has "Cards" as a\ncheck grep "*.md" has "Cards" allow W001 "pinned"\n')

    assert ["cases/s/it/it.eval:2:24: W001: the prompt of `it` contains `Cards`, which this check looks for"] == \
        places(tmp_path)


# ---- W008 ----
def test_a_case_without_proof(tmp_path: Path) -> None:
    """Either answer is missed."""
    write(tmp_path, {"it/it.eval": CASE.replace('  solution "solution"\n  wrong "wrong/one" fails tests\n', "")},
          case='allow W005 "not yet"\n')
    assert """\
warning[W008]: nothing proves that a right answer passes and that a wrong one fails in case `it`
 --> cases/s/it/it.eval:1:6
  |
1 | case it {
  |      ^^
  = add `solution "FOLDER"` and `wrong "FOLDER" fails CHECK`""" == rendered(tmp_path)

    write(tmp_path, {"it/it.eval": CASE.replace('  wrong "wrong/one" fails tests\n', "")},
          case='allow W005 "not yet"\n')
    assert ["cases/s/it/it.eval:1:6: W008: nothing proves that a wrong one fails in case `it`"] == places(tmp_path)


def test_calls_are_their_own_answer(tmp_path: Path) -> None:
    """With the state that they leave, too; a state alone tells nothing of how it comes about."""
    state = 'check state findings has 1 as filed'
    for checks, found in ((f"expect file; {state}", 0), ("expect file", 0), (state, 1),
                          (f'expect file; {state}; check exists "state.json"', 1)):
        write(tmp_path, {"it.eval": f'case filing "File it" {{ use agent tools; {checks} }}\n'})
        assert found == sum("case `filing`" in place and "W008" in place for place in places(tmp_path)), checks


# ---- all of them ----


# ---- W009 ----
def test_a_snapshot_that_nothing_can_take(tmp_path: Path) -> None:
    """It would be skipped in every run, and nobody would be told."""
    write(tmp_path, {}, case='check snapshot has "Card A" as shown\n')
    assert ["cases/s/it/it.eval:2:7: W009: check `shown` of `it` is always skipped: nothing says how its app is started"
            ] == places(tmp_path)
    write(tmp_path, {}, case='check snapshot has "Card A" as shown\n',
          suite='live { launch "out/app"; snapshot "drive" }\n')
    assert [] == places(tmp_path)


# ---- W010 ----
@pytest.mark.parametrize(("statement", "told"), [
    ("score code as code { forbid /eval/ }", "write from where on score `code` passes: `pass at 0.8`"),
    ("score code as code { forbid /eval/; pass at 0.8, advisory }", "leave out `advisory` at score `code`"),
    ('check run "make" as tests advisory', "leave out `advisory` at check `tests`"),
    ('judge "j" as tone { files "*"; criterion "Short." }', "write from where on judge `tone` passes: `pass at 6`"),
    ('judge "j" as tone { files "*"; criterion "Short."; pass at 6, advisory }',
     "leave out `advisory` at judge `tone`, or add a check"),
])
def test_a_case_that_nothing_decides(statement: str, told: str, tmp_path: Path) -> None:
    """What could decide is told with what to write there; with that written nothing is said."""
    case = CASE.replace('check run "make test" as tests', f'answer "main.js"\n  {statement}').replace(
        '  wrong "wrong/one" fails tests\n', "")
    write(tmp_path, {"it/it.eval": case})
    [found] = [item for item in findings(tmp_path) if item.code == "W010"]
    assert ("nothing decides whether a trial of case `it` passes: all of it is advisory", told,
            "cases/s/it/it.eval:1:6") == (found.message, found.help, str(found.span))

    decides = statement.replace(", advisory", "").replace(" advisory", "")
    if "pass at" not in decides:
        decides = decides.replace(" }", "; pass at 1 }")
    write(tmp_path, {"it/it.eval": case.replace(statement, decides)})
    assert not [item for item in findings(tmp_path) if item.code == "W010"]


def test_an_arm_that_nothing_decides(tmp_path: Path) -> None:
    """The checks that count are those of the unit."""
    case = CASE.replace("as tests", "as tests for arm one\n  check run \"lint\" as lint advisory")
    write(tmp_path, {"it/it.eval": case}, suite="arm one { }\narm two { limits { turns 3 } }\n")
    assert ["cases/s/it/it.eval:1:6: W010: nothing decides whether a trial of case `it` on arm `two` passes: "
            "all of it is advisory"] == [place for place in places(tmp_path) if "W010" in place]
    write(tmp_path, {"it/it.eval": case}, suite='arm one { }\narm two { allow W010 "lint alone" }\n')
    assert not [place for place in places(tmp_path) if "W010" in place or "W007" in place]
