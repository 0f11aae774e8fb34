"""A kept project is the compiled one, and is compiled again when anything that it came from changes."""

from __future__ import annotations

import contextlib
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from evalkit.analysis import load_project, project
from evalkit.diagnostics import CaseErrors
from tests.unit.language.project import CASE, SUITE, write


def relink(link: Path, target: str) -> None:
    link.unlink()
    link.symlink_to(target)


CHANGES: dict[str, Callable[[Path], object]] = {
    "a case file": lambda home: (home / "it.eval").write_text(CASE.format('about "b"')),
    "a prompt": lambda home: (home / "PROMPT.md").write_text("Do that.\n"),
    "a prompt of the same size": lambda home: (home / "PROMPT.md").write_text("Do ot.\n"),
    "a case more": lambda home: (home / "two.eval").write_text(CASE.format("").replace("it", "two", 1)),
    "the suite": lambda home: (home / "suite.eval").write_text((home / "suite.eval").read_text() + "# a\n"),
    "an asset that goes": lambda home: (home / "solution" / "note.txt").unlink(),
    "a link in an asset": lambda home: (home / "solution" / "out").symlink_to("/etc/hosts"),
    "guidance": lambda home: (home / "skills/writing/SKILL.md").write_text("## Other\n"),
    "a link that leads elsewhere": lambda home: relink(home / "round", "skills"),
}


@pytest.fixture
def compiles(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Each project that is compiled, not read."""
    found: list[Path] = []
    compile_ = project._compile

    def counted(root: Path, folder: Path) -> object:
        found.append(root)
        return compile_(root, folder)

    monkeypatch.setattr(project, "_compile", counted)
    return found


def project_in(root: Path) -> Path:
    """A project that reads files of every kind: prompts, answers, and guidance that is taken apart."""
    suite = SUITE.rstrip("}\n") + '}\narm full { }\narm cut { guidance "skills"; ablate guidance by section }\n}'
    write(root, {"cases/s/it.eval": CASE.format('solution "solution"'),
                 "cases/s/skills/writing/SKILL.md": "## One\n\n## Two\n"}, suite=suite)
    return root


def test_nothing_changed(tmp_path: Path, compiles: list[Path]) -> None:
    """The same cases, without compiling."""
    project_in(tmp_path)
    first, second = load_project(tmp_path), load_project(tmp_path)
    assert first == second
    assert ["it+full", "it+cut.one", "it+cut.two"] == [unit.unit for unit in second.units["it"]]
    assert 1 == len(compiles)


def test_values_of_arguments_stay_what_they_are(tmp_path: Path, compiles: list[Path]) -> None:
    """`1`, `1.0` and `true` are equal, and not the same."""
    text = "".join(f'case c{number} "x" {{ expect f(a: {value}, b: [{value}]) }}\n'
                   for number, value in enumerate(("1", "true", "1.0", "0", "false")))
    write(tmp_path, {"cases/s/it.eval": text})

    def values() -> str:
        return repr([case.checks[0].spec for case in load_project(tmp_path).cases.values()])

    assert values() == values()
    assert 1 == len(compiles)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_changed_is_compiled(tmp_path: Path, compiles: list[Path], change: Callable[[Path], object]) -> None:
    """Whatever a project was compiled from, a change of it is seen, also within the clock's tick and of an old file."""
    for age in (0, 3600):
        root = tmp_path / str(age)
        project_in(root)
        for path in (root / "cases").rglob("*"):
            if age and not path.is_symlink():
                os.utime(path, (path.stat().st_mtime - age,) * 2)
        load_project(root)
        count = len(compiles)
        change(root / "cases" / "s")
        with contextlib.suppress(CaseErrors):
            load_project(root)
        assert count + 1 == len(compiles)


@pytest.mark.parametrize("data", [b"", b"x", pickle.dumps(os.getcwd), pickle.dumps((1, 2, 3)), pickle.dumps(print)])
def test_a_damaged_record(tmp_path: Path, compiles: list[Path], data: bytes) -> None:
    """A record that cannot be read, or asks for more than compiled cases, is made again."""
    write(tmp_path, {"cases/s/it.eval": CASE.format("")})
    first = load_project(tmp_path)
    for record in (tmp_path / ".evalkit/cache/compile").iterdir():
        record.write_bytes(data)
    assert first == load_project(tmp_path)
    assert 2 == len(compiles)


def test_errors_are_not_kept(tmp_path: Path, compiles: list[Path]) -> None:
    """A project with errors is compiled each time."""
    write(tmp_path, {"cases/s/it.eval": "case"})
    for _ in range(2):
        with pytest.raises(CaseErrors):
            load_project(tmp_path)
    assert 2 == len(compiles)
