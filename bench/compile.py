"""How fast case files compile: cold, warm, and against PyYAML on equal YAML; and the memory that it takes.

    python bench/compile.py [--files 1000] [--repeat 3] [--json FILE] [--keep DIR]

It writes a project of so many case files of about 40 lines, with all that they name, and the same content as YAML.
Each measure is a fresh process, timed from its first own line to the compiled project, imports included; the best of
`--repeat` runs counts, as noise only ever adds. Exit status 1 where a target does not hold:

* cold (no compile cache): at least as many files a second as PyYAML's pure loader,
* warm (a second time, nothing changed; the units of all cases): at least ten times as many as cold,
* one edit (the text of one case file; its units): at least ten times as many as cold,
* less than 200 MB at the peak of each,
* `evalkit check`: the rules that look for what is doubtful take less CPU than all the rest of it.

Two more are told for comparison: reading the index alone, and that with one case's units.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

STARTED = time.perf_counter()
STARTED_CPU = time.process_time()
WARM_TIMES = 10
EDITED = "board-0"
MOST_MB = 200
PER_SUITE = 100

SUITE = """\
suite s{suite} {{
  about "Suite {suite} of the benchmark."
  toolchain tools {{
    npm "@scope/tool@1.2.{suite}"
    pip "package=={suite}.0"
    env TOOL_HOME = "{{npm}}/@scope/tool"
  }}
  model env BENCH_MODEL else "vendor/model-1"
  agent claude {{
    allow Glob, Grep, "Bash(tool *)", "Bash(ls *)"
    deny  "Bash(git cat-file*)"
    mcp none
  }}
  limits {{ turns 80; time 20m }}
  profile app {{
    scaffold copy "skeleton"
    skills writing from "skills"
    prewarm "tool test"
    caches ".tool", "out"
  }}
  define check markup "every view passes the tool's own check" {{
    each "src/**/*.view" run "tool check {{file}}"
  }}
}}
"""
CASE = """\
case {name} {{
  about "Board {number}: a card keeps its identity when it moves between columns."
  use app
  prompt \"\"\"
    Build board number {number} for a team that plans its week on one screen.

    The board
    - Three columns stand side by side: "Todo {number}", "Doing {number}", "Done {number}".
    - Each column shows its name and how many cards it holds at the moment.
    - An empty column says that it is empty.

    Moving cards
    - Each card has two buttons: one takes it to the left, one to the right.
    - Nothing moves left of the first column or right of the last one.
    - A move takes the card itself: what is known about it comes along.

    You are done when `tool test` passes. Work only inside this workspace.
    \"\"\"

  check run "tool test --board {number}"                 as own-tests "its own tests pass"
  check markup
  check grep "src/**/*.view" has   /<for\\s+[^>]*each{number}=/ as loop      "cards render through a loop"
  check grep "src/**/*.view" has   "global-key-{number}="       as identity  "identity survives a move"
  check grep "src/**/*.view" lacks /<dialog{number}\\b/         as no-dialog "no dialog stands in for a column"
  check snapshot has "name=\\"Todo {number}\\"", "role=button"   as live      "the live board shows its columns"

  judge "quality beyond compliance" as quality {{
    files "src/**/*.view", "src/**/*.zig"
    pass at 6, advisory
    criterion "Moves of board {number} are messages, and the rules at the edges live in the update function."
    criterion "Columns and counts are derived from one list of cards."
    criterion "Tests move a card by the message that the built tree dispatches."
  }}

  solution "solution"
  # Complete, but each column makes its own cards.
  wrong "wrong/recreated" fails identity, live
}}
"""
YAML = """\
name: {name}
about: "Board {number}: a card keeps its identity when it moves between columns."
use: app
prompt: |
  Build board number {number} for a team that plans its week on one screen.

  The board
  - Three columns stand side by side: "Todo {number}", "Doing {number}", "Done {number}".
  - Each column shows its name and how many cards it holds at the moment.
  - An empty column says that it is empty.

  Moving cards
  - Each card has two buttons: one takes it to the left, one to the right.
  - Nothing moves left of the first column or right of the last one.
  - A move takes the card itself: what is known about it comes along.

  You are done when `tool test` passes. Work only inside this workspace.

