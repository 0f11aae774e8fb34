"""Lays a folder's files over a tree: starters, skills, reference and wrong answers, a check's own files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from evalkit.digest import LEFTOVERS
from evalkit.errors import HarnessError, UserError

__all__ = ["lay_over"]


def lay_over(source: Path, tree: Path) -> None:
    """Copy a folder's files over a tree; a file replaces what is there, also a link or a folder of its name.

    Nothing is ever written through a link of the tree's: where the source has a folder, the tree gets a real one. A
    link of the source's to a file is that file; whether a file can be executed is kept, its time is not.
    What Python left there is no part of it (digest.LEFTOVERS). Raises UserError where the source is no folder or cannot
    be copied, HarnessError where the tree cannot be written.
    """
    if not source.is_dir():
        raise UserError(f"there is no folder {source}")
    if tree.is_symlink():
        tree.unlink()
    for path in sorted(source.rglob("*")):
        if LEFTOVERS in path.relative_to(source).parts:
            continue
        if path.is_symlink() and not path.is_file():
            raise UserError(f"{path} is a link that leads to no file", hint="put the files themselves there")
        if not path.is_file() and not path.is_dir():
            raise UserError(f"{path} is neither a file nor a folder", hint="cases are made of files: take it away")
        target = tree / path.relative_to(source)
        try:
            _put(path, target)
        except OSError as error:
            raise HarnessError(f"cannot copy {path} to {target}: {error.strerror or error}",
                               hint="is the disk full, or the folder read-only?") from error


def _put(path: Path, target: Path) -> None:
    if path.is_dir():
        if target.is_symlink() or target.is_file():
            target.unlink()
        target.mkdir(parents=True, exist_ok=True)
        return
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    target.unlink(missing_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)
    target.chmod(0o755 if os.access(path, os.X_OK) else 0o644)
