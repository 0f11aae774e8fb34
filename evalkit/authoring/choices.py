"""`evalkit choices`: every choice of a run, what it is set to here, and by what.

All is read from `plan.choices`: a choice that is added there is shown here, and in docs/choices.md, which is made with
`--markdown`. What the command line of `doit run` says stands above all that is shown.
"""

from __future__ import annotations

import argparse
import os
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from attrs import frozen

from evalkit.authoring.columns import columns, one_line
from evalkit.errors import Exit
from evalkit.plan.choices import CHOICES, read_choices

__all__ = ["ABOUT", "Choice", "arguments", "choices_of", "main"]

ABOUT = "the choices of a run, what they are set to and where"
_EPILOG = """\
examples:
  evalkit choices                     what a run in this folder would use
  evalkit choices --json | jq -r '.[] | select(.from != "default") | .name'
  doit run case:NAME agent=nop        choose for one run
  EVALKIT_AGENT=nop doit run all      for a shell; in pyproject.toml: [tool.evalkit] agent = "nop"
"""
_PAGE = """\
# Choices

What can be chosen for a run. Made from evalkit/plan/choices.py by `evalkit choices --markdown`; `evalkit choices` shows
what is set in a project, and where.

A choice is given as `name=value` on the command line (`doit run case:NAME trials=3`), as a variable
(`EVALKIT_TRIALS=3`), or in pyproject.toml (`trials = 3` in `[tool.evalkit]`). The command line wins over a variable, a
variable over pyproject.toml. An unknown name or value is an error. Where no default stands, nothing is chosen, and what
the choice is for is left to the case, or left out.

"""


@frozen
class Choice:
    """A choice as it stands. source: `default`, `pyproject.toml`, or the name of a variable."""

    name: str
    value: Any
    source: str
    default: Any
    about: str


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="plain data")
    form.add_argument("--markdown", action="store_true", help="all choices as a page (docs/choices.md is made so)")


def main(options: argparse.Namespace) -> int:
    """Print the choices. Raises `UserError` for one that is set to what it cannot be."""
    if options.markdown:
        sys.stdout.write(as_markdown())
        return Exit.OK
    choices = choices_of(os.environ, Path.cwd())
    if options.json:
        data = [{"name": choice.name, "value": choice.value, "from": choice.source, "default": choice.default,
                 "about": choice.about} for choice in choices]
        sys.stdout.write(orjson.dumps(data, option=orjson.OPT_INDENT_2).decode() + "\n")
        return Exit.OK
    for line in columns([("choice", "value", "from", "default", "what it chooses"), *map(_row, choices)]):
        print(line)
    return Exit.OK


def choices_of(environ: Mapping[str, str], root: Path) -> list[Choice]:
    """All choices as variables and a folder's pyproject.toml set them. Raises `UserError` where one is not valid."""
    chosen = read_choices({}, environ, root)
    configured = _configured(root)

    def source(name: str) -> str:
        variable = f"EVALKIT_{name.upper()}"
        if environ.get(variable):
            return variable
        return "pyproject.toml" if name in configured else "default"

    return [Choice(choice.name, getattr(chosen, choice.name), source(choice.name), choice.default,
                   choice.about) for choice in CHOICES]


def _configured(root: Path) -> set[str]:
    """The names that pyproject.toml sets; it has been read as choices, so that it is known to be good."""
    path = root / "pyproject.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return set(table.get("tool", {}).get("evalkit", {}))


def as_markdown() -> str:
    """The page of all choices."""
    rows = [("Choice", "Default", "What it chooses"), ("---", "---", "---"),
            *((f"`{choice.name}`", f"`{_text(choice.default)}`" if choice.default is not None else "",
               choice.about.replace("|", "\\|")) for choice in CHOICES)]
    return _PAGE + "".join(f"| {' | '.join(row)} |\n".replace("|  |", "| |") for row in rows)


def _row(choice: Choice) -> Sequence[str]:
    return choice.name, _text(choice.value), choice.source, _text(choice.default), one_line(choice.about)


def _text(value: Any) -> str:
    """A value as one would write it on the command line; `-` for nothing chosen."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, tuple):
        return ",".join(one_line(str(part)) for part in value)
    return f"{value:g}" if isinstance(value, float) else one_line(str(value))
