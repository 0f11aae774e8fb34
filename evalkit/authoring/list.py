"""`evalkit list`: the cases of a project, for people, for programs, and as the catalogue of a suite in Markdown.

The catalogue stands in the suite's folder as README.md. It is made from the cases alone: a test can keep it true.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import orjson

from evalkit.analysis.model import Case, SuiteInfo
from evalkit.analysis.project import Project
from evalkit.authoring.columns import columns, count, one_line
from evalkit.authoring.project import open_project, units_of
from evalkit.diagnostics import did_you_mean
from evalkit.errors import Exit, UserError
from evalkit.records import write_bytes

__all__ = ["ABOUT", "arguments", "catalogue", "main"]

ABOUT = "the cases of a project, or a suite's catalogue in Markdown"
_EPILOG = """\
examples:
  evalkit list                          every case
  evalkit list native 'fd-*'            a suite; the cases that a wildcard matches
  evalkit list --json | jq '.[].name'
  evalkit list --markdown native        the catalogue of a suite
  evalkit list --markdown --write       of every suite, into README.md beside its suite.eval
"""
_MARK = "<!-- Written by `evalkit list --markdown --write` from the cases. Change them, not this file. -->"

_SHORT = 120
"""Characters of a prompt that tells by itself what a case is about."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("selection", nargs="*", metavar="SELECTION",
                        help="cases and suites, by name or wildcard, also as case:NAME and suite:NAME; default: all")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="plain data")
    form.add_argument("--markdown", action="store_true", help="the catalogues of the suites that are selected")
    parser.add_argument("--write", action="store_true",
                        help="with --markdown: write each catalogue where it is no longer true")


def main(options: argparse.Namespace) -> int:
    """Print, or write, what is selected. 0: done."""
    if options.write and not options.markdown:
        raise UserError("`--write` writes catalogues", hint="say `--markdown --write`")
    project = open_project()
    cases = select(project, options.selection)
    suites = _suites(project, cases, options.selection)
    if options.json:
        data = orjson.dumps([_data(project, case) for case in cases], option=orjson.OPT_INDENT_2)
        sys.stdout.write(data.decode() + "\n")
    elif options.markdown and options.write:
        _write(project, suites)
    elif options.markdown:
        sys.stdout.write("\n".join(catalogue(project, suite) for suite in suites))
    else:
        _print(project, suites, cases)
    return Exit.OK


def select(project: Project, words: Sequence[str]) -> list[Case]:
    """The cases that the words mean, sorted by suite and name; all without a word. Raises `UserError` for one that
    means nothing.
    """
    meant: set[str] = set() if words else set(project.cases)
    for word in words:
        kind, _, name = word.rpartition(":")
        pattern = name if kind in ("case", "suite") else word
        hits = {case.name for case in project.cases.values()
                if (kind != "suite" and fnmatchcase(case.name, pattern))
                or (kind != "case" and fnmatchcase(case.suite.name, pattern))}
        empty = kind != "case" and any(fnmatchcase(suite, pattern) for suite in project.suites)
        if not hits and not empty:
            raise UserError(f"no case and no suite is named `{one_line(word)}`",
                            hint=did_you_mean(pattern, [*project.cases, *project.suites]))
        meant |= hits
    return sorted((project.cases[name] for name in meant), key=lambda case: (case.suite.name, case.name))


def _suites(project: Project, cases: Sequence[Case], words: Sequence[str]) -> list[SuiteInfo]:
    """The suites of the cases; those without a case too, where nothing or they were asked for."""
    asked = {word.removeprefix("suite:") for word in words}
    names = {case.suite.name for case in cases} | {name for name in project.suites if not words or name in asked}
    return [project.suites[name] for name in sorted(names)]


# ---- for people ----
def _print(project: Project, suites: Sequence[SuiteInfo], cases: Sequence[Case]) -> None:
    if not suites:
        print("no cases yet; `evalkit new suite NAME` and `evalkit new case NAME` start some", file=sys.stderr)
    for index, suite in enumerate(suites):
        own = [case for case in cases if case.suite.name == suite.name]
        print(("\n" if index else "") + f"{suite.name} ({count(len(own), 'case')})  {one_line(suite.about)}".rstrip())
        for line in columns([_row(project, case) for case in own]):
            print(f"  {line}")


