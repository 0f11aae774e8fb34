"""`evalkit check`: compiles cases and lints them; runs nothing, unless it is asked to prove them.

The project is always compiled as a whole, since its files share names; what is told is what concerns the paths that
were asked for. A broken file elsewhere keeps warnings from being looked for, and that is said.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

import orjson
from attrs import frozen

from evalkit.analysis.files import relative
from evalkit.analysis.resolve import compile_units
from evalkit.analysis.survey import survey
from evalkit.authoring.project import cases_folder, find_root
from evalkit.authoring.proof import prove_cases
from evalkit.diagnostics import CaseErrors, Diagnostic, Span, did_you_mean, render_all
from evalkit.diagnostics.colour import wants_colour
from evalkit.diagnostics.formats import as_data, as_github
from evalkit.errors import Exit, UserError
from evalkit.lint import Finding, Subject, lint
from evalkit.syntax import nodes, parse, read_source

__all__ = ["ABOUT", "Checked", "arguments", "check_project", "main"]

ABOUT = "find what is wrong in cases, without running anything"
_EPILOG = """\
examples:
  evalkit check                      the whole project
  evalkit check cases/native         a folder; a file or the name of a case can be given too
  evalkit check --strict             warnings fail as well
  evalkit check --format github      annotations for GitHub's checks; `json` is for other programs
  evalkit check --prove my-case      run the known answers of a case too: what do its checks accept and reject?
  EVALKIT_LANE=sandbox evalkit check --prove cases/native     the same in the sandbox; choices are set as for doit run

exit status: 0 nothing, or warnings only; 1 there are errors (with --strict: or warnings), or a case is not proven;
2 wrong usage; 3 a known answer could not be run
what a code means: evalkit explain E012
a warning that is meant so: allow W001 "the reason", within its block or behind its check
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("paths", nargs="*", metavar="PATH",
                        help="files, folders or names of cases; default: the whole project")
    parser.add_argument("--format", choices=("text", "json", "github"), default="text",
                        help="text for people (default), json, or github for annotations")
    parser.add_argument("--strict", action="store_true", help="end with status 1 for warnings too")
    parser.add_argument("--prove", action="store_const", const="named",
                        help="also run the known answers: does the right one pass, is each wrong one caught? A wrong "
                             "answer is graded by the checks that it names")
    parser.add_argument("--prove=full", dest="prove", action="store_const", const="full",
                        help="the same, and wrong answers are graded by all checks")


def main(options: argparse.Namespace) -> int:
    """Print what is wrong. 0: no error; 1: errors, or with `--strict` warnings. Raises `UserError`."""
    if options.prove and options.format != "text":
        raise UserError(f"--prove has no form for `--format {options.format}`", hint="leave one of them out")
    root = find_root()
    checked = check_project(root, cases_folder(root))
    scope = _scope(root, checked, options.paths)
    found = [finding.diagnostic for finding in checked.findings if scope.covers(finding)]
    cases = [case for path, case in checked.cases if scope.has(path, case)]
    if options.format == "json":
        print(orjson.dumps(as_data(found), option=orjson.OPT_INDENT_2).decode())
    elif options.format == "github":
        sys.stdout.write(as_github(found, within=_within_repository(root)))
        print(_summary(found, cases))
    else:
        if found:
            print(render_all(found, colour=wants_colour(sys.stdout)), end="\n\n")
        print(_summary(found, cases))
    errors = [item for item in found if item.severity == "error"]
    if not checked.linted and not errors:
        print("warnings were not looked for: other files have errors (evalkit check)", file=sys.stderr)
    status = Exit.CASE_FAILED if errors or (options.strict and found) else Exit.OK
    if not options.prove:
        return status
    if errors:
        print("nothing is proven while there are errors", file=sys.stderr)
        return status
    return prove_cases(root, {case.name.value for case in cases}, full=options.prove == "full") or status


# ---- the pipeline ----
@frozen
class Checked:
    """A project with all that was found in it. cases: each with its file. linted: nothing kept rules from a case."""

    findings: tuple[Finding, ...]
    files: tuple[Path, ...]
    cases: tuple[tuple[Path, nodes.Case], ...]
    linted: bool


