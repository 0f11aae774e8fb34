"""What the engine costs: no-op, one edit and full runs against plain doit and ninja on the same graph, and regrading.

    python bench/engine.py [--cases 100 1000] [--repeat 3] [--only noop,edit] [--json FILE] [--keep DIR]

It writes trivial cases of eight tasks each (engine_projects.py), and the same graph for doit and for ninja. Every
measure is a fresh process from the command line to the exit (engine_child.py); of its repeats the least CPU and the
least time by the clock count, as noise only ever adds. The measures that are compared take turns. Each is checked: what
ran must be what the measure is of. Evalkit runs from a copy of its sources, so that nobody's edit meanwhile makes
anything run again; grades are made anew by raising the versions of their graders in that copy.

Exit status 1 where a target does not hold. Without a program `ninja` (`pip install ninja`) its rows are missing.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from engine_child import Cost, Ran, run
from engine_projects import CHECKS, TASKS, edit_check, edit_input, write_cases, write_doit, write_ninja, write_trials
from engine_report import report

KINDS = ("noop", "one", "edit", "full", "regrade", "trials", "modules")
QUICK = 6
"""Quick measures are taken so many times as often."""
TICK = 0.1
"""Seconds that files rest after an edit: evalkit trusts no stamp as young as the clock's tick."""
PROBE = 200
"""Files that are made to see whether the disk rests."""
RESTED = 80e-6
"""Seconds of CPU that making one of them takes at most then: 20 to 50 us, and 100 to 350 us where it does not."""
PATIENCE = 330
"""Seconds to wait for that, of all full runs together: for 300 s ext4 takes no inode again that was in use."""
STORES = ("dbm", "sqlite3")
HEAVY = ("rich", "httpx", "attr", "lark", "regex", "zstandard")
IMPORTED = re.compile(r"^import time: +\d+ \| +\d+ \| +(\S+)$", re.MULTILINE)
PLAIN = re.compile(r"^\.  ", re.MULTILINE)
RAN = re.compile(r"^ +[\d.]+s  (\w+):", re.MULTILINE)
REGRADED = re.compile(r"^(\d+) verdicts? graded anew, (\d+) still hold", re.MULTILINE)


class WrongRun(Exception):
    """A run did something else than what was to be measured."""


class Measure(NamedTuple):
    """name: what is measured, of what. prepare: is not timed. wrong: says what else was measured than meant, or ""."""

    name: str
    command: list[str]
    folder: Path
    prepare: Callable[[], object]
    wrong: Callable[[Ran], str]