def _row(project: Project, case: Case) -> tuple[str, ...]:
    units = [unit.removeprefix(case.name) for unit in units_of(project, case)]
    return (case.name, _graded(case), " ".join(unit for unit in units if unit),
            " ".join(f"#{tag}" for tag in case.tags), one_line(_told(case)))


def _told(case: Case) -> str:
    """What a case is about; where it does not say so, its prompt, if that is short."""
    prompt = case.prompt.strip()
    short = case.track is None and "\n" not in prompt and len(prompt) <= _SHORT
    return case.about or (f'"{prompt}"' if short and prompt else "")


def _graded(case: Case) -> str:
    judged = f", {count(len(case.judges), 'judge')}" if case.judges else ""
    return count(len(case.checks), "check") + judged


# ---- for programs ----
def _data(project: Project, case: Case) -> dict[str, Any]:
    return {
        "name": case.name, "suite": case.suite.name, "about": " ".join(case.about.split()), "tags": list(case.tags),
        "origin": case.origin, "units": [*units_of(project, case)], "checks": [check.id for check in case.checks],
        "judges": [judge.id for judge in case.judges], "solution": case.solution is not None,
        "wrong": [wrong.name for wrong in case.wrongs],
    }


# ---- the catalogue ----
def catalogue(project: Project, suite: SuiteInfo) -> str:
    """The catalogue of a suite's cases in Markdown."""
    cases = sorted(project.cases_of(suite.name), key=lambda case: case.name)
    rows = [(f"[{case.name}]({_link(suite, case)})", case.tier or "", _cell(_told(case)), _units_cell(project, case),
             _graded(case), _answers(case), ", ".join(case.tags)) for case in cases]
    heads = ("Case", "Tier", "What it is about", "Tracks and arms", "Graded by", "Proven by", "Tags")
    used = [index for index in range(len(heads)) if index == 0 or any(row[index] for row in rows)]
    table = [[heads[index] for index in used], ["---"] * len(used), *([row[index] for index in used] for row in rows)]
    lines = [_MARK, "", f"# {suite.name}", ""]
    if suite.about.strip():
        lines += [_cell(suite.about), ""]
    lines += [f"{count(len(cases), 'case')}. Run one with `doit run case:NAME`, all with `doit run "
              f"suite:{suite.name}`."]
    if cases:
        lines += ["", *("| " + " | ".join(row) + " |" for row in table)]
    return "\n".join(lines) + "\n"


def _link(suite: SuiteInfo, case: Case) -> str:
    """The case's file, relative to the suite's folder."""
    return case.origin.rsplit(":", 2)[0].removeprefix(suite.folder + "/").replace(" ", "%20")


def _units_cell(project: Project, case: Case) -> str:
    units = [unit.removeprefix(case.name) for unit in units_of(project, case)]
    return ", ".join(f"`{unit}`" for unit in units if unit)


def _answers(case: Case) -> str:
    """With which answers a case proves that its checks tell right from wrong."""
    right = ["a right answer"] if case.solution is not None else []
    wrong = [f"{len(case.wrongs)} wrong"] if case.wrongs else []
    return ", ".join(right + wrong)


def _cell(text: str) -> str:
    """A text within a table or a line of Markdown, as it is written."""
    plain = one_line(text).replace("\\", "\\\\")
    for char in "|<*_[`":
        plain = plain.replace(char, "\\" + char)
    return plain


def _write(project: Project, suites: Sequence[SuiteInfo]) -> None:
    """Write the catalogues that are not true. Raises `UserError` for a README.md that a person wrote, before any."""
    texts = {project.root / suite.folder / "README.md": catalogue(project, suite) for suite in suites}
    before = {path: _read(path) for path in texts}
    for path, text in before.items():
        if text is not None and not text.startswith(_MARK):
            raise UserError(f"{_shown(path, project)} is no catalogue; nothing was written",
                            hint="a person wrote it: move it away, or print the catalogue without `--write`")
    for path, text in texts.items():
        if before[path] != text:
            _replace(path, text)
        print(f"{_shown(path, project)}{'' if before[path] != text else '   (was true)'}")


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error


def _replace(path: Path, text: str) -> None:
    """Write a whole file or nothing, through a link where it is one."""
    write_bytes(path.resolve(), text.encode())


def _shown(path: Path, project: Project) -> str:
    return path.relative_to(project.root).as_posix()
