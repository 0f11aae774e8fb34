"""A kept project is the compiled one, and is compiled again when anything that it came from changes."""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import pytest

from evalkit.analysis import cache, compile, index, load_project, model, pickles, project
from evalkit.authoring.check import check_project
from evalkit.diagnostics import CaseErrors
from evalkit.kept import write_kept
from tests.unit.language.project import CASE, SUITE, write

KEPT = ".evalkit/cache/compile"
FILES = ("index", "trace", "units")


def relink(link: Path, target: str) -> None:
    link.unlink()
    link.symlink_to(target)


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


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
    "a link outside, on the way of one": lambda home: relink(home.parents[1] / "way", "cases/s/skeleton"),
    "an empty folder": lambda home: (home / "new").mkdir(),
    "a file that nothing names": lambda home: (home / "wrong/one/more.txt").write_text("more"),
    "a file that becomes a folder": lambda home: as_folder(home / "empty.md"),
    "the permissions of a file": lambda home: (home / "PROMPT.md").chmod(0o600),
    "the permissions of a folder": lambda home: (home / "skills").chmod(0o500),
    "a file with its old time": lambda home: with_old_time(home / "PROMPT.md", "Do ot.\n"),
}


def with_old_time(path: Path, text: str) -> None:
    before = path.stat()
    path.write_text(text)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def settle() -> None:
    """Wait until what was written is old enough to be kept."""
    time.sleep(0.03)


