"""Makes the standard streams safe to write to, whatever the person who started us connected them with."""

from __future__ import annotations

import io
import os
import sys

__all__ = ["settle_streams"]


def settle_streams() -> None:
    """Closed streams go nowhere, and a character that a terminal's encoding lacks becomes a `?`: neither ends a run.

    To be called before anything is opened: a file that got the number of a closed stream would be taken for it by every
    child.
    """
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            made = open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8")  # noqa: PTH123, SIM115
            setattr(sys, name, made)
        elif isinstance(stream, io.TextIOWrapper) and name != "stdin":
            stream.reconfigure(errors="replace")