def check_project(root: Path, folder: str) -> Checked:
    """Read, parse, resolve, lint. Raises `UserError` where there is no such folder, or it cannot be read."""
    paths = survey(root, folder).case_files
    found: list[Diagnostic] = []
    parsed: list[tuple[Path, nodes.File]] = []
    broken: set[Path] = set()
    for path in paths:
        try:
            file, errors = parse(read_source(path, relative(path, root)))
        except CaseErrors as error:
            errors = list(error.diagnostics)
        else:
            parsed.append((path, file))
        if errors:
            broken.add(path)
            found += errors
    # Whatever a broken suite declares would be missed by its cases: such echoes are not looked for.
    units, _, more = compile_units(root, [(path, file) for path, file in parsed
                                          if not {path, _suite_file(path, paths)} & broken])
    found += more
    findings = [Finding(item) for item in found]
    if not broken:
        wrong = {item.span.source.shown: item.span.source.path for item in found}
        good = {name: mine for name, mine in units.items() if mine[0].origin.rsplit(":", 2)[0] not in wrong}
        findings += lint(Subject(root, tuple(parsed), good, not found, frozenset(wrong.values())))
    cases = tuple((path, node) for path, file in parsed for node in file.cases)
    return Checked(tuple(findings), paths, cases, linted=not found)


def _suite_file(path: Path, paths: Collection[Path]) -> Path | None:
    """The file of the suite that a file belongs to."""
    return next((suite for folder in path.parents if (suite := folder / "suite.eval") in paths), None)


# ---- what is asked for ----
@frozen
class _Scope:
    """What the findings must concern: files (all, where None), or single cases."""

    files: frozenset[Path] | None
    folders: tuple[Path, ...] = ()
    names: frozenset[str] = frozenset()
    spans: tuple[Span, ...] = ()
    suites: frozenset[Path] = frozenset()
    """Of the files and cases: what is wrong in them concerns those too."""

    def has(self, path: Path, case: nodes.Case) -> bool:
        return self.files is None or path in self.files or case.name.value in self.names

    def covers(self, finding: Finding) -> bool:
        span = finding.diagnostic.span
        path = span.source.path
        if self.files is None or path in self.files or (finding.unit is not None and finding.unit.name in self.names):
            return True
        if path in self.suites and finding.diagnostic.severity == "error":
            return True
        return any(folder in path.parents for folder in self.folders) or any(
            span.source.path == case.source.path and case.start <= span.start < case.end for case in self.spans)


def _scope(root: Path, checked: Checked, paths: Sequence[str]) -> _Scope:
    """What the command line names. Raises `UserError` for a path or a name that is not there."""
    if not paths:
        return _Scope(None)
    files: set[Path] = set()
    folders: list[Path] = []
    names: dict[str, nodes.Case] = {}
    suites: set[Path | None] = set()
    for text in paths:
        place = Path(os.path.normpath(root / text))
        chosen = {path for path in checked.files if path == place or place in path.parents}
        case = next(((path, node) for path, node in checked.cases if node.name.value.lower() == text.lower()), None)
        if chosen:
            files |= chosen
            folders.append(place)
        elif case is not None:
            names[case[1].name.value] = case[1]
            suites.add(_suite_file(case[0], checked.files))
        elif place.exists():
            raise UserError(f"there is no case file of this project in `{text}`")
        else:
            raise UserError(f"there is no file, folder or case `{text}`",
                            hint=did_you_mean(text, [node.name.value for _, node in checked.cases]))
    suites |= {_suite_file(path, checked.files) for path in files}
    held = {node.name.value for path, node in checked.cases if path in files}
    return _Scope(frozenset(files), tuple(folders), frozenset({*names, *held}),
                  tuple(node.span for node in names.values()), frozenset(path for path in suites if path))


# ---- what is said ----
def _within_repository(root: Path) -> str:
    """The project's folder as GitHub names it: relative to the checkout."""
    checkout = Path(os.environ.get("GITHUB_WORKSPACE") or root)
    return relative(root, checkout) if root.is_relative_to(checkout) and root != checkout else ""


def _summary(found: Sequence[Diagnostic], cases: Sequence[nodes.Case]) -> str:
    """How many cases, and of each tier where they have tiers; how much was found in them."""
    of = _count(len(cases), "case")
    tiers = Counter(case.tier.value if case.tier else "without a tier" for case in cases)
    if set(tiers) - {"without a tier"}:
        of += f" ({', '.join(f'{number} {tier}' for tier, number in tiers.most_common())})"
    if not found:
        return f"{of}, nothing to say"
    errors = sum(item.severity == "error" for item in found)
    parts = [_count(number, word) for number, word in ((errors, "error"), (len(found) - errors, "warning")) if number]
    return f"{', '.join(parts)} in {of}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
