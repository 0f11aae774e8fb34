"""`evalkit explain E012`: what a code means, why it matters, a wrong example and the right one."""

from __future__ import annotations

import argparse
import re
import sys

from evalkit.diagnostics.catalogue import CATALOGUE
from evalkit.diagnostics.colour import wants_colour
from evalkit.diagnostics.pages import as_list, as_markdown, as_text
from evalkit.errors import Exit, UserError

__all__ = ["ABOUT", "arguments", "main"]

ABOUT = "what an error or a warning means, with an example"
_EPILOG = """\
examples:
  evalkit explain E012       one code
  evalkit explain            all codes, a line each
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("code", nargs="?", metavar="CODE", help="the code of an error or a warning; default: list all")
    parser.add_argument("--markdown", action="store_true", help="all codes as a page (docs/diagnostics.md is made so)")


def main(options: argparse.Namespace) -> int:
    """Print what is asked for. Raises `UserError` for an unknown code."""
    colour = wants_colour(sys.stdout)
    if options.markdown:
        if options.code:
            raise UserError("the page is of all codes", hint="leave out the code, or `--markdown`")
        sys.stdout.write(as_markdown(CATALOGUE.values()))
    elif options.code is None:
        sys.stdout.write(as_list(CATALOGUE.values(), colour=colour))
    else:
        entry = CATALOGUE.get(options.code.upper())
        if entry is None:
            raise UserError(f"there is no code `{options.code}`", hint=_nearest(options.code))
        sys.stdout.write(as_text(entry, colour=colour))
    return Exit.OK


def _nearest(given: str) -> str:
    """The code with the nearest number, of the same kind; an error's where only a number is given."""
    match = re.fullmatch(r"([EW]?)0*(\d{1,9})", given.upper())
    if match is None:
        return "codes look like E012 and W001; `evalkit explain` lists them"
    kind, number = match.group(1) or "E", int(match.group(2))
    known = [code for code in CATALOGUE if code.startswith(kind)]
    return f"did you mean `{min(known, key=lambda code: abs(int(code[1:]) - number))}`?"
