"""`evalkit list` as a person, a program and a test use it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalkit.analysis import load_project
from evalkit.authoring.list import catalogue
from evalkit.cli import main
from tests.feature.project import MiniProject

ROOT = Path(__file__).resolve().parents[2]
TWO = """\
case wave { about "Waves,\\ntwice."; use note; prompt "PROMPT.md"; check not-empty as full }
case bow { about "A | *bow*."; use note; prompt "PROMPT.md"; check not-empty as full; check run "true" as ran }
"""
LISTED = """\
mini (3 cases)  Small things that need no tools.
  bow        2 checks            A | *bow*.
  greeting   4 checks, 1 judge   Writes a greeting.
  wave       1 check             Waves, twice.

more (0 cases)
"""
CATALOGUE = """\
<!-- Written by `evalkit list --markdown --write` from the cases. Change them, not this file. -->

# mini

Small things that need no tools.

3 cases. Run one with `doit run case:NAME`, all with `doit run suite:mini`.

| Case | What it is about | Graded by | Proven by |
| --- | --- | --- | --- |
| [bow](two.eval) | A \\| \\*bow\\*. | 2 checks |  |
| [greeting](greeting/greeting.eval) | Writes a greeting. | 4 checks, 1 judge | a right answer, 1 wrong |
| [wave](two.eval) | Waves, twice. | 1 check |  |
"""


@pytest.fixture
def mini(project: MiniProject, monkeypatch: pytest.MonkeyPatch) -> MiniProject:
    """A project with three cases in one suite, and another suite without any; the current folder."""
    project.write("cases/mini/two.eval", TWO)
    project.write("cases/mini/PROMPT.md", "Do it.\n")
    project.write("cases/more/suite.eval", "suite more { }\n")
    monkeypatch.chdir(project.root)
    return project


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert 0 == main(["list", *words])
    return capsys.readouterr().out


def failed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert 2 == main(["list", *words])
    out, err = capsys.readouterr()
    assert "" == out
    return err


def names(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    return [case["name"] for case in json.loads(listed(capsys, "--json", *words))]


def test_for_people(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Suites with their cases: how each is graded and what it is about, one a line."""
    assert LISTED == listed(capsys)


def test_selection(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Cases and suites by name, by wildcard, and as tasks are named; each once."""
    assert ["bow", "greeting", "wave"] == names(capsys)
    assert ["bow", "greeting", "wave"] == names(capsys, "mini", "wave")
    assert ["bow", "wave"] == names(capsys, "w*", "case:bow")
    assert ["bow", "greeting", "wave"] == names(capsys, "suite:m*")
    assert [] == names(capsys, "more")
    assert "more (0 cases)\n" == listed(capsys, "suite:more")


def test_unknown(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """A name that means nothing gets a hint."""
    assert "error: no case and no suite is named `wavy`\n  did you mean `wave`?\n" == failed(capsys, "bow", "wavy")
    assert "error: no case and no suite is named `case:mini`\n" in failed(capsys, "case:mini")
    assert "error: no case and no suite is named `suite:bow`\n" in failed(capsys, "suite:bow")


def test_for_programs(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Plain data, everything under its name."""
    assert [{
        "name": "greeting", "suite": "mini", "about": "Writes a greeting.", "tags": [],
        "origin": "cases/mini/greeting/greeting.eval:1:1", "units": ["greeting"],
        "checks": ["own", "greets", "finished", "not-empty"], "judges": ["tone"], "solution": True, "wrong": ["rude"],
    }] == json.loads(listed(capsys, "greeting", "--json"))


def test_the_catalogue(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """A suite's cases in Markdown; texts are shown as they are written, whatever they mean in Markdown."""
    assert CATALOGUE == listed(capsys, "--markdown", "bow")
    both = listed(capsys, "--markdown")
    assert both.startswith(CATALOGUE + "\n<!-- Written by")
    assert both.endswith("\n# more\n\n0 cases. Run one with `doit run case:NAME`, all with `doit run suite:more`.\n")


def test_a_case_that_says_nothing_of_itself(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """A short prompt tells what it is about; a long one, or one of many lines, does not. Tiers are a column."""
    mini.write("cases/more/suite.eval", "suite more { scaffold copy \"empty\"; tier easy; check run \"true\" }\n")
    mini.write("cases/more/empty/.keep", "")
    mini.write("cases/more/all.eval", f"""case one easy "Do | it" {{ }}
case two "{'x' * 121}" {{ }}
case three {{ prompt \"\"\"
  Do it.
  Twice.
  \"\"\" }}
case four "Do it" {{ about "Said." }}
""")
    rows = listed(capsys, "--markdown", "more").splitlines()[-5:]
    assert ["| --- | --- | --- | --- |", "| [four](all.eval) |  | Said. | 1 check |",
            '| [one](all.eval) | easy | "Do \\| it" | 1 check |', "| [three](all.eval) |  |  | 1 check |",
            "| [two](all.eval) |  |  | 1 check |"] == rows


def test_the_catalogue_is_written_where_it_is_not_true(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes that are right are left alone; a link stays a link."""
    assert "cases/mini/README.md\ncases/more/README.md\n" == listed(capsys, "--markdown", "--write")
    assert CATALOGUE == mini.read("cases/mini/README.md")
    before = mini.path("cases/mini/README.md").stat()
    mini.path("cases/more/README.md").write_text("<!-- Written by `evalkit list --markdown --write` from the cases. "
                                                 "Change them, not this file. -->\nold")
    assert "cases/mini/README.md   (was true)\ncases/more/README.md\n" == listed(capsys, "--markdown", "--write")
    after = mini.path("cases/mini/README.md").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert "0 cases." in mini.read("cases/more/README.md")


def test_what_a_person_wrote_stays(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """A README.md that is no catalogue is not overwritten, and no other one is written then."""
    mini.write("cases/more/README.md", "# Mine\n")
    assert "error: cases/more/README.md is no catalogue; nothing was written\n" in failed(
        capsys, "--markdown", "--write")
    assert "# Mine\n" == mini.read("cases/more/README.md")
    assert not mini.path("cases/mini/README.md").exists()
    assert "error: `--write` writes catalogues\n" in failed(capsys, "--write")


def test_terminal_controls_are_shown(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """What a case is about cannot change what the terminal shows."""
    mini.edit("cases/mini/two.eval", "A | *bow*.", "A \\u{1b}[2J \\u{202e}bow.")
    assert "A \\u{1b}[2J \\u{202e}bow.\n" in listed(capsys, "bow")


def test_a_project_with_errors(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """What is wrong is told with its place."""
    mini.write("cases/mini/broken.eval", "case x { abuot 1 }")
    assert "cases/mini/broken.eval:1:10" in failed(capsys)


def test_the_catalogues_of_this_repository_are_true() -> None:
    """Each suite's README.md is what `evalkit list --markdown --write` would write."""
    project = load_project(ROOT)
    assert project.suites
    for suite in project.suites.values():
        assert catalogue(project, suite) == (ROOT / suite.folder / "README.md").read_text(encoding="utf-8")
