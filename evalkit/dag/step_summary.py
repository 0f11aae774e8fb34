"""The summary of a GitHub Actions step: a run's summary.md, where the runner asks for it.

The runner names a file in GITHUB_STEP_SUMMARY and shows what a step appends to it, at most 1 MiB (GitHub's
documentation, "Workflow commands for GitHub Actions", adding a job summary); a step with more shows nothing at all.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

__all__ = ["VARIABLE", "tell_github"]

VARIABLE = "GITHUB_STEP_SUMMARY"
_MOST = 1024 * 1024
_CUT = b"\n\n... the rest is in the run's summary.md\n"


def tell_github(environ: Mapping[str, str], folder: Path) -> None:
    """Append the summary.md of a run's folder to the step's summary, if there is to be one.

    What cannot be written is told on standard error, and changes nothing: the verdicts stand.
    """
    place = environ.get(VARIABLE, "")
    if not place:
        return
    try:
        text = (folder / "summary.md").read_bytes()
        with Path(place).open("ab") as file:
            room = _MOST - file.tell()
            file.write(text if len(text) <= room else _cut(text, room))
    except OSError as error:
        print(f"note: the step's summary cannot be written: {error}", file=sys.stderr)


def _cut(text: bytes, room: int) -> bytes:
    """As many whole lines as there is room for, with a word that says so; nothing where there is not even that."""
    whole = text[: max(0, room - len(_CUT))].rpartition(b"\n")[0]
    return whole + _CUT if whole else b""
