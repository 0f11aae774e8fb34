"""`evalkit fmt`: prints case files in their canonical form (printer.py). What they mean does not change.

Each file is read, parsed, printed and parsed again; it is written only where both parses give the same nodes. A file
with errors is left as it is.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from attrs import frozen

from evalkit.authoring.printer import format_text
from evalkit.authoring.printer_meaning import comments, meaning
from evalkit.authoring.printer_write import replace_file
from evalkit.diagnostics import CaseErrors, Diagnostic, render_all
from evalkit.errors import Exit, UserError
from evalkit.plan.choices import read_choices
from evalkit.syntax import Source, parse, read_source

__all__ = ["ABOUT", "arguments", "formatted", "main"]

ABOUT = "format case files"
_EPILOG = """\
examples:
  evalkit fmt                        all case files of the project, in place
  evalkit fmt cases/native           a folder; files can be named too
  evalkit fmt --check --diff         change nothing; say what would change (exit status 1)
  evalkit fmt - < it.eval            standard input to standard output, for editors

Comments stay, and so do columns that you aligned. A file with errors is left as it is (exit status 2).
"""
_STDIN = "-"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("paths", nargs="*", metavar="PATH",
                        help="files and folders; `-` is standard input; default: the project's cases")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; list the files that would change, and end with status 1 if there are any")
    parser.add_argument("--diff", action="store_true", help="write nothing; print what would change")


def main(options: argparse.Namespace) -> int:
    """Format what is named. 0: done; 1: `--check` found files that would change; 2: there are files with errors."""
    errors: list[Diagnostic] = []
    changed = []
    count = 0
    for job in _jobs(options.paths):
        count += 1
        try:
            source = job.source()
            text = formatted(source)
        except CaseErrors as error:
            errors += error.diagnostics
            continue
        same = text == job.original(source)
        if job.path is None and not (options.check or options.diff):
            sys.stdout.buffer.write(text.encode())  # case files are UTF-8, whatever the terminal takes
        elif not same:
            changed.append(job)
            if options.diff:
                sys.stdout.write(_diff(source, text))
            elif not options.check and job.path is not None:
                replace_file(job.path, text.encode())
            if not options.diff:
                print(source.shown)
    if errors:
        print(render_all(errors), file=sys.stderr)
    if options.paths != [_STDIN]:
        print(_summary(len(changed), count, checked=options.check or options.diff), file=sys.stderr)
    if errors:
        return Exit.USAGE
    return Exit.CASE_FAILED if changed and options.check else Exit.OK


def formatted(source: Source) -> str:
    """The canonical form of a file. Raises `CaseErrors` for a file with syntax errors."""
    file, errors = parse(source)
    if errors:
        raise CaseErrors(errors)
    text = format_text(source.text)
    again, errors = parse(Source(source.path, source.shown, text))
    if errors or meaning(file) != meaning(again) or comments(source.text) != comments(text):
        raise RuntimeError(f"formatting {source.shown} would change what it means; the file was left alone")
    return text


# ---- what is formatted ----
@frozen
class _Job:
    """A file; standard input where there is no path."""

    path: Path | None
    shown: str

    def source(self) -> Source:
        """The text. Raises `CaseErrors`."""
        if self.path is not None:
            return read_source(self.path, self.shown)
        data = sys.stdin.buffer.read()
        try:
            return Source(Path(_STDIN), self.shown, data.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise UserError("standard input is not UTF-8") from None

    def original(self, source: Source) -> str:
        """The text as it is on disk: a byte order mark, which reading drops, is something to format."""
        return source.text if self.path is None else self.path.read_bytes().decode()


def _jobs(paths: list[str]) -> Iterator[_Job]:
    """What the command line names, each file once. Raises `UserError` for a path that is not there."""
    if _STDIN in paths and len(paths) > 1:
        raise UserError("standard input is formatted alone", hint="leave the other paths out, or `-`")
    if paths == [_STDIN]:
        yield _Job(None, "<standard input>")
        return
    if not paths:
        paths = [read_choices({}, os.environ, Path.cwd()).cases]
        if not Path(paths[0]).is_dir():
            raise UserError(f"there is no folder `{paths[0]}` here", hint="name the files or folders to format")
    seen: set[Path] = set()
    for path in _files(map(Path, paths)):
        real = path.resolve()
        if real not in seen:
            seen.add(real)
            yield _Job(path, os.path.relpath(path).replace(os.sep, "/"))


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """Files as they are named; of folders the `.eval` files below them, but for hidden and linked folders."""
    for path in paths:
        if path.is_dir():
            for place, folders, files in os.walk(path, onerror=_refuse):
                folders[:] = sorted(name for name in folders if not name.startswith("."))
                yield from (found for name in sorted(files)
                            if name.endswith(".eval") and (found := Path(place, name)).is_file())
        elif path.is_file():
            yield path
        else:
            raise UserError(f"there is no file or folder `{path}`")


def _refuse(error: OSError) -> None:
    raise UserError(f"cannot read the folder {error.filename}: {error.strerror}") from error


# ---- what is said ----
def _diff(source: Source, text: str) -> str:
    lines = difflib.unified_diff(source.text.splitlines(keepends=True), text.splitlines(keepends=True),
                                 source.shown, f"{source.shown} (formatted)")
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def _summary(changed: int, count: int, *, checked: bool) -> str:
    files = f"{changed} of {count} file{'' if count == 1 else 's'}"
    return f"{files} would change" if checked else f"{files} changed"
