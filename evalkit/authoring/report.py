"""`evalkit report`: a past run again: its table, its figures with intervals, and its reports, brought up to date."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.authoring.columns import count
from evalkit.authoring.project import find_root
from evalkit.errors import Exit, HarnessError, UserError

if TYPE_CHECKING:
    from evalkit.report.figures import GroupFigures
    from evalkit.report.row import Row

__all__ = ["ABOUT", "arguments", "main"]

ABOUT = "a past run again: its table and figures with intervals, its reports and report.html"
_EPILOG = """\
examples:
  evalkit report                 the run `latest`: its table, pass rates with intervals, pass@k and pass^k
  evalkit report sweep --k 3     another run; pass@3 and pass^3
  evalkit report --all           the evidence of every trial that did not pass, not only of some
  evalkit report --json          the figures as plain data
  evalkit report --open          open results/latest/report.html in a browser
  evalkit report --anew          every part of report.html anew

All reports of the run are brought up to date: summary.json, summary.md, junit.xml, results.csv (each `doit run` writes
them too) and report.html. Intervals need the extra evalkit[stats], report.html the extra evalkit[report]; it opens
from the disk, with the folder report-data beside it.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("run", nargs="?", default="latest", metavar="RUN", help="default: latest")
    parser.add_argument("--k", type=_number, metavar="K",
                        help="of pass@k and pass^k; default: the fewest trials of a case with several")
    parser.add_argument("--all", action="store_true", help="tell of every trial that is not as it should be")
    parser.add_argument("--json", action="store_true", help="the figures as plain data, and nothing else")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.add_argument("--anew", action="store_true", help="make all of it anew, also what did not change")


def main(options: argparse.Namespace) -> int:
    """Bring the reports up to date and print. Raises UserError where there is no such run, and HarnessError."""
    from evalkit.dag.summing_up import summary_places
    from evalkit.report import stats
    from evalkit.report.figures import figures
    from evalkit.report.past import lines_of_run, rows_of_run
    from evalkit.report.update import update_report

    root = find_root()
    folder, cache = summary_places(root, options.run)
    if not _is_name(options.run) or not folder.is_dir():
        raise UserError(f"there is no run `{options.run}` under results/", hint="doit run … makes it")
    errors = list(update_report(folder, cache, full=True, declared=_declared(root)).errors)
    lines = lines_of_run(folder)
    if not lines and not errors:
        raise UserError(f"the run `{options.run}` has no results", hint="doit run … makes some")
    draw = stats.available()
    found = figures(lines, options.k, draw=draw)
    if options.json:
        from evalkit.report.data import ReportData, print_data

        print_data(ReportData(options.run, stats.CONFIDENCE, tuple([group.to_data() for group in found])))
    else:
        _print(rows_of_run(folder, lines), found, root, every=options.all, lacking=not draw)
    errors += _page(root, folder, options)
    for error in errors:
        raise error
    return Exit.OK


def _print(rows: Sequence[Row], found: Sequence[GroupFigures], root: Path, *, every: bool, lacking: bool) -> None:
    from evalkit.report.arms_table import arms_lines
    from evalkit.report.figures_text import add_figures
    from evalkit.report.layout import Page, coloured, styled, terminal_width
    from evalkit.report.table import MOST_TOLD, print_table

    print_table(rows, sys.stdout, results=str(root / "results"), most=None if every else MOST_TOLD)
    print("".join(f"{line}\n" for line in arms_lines(_by_arm(rows, root))), end="")
    page = Page(terminal_width(sys.stdout), styled if coloured(sys.stdout) else lambda text, _: text)
    add_figures(page, found, lacking=lacking)
    print("".join(f"{line}\n" for line in page.lines), end="")


def _declared(root: Path) -> dict[str, int]:
    """The places of units among those of their case as it is now; none where cases are wrong by now."""
    from evalkit.analysis.project import load_project
    from evalkit.authoring.project import cases_folder
    from evalkit.dag.summing_up import declared_units
    from evalkit.errors import EvalkitError

    try:
        return declared_units(load_project(root, cases_folder(root)).index)
    except EvalkitError:
        return {}


def _by_arm(rows: Sequence[Row], root: Path) -> Sequence[Row]:
    """Rows in the order in which their suites declare the arms, as `doit run` has them: it says what is less what."""
    suites = {row.suite for row in rows if "+" in row.unit}
    if not suites:
        return rows
    from evalkit.authoring.arms import declared_arms

    order = {(suite, arm): at for suite in suites for at, arm in enumerate(declared_arms(root, suite))}
    return sorted(rows, key=lambda row: order.get((row.suite, row.unit.partition("+")[2]), len(order)))


def _page(root: Path, folder: Path, options: argparse.Namespace) -> list[HarnessError]:
    """Bring report.html up to date, where Jinja2 is there or somebody wants it opened: what went wrong."""
    if find_spec("jinja2") is None and not (options.open or options.anew):
        return []
    from evalkit.dag.summing_up import draw_page
    from evalkit.plan.choices import read_choices
    from evalkit.report.html import PAGE

    state = draw_page(root, options.run, os.environ, read_choices({}, os.environ, root), forced=options.anew)
    made = len(state.written) - (PAGE in state.written)
    if not options.json:
        print(f"\n{(folder / PAGE).relative_to(root)}: " + (f"{count(made, 'trial')} made anew" if made else
                                                            "written" if state.written else "up to date"))
    if options.open:
        import webbrowser

        webbrowser.open((folder / PAGE).as_uri())
    return list(state.errors)


def _number(text: str) -> int:
    if not text.isdigit() or not 0 < int(text) <= 1000:
        raise argparse.ArgumentTypeError("a whole number from 1 to 1000")
    return int(text)


def _is_name(run: str) -> bool:
    """Whether it is the name of a folder, and no path."""
    return run == Path(run).name and run not in ("", ".", "..")