@pytest.fixture
def compiles(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Each project that is compiled, not read."""
    found: list[Path] = []
    compile_ = compile.compile_files

    def counted(root: Path, *args: Any) -> object:
        found.append(root)
        return compile_(root, *args)

    monkeypatch.setattr(compile, "compile_files", counted)
    return found


def project_in(root: Path) -> Path:
    """A project that reads files of every kind: prompts, answers, and guidance that is taken apart."""
    suite = SUITE.rstrip("}\n") + '}\narm full { }\narm cut { guidance "skills"; ablate guidance by section }\n}'
    write(root, {"cases/s/it.eval": CASE.format('solution "solution"'),
                 "cases/s/skills/writing/SKILL.md": "## One\n\n## Two\n"}, suite=suite)
    (root / "way").symlink_to("cases/s/solution")
    (root / "cases/s/long-way").symlink_to(root / "way")
    settle()
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
    settle()

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
        settle()
        load_project(root)
        load_project(root)
        assert [root] == compiles[-1:]
        count = len(compiles)
        change(root / "cases" / "s")
        with contextlib.suppress(CaseErrors):
            load_project(root)
        assert count + 1 == len(compiles)


def test_what_was_just_written_is_not_kept(tmp_path: Path, compiles: list[Path],
                                           monkeypatch: pytest.MonkeyPatch) -> None:
    """Another change could bear the same time."""
    monkeypatch.setattr(cache, "_TICK", 3600 * 10**9)
    project_in(tmp_path)
    load_project(tmp_path)
    assert not (tmp_path / KEPT).exists()


def test_what_changes_while_it_is_compiled_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the file was read before."""
    project_in(tmp_path)
    compile_ = compile.compile_files

    def slow(root: Path, *args: Any) -> object:
        compiled = compile_(root, *args)
        (root / "cases/s/PROMPT.md").write_text("Do ot.\n")
        return compiled

    monkeypatch.setattr(compile, "compile_files", slow)
    load_project(tmp_path)
    assert not (tmp_path / KEPT).exists()


def test_a_copy_is_a_project_of_its_own(tmp_path: Path, compiles: list[Path]) -> None:
    """What was kept with the original says nothing about it."""
    first = load_project(project_in(tmp_path / "a"))
    shutil.copytree(tmp_path / "a", tmp_path / "b", symlinks=True)
    (tmp_path / "b/cases/s/PROMPT.md").write_text("Do ot.\n")
    assert "Do it.\n" == first.cases["it"].prompt
    assert "Do ot.\n" == load_project(tmp_path / "b").cases["it"].prompt


def test_another_evalkit_compiles_again(tmp_path: Path, compiles: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """And so does another user, who may not be allowed to read as much."""
    load_project(project_in(tmp_path))
    monkeypatch.setattr(index, "_FORMAT", 0)
    load_project(tmp_path)
    assert 2 == len(compiles)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    load_project(tmp_path)
    assert 3 == len(compiles)


@pytest.mark.parametrize("damage", [
    lambda data: b"", lambda data: b"x", lambda data: data[:-1], lambda data: data[:100] + b"!" + data[101:],
    lambda data: data[:-30] + b"!" + data[-29:], lambda data: data + b"!"])
@pytest.mark.parametrize("name", ["index", "units"])
def test_a_damaged_file(tmp_path: Path, compiles: list[Path], damage: Callable[[bytes], bytes], name: str) -> None:
    """One that is not whole is made again, at once or when somebody asks for what is damaged."""
    first = load_project(project_in(tmp_path))
    kept = tmp_path / KEPT / name
    data = kept.read_bytes()
    kept.write_bytes(damage(data))
    assert first == load_project(tmp_path)
    assert first == load_project(tmp_path)
    only_longer = damage(data).startswith(data)  # no more is read than there was
    assert (1 if only_longer else 2) == len(compiles)


class Calls:
    """What a pickle calls when somebody reads it."""

    def __init__(self, *call: object) -> None:
        self.call = call

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return self.call[0], self.call[1:]


def test_a_foreign_record_runs_nothing(tmp_path: Path, compiles: list[Path]) -> None:
    """Neither where it has a wrong key, as every foreign one has, nor where its key is right."""
    made = tmp_path / "made"
    data = pickle.dumps(Calls(os.mkdir, str(made)))
    first = load_project(project_in(tmp_path / "a"))
    for key in ("0" * 64, index.key_of(tmp_path / "a", "cases")):
        write_kept(tmp_path / "a" / KEPT / "index", key, data)
        assert first == load_project(tmp_path / "a")
    assert 3 == len(compiles)
    with pytest.raises(pickle.UnpicklingError):
        pickles.load(data)
    assert not made.exists()


@pytest.mark.parametrize("call", [
    Calls(getattr, "", "x"), Calls(os.getcwd), Calls(Path, "x"), Calls(re.compile, "x"), Calls(model.Case.skips, 1),
    Calls(eval, "1"), model.Case, attrs.field])
def test_only_compiled_cases_are_unpickled(call: object) -> None:
    """Any other function or class is refused; classes of the model are made by their constructors alone."""
    if call is model.Case:
        assert model.Case is pickles.load(pickle.dumps(call))
        return
    with pytest.raises(pickle.UnpicklingError):
        pickles.load(pickle.dumps(call))


def test_a_class_of_the_model_cannot_be_changed() -> None:
    """A pickle may set the state of what it has made. A class takes none."""
    data = pickle.dumps(model.Command, 2)[:-1] + pickle.dumps((None, {"words": 1}), 2)[2:-1] + pickle.BUILD
    with pytest.raises(TypeError):
        pickles.load(data + pickle.STOP)
    assert not isinstance(vars(model.Command)["words"], int)


def test_without_a_place_for_it(tmp_path: Path, compiles: list[Path]) -> None:
    """A project that cannot be written to is compiled each time."""
    project_in(tmp_path)
    (tmp_path / ".evalkit").write_text("no folder")
    assert load_project(tmp_path) == load_project(tmp_path)
    assert 2 == len(compiles)


def test_many_at_once(tmp_path: Path) -> None:
    """Whoever comes reads a whole record or none."""
    project_in(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(load_project, [tmp_path] * 24))
    assert all(found[0] == other for other in found)
    assert [f"{KEPT}/{name}" for name in FILES] == sorted(
        path.relative_to(tmp_path).as_posix() for path in (tmp_path / ".evalkit").rglob("*") if path.is_file())


def test_check_reads_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Warnings need all that compiling finds."""
    load_project(project_in(tmp_path))
    monkeypatch.setattr(index, "read_parts", lambda *_: pytest.fail("it was read"))
    assert check_project(tmp_path, "cases").linted


def test_every_file_that_is_read_is_noted() -> None:
    """Nothing else in the compiler opens files."""
    for path in Path(project.__file__).parent.glob("*.py"):
        if path.stem in ("cache", "index"):  # they read what they wrote
            continue
        text = path.read_text(encoding="utf-8")
        opened = len(re.findall(r"\bopen\(|read_text\(|read_bytes\(", text))
        assert opened == text.count(".will_read("), path.name


def test_errors_are_not_kept(tmp_path: Path, compiles: list[Path]) -> None:
    """A project with errors is compiled each time."""
    write(tmp_path, {"cases/s/it.eval": "case"})
    for _ in range(2):
        with pytest.raises(CaseErrors):
            load_project(tmp_path)
    assert 2 == len(compiles)
