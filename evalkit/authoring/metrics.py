"""`evalkit metrics`: how the agents of a run did their work, read off their transcripts: authoring-metrics.json."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.authoring.project import find_root, open_project
from evalkit.errors import EvalkitError, Exit, UserError

if TYPE_CHECKING:
    from evalkit.analysis.model import Metrics
    from evalkit.analysis.project import Project
    from evalkit.report.metrics import Told
    from evalkit.report.metrics_data import RunMetrics

__all__ = ["ABOUT", "FILE", "arguments", "main"]

ABOUT = "how agents did their work, read off their transcripts: first pass, retries, violations"
FILE = "authoring-metrics.json"
_EPILOG = """\
examples:
  evalkit metrics                    the run `latest`: a table, and results/latest/authoring-metrics.json
  evalkit metrics before after       several runs, each by itself
  evalkit metrics latest --json | jq '.runs[].groups[].tracks[] | {track, violations: .figures.violations}'

A suite declares by `metrics NAME { ... }` which commands tell whether the sources comply, which files are sources, and
what a diagnostic looks like. Changing that runs nothing again: the figures are made anew from the transcripts. Known
answers leave no transcript. Intervals need the extra evalkit[stats].
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("runs", nargs="*", default=["latest"], metavar="RUN", help="default: latest")
    parser.add_argument("--json", action="store_true", help="plain data, and nothing else")


def main(options: argparse.Namespace) -> int:
    """Write and print the metrics of runs. Raises UserError where there is no such run, or no suite declares any."""
    from evalkit.records import write_record
    from evalkit.report import stats
    from evalkit.report.metrics_data import MetricsData

    root, project = find_root(), open_project()
    if not any(suite.metrics for suite in project.suites.values()):
        raise UserError("no suite of this project declares metrics",
                        hint="`metrics NAME { ... }` in a suite.eval does: docs/language.md, Metrics")
    draw = stats.available()
    runs = []
    for name in dict.fromkeys(options.runs):
        if name != Path(name).name or name in ("", ".", ".."):
            raise UserError(f"there is no run `{name}` under results/", hint="a run is named by its label: latest")
        runs.append(_of_run(root / "results" / name, project, draw=draw))
    for run in runs:
        write_record(root / "results" / run.run / FILE, run)
    if options.json:
        from evalkit.report.data import print_data

        print_data(MetricsData(tuple(runs)))
    else:
        _print(runs, lacking=not draw)
    return Exit.OK


def _print(runs: list[RunMetrics], *, lacking: bool) -> None:
    from evalkit.report.layout import Page, coloured, styled, terminal_width
    from evalkit.report.metrics_text import add_metrics

    page = Page(terminal_width(sys.stdout), styled if coloured(sys.stdout) else lambda text, _: text)
    for run in runs:
        add_metrics(page, run, lacking=lacking)
    print("".join(f"{line}\n" for line in page.lines), end="")
    for run in runs:
        print(f"{'' if run is not runs[0] else chr(10)}written: results/{run.run}/{FILE}")


def _of_run(folder: Path, project: Project, *, draw: bool) -> RunMetrics:
    """Raises UserError where there is no such run."""
    from evalkit.report import stats
    from evalkit.report.metrics import group_metrics
    from evalkit.report.metrics_data import RunMetrics
    from evalkit.report.past import lines_of_run

    told: list[Told] = []
    left_out: dict[str, str] = {}
    for line in lines_of_run(folder):
        found = _trial(folder, line, project)
        if isinstance(found, str):
            left_out[line["place"]] = found
        else:
            told.append(found)
    order = [group.name for suite in project.suites.values() for group in suite.metrics]
    return RunMetrics(folder.name, stats.CONFIDENCE, group_metrics(told, order, draw=draw), left_out)


def _trial(folder: Path, line: Mapping[str, Any], project: Project) -> Told | str:
    """What is told of a trial; a text says why nothing is."""
    from evalkit.execute.transcripts import read_events
    from evalkit.report.metrics import Told
    from evalkit.report.metrics_data import TrialMetrics
    from evalkit.report.metrics_work import work_of
    from evalkit.report.rates import counts, group_of, is_known

    if not counts(line):
        return {"error": "it is in error"}.get(line["status"], f"it is {line['status']}")
    declared = _declared(line, project)
    if isinstance(declared, str):
        return declared
    path = folder / line["place"] / "transcript.jsonl"
    if not path.is_file():
        return "it left no transcript"
    try:
        work = work_of(read_events(path), declared)
    except EvalkitError as error:
        return f"its transcript cannot be read: {error}"
    if work.blind:
        return work.blind
    if not work.turns:
        return "no reply of the agent is in its transcript"
    tokens = line["tokens"] or work.tokens
    trial = TrialMetrics(line["place"], line["case"], line["unit"], line["status"],
                         sum(tokens.values()) if tokens else None, line["cost"], work)
    return Told(line["suite"], group_of(line), declared.name, is_known(line), trial)


def _declared(line: Mapping[str, Any], project: Project) -> Metrics | str:
    """The metrics of a trial's unit, as its suite declares them now; a text says why there are none."""
    units = project.units.get(line["case"], ())
    unit = next((unit for unit in units if unit.unit == line["unit"]), None)
    if unit is None:
        return "its unit is not in the project any more"
    return unit.suite.metrics_of(unit.profile) or (
        f"suite {unit.suite.name} declares no metrics for profile `{unit.profile}`")
