"""Whatever is edited, what is compiled again with what is kept equals a full compile of the project as it is.

A person's edits are played: they break and repair, save in place and by renaming, and move files about. After each one
the project is loaded through the cache and compiled without it; both must tell the same.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalkit.analysis import again, compile, load_project, values
from evalkit.analysis.dialect import compile_regex
from evalkit.analysis.heads import head_of, suite_heads
from evalkit.analysis.index import load_index
from evalkit.analysis.survey import survey
from evalkit.diagnostics import CaseErrors, render

SUITES = {
    "a": """suite a {
  about "The first."
  model env FIRST else "v/m"
  profile app { scaffold copy "skeleton"; guidance "guide"; check grep "*" has "x" for track ts as shared }
  arm full { }
  arm cut { ablate guidance by section }
}
""",
    "b": """suite b {
  profile app { scaffold copy "skeleton"; skills writing from "skills" }
  define check holds(path) { put "{case}/{path}" as "it"; run "true" }
}
""",
    "a/inner": 'suite inner {\n  profile app { scaffold copy "skeleton" }\n}\n',
}
ASSETS = ("skeleton/a.txt", "skeleton/sub/b.txt", "guide/SKILL.md", "skills/writing/SKILL.md", "PROMPT.md", "TODO.md",
          "sol/x.txt", "sol/deep/y.txt", "bad/x.txt", "hidden.txt")
GUIDE = "## One\n\n## Two\n"
BASE = 'case base {\n  prompt "PROMPT.md"\n  use app\n  check run "true"\n  track ts { }\n}\n'
"""The first suite has a check for this track: a case must have it."""
STATEMENTS = ('solution "../sol"', 'solution "sol"', 'wrong "bad" fails it', 'guidance "guide"', 'guidance "TODO.md"',
              'check hidden-tests "hidden.txt" run "t {report}"', 'check exists "a"', "# a comment", "tags one",
              "track zig { }", 'check grep "*" has /x+/i, /y/ as regexes',
              'model env OTHER else "v/n"', "skills none", 'about "About."', 'starter "skeleton"')
RISKY = ("track ts { }", 'check run "y" for track ts as y', 'check holds "hidden.txt"', "trials 0", "use nothing",
         'check grep "*" has /x(/ as regexes')


def settle() -> None:
    """Wait until what was written is old enough to be kept."""
    time.sleep(0.025)


class Player:
    """Plays edits on a project. `history` tells them."""

    def __init__(self, root: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.root = root
        self.cases = root / "cases"
        self.history: list[str] = []
        self.count = 0
        for folder, text in SUITES.items():
            for asset in ASSETS:
                self.put(self.cases / folder / asset, GUIDE if asset.startswith("guide") else "Do it.\n")
            self.put(self.cases / folder / "suite.eval", text)
            for _ in range(3):
                self.put(self.new_path(folder), self.case_text())
        self.put(self.cases / "a/base.eval", BASE)

    # ---- texts ----
    def new_path(self, folder: str) -> Path:
        self.count += 1
        return self.cases / folder / self.random.choice(("", "", "", "sol", "new")) / f"f{self.count}.eval"

    def case_text(self) -> str:
        return "".join(self.case() for _ in range(self.random.choice((1, 1, 1, 2))))

    def case(self) -> str:
        self.count += 1
        name = f"c{self.count}" if self.random.random() < 0.97 else self.random.choice(("c1", "C5", "c9"))
        wanted = [self.statement() for _ in range(self.random.choice((0, 0, 1, 2)))]
        prompt = self.random.choice(('"PROMPT.md"', '"TODO.md"', *['"""\n    Do this.\n    """'] * 4))
        body = "".join(f"  {statement}\n" for statement in wanted)
        return f'case {name} {{\n  prompt {prompt}\n  use app\n  check run "true" as it\n{body}}}\n'

    def statement(self) -> str:
        return self.random.choice(STATEMENTS if self.random.random() < 0.9 else RISKY)

    # ---- files ----
    def put(self, path: Path, text: str) -> None:
        with contextlib.suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
            path.parent.mkdir(parents=True, exist_ok=True)
            if self.random.random() < 0.5:
                path.write_text(text)
                return
            fresh = path.with_name(f".{path.name}.swp")
            fresh.write_text(text)
            fresh.replace(path)

    def files(self, pattern: str) -> list[Path]:
        return sorted(path for path in self.cases.rglob(pattern) if path.is_file() and not path.is_symlink())

    def case_file(self) -> Path:
        found = [path for path in self.files("*.eval") if path.name != "suite.eval"]
        return self.random.choice(found) if found else self.new_path("a")

    def asset(self) -> Path:
        folder = self.random.choice((*SUITES, "a/sub", "b/sol"))
        return self.cases / folder / self.random.choice(ASSETS)

    # ---- edits ----
    def edit_a_case(self) -> None:
        path = self.case_file()
        text = path.read_text() if path.exists() else ""
        self.put(path, text.replace('as it\n', f"as it\n  {self.statement()}\n", 1))

    def write_a_case_anew(self) -> None:
        self.put(self.case_file(), self.case_text())

    def comment_on_a_case(self) -> None:
        path = self.case_file()
        self.put(path, "# above\n" + (path.read_text() if path.exists() else ""))

    def save_as_it_is(self) -> None:
        path = self.random.choice(self.files("*"))
        self.put(path, path.read_text())

    def add_a_case(self) -> None:
        self.put(self.new_path(self.random.choice(list(SUITES))), self.case_text())

    def remove_a_case(self) -> None:
        self.case_file().unlink(missing_ok=True)

    def move_a_case(self) -> None:
        path = self.case_file()
        if path.exists():
            to = self.new_path(self.random.choice(list(SUITES)))
            to.parent.mkdir(parents=True, exist_ok=True)
            path.rename(to)

    def break_a_case(self) -> None:
        text = self.random.choice(("case", "case x { }", "suite z { }\n", "case y { use nothing }"))
        self.put(self.case_file(), text)

    def edit_a_suite(self) -> None:
        folder = self.random.choice(list(SUITES))
        more = self.random.choice(("", "# a\n", self.case()))
        self.put(self.cases / folder / "suite.eval", SUITES[folder].replace("app {", f"app {{ tags t{self.count}; ", 1)
                 + more)

    def suite_comes_or_goes(self) -> None:
        path = self.cases / "a/inner/suite.eval"
        if path.exists():
            path.unlink()
        else:
            self.put(path, SUITES["a/inner"])

    def write_an_asset(self) -> None:
        self.put(self.asset(), self.random.choice(("Do that.\n", "## Three\n", GUIDE)))

    def add_an_asset(self) -> None:
        self.put(self.asset().with_name(self.random.choice(("more.md", "SKILL.md", "z.txt", "deep"))), "more\n")

    def remove_an_asset(self) -> None:
        path = self.asset()
        self.random.choice((path.unlink, lambda **_: shutil.rmtree(path.parent, ignore_errors=True)
                            if path.parent.name in ("sol", "deep", "skills") else None))(missing_ok=True)

    def asset_becomes_a_folder(self) -> None:
        path = self.asset()
        if path.is_file():
            path.unlink()
            path.mkdir()

    def new_folder(self) -> None:
        (self.asset().parent / f"new{self.count}" / "in").mkdir(parents=True, exist_ok=True)

    def swap_folders(self) -> None:
        """Two folders that look alike."""
        one, two = self.cases / "a/sol", self.cases / "b/sol"
        if one.is_dir() and two.is_dir():
            one.rename(self.root / "aside")
            two.rename(one)
            (self.root / "aside").rename(two)

    def permissions(self) -> None:
        path = self.asset()
        if path.exists():
            path.chmod(self.random.choice((0o755, 0o700)) if path.is_dir() else self.random.choice((0o644, 0o600)))
            path.parent.chmod(self.random.choice((0o755, 0o700)))

    def link(self) -> None:
        path = self.cases / "b/sol/deep/link"
        if path.is_symlink():
            path.unlink()
        elif path.parent.is_dir():
            path.symlink_to(self.random.choice(("../x.txt", "/etc", "nowhere")))

    def repair(self) -> None:
        """Everything that a case can name is there again, and cases that are broken are gone."""
        for folder, text in SUITES.items():
            for asset in ASSETS:
                path = self.cases / folder / asset
                for place in (path.parent, path):
                    if place.is_symlink() or (place.is_dir() if place == path else place.is_file()):
                        shutil.rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink()
                if not path.exists():
                    self.put(path, GUIDE if asset.startswith("guide") else "Do it.\n")
            if not (self.cases / folder / "suite.eval").exists():
                self.put(self.cases / folder / "suite.eval", text)
        link = self.cases / "b/sol/deep/link"
        if link.is_symlink():
            link.unlink()
        for _ in range(100):
            found = truth(self.root)
            if not isinstance(found[0], str):
                return
            wrong = self.root / found[1]
            folder = wrong.parent.relative_to(self.cases).as_posix()
            if wrong.name == "suite.eval" and folder in SUITES:
                self.put(wrong, SUITES[folder])
                self.put(self.cases / "a/base.eval", BASE)
            else:
                wrong.unlink()
        pytest.fail(f"cannot be repaired: {found}")

    def play(self) -> None:
        usual = (self.edit_a_case, self.write_a_case_anew, self.comment_on_a_case, self.save_as_it_is, self.add_a_case,
                 self.write_an_asset, self.add_an_asset)
        seldom = (self.remove_a_case, self.move_a_case, self.break_a_case, self.edit_a_suite, self.suite_comes_or_goes,
                  self.remove_an_asset, self.asset_becomes_a_folder, self.new_folder, self.swap_folders,
                  self.permissions, self.link)
        for edit in self.random.sample((*usual * 3, *seldom), self.random.choice((1, 1, 1, 2))):
            self.history.append(edit.__name__)
            edit()


def truth(root: Path) -> Any:
    """What a compile without anything kept tells: cases, suites, heads; or the diagnostics, and the file of one."""
    try:
        compiled = compile.compile_files(root, survey(root, "cases").case_files)
    except CaseErrors as error:
        return ("\n".join(render(item) for item in error.diagnostics), error.diagnostics[0].span.source.shown)
    heads = [head_of(units) for units in compiled.units.values()]
    return list(compiled.units.items()), compiled.suites, heads, suite_heads(compiled.suites, heads)


def told(root: Path) -> Any:
    """The same, through the cache."""
    try:
        project = load_project(root)
    except CaseErrors as error:
        return ("\n".join(render(item) for item in error.diagnostics), error.diagnostics[0].span.source.shown)
    return (list(project.units.items()), project.suites, list(project.index.cases.values()),
            list(project.index.suites.values()))


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """For each compile through the cache: how many files it was of; None where it was of all."""
    found: list[int | None] = []
    compile_ = compile.compile_files

    def noted(root: Path, paths: Any, tracks: Any = None, sound: Any = ()) -> Any:
        paths = list(paths)
        found.append(None if tracks is None else len(paths))
        return compile_(root, paths, tracks, sound)

    monkeypatch.setattr(compile, "compile_files", noted)
    return found


SEEDS = range(int(os.environ.get("EVALKIT_TEST_SEEDS", "4")))


@pytest.mark.parametrize("seed", SEEDS)
def test_any_edits(tmp_path: Path, seed: int, compiled: list[int | None]) -> None:
    """After each edit, what is loaded equals what a full compile gives. For many an edit, none is needed."""
    player = Player(tmp_path, seed)
    player.repair()
    settle()
    some = none = every = 0
    for _ in range(20):
        expected = truth(tmp_path)
        if isinstance(expected[0], str):
            assert expected == told(tmp_path), player.history
            player.history.append("repair")
            player.repair()
            settle()
            expected = truth(tmp_path)
        compiled.clear()
        assert expected == told(tmp_path), player.history
        some += compiled != [] and None not in compiled
        none += compiled == []
        every += None in compiled
        assert load_index(tmp_path, "cases") is not None, player.history
        compiled.clear()
        assert expected == told(tmp_path), player.history
        assert [] == compiled
        player.play()
        settle()
    assert some + none > 0, every


@pytest.fixture
def settled(tmp_path: Path, compiled: list[int | None]) -> Path:
    """A project that was compiled and kept: the folder of the cases."""
    for folder, text in SUITES.items():
        for asset in ASSETS:
            put(tmp_path / "cases" / folder / asset, GUIDE)
        put(tmp_path / "cases" / folder / "suite.eval", text)
    put(tmp_path / "cases/a/base.eval", BASE)
    for number in range(4):
        put(tmp_path / f"cases/b/f{number}.eval", BASE.replace("base", f"c{number}").replace("track ts { }", ""))
    put(tmp_path / "cases/b/answered.eval", BASE.replace("base", "answered").replace("track ts { }", 'solution "sol"'))
    settle()
    load_project(tmp_path)
    compiled.clear()
    return tmp_path / "cases"


def test_a_regex_is_compiled_once(settled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that a file had before are known to be some; with other flags, it is another one. None is taken unseen."""
    case = settled / "b/f1.eval"
    seen: list[tuple[str, str]] = []

    def noted(text: str, flags: str) -> object:
        seen.append((text, flags))
        return compile_regex(text, flags)

    monkeypatch.setattr(values, "compile_regex", noted)
    for regexes, expected in (("/x+/, /y/i", [("x+", ""), ("y", "i")]), ("/y/i, /x+/, /z+/, /z/", [("z+", "")]),
                              ("/x+/i", [("x+", "i")]), ("/y/i", [("y", "i")])):
        put(case, BASE.replace("base", "c1").replace("track ts { }", f'check grep "*" has {regexes} as found'))
        settle()
        seen.clear()
        assert told(settled.parent) is not None
        assert expected == seen
        assert truth(settled.parent) == told(settled.parent)
        settle()
    put(case, case.read_text().replace("/y/i", "/y(/"))
    assert "is not valid" in told(settled.parent)[0]


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def save_by_renaming(path: Path, text: str) -> None:
    put(path.with_name("new"), text)
    path.with_name("new").replace(path)


