"""`evalkit show` as a person and a program use it."""

from __future__ import annotations

import json

import pytest

from evalkit.analysis.model import Case
from evalkit.cli import main
from evalkit.records import structure
from tests.feature.project import MiniProject

TRACKS = """
  track ts { starter "starter" }
  track zig { }
}
"""
HEAD = """\
greeting
  suite             mini                                cases/mini/suite.eval:1
  about             Writes a greeting.                  cases/mini/greeting/greeting.eval:2
  folder            cases/mini/greeting
  prompt            Write a greeting into answer.txt.   cases/mini/greeting/greeting.eval:5
  profile           note                                cases/mini/greeting/greeting.eval:3
  setup
    scaffold        cases/mini/skeleton                 cases/mini/suite.eval:7
    starter         cases/mini/greeting/starter         cases/mini/greeting/greeting.eval:4
    skills
      writing       cases/mini/skills/writing           cases/mini/suite.eval:8
    caches          cache                               cases/mini/suite.eval:9
  limits
    turns           5                                   cases/mini/suite.eval:4
    time            30s                                 cases/mini/suite.eval:4
  agent             claude                              default
    allow           Bash(ls *)                          cases/mini/suite.eval:3
"""


@pytest.fixture
def mini(project: MiniProject, monkeypatch: pytest.MonkeyPatch) -> MiniProject:
    """The small project; the current folder."""
    monkeypatch.chdir(project.root)
    return project


@pytest.fixture
def tracks(mini: MiniProject) -> MiniProject:
    """The same with two tracks and two arms."""
    text = mini.read("cases/mini/greeting/greeting.eval").rstrip().removesuffix("}")
    mini.write("cases/mini/greeting/greeting.eval", text + TRACKS)
    mini.edit("cases/mini/suite.eval", "  profile", "  arm plain { }\n  arm bare { skills none }\n  profile")
    return mini


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert 0 == main(["show", *words])
    return capsys.readouterr().out


def failed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert 2 == main(["show", *words])
    out, err = capsys.readouterr()
    assert "" == out
    return err


def units(capsys: pytest.CaptureFixture[str], asked: str) -> list[str]:
    return [unit["unit"] for unit in json.loads(shown(capsys, asked, "--json"))]


def test_a_case(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """What holds for it, with the file and line that says so."""
    out = shown(capsys, "greeting")
    assert HEAD == out[: len(HEAD)]
    assert "--full" not in out


def test_long_texts(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """They are cut, and it is said how to see them."""
    mini.edit("cases/mini/greeting/greeting.eval", "answer.txt.\n", "answer.txt.\n      Be brief.\n")
    out = shown(capsys, "greeting")
    assert "Write a greeting into answer.txt. … (2 lines)" in out
    assert out.endswith("…: there is more; `--full` shows it\n")
    assert f"\n{'':<20}  Be brief.\n" in shown(capsys, "greeting", "--full")


def test_plain_data(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """The compiled unit, which can be read back."""
    (unit,) = json.loads(shown(capsys, "greeting", "--json"))
    assert "greeting" == unit.pop("unit")
    assert "cases/mini/suite.eval:4:18" == unit["origins"]["limits.turns"]
    assert 5 == structure(unit, Case).limits.turns


def test_units(tracks: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """A case means all of its units; a track and an arm narrow it down."""
    every = ["greeting@ts+plain", "greeting@ts+bare", "greeting@zig+plain", "greeting@zig+bare"]
    assert every == units(capsys, "greeting")
    assert every[:2] == units(capsys, "case:greeting@ts")
    assert every[1::2] == units(capsys, "greeting+bare")
    assert [every[3]] == units(capsys, "greeting@zig+bare")
    assert every == [line for line in shown(capsys, "greeting").splitlines() if line.startswith("greeting")]


def test_an_arm_that_stands_for_several(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """An arm that ablates means all the arms that it stands for."""
    arms = "  arm full { }\n  arm less { ablate guidance by section }\n"
    mini.edit("cases/mini/suite.eval", "  profile", arms + "  profile")
    mini.edit("cases/mini/greeting/greeting.eval", "  starter", '  guidance "guide.md"\n  starter')
    mini.write("cases/mini/greeting/guide.md", "## One\nx\n## Two\ny\n")
    assert ["greeting+full", "greeting+less.one", "greeting+less.two"] == units(capsys, "greeting")
    assert ["greeting+less.one", "greeting+less.two"] == units(capsys, "greeting+less")
    assert ["greeting+less.two"] == units(capsys, "greeting+less.two")


def test_unknown_names(tracks: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """They get a hint."""
    assert "error: there is no case `greetin`\n  did you mean `greeting`?\n" == failed(capsys, "greetin")
    assert "error: case `greeting` has no track `zag`\n  did you mean `zig`?\n" == failed(capsys, "greeting@zag")
    assert "error: case `greeting` has no arm `none`\n  known here: `bare`, `plain`\n" == failed(
        capsys, "greeting@ts+none")
    assert "error: `mini` is a suite\n  `evalkit list mini` shows its cases\n" == failed(capsys, "mini")


def test_no_tracks(mini: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """A case without tracks says so."""
    assert "error: case `greeting` has no track `ts`\n  it has no tracks at all\n" == failed(capsys, "greeting@ts")


def test_list_tells_tracks_and_arms(tracks: MiniProject, capsys: pytest.CaptureFixture[str]) -> None:
    """In `evalkit list` and in the catalogue."""
    assert 0 == main(["list"])
    assert "@ts+plain @ts+bare @zig+plain @zig+bare" in capsys.readouterr().out
    assert 0 == main(["list", "--markdown"])
    assert "| Tracks and arms |" in capsys.readouterr().out
