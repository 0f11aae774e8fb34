"""`evalkit new` as a person uses it: what it makes compiles, and runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalkit.analysis import load_project
from evalkit.authoring.fmt import formatted
from evalkit.cli import COMMANDS, main
from evalkit.syntax import read_source
from tests.feature.project import MiniProject

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "authoring.md"
MADE = """\
cases/mini/farewell/farewell.eval
cases/mini/farewell/solution/answer.txt
cases/mini/farewell/wrong/rude/answer.txt
next:
  doit run case:farewell
"""
COMMENTED = "  #   "
"""What a commented-out statement of the template begins with; prose begins with `  # `."""


@pytest.fixture(autouse=True)
def mini(project: MiniProject, monkeypatch: pytest.MonkeyPatch) -> MiniProject:
    """A project with the suite `mini` and the case `greeting`; the current folder."""
    monkeypatch.chdir(project.root)
    return project


def failed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What `evalkit new` says where it makes nothing."""
    before = sorted(Path.cwd().rglob("*"))
    assert 2 == main(["new", *words])
    out, err = capsys.readouterr()
    assert ("", before) == (out, sorted(Path.cwd().rglob("*")))
    return err


def test_a_new_case_runs(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """It is listed, its answer passes, its wrong answer is caught; it has the suite's profile for its scaffold."""
    assert 0 == main(["new", "case", "farewell"])
    assert MADE == capsys.readouterr().out
    assert "  # A profile of suite.eval: what the workspace starts from.\n  use note\n" in mini.read(
        "cases/mini/farewell/farewell.eval")
    assert "case:farewell   Say in one line what this case is about." in mini.doit("list").out
    assert 0 == mini.doit("run", "case:farewell").status
    wrong = mini.doit("run", "case:farewell", "agent=wrong:rude")
    assert 1 == wrong.status
    assert "a known wrong answer: greets must fail, and that is so" in wrong.out


def test_what_is_commented_out_compiles(mini: MiniProject) -> None:
    """Each statement that the template only shows can be used as it stands there."""
    assert 0 == main(["new", "case", "farewell"])
    path = "cases/mini/farewell/farewell.eval"
    text = mini.read(path)
    assert COMMENTED in text
    mini.write(path, text.replace(COMMENTED, "  "))
    for name in ("starter/a.txt", "skills/writing/SKILL.md"):
        mini.write(f"cases/mini/farewell/{name}", "")
    case = load_project(mini.root).cases["farewell"]
    assert ["written", "greets", "finished"] == [check.id for check in case.checks]
    assert ["manners"] == [judge.id for judge in case.judges]
    assert (40, ("greeting",)) == (case.limits.turns, case.tags)


def test_canonical_form(mini: MiniProject) -> None:
    """`evalkit fmt` has nothing to do in new files."""
    assert [0, 0] == [main(["new", "suite", "more"]), main(["new", "case", "farewell", "--suite", "more"])]
    for name in ("cases/more/suite.eval", "cases/more/farewell/farewell.eval"):
        assert mini.read(name) == formatted(read_source(mini.path(name), name))


def test_a_new_suite(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """It compiles by itself, and cases can be put into it."""
    assert 0 == main(["new", "suite", "more"])
    assert ("cases/more/suite.eval\ncases/more/skeleton/README.md\n"
            "next:\n  evalkit new case NAME --suite more\n") == capsys.readouterr().out
    assert 0 == main(["new", "case", "second", "--suite", "more"])
    project = load_project(mini.root)
    assert ["second"] == [case.name for case in project.cases_of("more")]


@pytest.mark.parametrize(("suite", "start"), [
    ("suite mini { }", 'scaffold copy "skeleton"'),
    ('suite mini { scaffold copy "skeleton" }', 'have another start: scaffold copy "skeleton"'),
    ("suite mini { profile a { }; profile b { } }", 'scaffold copy "skeleton"'),
    ('suite mini { profile a { }; profile b extends c { }; profile c { scaffold copy "skeleton" } }',
     "(others there: a, c): what the workspace starts from.\n  use b"),
])
def test_what_it_starts_from(mini: MiniProject, suite: str, start: str) -> None:
    """A profile that has a scaffold, else the suite's, else one of its own; each compiles."""
    mini.write("cases/mini/suite.eval", suite)
    mini.path("cases/mini/greeting/greeting.eval").unlink()
    assert 0 == main(["new", "case", "farewell"])
    assert f"{start}\n" in mini.read("cases/mini/farewell/farewell.eval")
    assert ["farewell"] == list(load_project(mini.root).cases)


def test_a_name_that_is_taken(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """By a case or a suite, compared without case, in files with errors too; or by a folder."""
    mini.write("cases/mini/broken.eval", "case Farewell { abuot 1 }")
    assert ("error: there is a case `Farewell` already: cases/mini/broken.eval:1:6\n"
            "  names are unique in a project, compared without case; choose another one\n"
            ) == failed(capsys, "case", "farewell")
    assert "error: there is a case `greeting` already: " in failed(capsys, "case", "GREETING")
    assert "error: there is a suite `mini` already: " in failed(capsys, "suite", "Mini")
    assert "error: there is a `skeleton` already in " in failed(capsys, "case", "Skeleton")


@pytest.mark.parametrize("name", ["", "a b", "1st", "a--b", "a/b", "ä", "a {}\ncase b", 'a" {'])
def test_no_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What the language takes for no name is refused before anything is made."""
    assert "is no name for a case\n  a name starts with a letter" in failed(capsys, "case", name)


def test_a_name_that_is_too_long(capsys: pytest.CaptureFixture[str]) -> None:
    """A case's name is the name of a folder."""
    assert "error: this name is longer than 80 characters: aaa" in failed(capsys, "case", "a" * 81)


def test_which_suite(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown suite gets a hint; where there are several one must be named; where there is none, one started."""
    assert ("error: there is no suite `mimi`\n  did you mean `mini`?\n"
            ) == failed(capsys, "case", "farewell", "--suite", "mimi")
    assert "error: a suite stands in no other suite\n" in failed(capsys, "suite", "more", "--suite", "mini")
    assert 0 == main(["new", "suite", "more"])
    capsys.readouterr()
    assert ("error: there are several suites\n  say which: --suite mini, --suite more\n"
            ) == failed(capsys, "case", "farewell")
    for name in ("mini", "more"):
        mini.path(f"cases/{name}/suite.eval").unlink()
    assert ("error: there is no suite to put a case into\n  start one first: evalkit new suite NAME\n"
            ) == failed(capsys, "case", "farewell")


def test_where_it_is_run(
    mini: MiniProject, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the root of a project; elsewhere it says where that is, or how to start one."""
    monkeypatch.chdir(mini.path("cases/mini"))
    assert ("error: this folder lies in a project, but is not its root\n"
            f"  run this in {mini.root}\n") == failed(capsys, "case", "farewell")
    monkeypatch.chdir(mini.root.parent)
    assert ("error: there is no project in this folder\n"
            "  `evalkit init` starts one here, `evalkit init DIR` elsewhere\n") == failed(capsys, "case", "farewell")


def test_help_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    """`--help` shows how it is used."""
    with pytest.raises(SystemExit, match="0"):
        main(["new", "--help"])
    assert "examples:\n  evalkit new case invoice-totals " in capsys.readouterr().out


def test_the_tutorial_is_true(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """The statements of docs/authoring.md make a case that compiles; its commands are known."""
    page = TUTORIAL.read_text(encoding="utf-8")
    statements = re.findall(r"^```eval case\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    mini.write("cases/mini/invoice-totals/it.eval",
               "case invoice-totals {\nuse note\n" + "\n".join(statements) + "\n}\n")
    for name in ("starter/invoices.csv", "solution/totals.py", "wrong/constant/totals.py"):
        mini.write(f"cases/mini/invoice-totals/{name}", "")
    case = load_project(mini.root).cases["invoice-totals"]
    assert (["right", "built-in"], ["constant"]) == ([check.id for check in case.checks],
                                                     [wrong.name for wrong in case.wrongs])
    assert {*re.findall(r"\bevalkit ([a-z]+)", page)} <= {*COMMANDS}