checks:
  - run: "tool test --board {number}"
    as: own-tests
    description: "its own tests pass"
  - markup: true
  - {{grep: "src/**/*.view", has: '/<for\\s+[^>]*each{number}=/', as: loop, description: "cards render through a loop"}}
  - {{grep: "src/**/*.view", has: "global-key-{number}=", as: identity, description: "identity survives a move"}}
  - {{grep: "src/**/*.view", lacks: '/<dialog{number}\\b/', as: no-dialog, description: "no dialog stands in"}}
  - {{snapshot: ["name=\\"Todo {number}\\"", "role=button"], as: live, description: "the live board shows its columns"}}

judge:
  title: "quality beyond compliance"
  as: quality
  files: ["src/**/*.view", "src/**/*.zig"]
  pass: {{at: 6, advisory: true}}
  criteria:
    - "Moves of board {number} are messages, and the rules at the edges live in the update function."
    - "Columns and counts are derived from one list of cards."
    - "Tests move a card by the message that the built tree dispatches."

solution: solution
# Complete, but each column makes its own cards.
wrong:
  - {{folder: wrong/recreated, fails: [identity, live]}}
"""
ASSETS = ("solution/src/main.zig", "solution/src/app.view", "wrong/recreated/src/main.zig")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000, help="case files (default: 1000)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each measure; the best counts (default: 3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="make the project there and leave it")
    parser.add_argument("--measure", nargs=2, metavar=("WHAT", "DIR"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure[0], Path(options.measure[1]))))
        return 0
    folder = options.keep or Path(tempfile.mkdtemp(prefix="evalkit-bench-"))
    try:
        write_project(folder, options.files)
        return report(run(folder, options.repeat), options.json)
    finally:
        if not options.keep:
            shutil.rmtree(folder)


# ---- the project ----
def write_project(root: Path, files: int) -> None:
    """`files` cases in suites of 100, the folders that they name, and the same cases as YAML."""
    for number in range(files):
        suite = root / "cases" / f"s{number // PER_SUITE}"
        name = f"board-{number}"
        if number % PER_SUITE == 0:
            put(suite / "suite.eval", SUITE.format(suite=number // PER_SUITE))
            put(suite / "skeleton" / "README.txt", "The board.\n")
            put(suite / "skills" / "writing" / "SKILL.md", "---\nname: writing\ndescription: How.\n---\nBe brief.\n")
        put(suite / name / f"{name}.eval", CASE.format(name=name, number=number))
        put(root / "yaml" / f"{name}.yaml", YAML.format(name=name, number=number))
        for asset in ASSETS:
            put(suite / name / asset, f"// board {number}\n")


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# ---- measures: in a process of their own ----
def measure(what: str, root: Path) -> dict[str, float]:
    """Seconds since this process ran its first own line, and the most memory that it held, in MB."""
    if what == "index":
        from evalkit.analysis.index import load_index

        index = load_index(root, "cases")
        assert index is not None
        count = len(index.cases)
    elif what == "one":
        from evalkit.analysis import load_project

        project = load_project(root)
        assert len(project.units[EDITED]) == 1
        count = len(project.units)
    elif what == "all":
        from evalkit.analysis import load_project

        count = sum(len(case.checks) > 0 for case in load_project(root).cases.values())  # each case is looked at
    elif what == "check":
        return measure_check(root)
    else:
        import yaml

        loader = {"yaml-pure": "SafeLoader", "yaml-c": "CSafeLoader"}[what]
        loaded = [yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, loader))
                  for path in sorted((root / "yaml").glob("*.yaml"))]
        count = len(loaded)
    return figures(count)


def measure_check(root: Path) -> dict[str, float]:
    """As `measure`, of the library below `evalkit check`; `rules` is the share of the CPU that the rules took."""
    from evalkit.authoring import check
    from evalkit.lint import Finding, Subject, lint

    spent = []

    def timed(subject: Subject) -> Sequence[Finding]:
        started = time.process_time()
        found = lint(subject)
        spent.append(time.process_time() - started)
        return found

    check.lint = timed  # type: ignore[assignment]
    checked = check.check_project(root, "cases")
    found = figures(len(checked.files))
    return {**found, "rules": 1000 * spent[0] / found["cpu_ms"]}


def figures(count: int) -> dict[str, float]:
    seconds, cpu = time.perf_counter() - STARTED, time.process_time() - STARTED_CPU
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"files": count, "seconds": seconds, "cpu_ms": 1000 * cpu,
            "mb": peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)}


def run(root: Path, repeat: int) -> dict[str, dict[str, float]]:
    """The best run of each measure. Cold starts without anything that an earlier compile left in the project."""
    best: dict[str, dict[str, float]] = {}
    for _ in range(repeat):
        for name, what in (("cold", "all"), ("warm", "all"), ("index", "index"), ("one", "one"), ("edit", "one"),
                           ("check", "check"), ("yaml-pure", "yaml-pure"), ("yaml-c", "yaml-c")):
            if name == "cold":
                shutil.rmtree(root / ".evalkit", ignore_errors=True)
            if name == "edit":
                edit(root)
            done = subprocess.run([sys.executable, __file__, "--measure", what, str(root)], check=True,
                                  stdout=subprocess.PIPE, text=True)
            found: dict[str, float] = json.loads(done.stdout)
            peak = max(found["mb"], best.get(name, found)["mb"])
            best[name] = {**min(found, best.get(name, found), key=lambda item: item["seconds"]), "mb": peak}
    return best


def edit(root: Path) -> None:
    """Change the prompt of a case, save it by renaming as editors do, and let the file grow old enough to be kept."""
    path = next((root / "cases").rglob(f"{EDITED}.eval"))
    fresh = path.with_name("saved")
    text = path.read_text(encoding="utf-8").replace("plans its", "plans its very")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)
    time.sleep(0.1)


# ---- what is said ----
ROWS = {"cold": "evalkit, cold", "warm": "evalkit, warm", "index": "  the index alone", "one": "  one case's units",
        "edit": "evalkit, one edit",
        "check": "evalkit check", "yaml-pure": "PyYAML, pure loader", "yaml-c": "PyYAML, C loader"}


def report(best: dict[str, dict[str, float]], to: Path | None) -> int:
    """Print the table and the targets; 1 where one does not hold."""
    speed = {name: row["files"] / row["seconds"] for name, row in best.items()}
    print(f"{'':<22}{'files':>7}{'seconds':>10}{'CPU ms':>9}{'files/s':>10}{'x pure':>9}{'x C':>8}{'peak MB':>10}")
    for name, title in ROWS.items():
        row = best[name]
        print(f"{title:<22}{row['files']:>7.0f}{row['seconds']:>10.3f}{row['cpu_ms']:>9.0f}"
              f"{speed[name]:>10.0f}{speed[name] / speed['yaml-pure']:>9.2f}"
              f"{speed[name] / speed['yaml-c']:>8.2f}{row['mb']:>10.0f}")
    peak = max(best[name]["mb"] for name in ("cold", "warm", "edit"))
    targets = {
        "cold is no slower than PyYAML's pure loader": speed["cold"] >= speed["yaml-pure"],
        f"warm is {WARM_TIMES} times as fast as cold (it is {speed['warm'] / speed['cold']:.1f} times)":
            speed["warm"] >= WARM_TIMES * speed["cold"],
        f"one edit is {WARM_TIMES} times as fast as cold (it is {speed['edit'] / speed['cold']:.1f} times)":
            speed["edit"] >= WARM_TIMES * speed["cold"],
        f"less than {MOST_MB} MB (it is {peak:.0f})": peak < MOST_MB,
        f"the rules of `evalkit check` take less than the rest of it (they take {best['check']['rules']:.0%})":
            best["check"]["rules"] < 0.5,
    }
    print()
    for title, holds in targets.items():
        print(f"{'holds' if holds else 'FAILS'}  {title}")
    if to:
        to.write_text(json.dumps({"measures": best, "targets": targets}, indent=2) + "\n", encoding="utf-8")
    return 0 if all(targets.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
