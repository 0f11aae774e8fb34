"""`evalkit report`: a run's reports by hand: its summary, and report.html, a page to read the run in."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from evalkit.authoring.columns import count
from evalkit.authoring.project import find_root
from evalkit.errors import Exit, UserError

__all__ = ["ABOUT", "arguments", "main"]

ABOUT = "a run's reports, made by hand: report.html, and the summary that it is made from"
_EPILOG = """\
examples:
  evalkit report                 results/latest/report.html; each `doit run` writes it too
  evalkit report sweep --open    of another run, and open it in a browser
  evalkit report --anew          every part of it anew

Needs the extra evalkit[report]. The page opens from the disk, with the folder report-data beside it.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("run", nargs="?", default="latest", metavar="RUN", help="default: latest")
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    parser.add_argument("--anew", action="store_true", help="make all of it anew, also what did not change")


def main(options: argparse.Namespace) -> int:
    """Write the reports. Raises UserError where there is no such run, or Jinja2 is missing, and HarnessError."""
    from evalkit.dag.summing_up import draw_page, summary_places
    from evalkit.plan.choices import read_choices
    from evalkit.report.html import PAGE
    from evalkit.report.update import update_report

    root = find_root()
    folder, cache = summary_places(root, options.run)
    if not _is_name(options.run) or not folder.is_dir():
        raise UserError(f"there is no run `{options.run}` under results/", hint="doit run … makes it")
    errors = list(update_report(folder, cache, full=True).errors)
    if not (folder / "summary.json").is_file():
        raise UserError(f"the run `{options.run}` has no results", hint="doit run … makes some")
    store = read_choices({}, os.environ, root).store
    state = draw_page(root, options.run, os.environ, store, forced=options.anew)
    made = len(state.written) - (PAGE in state.written)
    print(f"{(folder / PAGE).relative_to(root)}: " + (f"{count(made, 'trial')} made anew" if made else
                                                       "written" if state.written else "up to date"))
    for error in [*errors, *state.errors]:
        raise error
    if options.open:
        import webbrowser

        webbrowser.open((folder / PAGE).as_uri())
    return Exit.OK


def _is_name(run: str) -> bool:
    """Whether it is the name of a folder, and no path."""
    return run == Path(run).name and run not in ("", ".", "..")