class Bench:
    """The projects, and the costs that were found: by names such as `noop evalkit 1000`."""

    def __init__(self, folder: Path, repeat: int, only: Sequence[str], many: int) -> None:
        self.folder = folder
        self.many = many
        self.repeat = repeat
        self.only = only
        self.costs: dict[str, Cost] = {}
        self.modules: dict[str, dict[str, object]] = {}
        self.failed: list[str] = []
        self.edits = 0
        self.cleared = 0
        self.probes = 0
        self.patience = float(PATIENCE)
        self.ninja = shutil.which("ninja")
        self.doit = [sys.executable, "-m", "doit"]
        passed = {name: value for name, value in os.environ.items()
                  if not name.startswith(("EVALKIT_", "PYTHON", "ANTHROPIC_", "CLAUDE_", "AI_GATEWAY_", "VERCEL_"))}
        self.environ = {**passed, "PYTHONPATH": str(folder / "code"), "EVALKIT_CACHE": str(folder / "cache"),
                        "EVALKIT_WORK": str(folder / "work"), "AI_GATEWAY_API_KEY": "a-dummy-key"}

    def all(self, sizes: Sequence[int]) -> None:
        if self.ninja is None:
            print("THERE IS NO PROGRAM `ninja`: its rows are missing (pip install ninja)\n", file=sys.stderr)
        self.install()
        largest = max(sizes)
        for cases in sizes:
            self.part(f"{cases} cases", partial(self.size, cases))
        if "modules" in self.only:
            self.part("imports", partial(self.imports, largest))
        if "regrade" in self.only:
            root = self.root("evalkit", largest)
            self.part("regrading a trial of each case", partial(self.regrade, "cases", root, largest, 1, ["agent=nop"]))
        if "trials" in self.only:
            self.part(f"regrading {self.many} trials of one case", self.trials)

    def part(self, what: str, take: Callable[[], object]) -> None:
        """Where one part of the benchmark cannot be done, the others still count."""
        self.say(what)
        try:
            take()
        except WrongRun as error:
            self.failed.append(f"{what}: {str(error).splitlines()[0]}")
            print(f"{error}\n", file=sys.stderr)

    def root(self, system: str, cases: int) -> Path:
        return self.folder / f"{system}-{cases}"

    def say(self, what: str) -> None:
        print(f"… {what}", file=sys.stderr)

    def install(self) -> None:
        """Copy the sources, and let the copy be compiled by Python, and its grammar by evalkit."""
        source = Path(__file__).resolve().parents[1]
        for name in ("evalkit", "grammar"):
            shutil.copytree(source / name, self.folder / "code" / name, ignore=shutil.ignore_patterns("__pycache__"))
        (self.folder / "empty").mkdir()
        first = self.folder / "first"
        write_cases(first, 2)
        time.sleep(TICK)
        self.untimed(["run", "all", "agent=nop"], first)
        edit_check(first, 0, "z")
        self.untimed(["run", "all", "agent=nop"], first)
        self.untimed(["run", "regrade:latest"], first)

    def untimed(self, args: Sequence[str], folder: Path) -> Ran:
        """Run doit; whatever it does must succeed."""
        ran = run([*self.doit, *args], folder, self.environ)
        if ran.status:
            raise WrongRun(f"doit {' '.join(args)} in {folder}: exit status {ran.status}\n{ran.err[-2000:]}")
        return ran

    def take(self, measures: Sequence[Measure], times: int) -> None:
        """Take measures in turns, each so many times."""
        for _ in range(times):
            for measure in measures:
                for left in (1, 0):
                    measure.prepare()
                    ran = run(measure.command, measure.folder, self.environ)
                    wrong = f"exit status {ran.status}" if ran.status else measure.wrong(ran)
                    if not wrong:
                        break
                    self.say(f"{measure.name}: {wrong}")
                    if not left:
                        raise WrongRun(f"{measure.name}: {wrong}\n{ran.out[-2000:]}\n{ran.err[-2000:]}")
                self.costs[measure.name] = ran.cost.best(self.costs.get(measure.name, ran.cost))

    # ---- runs of so many cases ----
    def size(self, cases: int) -> None:
        """Write the projects of one size, run each in full, and then what has little to do."""
        systems = self.systems(cases)
        full = [self.full(system, cases) for system in systems]
        self.take(full, self.repeat if "full" in self.only else 1)
        version = [*self.doit, "--version"]
        places = {"project": self.root("evalkit", cases), "empty": self.folder / "empty"}
        quick = [Measure(f"version {name} {cases}", version, place, _nothing, _fine) for name, place in places.items()]
        for system in systems:  # those of one system one after the other: a machine's speed changes within seconds
            if "noop" in self.only:
                quick.append(self.noop(system, cases))
            if "one" in self.only and system == "evalkit":
                quick.append(self.one(cases))
            if "edit" in self.only:
                quick.append(self.edit(system, cases))
        self.take(quick, self.repeat * QUICK)

    def systems(self, cases: int) -> list[str]:
        """Write the projects; the names of the systems."""
        write_cases(self.root("evalkit", cases), cases)
        for store in STORES:
            write_doit(self.root(f"doit-{store}", cases), cases)
        if self.ninja is None:
            return ["evalkit", *(f"doit-{store}" for store in STORES)]
        write_ninja(self.root("ninja", cases), cases)
        time.sleep(TICK)
        return ["evalkit", *(f"doit-{store}" for store in STORES), "ninja"]

    def command(self, system: str) -> list[str]:
        if system == "evalkit":
            return [*self.doit, "run", "all", "agent=nop"]
        if system == "ninja":
            assert self.ninja is not None
            return [self.ninja]
        return [*self.doit, "run", "--backend", system.removeprefix("doit-"), "--db-file", "state.db"]

    def full(self, system: str, cases: int) -> Measure:
        root, tasks = self.root(system, cases), cases * TASKS
        kinds = {"template": 1, "workspace": cases, "agent": cases, "grade": cases * len(CHECKS), "result": cases,
                 "report": 1}

        def clear() -> None:
            # Moved away, not removed: for some minutes ext4 takes none of the inodes that were freed, and looks at each
            # of them for every file that is made. That would be most of what is measured.
            self.cleared += 1
            for name in (".evalkit", "results", "out"):
                if (root / name).exists():
                    (root / name).rename(self.folder / f"cleared-{self.cleared}-{name}")
            for path in (*root.glob("state.db*"), *root.glob(".ninja_*")):
                path.unlink()
            if system != "evalkit":
                for number in range(cases):
                    (root / "out" / str(number)).mkdir(parents=True)
            self.rest()

        return Measure(f"full {system} {cases}", self.command(system), root, clear, _ran(system, kinds, tasks))

    def rest(self) -> None:
        """Wait until files are made as fast as on a disk on which nobody has removed many for some minutes."""
        while (cost := self.probe()) > RESTED and self.patience > 0:
            if self.patience == PATIENCE:
                self.say(f"waiting for the disk to rest: making a file takes {cost * 1e6:.0f} us of CPU")
            time.sleep(5)
            self.patience -= 5
            if self.patience <= 0:
                self.say("the disk does not rest: full runs will look slower than they are")

    def probe(self) -> float:
        """Seconds of CPU in which a file is made. They are left there: to remove them is what would disturb."""
        self.probes += 1
        folder = self.folder / "probes" / str(self.probes)
        folder.mkdir(parents=True)
        began = time.process_time()
        for number in range(PROBE):
            os.close(os.open(f"{folder}/{number}", os.O_CREAT | os.O_WRONLY))
        return (time.process_time() - began) / PROBE

    def noop(self, system: str, cases: int) -> Measure:
        root = self.root(system, cases)

        def settle() -> None:
            time.sleep(TICK)
            run(self.command(system), root, self.environ)
            time.sleep(TICK)  # as before an edit is run: what runs at once after its like finds a warm processor

        return Measure(f"noop {system} {cases}", self.command(system), root, settle, _ran(system, {}, 0))

    def one(self, cases: int) -> Measure:
        """One case that is up to date, of so many."""
        command = [*self.doit, "run", f"case:c{cases // 2}", "agent=nop"]
        return Measure(f"one evalkit {cases}", command, self.root("evalkit", cases), _nothing, _ran("evalkit", {}, 0))

    def edit(self, system: str, cases: int) -> Measure:
        """One check of one case has another pattern."""
        root = self.root(system, cases)

        def edit() -> None:
            run(self.command(system), root, self.environ)  # what is wrong is told by the measure
            self.edits += 1
            (edit_check if system == "evalkit" else edit_input)(root, cases // 2, f"e{self.edits}e")
            time.sleep(TICK)

        wrong = _ran(system, {"grade": 1, "result": 1, "report": 1}, 3)
        return Measure(f"edit {system} {cases}", self.command(system), root, edit, wrong)

    # ---- grading again ----
    def regrade(self, shape: str, root: Path, cases: int, trials: int, choices: Sequence[str]) -> None:
        """Of a run of so many trials a case: nothing changed, one check's pattern did, every grader did."""
        count = cases * trials
        command = [*self.doit, "run", "regrade:latest"]

        def edit() -> None:
            self.edits += 1
            for number in range(cases):
                edit_check(root, number, f"r{self.edits}r")
            time.sleep(TICK)

        def raise_versions() -> None:
            self.edits += 1
            for name in ("grep", "exists"):
                path = self.folder / "code" / "evalkit" / "grade" / f"{name}.py"
                text = re.sub(r'^VERSION = ".*"$', f'VERSION = "{name} bench {self.edits}"',
                              path.read_text(encoding="utf-8"), count=1, flags=re.MULTILINE)
                path.write_text(text, encoding="utf-8")
            time.sleep(TICK)
            self.untimed(["list", "-q", *choices], root)  # it compiles the cases: that is not grading

        wanted = {"hold": (lambda: run(command, root, self.environ), 0), "one": (edit, count),
                  "all": (raise_versions, count * len(CHECKS))}
        self.take([Measure(f"regrade-{shape} {what} {count}", command, root, prepare, _regraded(anew, count))
                   for what, (prepare, anew) in wanted.items()], self.repeat)

    def trials(self) -> None:
        """Many trials of one case, by a program that stands in for an agent; then regrade them."""
        root = self.folder / "trials" / "project"
        program = write_trials(root)
        time.sleep(TICK)
        choices = ["agent=claude", f"claude={program}", f"trials={self.many}", "gateway=http://127.0.0.1:9"]
        self.untimed(["run", "all", *choices, "agents=8"], root)
        self.regrade("trials", root, 1, self.many, choices)

    # ---- what is imported ----
    def imports(self, cases: int) -> None:
        """The modules that some commands import, and the heavy ones among them."""
        root = self.root("evalkit", cases)
        for name, args in {
            "doit --version": ["-m", "doit", "--version"], "no-op": ["-m", "doit", "run", "all", "agent=nop"],
            "one case, up to date": ["-m", "doit", "run", "case:c0", "agent=nop"],
            "evalkit --help": ["-m", "evalkit.cli", "--help"],
        }.items():
            run([sys.executable, *args], root, self.environ)
            ran = run([sys.executable, "-X", "importtime", *args], root, self.environ)
            found = IMPORTED.findall(ran.err)
            self.modules[name] = {"modules": len(found), "own": sum(name.startswith("evalkit") for name in found),
                                  "heavy": sorted(set(HEAVY) & set(found))}


def _nothing() -> None:
    """Some measures need no preparation."""


def _fine(ran: Ran) -> str:
    return ""


def _ran(system: str, kinds: dict[str, int], tasks: int) -> Callable[[Ran], str]:
    """Whether these ran, and nothing else. kinds: evalkit's tasks by their kinds; tasks: how many the others have."""
    def of_evalkit(ran: Ran) -> str:
        found = Counter(RAN.findall(ran.err))
        return "" if found == Counter(kinds) else f"{dict(found) or 'nothing'} ran"

    def of_doit(ran: Ran) -> str:
        found = len(PLAIN.findall(ran.out))
        return "" if found == tasks else f"{found} tasks ran"

    def of_ninja(ran: Ran) -> str:
        said = f"[{tasks}/{tasks}]" if tasks else "no work to do"
        return "" if said in ran.out else f"ninja did not say {said}"

    return {"evalkit": of_evalkit, "ninja": of_ninja}.get(system, of_doit)


def _regraded(anew: int, trials: int) -> Callable[[Ran], str]:
    def wrong(ran: Ran) -> str:
        found = REGRADED.search(ran.out)
        wanted = (anew, trials * len(CHECKS) - anew)
        return "" if found and tuple(map(int, found.groups())) == wanted else f"{found and found.group()}"

    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, nargs="+", default=[100, 1000], help="how many cases (default: 100 1000)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each measure; the best counts (default: 3)")
    parser.add_argument("--trials", type=int, default=1000, help="trials of the one case that has many (default: 1000)")
    parser.add_argument("--only", type=lambda text: text.split(","), default=KINDS, metavar="KINDS",
                        help=f"of {','.join(KINDS)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--keep", type=Path, metavar="DIR",
                        help="make the projects there, in a new folder, and leave them")
    options = parser.parse_args()
    if unknown := set(options.only) - set(KINDS):
        parser.error(f"--only knows no {', '.join(sorted(unknown))}")
    if options.keep and options.keep.exists():
        parser.error(f"{options.keep} is there already")
    folder = (options.keep or Path(tempfile.mkdtemp(prefix="evalkit-bench-"))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        bench = Bench(folder, options.repeat, options.only, options.trials)
        bench.all(sorted(set(options.cases)))
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    targets = report(bench.costs, bench.modules)
    for failed in bench.failed:
        print(f"FAILS  {failed}")
    if options.json:
        found = {name: cost._asdict() for name, cost in bench.costs.items()}
        options.json.write_text(json.dumps({"measures": found, "modules": bench.modules, "targets": targets}, indent=2)
                                + "\n", encoding="utf-8")
    return 0 if all(targets.values()) and not bench.failed else 1


if __name__ == "__main__":
    sys.exit(main())
