"""`evalkit arms`: a run's arms side by side, and what parts of the guidance are worth: arms.md and plots."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalkit.authoring.project import find_root
from evalkit.errors import Exit, UserError
from evalkit.report.arms import Arms
from evalkit.report.arms_text import arms_text

__all__ = ["ABOUT", "arguments", "declared_arms", "main"]

ABOUT = "a run's arms side by side, with intervals, and what parts of the guidance are worth"
_EPILOG = """\
examples:
  evalkit arms                       the run `latest`: results/latest/arms.md, and the same on the screen
  evalkit arms sweep --plots         another run; plots beside it, in results/sweep/plots/
  evalkit arms --base with-skill     the arm that the others are compared with; default: the suite's first

Needs the extra evalkit[stats] where there are intervals to reckon, and evalkit[plot] for plots.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("run", nargs="?", default="latest", metavar="RUN", help="default: latest")
    parser.add_argument("--base", metavar="ARM", help="the arm that others are compared with")
    parser.add_argument("--plots", action="store_true", help="draw plots too")


def main(options: argparse.Namespace) -> int:
    """Write and print the summary. Raises `UserError` where there is nothing to sum up."""
    root = find_root()
    folder = root / "results" / options.run
    trials = _trials(folder, options.run)
    suites = [arms for suite in dict.fromkeys(trial["suite"] for trial in trials)
              if (arms := Arms(trials, suite, options.base or next(iter(declared_arms(root, suite)), None))).arms]
    if not suites:
        raise UserError(f"run `{options.run}` has no trial of a model on an arm",
                        hint="doit run suite:NAME arm=all, with a model's key or gateway=SCRIPT.yaml")
    if options.base is not None and not any(options.base in arms.arms for arms in suites):
        raise UserError(f"run `{options.run}` has no trial on an arm `{options.base}`",
                        hint="it has: " + ", ".join(dict.fromkeys(arm for arms in suites for arm in arms.arms)))
    pictures: list[Path] = []
    if options.plots:
        from evalkit.report.plot import draw_plots

        pictures = draw_plots(suites, folder / "plots")
    text = arms_text(options.run, suites, [picture.relative_to(folder).as_posix() for picture in pictures])
    place = folder / "arms.md"
    _write(place, text)
    print(text)
    print(f"written: {place.relative_to(root)}" + (f", and {len(pictures)} plots" if pictures else ""))
    return Exit.OK


def _trials(folder: Path, run: str) -> Sequence[Mapping[str, Any]]:
    try:
        found: list[Mapping[str, Any]] = json.loads((folder / "summary.json").read_bytes())["trials"]
    except FileNotFoundError:
        raise UserError(f"there is no run `{run}` under results/", hint="doit run … makes it") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{folder / 'summary.json'} cannot be read: {error}", hint=f"doit run report:{run}") from None
    return found


def declared_arms(root: Path, suite: str) -> list[str]:
    """The arms that a suite declares now, in their order; none where it is not there any more."""
    from evalkit.analysis.project import load_project
    from evalkit.authoring.project import cases_folder
    from evalkit.errors import EvalkitError

    try:
        suites = load_project(root, cases_folder(root)).suites
    except EvalkitError:
        return []
    return [arm.name for name, info in suites.items() if name == suite for arm in info.arms]


def _write(place: Path, text: str) -> None:
    from evalkit.records import write_bytes

    write_bytes(place, text.encode())
