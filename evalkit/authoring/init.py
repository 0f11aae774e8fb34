"""`evalkit init`: a project of one's own, with a first suite and a first case that run at once.

Nothing that is there is overwritten. A pyproject.toml or .gitignore that is there gets the lines that it lacks at its
end.
"""

from __future__ import annotations

import argparse
import os
import shlex
import tomllib
from pathlib import Path
from typing import Any

from evalkit.authoring.make import check_name, make_files, template_tree
from evalkit.authoring.printer_write import replace_file
from evalkit.errors import Exit, HarnessError, UserError
from evalkit.plan.choices import read_choices

__all__ = ["ABOUT", "arguments", "main"]

ABOUT = "start a project of your own"
_EPILOG = """\
examples:
  evalkit init                       in this folder
  evalkit init my-evals              in a folder that is made
  evalkit init --suite apps          with another name for the first suite

The project holds a suite with one case, a right answer to it and a wrong one. It runs at once:
  doit run case:slugify
"""
_PYPROJECT, _IGNORED = "pyproject.toml", ".gitignore"
_CASE, _WRONG = "slugify", "no-accents"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help="where; default: this folder")
    parser.add_argument("--suite", default="first", metavar="NAME", help="the name of the first suite (first)")


def main(options: argparse.Namespace) -> int:
    """Make the project. 0: it is made. An error: nothing has changed."""
    check_name("suite", options.suite)
    folder = Path(options.folder)
    if os.path.lexists(folder) and not folder.is_dir():
        raise UserError(f"{folder} is not a folder")
    texts = _texts(options.suite, read_choices({}, {}, folder).cases)
    longer = {}
    for name, lines in ((_PYPROJECT, _lines_for_pyproject), (_IGNORED, _lines_for_gitignore)):
        if os.path.lexists(folder / name):
            longer[name] = lines(folder / name, texts.pop(name))
    make_files(folder, texts)
    for name, more in longer.items():
        if more:
            _append(folder / name, more)
    _say(folder, list(texts), longer)
    return Exit.OK


def _texts(suite: str, cases: str) -> dict[str, str]:
    """The files of a project: the template's, with its names for the suite and for the folder of the cases."""
    return {name.replace("cases/SUITE/", f"{cases}/{suite}/"): text.replace("@suite@", suite)
            for name, text in template_tree("project").items()}


# ---- files that are there already ----
def _lines_for_pyproject(path: Path, template: str) -> str:
    """What pyproject.toml lacks. Raises `UserError` where doit has been told something else there."""
    start = template.index("\n\n# What holds for every run") + 2
    doit, evalkit = template[:start], template[start:]
    try:
        text = path.read_text(encoding="utf-8")
        tool: dict[str, Any] = tomllib.loads(text).get("tool", {})
        missing = _missing(tool, doit)
        lines = (doit if "doit" not in tool else "") + (evalkit if "evalkit" not in tool else "")
        if not missing or "doit" not in tool:
            tomllib.loads(text + "\n" + lines)  # a `tool = { … }` takes no table after it
            return lines.rstrip() + "\n" if lines else ""
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, AttributeError, TypeError):
        missing = doit
    shown = missing.strip().replace("\n", "\n    ")
    raise UserError(f"{path} says something of its own about doit; nothing was written",
                    hint=f"see that it says this, then run `evalkit init` again:\n    {shown}")


def _missing(tool: dict[str, Any], doit: str) -> str:
    """The lines of [tool.doit] that doit needs, where it does not have them all."""
    needed = tomllib.loads(doit)["tool"]["doit"]
    has = tool.get("doit", {})
    same = all(has.get(name) == needed[name] for name in ("loader", "backend"))
    command = has.get("plugins", {}).get("command", {}).get("run")
    return "" if same and command == needed["plugins"]["command"]["run"] else doit


def _lines_for_gitignore(path: Path, template: str) -> str:
    try:
        has = {line.strip().strip("/") for line in path.read_text(encoding="utf-8", errors="replace").splitlines()}
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    return "".join(line for line in template.splitlines(keepends=True) if line.strip().strip("/") not in has)


def _append(path: Path, lines: str) -> None:
    try:
        data = path.read_bytes()
        end = b"\r\n" if b"\r\n" in data else b"\n"
        if data and not data.endswith(b"\n"):
            data += end
        gap = end if data and path.name == _PYPROJECT else b""
        replace_file(path, data + gap + lines.encode().replace(b"\n", end))
    except (OSError, HarnessError) as error:
        indented = lines.rstrip().replace("\n", "\n    ")
        raise UserError(f"all is made but for {path}, which cannot be written: {error}",
                        hint=f"add these lines to it:\n    {indented}") from error


# ---- what is said ----
def _say(folder: Path, made: list[str], longer: dict[str, str]) -> None:
    print(f"made in {folder.resolve()}:")
    for name in sorted(made):
        print(f"  {name}")
    for name, more in longer.items():
        print(f"  {name}   ({'lines were appended' if more else 'was there, and says all that is needed'})")
    here = folder.resolve() == Path.cwd()
    commands = {
        **({} if here else {f"cd {shlex.quote(str(folder))}": ""}),
        f"doit run case:{_CASE}": "plays the right answer: every check passes",
        f"doit run case:{_CASE} agent=wrong:{_WRONG}": "plays a wrong one: a check catches it",
        "evalkit new case NAME": "starts a case of yours",
    }
    wide = max(map(len, commands)) + 3
    print("next:")
    for command, about in commands.items():
        print(f"  {command:<{wide}}{'# ' + about if about else ''}".rstrip())
