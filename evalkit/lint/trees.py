"""The files of a folder of the project."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["files_below"]

MOST = 20_000
"""Files that are listed; a folder with more holds what no case is about."""


def files_below(folder: Path) -> list[str]:
    """The paths of files, relative to the folder, with `/`. Linked folders are not entered."""
    found: list[str] = []
    for place, _, names in os.walk(folder):
        base = Path(place).relative_to(folder).as_posix()
        found += [name if base == "." else f"{base}/{name}" for name in names]
        if len(found) > MOST:
            break
    return found
