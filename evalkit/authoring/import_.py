"""`evalkit import`: turns a set of cases of another system into `.eval` files, and says what was not carried."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from evalkit.authoring.importers.job import Job
from evalkit.authoring.importers.report import Report
from evalkit.authoring.importers.source import Source
from evalkit.authoring.importers.target import Target
from evalkit.authoring.importers.writer import is_name, slug
from evalkit.authoring.project import cases_folder, find_root, project_of
from evalkit.errors import Exit, UserError

__all__ = ["ABOUT", "FORMATS", "REPORT", "arguments", "main"]

ABOUT = "convert cases of another system"
REPORT = "import-report.md"
FORMATS = {
    "native-evals": ("native", "folders with an eval.json: checks by type, lanes, tracks, starters, harnesses"),
    "skill-evals": ("skills", "folders with PROMPT.md, a hidden EVAL.ts or EVAL.tsx, package.json, starter files"),
    "guidance-evals": ("guidance", "folders with prompt.md and spec.json: one answer, scored by what is in its code"),
    "commands": ("commands", "JSON or YAML lists of {id, prompt, tier, expect: [{name, args}], never}"),
}
"""Name -> (module of evalkit.authoring.importers, what it reads)."""
_EPILOG = """\
formats:
{formats}

examples:
  evalkit import native-evals ~/src/sdk/evals --suite native
  evalkit import guidance-evals ~/src/library --into cases/guidance
  evalkit import commands evalset.json more.yaml --suite viewer

Nothing of the source is run, and no file that is there is overwritten without --force. The report goes to the screen
and to {report} in the suite's folder. Exit status: 0, everything was carried over; 2, something was not, or could not
be read.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    formats = "\n".join(f"  {name:<15} {about}" for name, (_, about) in FORMATS.items())
    parser.epilog = _EPILOG.format(formats=formats, report=REPORT)
    parser.add_argument("format", metavar="FORMAT", choices=FORMATS, help=", ".join(FORMATS))
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path,
                        help="a folder of cases, a case, or a folder above them; for `commands` files too")
    parser.add_argument("--suite", metavar="NAME", help="the suite's name; default: made from the first PATH's name")
    parser.add_argument("--into", metavar="DIR", type=Path, help="the suite's folder; default: cases/NAME")
    parser.add_argument("--force", action="store_true", help="overwrite files that are there")
    parser.add_argument("--exact-patterns", action="store_true",
                        help="translate regexes exactly also for characters that no source file has (U+2028, U+FEFF …)")


def main(options: argparse.Namespace) -> int:
    """Import. 0: everything was carried over; 2: not everything."""
    paths: list[Path] = options.paths
    suite: str = options.suite or slug(paths[0].resolve().stem, default="imported")
    if not is_name(suite):
        raise UserError(f"`{suite}` is no name of a suite", hint="names are words joined by `-`: --suite my-cases")
    for path in paths:
        if not path.exists():
            raise UserError(f"there is no file or folder `{path}`")
        if not path.is_dir() and options.format != "commands":
            raise UserError(f"`{path}` is a file; {options.format} are folders")
    folder = _folder(options.into, suite)
    job = Job(suite, [Source.open(path) for path in paths], Target(folder), Report(options.format),
              exact=options.exact_patterns)
    convert: Callable[[Job], None] = import_module(
        f"evalkit.authoring.importers.{FORMATS[options.format][0]}").convert
    convert(job)
    for source in job.sources:
        for place, reason in source.skipped:
            job.report.shared.lost(place, reason)
    if not job.report.cases:
        reads = FORMATS[options.format][1]
        raise UserError(f"no case of the format {options.format} was found in {', '.join(map(str, paths))}",
                        hint=f"it reads {reads}")
    if options.into is not None:
        _tell_where(folder, job.report)
    text = job.report.markdown()
    if any(section.target for section in job.report.cases):
        job.target.add(REPORT, text)
        job.target.write(force=options.force)
    sys.stdout.write(text)
    return Exit.OK if job.report.complete else Exit.USAGE


def _folder(into: Path | None, suite: str) -> Path:
    """Where the suite goes. Raises `UserError` in a project's subfolder, unless it was told; a project may follow."""
    if into is not None:
        return into
    here = Path.cwd()
    root = here if project_of(here) is None else find_root()
    return Path(cases_folder(root)) / suite


def _tell_where(folder: Path, report: Report) -> None:
    """Say that the project does not see a suite that is not among its cases."""
    place = folder.resolve()
    root = project_of(place) or project_of(Path.cwd())
    if root is None:
        return
    cases = cases_folder(root)
    if not place.is_relative_to((root / cases).resolve()):
        report.shared.look("--into", f"{folder} is outside the project's cases folder, `{cases}`: the project will not "
                           "see the suite unless it is moved there")
