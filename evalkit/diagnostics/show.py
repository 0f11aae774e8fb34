"""Prints an error for a person."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from evalkit.diagnostics.colour import wants_colour
from evalkit.diagnostics.diagnostic import CaseErrors, Diagnostic
from evalkit.diagnostics.snippet import render_all, visible
from evalkit.errors import EvalkitError

__all__ = ["show_error", "show_left_out"]


def show_error(error: EvalkitError) -> None:
    """On standard error: diagnostics drawn and counted; of any other error the message and what to do.

    What an agent or a tool printed may stand in a message: it drives no terminal.
    """
    if isinstance(error, CaseErrors):
        print(render_all(error.diagnostics, colour=wants_colour(sys.stderr)), file=sys.stderr)
        print(f"\n{error.message}", file=sys.stderr)
    else:
        for line in f"{error.label}: {error}".split("\n"):
            print(visible(line), file=sys.stderr)


def show_left_out(diagnostics: Sequence[Diagnostic]) -> None:
    """On standard error: what is wrong with case files that what was asked for does without."""
    files = dict.fromkeys(item.span.source.shown for item in diagnostics)
    print(f"warning: left out, as what was asked for does without: {', '.join(map(visible, files))}\n", file=sys.stderr)
    print(render_all(diagnostics, colour=wants_colour(sys.stderr)), end="\n\n", file=sys.stderr)
