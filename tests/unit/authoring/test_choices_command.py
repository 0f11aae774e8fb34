"""`evalkit choices`: the table of all choices, and where each is set."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from evalkit import cli
from evalkit.authoring.choices import Choice, as_markdown, choices_of
from evalkit.errors import UserError
from evalkit.plan.choices import CHOICES

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to be in, without a choice of the person who runs the tests."""
    for name in os.environ:
        if name.startswith("EVALKIT_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(name: str, environ: dict[str, str], root: Path) -> tuple[Any, str]:
    choice = next(choice for choice in choices_of(environ, root) if choice.name == name)
    return choice.value, choice.source


def test_nothing_is_set(root: Path) -> None:
    """Every choice has its default, in the order in which they are declared."""
    expected = [Choice(choice.name, choice.default, "default", choice.default, choice.about)
                for choice in CHOICES]

    assert expected == choices_of({}, root)


def test_a_choice_is_told_with_the_place_that_won(root: Path) -> None:
    """A variable wins over pyproject.toml; a value that is the default is told as set, too."""
    (root / "pyproject.toml").write_text('[tool.evalkit]\ntrials = 3\nrun = "mine"\njudge = "auto"\n')
    environ = {"EVALKIT_TRIALS": "4", "EVALKIT_RUN": "", "EVALKIT_CACHE": "/x"}

    assert (4, "EVALKIT_TRIALS") == found("trials", environ, root)
    assert ("mine", "pyproject.toml") == found("run", environ, root)
    assert ("auto", "pyproject.toml") == found("judge", environ, root)
    assert ("auto", "default") == found("agent", environ, root)


def test_a_value_that_cannot_be_is_an_error(root: Path) -> None:
    """As it would be for a run."""
    with pytest.raises(UserError) as caught:
        choices_of({"EVALKIT_TRIALS": "many"}, root)

    assert "`trials=many` (from the environment) is not valid" == caught.value.message


def test_the_table(root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A line a choice, values as they are written on a command line; `-` where nothing is chosen."""
    monkeypatch.setenv("EVALKIT_DRY", "yes")

    assert 0 == cli.main(["choices"])
    lines = capsys.readouterr().out.splitlines()
    assert len(CHOICES) + 1 == len(lines)
    assert ["choice", "value", "from", "default", "what"] == lines[0].split()[:5]
    cells = {line.split()[0]: line.split()[1:4] for line in lines[1:]}
    assert ["1", "EVALKIT_DRY", "0"] == cells["dry"]
    assert ["-", "default", "-"] == cells["trials"]


def test_as_data(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` has the same for programs."""
    (root / "pyproject.toml").write_text("[tool.evalkit]\nkeep_workspaces = true\n")

    assert 0 == cli.main(["choices", "--json"])
    data = {choice.pop("name"): choice for choice in json.loads(capsys.readouterr().out)}
    about = next(choice.about for choice in CHOICES if choice.name == "keep_workspaces")
    assert {"value": True, "from": "pyproject.toml", "default": False, "about": about} == data["keep_workspaces"]
    assert {choice.name for choice in CHOICES} == set(data)


def test_the_page_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    """docs/choices.md is what `evalkit choices --markdown` prints."""
    assert 0 == cli.main(["choices", "--markdown"])
    assert as_markdown() == capsys.readouterr().out
    assert (ROOT / "docs" / "choices.md").read_text(encoding="utf-8") == as_markdown()


def test_the_page_has_a_row_of_every_choice() -> None:
    """With its default, where it has one."""
    rows = [line for line in as_markdown().splitlines() if line.startswith("| `")]

    assert [f"| `{choice.name}` |" for choice in CHOICES] == [" ".join(row.split()[:3]) for row in rows]
    assert "| `run` | `latest` | " in as_markdown()
    assert "| `trials` | | " in as_markdown()
