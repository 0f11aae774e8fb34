"""Lays a folder's files over a tree: starters, skills, reference and wrong answers, a check's own files."""

from __future__ import annotations

import shutil
from pathlib import Path

__all__ = ["lay_over"]


def lay_over(source: Path, tree: Path) -> None:
    """Copy a folder's files over a tree; a file replaces what is there, also a link or a folder of its name."""
    for path in sorted(source.rglob("*")):
        target = tree / path.relative_to(source)
        if path.is_dir():
            if target.is_symlink() or target.is_file():
                target.unlink()
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            target.unlink(missing_ok=True)
            shutil.copy2(path, target)