def renamed(home: Path, path: str, old: str, new: str) -> None:
    save_by_renaming(home / path, (home / path).read_text().replace(old, new))


EDITS: dict[str, tuple[Callable[[Path], object], list[int | None]]] = {
    "a case, with a new track": (lambda home: put(home / "b/f1.eval", BASE.replace("base", "c1")), [2, None]),
    "a case, of the tracks that there are": (lambda home: renamed(home, "b/f1.eval", "true", "false"), [2]),
    "the prompt of the cases of a suite": (lambda home: put(home / "b/PROMPT.md", "Other.\n"), [6]),
    "an asset, in place": (lambda home: put(home / "b/sol/x.txt", "other\n"), []),
    "an asset, by renaming": (lambda home: save_by_renaming(home / "b/sol/x.txt", "other\n"), []),
    "a file more in an answer": (lambda home: put(home / "b/sol/z.txt", "other\n"), [2]),
    "a file more in a skeleton": (lambda home: put(home / "b/skeleton/z.txt", "other\n"), [None]),
    "a file that nobody names": (lambda home: put(home / "b/z.txt", "other\n"), []),
    "a case more": (lambda home: put(home / "b/z.eval", BASE.replace("base", "z").replace("track ts { }", "")), [2]),
    "a case less": (lambda home: (home / "b/f1.eval").unlink(), []),
    "a case elsewhere": (lambda home: (home / "b/f1.eval").rename(home / "a/inner/f1.eval"), [2]),
    "a case less, and its tracks": (lambda home: (home / "a/base.eval").unlink(), [None]),
    "a suite": (lambda home: renamed(home, "b/suite.eval", "true", "false"), [None]),
    "a name that is taken": (lambda home: renamed(home, "b/f1.eval", "case c1", "case ANSWERED"), [2, None]),
    "a mistake": (lambda home: renamed(home, "b/f1.eval", "use app", "use ap"), [2, None]),
    "a suite in a case file": (lambda home: renamed(home, "b/f1.eval", "case", "suite q { }\ncase"), [2, None]),
}


