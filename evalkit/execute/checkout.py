"""A working copy of the program under test in a toolchain's place: which one is meant, and what it is.

A toolchain that is built from a checkout is made into one that says which folder that is and what is in it, before
anything is planned. From then on it is a toolchain like any other: its key has the digest of the tree, so an edit of
the program under test is another toolchain, and nothing that came of the old one counts for the new one.

The tree is what git would commit (tracked files, and new ones that are not ignored), or without git all of it; less
what building makes, and what nobody sees.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from evalkit.analysis.model import Case, Checkout, Toolchain
from evalkit.digest import digest, digest_file
from evalkit.errors import UserError
from evalkit.values import evolve

__all__ = ["beside", "chosen", "named", "tree_digest", "with_checkouts"]

_NEVER = {".git"}


def with_checkouts(unit: Case, root: Path, environ: Mapping[str, str]) -> Case:
    """A unit whose toolchains say which checkout they are built from. Raises UserError where it is not there."""
    toolchains = tuple(chosen(toolchain, root, environ) for toolchain in unit.setup.toolchains)
    if toolchains == unit.setup.toolchains:
        return unit
    return evolve(unit, setup=evolve(unit.setup, toolchains=toolchains))


def chosen(toolchain: Toolchain, root: Path, environ: Mapping[str, str]) -> Toolchain:
    """The toolchain that holds in this environment, with its checkout looked at. Raises UserError."""
    instead = toolchain.instead
    if instead is not None and instead.checkout is not None:
        if not environ.get(instead.checkout.variable or ""):
            return evolve(toolchain, instead=None)
        toolchain = instead
    declared = toolchain.checkout
    if declared is None or declared.folder:
        return toolchain
    where = environ.get(declared.variable or "") if declared.variable else ""
    folder = Path(root, where or declared.path).resolve()
    if not folder.is_dir():
        raise UserError(f"toolchain `{toolchain.name}` is built from {folder}, and there is no such folder",
                        hint=named(declared) if where else f"it is declared at {declared.origin}")
    return evolve(toolchain, checkout=evolve(declared, folder=str(folder), tree=_once(folder, declared)))


def named(checkout: Checkout) -> str:
    """Who says where a checkout is: a hint where it is not what it should be."""
    return f"{checkout.variable} names it" if checkout.variable else f"it is declared at {checkout.origin}"


def beside(toolchain: Toolchain) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """What of this machine commands may read beside the installed toolchain, and what below that they may not."""
    if toolchain.checkout is None or not toolchain.checkout.folder:
        return (), ()
    folder = Path(toolchain.checkout.folder)
    hidden = (folder / name for name in toolchain.checkout.hides)
    return (folder,), tuple(path for path in hidden if path.exists())


@cache
def _once(folder: Path, checkout: Checkout) -> str:
    """The digest, taken once in a process: one run is about one state of the tree."""
    return tree_digest(folder, checkout)


def tree_digest(folder: Path, checkout: Checkout) -> str:
    """The digest of a checkout's files as they are now. Raises UserError where one cannot be read."""
    left_out = tuple(f"{path.rstrip('/')}/" for path in (*checkout.caches, *checkout.hides))
    found: dict[str, list[str]] = {}
    try:
        for name in _names(folder):
            if f"{name}/".startswith(left_out):
                continue
            path = folder / name
            if path.is_symlink():
                found[name] = ["link", os.readlink(path)]  # noqa: PTH115 - as a text
            elif path.is_file():
                found[name] = [digest_file(path), "x" if os.access(path, os.X_OK) else ""]
    except OSError as error:
        raise UserError(f"cannot read the checkout {folder}: {error.strerror or error}",
                        hint=named(checkout)) from error
    return digest(found)


def _names(folder: Path) -> Iterator[str]:
    """The files of a checkout, relative to it. A file that was deleted may be among them."""
    if (folder / ".git").exists():
        listed = subprocess.run(
            ["git", "-C", str(folder), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True, check=False, stdin=subprocess.DEVNULL)
        if listed.returncode == 0:
            yield from filter(None, os.fsdecode(listed.stdout).split("\0"))
            return
    for top, folders, files in os.walk(folder):
        folders[:] = sorted(set(folders) - _NEVER)
        below = os.path.relpath(top, folder)
        linked = [name for name in folders if (Path(top) / name).is_symlink()]
        for name in (*files, *linked):
            yield name if below == "." else f"{below}/{name}"
