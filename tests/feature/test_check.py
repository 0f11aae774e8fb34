"""`evalkit check` as a person, a hook or a CI job uses it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from attrs import frozen

from evalkit import cli
from tests.unit.lint.project import CASE, write

WARNED = 'check grep "*.txt" has "Cards" as cards\n'
BROKEN = "case broken {\n  abuot 2\n}\n"
TEXT = """\
error[E010]: unknown keyword `abuot`
 --> cases/s/broken.eval:2:3
  |
2 |   abuot 2
  |   ^^^^^
  = did you mean `about`?

1 error in 2 cases
"""


@frozen
class Done:
    status: int
    out: str
    err: str = ""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one case that nothing is wrong with; the current folder."""
    write(tmp_path, {})
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    return tmp_path


def check(capsys: pytest.CaptureFixture[str], *args: str) -> Done:
    return Done(cli.main(["check", *args]), *capsys.readouterr())


def test_nothing_to_say(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, status 0."""
    assert Done(0, "1 case, nothing to say\n") == check(capsys)


def test_cases_are_counted_by_tier(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where there are tiers; those of the cases that were asked for."""
    heads = {"two": "two hard", "three": "three hard", "four": "four easy"}
    write(home, {"case.eval": "".join(CASE.replace("PROMPT.md", "it/PROMPT.md").replace('"solution"', '"it/solution"')
                                      .replace("wrong/one", "it/wrong/one").replace("case it", f"case {head}")
                                      for head in heads.values())}, suite="  tier easy\n  tier hard\n")
    assert "4 cases (2 hard, 1 easy, 1 without a tier)" in check(capsys).out
    assert "1 case (1 easy)" in check(capsys, "four").out


def test_an_error(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All is drawn and counted on standard output; status 1."""
    (home / "cases/s/broken.eval").write_text(BROKEN)

    assert Done(1, TEXT) == check(capsys)


def test_warnings(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are no failure, but with `--strict`."""
    write(home, {}, case=WARNED)

    done = check(capsys)
    assert (0, "1 warning in 1 case") == (done.status, done.out.splitlines()[-1])
    assert Done(1, done.out) == check(capsys, "--strict")


def test_errors_and_warnings_together(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A case with an error in what it means keeps nobody from looking at the others."""
    write(home, {"two/two.eval": CASE.replace("case it", "case two").replace("use app", "use ap")}, case=WARNED)
    lines = check(capsys).out.splitlines()

    codes = [line.split(":")[0] for line in lines if line.startswith(("error", "warning"))]
    assert "warning[W001]" == codes[0]
    assert {"error[E020]", "error[E040]"} <= set(codes)
    assert lines[-1].endswith(", 1 warning in 2 cases")


def test_a_part_of_the_project(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file, a folder or a case: what concerns it is told. That other errors are in the way is said."""
    write(home, {"two/two.eval": CASE.replace("case it", "case two"), "two/PROMPT.md": "Do it.", "two/solution/a": "",
                 "two/wrong/one/a": "", "broken.eval": BROKEN}, case=WARNED)
    away = "warnings were not looked for: other files have errors (evalkit check)\n"

    assert Done(0, "1 case, nothing to say\n", away) == check(capsys, "cases/s/two")
    assert Done(0, "1 case, nothing to say\n", away) == check(capsys, "Two")
    assert Done(1, TEXT.replace("2 cases", "1 case")) == check(capsys, "cases/s/broken.eval")
    assert 1 == check(capsys, "cases").status
    (home / "cases/s/broken.eval").unlink()
    assert Done(0, "1 case, nothing to say\n") == check(capsys, "two")
    for place in ("it", "cases/s/it/", "./cases/s/it/it.eval"):
        assert "1 warning in 1 case" == check(capsys, place).out.splitlines()[-1]
    assert "1 warning in 2 cases" == check(capsys, "it", "two").out.splitlines()[-1]


def test_an_error_of_the_suite_concerns_its_cases(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A case whose suite is broken cannot be fine."""
    write(home, {}, suite="abuot 2\n")

    assert "1 error in 1 case" == check(capsys, "it").out.splitlines()[-1]


def test_a_skill_belongs_to_the_case_that_names_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is found in a file that a case names is told with the case."""
    write(home, {"it/skills/writing/SKILL.md": ""}, case='skills writing from "skills"\n')

    assert "warning[W004]" in check(capsys, "it").out


@pytest.mark.parametrize(("path", "message"), [
    ("nothing", "there is no file, folder or case `nothing`"), ("its", "did you mean `it`?"),
    ("notes", "there is no case file of this project in `notes`"),
])
def test_what_is_named_must_be_there(path: str, message: str, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Status 2, and the nearest name."""
    (home / "notes").mkdir()

    done = check(capsys, path)
    assert (2, "") == (done.status, done.out)
    assert message in done.err


def test_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One object; ends are behind the last character; notes have places as well."""
    write(home, {}, case=WARNED)

    done = check(capsys, "--format", "json")
    assert {"schema": 1, "findings": [{
        "code": "W001", "severity": "warning",
        "message": "the prompt of `it` contains `Cards`, which this check looks for",
        "file": "cases/s/it/it.eval", "line": 2, "column": 24, "end_line": 2, "end_column": 31,
        "help": "ask for the behaviour and look for it another way; where the name is part of the task: "
                'allow W001 "the task pins this name"',
        "notes": [{"message": "the prompt says it here", "file": "cases/s/it/PROMPT.md", "line": 2, "column": 1,
                   "end_line": 2, "end_column": 6}],
    }]} == json.loads(done.out)
    (home / "cases/s/it/it.eval").write_text(CASE)
    assert {"schema": 1, "findings": []} == json.loads(check(capsys, "--format", "json").out)


def test_github(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Annotations, escaped as GitHub wants it, with paths from the root of the checkout; and the count."""
    odd = home / "cases/s/a,b: 100%.eval"
    odd.write_text(BROKEN.replace("abuot", '"%"'))
    expected = ("::error file=cases/s/a%2Cb%3A 100%25.eval,line=2,col=3,title=E012::`\"%25\"` cannot stand here%0A"
                "expected `about`, ")
    done = check(capsys, "--format", "github")
    assert done.out.startswith(expected)
    assert "1 error in 2 cases" == done.out.splitlines()[-1]

    monkeypatch.setenv("GITHUB_WORKSPACE", str(home.parent))
    assert f"::error file={home.name}/cases/s/a" in check(capsys, "--format", "github").out


def test_names_that_are_not_utf8(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are shown as escapes, in every format."""
    (home / "cases/s/it/caf\udce9").write_text("")
    for form, shown in (("text", r"`caf\u{dce9}`"), ("json", r"`caf\\udce9`"), ("github", r"`caf\udce9`")):
        assert shown in check(capsys, "--format", form).out


def test_colour_is_for_terminals(home: Path, capsys: pytest.CaptureFixture[str],
                                 monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in a pipe, and not where NO_COLOR is set."""
    (home / "cases/s/broken.eval").write_text(BROKEN)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" not in check(capsys).out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert "\x1b[1;31merror[E010]\x1b[0m\x1b[1m: unknown keyword `abuot`\x1b[0m\n" in check(capsys).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in check(capsys).out


def test_a_folder_is_no_project(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said how to begin one."""
    monkeypatch.chdir(tmp_path)

    done = check(capsys)
    assert 2 == done.status
    assert "there is no project in this folder" in done.err
