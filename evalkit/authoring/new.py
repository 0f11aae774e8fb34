"""`evalkit new`: starts a case or a suite from a commented file that compiles, and runs, as it stands."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from attrs import frozen

from evalkit.analysis.files import relative
from evalkit.authoring.columns import one_line
from evalkit.authoring.make import check_name, make_files, template
from evalkit.authoring.project import cases_folder, find_root, parsed_files
from evalkit.diagnostics import did_you_mean
from evalkit.errors import Exit, UserError
from evalkit.syntax import nodes

__all__ = ["ABOUT", "arguments", "main"]

ABOUT = "start a case, from a commented file"
_EPILOG = """\
examples:
  evalkit new case invoice-totals              in the project's only suite
  evalkit new case invoice-totals --suite apps
  evalkit new suite apps                       a folder for cases of another kind

A new case runs as it stands, with a right answer and a wrong one: doit run case:invoice-totals
"""
_SKELETON = "Say here what an agent finds in its workspace, or put it here.\n"
_ANSWERS = {"solution/answer.txt": "Hello! It is good to see you.\n", "wrong/rude/answer.txt": "Go away.\n"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("what", choices=("case", "suite"), help="what to start")
    parser.add_argument("name", metavar="NAME", help="its name, which is its folder's too")
    parser.add_argument("--suite", metavar="SUITE", help="the suite of the new case; needed where there are several")


def main(options: argparse.Namespace) -> int:
    """Make the files. 0: they are made. An error: nothing has changed."""
    check_name(options.what, options.name)
    root = find_root()
    declared = _Declared.of(root)
    if options.what == "case":
        folder, texts = _case(options.name, options.suite, declared)
    elif options.suite is not None:
        raise UserError("a suite stands in no other suite", hint="leave `--suite` out")
    else:
        folder, texts = _suite(options.name, root, declared)
    make_files(folder, texts)
    print("\n".join(relative(folder / name, root) for name in texts))
    print(f"next:\n  doit run case:{options.name}" if options.what == "case" else
          f"next:\n  evalkit new case NAME --suite {options.name}")
    return Exit.OK


@frozen
class _Declared:
    """The names that a project's files declare, also those that do not compile."""

    root: Path
    cases: tuple[nodes.Name, ...]
    suites: tuple[tuple[Path, nodes.Suite], ...]

    @classmethod
    def of(cls, root: Path) -> _Declared:
        files = list(parsed_files(root))
        return cls(root, tuple(case.name for _, file in files for case in file.cases),
                   tuple((path.parent, suite) for path, file in files for suite in file.suites))

    def suite(self, name: str | None) -> tuple[Path, nodes.Suite]:
        """The suite of that name, or the only one. Raises `UserError`."""
        by_name = {suite.name.value: (folder, suite) for folder, suite in self.suites}
        if name in by_name:
            return by_name[name]
        if name is not None:
            raise UserError(f"there is no suite `{one_line(name)}`",
                            hint=did_you_mean(name, by_name) or "`evalkit new suite NAME` starts one")
        if not by_name:
            raise UserError("there is no suite to put a case into", hint="start one first: evalkit new suite NAME")
        if len(by_name) > 1:
            raise UserError("there are several suites",
                            hint="say which: " + ", ".join(f"--suite {known}" for known in sorted(by_name)))
        return next(iter(by_name.values()))


def _free(kind: str, name: str, taken: Iterable[nodes.Name]) -> None:
    """Raise `UserError` where a name is taken. Names are compared without case."""
    for other in taken:
        if other.value.lower() == name.lower():
            raise UserError(f"there is a {kind} `{other.value}` already: {other.span}",
                            hint="names are unique in a project, compared without case; choose another one")


def _no_folder(name: str, folder: Path) -> None:
    """Raise `UserError` where a folder holds something of that name."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name.lower() == name.lower():
            raise UserError(f"there is a `{path.name}` already in {folder}",
                            hint="it was left as it is; choose another name, or move it away")


# ---- what is made ----
def _case(name: str, wanted: str | None, declared: _Declared) -> tuple[Path, dict[str, str]]:
    _free("case", name, declared.cases)
    folder, suite = declared.suite(wanted)
    _no_folder(name, folder)
    start, files = _start(suite)
    text = template("case.eval").replace("@start@", start).replace("@name@", name)
    return folder / name, {f"{name}.eval": text, **files, **_ANSWERS}


def _suite(name: str, root: Path, declared: _Declared) -> tuple[Path, dict[str, str]]:
    folder = root / cases_folder(root)
    _free("suite", name, (suite.name for _, suite in declared.suites))
    _no_folder(name, folder)
    text = template("suite.eval").replace("@name@", name)
    return folder / name, {"suite.eval": text, "skeleton/README.md": _SKELETON}


def _start(suite: nodes.Suite) -> tuple[str, dict[str, str]]:
    """The statement that gives a new case of a suite its scaffold, with a comment; and the files that it needs."""
    profiles = {node.name.value: node for node in suite.body if isinstance(node, nodes.Profile)}
    able = [name for name in profiles if _has_scaffold(profiles, name)]
    if able:
        others = [name for name in profiles if name != able[0]]
        also = f" (others there: {', '.join(others)})" if others else ""
        return f"  # A profile of suite.eval{also}: what the workspace starts from.\n  use {able[0]}", {}
    if any(_is_scaffold(node) for node in suite.body):
        return '  # The workspace starts from what suite.eval says. To have another start: scaffold copy "skeleton"', {}
    return ('  # What the workspace starts from. A profile in suite.eval can say it for several cases.\n'
            '  scaffold copy "skeleton"', {"skeleton/README.md": _SKELETON})


def _has_scaffold(profiles: dict[str, nodes.Profile], name: str) -> bool:
    """Whether a profile, or one that it extends, says what a workspace starts from."""
    seen = set()
    while name in profiles and name not in seen:
        seen.add(name)
        if any(_is_scaffold(node) for node in profiles[name].body):
            return True
        extends = profiles[name].extends
        name = extends.value if extends else ""
    return False


def _is_scaffold(node: object) -> bool:
    return (isinstance(node, nodes.ScaffoldRun | nodes.ScaffoldCopy | nodes.ScaffoldTemplate)
            or (isinstance(node, nodes.Answer) and node.template is not None))
