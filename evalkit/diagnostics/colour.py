"""Colour for terminals, as the plain codes that every one of them knows; none in a file or a pipe.

Decided in one place, by one rule: a stream is coloured if it is a terminal, NO_COLOR is not set (no-color.org) and the
terminal is not `dumb`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal, TextIO, TypeAlias

from attrs import frozen

__all__ = ["Paint", "Tone", "wants_colour"]

Tone: TypeAlias = Literal["red", "yellow", "blue", "cyan", ""]
_CODES: dict[Tone, str] = {"red": "31", "yellow": "33", "blue": "34", "cyan": "36"}


def wants_colour(stream: TextIO, environ: Mapping[str, str] | None = None) -> bool:
    """Whether what is written to `stream` should be coloured."""
    environ = os.environ if environ is None else environ
    return not environ.get("NO_COLOR") and environ.get("TERM") != "dumb" and stream.isatty()


@frozen
class Paint:
    """Colours texts, or leaves them as they are."""

    on: bool

    def __call__(self, text: str, tone: Tone = "", *, bold: bool = False) -> str:
        codes = [*(["1"] if bold else []), *([_CODES[tone]] if tone else [])]
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if self.on and text and codes else text
