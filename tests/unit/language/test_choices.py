"""The choices of a run, from three places."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from evalkit import plugins
from evalkit.errors import UserError
from evalkit.execute.agents.registry import Agents
from evalkit.plan.choices import CHOICES, Choices, read_choices
from evalkit.plan.trials import Subject
from evalkit.plugins import Plugin


def pyproject(root: Path, text: str) -> Path:
    (root / "pyproject.toml").write_text(text, encoding="utf-8")
    return root


def refused(root: Path, command_line: dict[str, str] | None = None, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(UserError) as caught:
        read_choices(command_line or {}, environ or {}, root)
    return str(caught.value)


def test_nothing_chosen_is_the_default(tmp_path: Path) -> None:
    """Without a pyproject.toml, a variable or a word on the command line, the defaults hold."""
    assert Choices() == read_choices({}, {}, tmp_path)
    assert Choices() == read_choices({}, {}, pyproject(tmp_path, "[tool.other]\nx = 1\n"))


def test_the_command_line_wins_over_a_variable_and_a_variable_over_pyproject(tmp_path: Path) -> None:
    """Each choice is taken from the first of the three places that has it."""
    pyproject(tmp_path, '[tool.evalkit]\ntrials = 2\nmodel = "p/p"\nrun = "p"\ncases = "evals"\n')
    environ = {"EVALKIT_TRIALS": "3", "EVALKIT_MODEL": "e/e", "EVALKIT_CACHE": "/x", "OTHER": "1", "EVALKIT_RUN": ""}

    assert Choices(trials=4, model=("e/e",), run="p", cases="evals") == read_choices({"trials": "4"}, environ, tmp_path)


@pytest.mark.parametrize(("text", "expected"), [
    ("1", True), ("true", True), ("YES", True), (" on ", True), ("0", False), ("false", False), ("no", False),
    ("Off", False), ("", False),
])
def test_flags(text: str, expected: bool, tmp_path: Path) -> None:
    """A flag has several spellings."""
    assert expected == read_choices({"dry": text}, {}, tmp_path).dry


def test_toml_values_are_read_as_they_are_meant(tmp_path: Path) -> None:
    """A boolean is a flag and an integer a number."""
    choices = read_choices({}, {}, pyproject(tmp_path, "[tool.evalkit]\nkeep_workspaces = true\ntrials = 5\n"))

    assert (True, 5) == (choices.keep_workspaces, choices.trials)


GATEWAY = ("an address such as http://127.0.0.1:8080, the path of a script or a cassette (x.yaml), record:PATH or "
           "direct")
AGENTS = "auto, claude, api, tools, palette, command, oracle, nop, wrong:NAME, replay:PATH, command:LINE"


@pytest.mark.parametrize(("name", "value", "hint"), [
    ("agent", "codex", f"agent is one of {AGENTS}"),
    ("agent", "clade", f"agent is one of {AGENTS}; did you mean `claude`?"),
    ("agent", "wrong:", f"agent is one of {AGENTS}"),
    ("model", "a b", "model is one word, or several with commas between them"),
    ("judge", "maybe", "judge is one of auto, on, off"),
    ("trials", "0", "trials is a whole number from 1 to 1000"),
    ("trials", "1001", "trials is a whole number from 1 to 1000"),
    ("trials", "9" * 5000, "trials is a whole number from 1 to 1000"),
    ("trials", "٣", "trials is a whole number from 1 to 1000"),
    ("run", "../x", "run is a name of letters, digits, `.`, `_` and `-`; `dry` and `prove` are evalkit's own"),
    ("run", "dry", "run is a name of letters, digits, `.`, `_` and `-`; `dry` and `prove` are evalkit's own"),
    ("dry", "perhaps", "dry is 1 or 0"),
    ("gateway", "https://user:key@host", "gateway is an address such as http://127.0.0.1:8080, "
                                         "without a user name or password"),
    ("gateway", "dirct", f"gateway is {GATEWAY}"), ("gateway", "ftp://host/x.yaml", f"gateway is {GATEWAY}"),
    ("gateway", "record:", f"gateway is {GATEWAY}"),
])
def test_a_bad_value_says_what_is_good(name: str, value: str, hint: str, tmp_path: Path) -> None:
    """The message names the choice, the value, the place and what can be chosen."""
    assert f"`{name}={value}` (from the command line) is not valid\n  {hint}" == refused(tmp_path, {name: value})


@pytest.mark.parametrize("name", ["budget", "trials", "jobs", "retries"])
def test_a_boolean_is_no_number(name: str, tmp_path: Path) -> None:
    """In TOML they are two things; a choice of yes or no takes both."""
    (tmp_path / "pyproject.toml").write_text(f"[tool.evalkit]\nfresh = true\nwhy = 1\n{name} = true\n")
    with pytest.raises(UserError, match=rf"`{name}=true` \(from \[tool.evalkit\] in pyproject.toml\) is not valid"):
        read_choices({}, {}, tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.evalkit]\nfresh = true\nwhy = 1\ndry = false\n")
    found = read_choices({}, {}, tmp_path)
    assert (True, True, False) == (found.fresh, found.why, found.dry)


@pytest.mark.parametrize(("name", "value", "expected"), [
    ("agent", "wrong:a b", "wrong:a b"), ("gateway", "http://127.0.0.1:80/", "http://127.0.0.1:80"),
    ("gateway", "direct", "direct"), ("gateway", "cassettes/x.yaml", "cassettes/x.yaml"), ("gateway", "x.y", "x.y"),
    ("gateway", "record:a b.jsonl@http://host/", "record:a b.jsonl@http://host"), ("gateway", "record:x", "record:x"),
    ("run", "2025-01.a_b", "2025-01.a_b"), ("claude", "/opt/x y", "/opt/x y"),
])
def test_good_values(name: str, value: str, expected: str, tmp_path: Path) -> None:
    """What can be chosen is taken as it is; an address loses its last slash."""
    assert expected == getattr(read_choices({name: value}, {}, tmp_path), name)


def test_agents_of_plug_ins_are_named_among_the_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are, each once: one that has the name of an agent of evalkit's own is not it."""
    names = ["claude", *(f"of-another-{number}" for number in range(20))]
    monkeypatch.setattr(plugins, "_all", lambda group: tuple(
        Plugin(group, name, "evalkit-wordy", "0.1.0", EntryPoint(name, "m", group)) for name in names))
    told = refused(tmp_path, {"agent": "foo"}).split(", ")
    assert [1] * len(names) == [sum(name in word.split() for word in told) for name in names]
    with pytest.raises(UserError) as raised:
        Agents(None, None, tmp_path).of(Subject("foo"))
    assert all(f"`{name}`" in raised.value.hint for name in names)


def test_an_unknown_choice_is_an_error_with_the_nearest_one(tmp_path: Path) -> None:
    """On the command line and in pyproject.toml; other EVALKIT_* variables are no choices."""
    assert "`trails` is not a choice (from the command line)\n  did you mean `trials`?" == refused(
        tmp_path, {"trails": "1"})
    pyproject(tmp_path, "[tool.evalkit]\nmodl = 1\n")
    assert "`modl` is not a choice (from [tool.evalkit] in pyproject.toml)\n  did you mean `model`?" == refused(
        tmp_path)


@pytest.mark.parametrize(("text", "message"), [
    ("[tool.evalkit", "pyproject.toml cannot be read: "),
    ("tool = 1", "`tool` in pyproject.toml is not a table"),
    ("[tool]\nevalkit = 1", "`evalkit` in pyproject.toml is not a table"),
])
def test_a_broken_pyproject_is_the_persons_mistake(text: str, message: str, tmp_path: Path) -> None:
    """It is told as one, not as a bug."""
    assert refused(pyproject(tmp_path, text)).startswith(message)


def test_every_choice_says_what_it_is() -> None:
    """Each has a line for the help."""
    assert all(choice.about for choice in CHOICES)
