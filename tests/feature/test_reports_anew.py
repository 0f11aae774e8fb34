"""Whatever happened between runs, what a run leaves is what all of it made anew comes to."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evalkit.report.update import AGGREGATE, DATA, PAGE, REPORTS
from tests.feature.project import CASE, MiniProject, on_path

STEPS = 14
PATTERNS = ("/hello/i", "/reader/i", "/nowhere/i", "/Hello/")
BROKEN = "cases/mini/broken/broken.eval"


class Story:
    """A project to which things happen. names: of its cases."""

    def __init__(self, project: MiniProject, chance: random.Random) -> None:
        self.project, self.chance = project, chance
        self.names: list[str] = ["greeting"]
        self.happened: list[str] = []
        project.edit("cases/mini/suite.eval", "  define check",
                     '  arm zone { about "Both." }\n  arm azure { limits { turns 3 } }\n  define check')
        site = project.root.parent / "site"
        site.mkdir()
        (site / "sitecustomize.py").write_text("import sys\nsys.modules['jinja2'] = None\n")
        self.without_jinja2 = on_path(site)
        for name in ("bow", "curtsy"):
            self.add(name)

    def add(self, name: str) -> None:
        shutil.copytree(self.project.path("cases/mini/greeting"), self.project.path(f"cases/mini/{name}"))
        self.project.path(f"cases/mini/{name}/greeting.eval").unlink()
        self.project.write(f"cases/mini/{name}/{name}.eval", CASE.replace("case greeting", f"case {name}"))
        self.names.append(name)

    def happen(self, run: str) -> None:
        """Something happens, which may have to do with a run's results."""
        results = self.project.path(f"results/{run}")
        things: dict[str, Callable[[], object]] = {
            "edit": self.edit, "edit again": self.edit, "rename": self.rename,
            "no page": lambda: (results / PAGE).unlink(missing_ok=True),
            "no data": lambda: shutil.rmtree(results / DATA, ignore_errors=True),
            "no summary": lambda: (results / REPORTS[0]).unlink(missing_ok=True),
            "regrade": lambda: self.project.doit("run", f"regrade:{run}", "judge=off"),
            "without Jinja2": lambda: self.plainly(run),
            "break": lambda: self.project.write(BROKEN, "case broken {\n  chek\n}\n"),
            "mend": lambda: self.project.path(BROKEN).unlink(missing_ok=True)}
        name = self.chance.choice(sorted(things))
        self.happened.append(f"{name}, {run}")
        things[name]()

    def edit(self) -> None:
        name = self.chance.choice(self.names)
        text = self.project.read(f"cases/mini/{name}/{name}.eval")
        old = next(pattern for pattern in PATTERNS if f" {pattern} " in text)
        self.project.write(f"cases/mini/{name}/{name}.eval", text.replace(old, self.chance.choice(PATTERNS)))

    def rename(self) -> None:
        name = self.names.pop()
        self.names.append(f"{name}-too")
        folder = self.project.path(f"cases/mini/{name}").rename(self.project.path(f"cases/mini/{name}-too"))
        text = (folder / f"{name}.eval").read_text().replace(f"case {name}", f"case {name}-too")
        (folder / f"{name}.eval").unlink()
        (folder / f"{name}-too.eval").write_text(text)

    def plainly(self, run: str) -> None:
        self.project.env["PYTHONPATH"] = self.without_jinja2
        self.run(run)
        del self.project.env["PYTHONPATH"]

    def run(self, run: str) -> None:
        """What runs beside a broken file is a case by its name."""
        one = self.project.path(BROKEN).exists() or self.chance.random() < 0.3
        args = (f"case:{self.chance.choice(self.names)}" if one else "all", f"run={run}", "judge=off",
                self.chance.choice(["agent=oracle", "agent=oracle", "agent=nop"]),
                self.chance.choice(["arm=all", "arm=zone", "arm=azure"]))
        done = self.project.doit("run", *args)
        self.happened.append(f"{' '.join(args)} -> {done.status}")
        assert done.status in (0, 1), done.err


def reports_of(results: Path) -> dict[str, bytes]:
    return {place: path.read_bytes() for path in sorted(results.rglob("*")) if path.is_file()
            for place in [path.relative_to(results).as_posix()]
            if path.name == AGGREGATE or place in (*REPORTS, PAGE) or place.startswith(f"{DATA}/")}


def made_anew(project: MiniProject, run: str) -> dict[str, bytes]:
    """The reports of a run as a copy of the project makes them that knows nothing."""
    copy = project.root.parent / "copy"
    shutil.copytree(project.root, copy, symlinks=True)
    results = copy / "results" / run
    for name in reports_of(results):
        (results / name).unlink()
    shutil.rmtree(copy / ".evalkit/cache")
    (copy / BROKEN).unlink(missing_ok=True)
    subprocess.run([sys.executable, "-m", "evalkit.cli", "report", run, "--anew"], cwd=copy, env=project.environ,
                   capture_output=True, check=True, stdin=subprocess.DEVNULL)
    found = reports_of(results)
    shutil.rmtree(copy)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", [4, 9, 10])
def test_what_a_run_leaves_is_what_is_made_anew(seed: int, project: MiniProject) -> None:
    """Edits, deleted files, regradings, renamed and broken cases, two runs in turn, agents, arms, and no Jinja2."""
    chance = random.Random(seed)
    story = Story(project, chance)
    for _ in range(STEPS):
        run = chance.choice(["latest", "latest", "other"])
        story.happen(run)
        story.run(run)
        left, anew = reports_of(project.path(f"results/{run}")), made_anew(project, run)
        assert [] == [name for name in {**left, **anew} if left.get(name) != anew.get(name)], story.happened
