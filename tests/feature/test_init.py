"""`evalkit init` as a person uses it: what it makes runs at once, and what was there stays."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from evalkit.analysis import load_project
from evalkit.authoring import init
from evalkit.authoring.fmt import formatted
from evalkit.authoring.make import make_files, template, template_tree
from evalkit.cli import main
from evalkit.errors import HarnessError, UserError
from evalkit.plan.choices import read_choices
from evalkit.syntax import Source
from tests.feature.project import MiniProject

MADE = [
    ".gitignore",
    "cases/first/skeleton/README.md",
    "cases/first/slugify/hidden/test_hidden.py",
    "cases/first/slugify/slugify.eval",
    "cases/first/slugify/solution/slug.py",
    "cases/first/slugify/starter/slug.py",
    "cases/first/slugify/starter/test_slug.py",
    "cases/first/slugify/wrong/no-accents/slug.py",
    "cases/first/suite.eval",
    "dodo.py",
    "pyproject.toml",
]
SAID = """\
made in {folder}:
{files}
next:
  cd 'my evals ü'
  doit run case:slugify                          # plays the right answer: every check passes
  doit run case:slugify agent=wrong:no-accents   # plays a wrong one: a check catches it
  evalkit new case NAME                          # starts a case of yours
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_new_project_runs_at_once(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a folder whose name has blanks and umlauts: the answer passes, doing nothing and the wrong answer fail."""
    assert 0 == main(["init", "my evals ü"])
    folder = here / "my evals ü"
    assert SAID.format(folder=folder, files="\n".join(f"  {name}" for name in MADE)) == capsys.readouterr().out
    assert files(folder) == MADE
    project = MiniProject(folder)
    right, nothing = project.doit("run", "case:slugify"), project.doit("run", "case:slugify", "agent=nop")
    wrong = project.doit("run", "case:slugify", "agent=wrong:no-accents")
    assert [0, 1, 1] == [right.status, nothing.status, wrong.status]
    assert "1 passed (self-check: reference answer, no model was called)" in right.out
    assert ["own-tests", "hidden"] == re.findall(r"^  ✗ (\S+)", nothing.out, re.MULTILINE)
    assert ["hidden"] == re.findall(r"^  ✗ (\S+)", wrong.out, re.MULTILINE)
    assert "a known wrong answer: hidden must fail, and that is so" in wrong.out


def test_a_new_project_is_without_fault(here: Path, monkeypatch: pytest.MonkeyPatch,
                                        capsys: pytest.CaptureFixture[str]) -> None:
    """The linter finds nothing to say about it, nor about a new suite with a new case."""
    assert 0 == main(["init", "evals"])
    monkeypatch.chdir(here / "evals")
    assert [0, 0] == [main(["new", "suite", "more"]), main(["new", "case", "mine", "--suite", "more"])]
    capsys.readouterr()
    assert 0 == main(["check", "--strict"])
    assert ("2 cases, nothing to say\n", "") == capsys.readouterr()


def test_the_current_folder(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a folder it is this one; the suite can be named."""
    assert 0 == main(["init", "--suite", "apps"])
    assert [name.replace("first", "apps") for name in MADE] == files(here)
    assert "next:\n  doit run case:slugify " in capsys.readouterr().out
    assert ["apps"] == list(load_project(here).suites)


def test_nothing_is_overwritten(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files that are there are named, status 2, and nothing is made or changed."""
    (here / "cases/first").mkdir(parents=True)
    (here / "cases/first/suite.eval").write_text("mine")
    (here / "dodo.py").symlink_to("nowhere")
    (here / ".gitignore").write_text("mine\n")
    assert 2 == main(["init"])
    expected = (f"error: cases/first/suite.eval, dodo.py are there already in {Path()}; nothing was written\n"
                "  nothing is ever overwritten: choose another folder or name, or move what is there\n")
    assert ("", expected) == capsys.readouterr()
    assert [".gitignore", "cases/first/suite.eval"] == files(here)
    assert "mine\n" == (here / ".gitignore").read_text()


def test_twice(capsys: pytest.CaptureFixture[str]) -> None:
    """A project is not started a second time."""
    assert [0, 2] == [main(["init", "evals"]), main(["init", "evals"])]
    assert "dodo.py" in capsys.readouterr().err


def test_lines_are_appended(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pyproject.toml and a .gitignore that are there keep what they say and get what they lack."""
    (here / "pyproject.toml").write_bytes(b'[project]\r\nname = "mine"')
    (here / ".gitignore").write_text("results\n*.log")
    assert 0 == main(["init"])
    data = (here / "pyproject.toml").read_bytes()
    assert data.startswith(b'[project]\r\nname = "mine"\r\n\r\n# How doit finds evalkit.')
    assert data.count(b"\n") == data.count(b"\r\n")
    ours = tomllib.loads(template("project/pyproject.toml"))
    assert {"project": {"name": "mine"}, **ours} == tomllib.loads(data.decode())
    assert "results\n*.log\n.evalkit/\n__pycache__/\n" == (here / ".gitignore").read_text()
    assert "  pyproject.toml   (lines were appended)\n" in capsys.readouterr().out


def test_lines_that_are_there_are_enough(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A pyproject.toml that says all already is left as it is; its folder of cases is used."""
    text = template("project/pyproject.toml") + 'cases = "evals"\n'
    (here / "pyproject.toml").write_text(text)
    assert 0 == main(["init"])
    assert text == (here / "pyproject.toml").read_text()
    assert ["slugify"] == list(load_project(here, read_choices({}, {}, here).cases).cases)
    assert "  pyproject.toml   (was there, and says all that is needed)\n" in capsys.readouterr().out


@pytest.mark.parametrize("text", [
    '[tool.doit]\nloader = "mine"\n', '[tool.doit.plugins.command]\nmine = "x"\n', 'tool = { other = 1 }\n',
    '[tool.doit]\nloader = "evalkit"\nbackend = "evalkit"\nplugins = 1\n',
])
def test_a_pyproject_of_its_own_mind(here: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    """Where doit has been told something else, the lines are shown, and nothing is made."""
    (here / "pyproject.toml").write_text(text)
    assert 2 == main(["init"])
    lines = template("project/pyproject.toml").split("\n\n# What holds")[0].replace("\n", "\n    ")
    assert capsys.readouterr().err == (
        "error: pyproject.toml says something of its own about doit; nothing was written\n"
        f"  see that it says this, then run `evalkit init` again:\n    {lines}\n")
    assert ["pyproject.toml"] == files(here)
    assert text == (here / "pyproject.toml").read_text()


def test_a_pyproject_that_is_broken(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be read is not added to."""
    (here / "pyproject.toml").write_text("[tool\n")
    assert 2 == main(["init"])
    assert "error: pyproject.toml cannot be read: " in capsys.readouterr().err
    assert ["pyproject.toml"] == files(here)


def test_no_folder(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file, and a link that leads nowhere, are no folders for a project."""
    (here / "file").touch()
    (here / "link").symlink_to("nowhere")
    for name in ("file", "link"):
        assert 2 == main(["init", name])
        assert f"error: {name} is not a folder\n" == capsys.readouterr().err
    assert 2 == main(["init", "file/below"])
    assert "error: cannot write file/below: Not a directory\n" in capsys.readouterr().err
    assert ["file"] == files(here)


def test_what_was_made_goes_where_not_all_can_be(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full in the middle leaves neither files nor folders behind; what was there stays."""
    (here / "there").mkdir()
    real = Path.open

    def full(path: Path, mode: str = "r", **options: str) -> object:
        if path.name == "b.txt":
            raise OSError(28, "No space left on device", str(path))
        return real(path, mode, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(UserError, match="No space left on device"):
        make_files(here, {"there/a.txt": "a", "new/deep/a.txt": "a", "new/b.txt": "b"})
    assert ["there"] == sorted(path.relative_to(here).as_posix() for path in here.rglob("*"))


def test_a_folder_that_cannot_be_written(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names it; status 2."""
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert 2 == main(["init", "locked"])
    assert ("error: cannot write locked: Permission denied\n"
            "  nothing was made; choose a folder that you can write in\n") == capsys.readouterr().err


def test_a_pyproject_that_cannot_be_written(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All else is made, and the lines that are missing are shown."""
    def refuse(path: Path, data: bytes) -> None:
        raise HarnessError(f"cannot write {path}: the file is read-only")

    (here / "pyproject.toml").touch()
    monkeypatch.setattr(init, "replace_file", refuse)
    assert 2 == main(["init"])
    err = capsys.readouterr().err
    assert err.startswith("error: all is made but for pyproject.toml, which cannot be written: ")
    assert '\n    [tool.doit]\n    loader = "evalkit"\n' in err
    assert MADE == files(here)


def test_a_bad_suite_name(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The suite's name is one of the language."""
    assert 2 == main(["init", "--suite", "../up"])
    assert "error: `../up` is no name for a suite\n" in capsys.readouterr().err
    assert [] == files(here)


def test_the_templates_are_in_canonical_form() -> None:
    """`evalkit fmt` has nothing to do in a new project."""
    for name, text in template_tree("project").items():
        if name.endswith(".eval"):
            text = text.replace("@suite@", "first")
            assert text == formatted(Source(Path(name), name, text))