@pytest.mark.parametrize(("edit", "expected"), EDITS.values(), ids=EDITS)
def test_how_much_is_compiled(settled: Path, compiled: list[int | None], edit: Callable[[Path], object],
                              expected: list[int | None]) -> None:
    """After an edit: so many files, their suite's among them; None: all."""
    edit(settled)
    settle()
    found = told(settled.parent)
    compiles = [*compiled]
    assert truth(settled.parent) == found
    assert expected == compiles


@pytest.mark.parametrize(("folder", "expected"), [("b/sol", [2, None]), ("b/sol/deep", [2, None]), ("b", [2, None]),
                                                  ("b/skeleton/sub", [2, None]), ("b/bad", [2]), ("a/sol", [2])])
def test_a_folder_that_is_another_one_meanwhile(settled: Path, compiled: list[int | None], folder: str,
                                                expected: list[int | None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its listing is what it was before; what was found in it, below or above it is not to be trusted."""
    compile_ = compile.compile_files

    def disturbed(root: Path, paths: Any, tracks: Any = None, sound: Any = ()) -> Any:
        put(settled / folder / "z.txt", "")
        (settled / folder / "z.txt").unlink()
        return compile_(root, paths, tracks, sound)

    monkeypatch.setattr(compile, "compile_files", disturbed)
    renamed(settled, "b/answered.eval", "true", "false")
    settle()
    load_project(settled.parent)
    assert expected == compiled


def test_the_units_are_written_anew_at_times(settled: Path, compiled: list[int | None],
                                             monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compiled is appended to the file of units, which must not grow for ever."""
    sizes = []
    for number in range(3):
        renamed(settled, "b/f1.eval", "true" if not number else f"false{number}", f"false{number + 1}")
        settle()
        load_project(settled.parent)
        sizes.append((settled.parent / ".evalkit/cache/compile/units").stat().st_size)
    assert [2, 2, 2] == compiled
    assert sizes[0] < sizes[1] < sizes[2]
    monkeypatch.setattr(again, "_SHORT", 0)
    monkeypatch.setattr(again, "_LONGEST", 1)
    renamed(settled, "b/f1.eval", "false3", "true")
    settle()
    load_project(settled.parent)
    assert [2, 2, 2, None] == compiled
    assert (settled.parent / ".evalkit/cache/compile/units").stat().st_size < sizes[0]


def test_an_edit_is_appended_to_the_index(settled: Path, compiled: list[int | None]) -> None:
    """What is read is what was compiled; at times, all of it is written anew."""
    root, files, found = settled.parent, [], None
    for number in range(66):
        edited = BASE.replace("base", "c1").replace("track ts { }", f'about "{number}"; model env M{number} else "v/n"')
        put(settled / "b/f1.eval", edited)
        settle()
        assert str(number) == load_project(root).cases["c1"].about
        found = load_index(root, "cases")
        assert found is not None
        assert str(number) == found.cases["c1"].about
        assert f"M{number}" in found.variables
        files.append((root / ".evalkit/cache/compile/index").stat())
    assert [2] * 66 == compiled
    anew = [at for at, (before, now) in enumerate(itertools.pairwise(files)) if before.st_ino != now.st_ino]
    assert 1 == len(anew)
    assert files[anew[0] + 1].st_size < files[0].st_size + 100 < files[anew[0]].st_size
    assert found is not None
    assert truth(root)[2] == [*found.cases.values()]
    (settled / "b/f1.eval").unlink()
    settle()
    assert "c1" not in load_project(root).index.cases
