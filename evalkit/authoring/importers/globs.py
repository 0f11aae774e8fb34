"""Selectors of files as other systems write them -> the globs of case files."""

from __future__ import annotations

import re

from evalkit.authoring.importers.report import Section

__all__ = ["convert_globs"]

_BRACES = re.compile(r"\{([^{}]*)\}")
MOST = 64
"""Globs that one selector may stand for."""


def convert_globs(selectors: list[str], label: str, section: Section) -> list[str]:
    """Globs relative to the workspace; `{a,b}` is written out. What cannot be one is reported as lost."""
    found: list[str] = []
    for selector in selectors:
        globs = _spread(selector.removeprefix("./"))
        odd = [glob for glob in globs if glob.startswith("/") or "\\" in glob or "{" in glob or "}" in glob
               or {"", ".", ".."} & set(glob.split("/")) or not glob.isprintable()]
        if odd or len(globs) > MOST:
            section.lost(label, f"`{selector}` is no glob of files in the workspace")
        else:
            found += globs
    return list(dict.fromkeys(found))


def _spread(selector: str) -> list[str]:
    """`src/*.{ts,zig}` -> `src/*.ts`, `src/*.zig`."""
    done: list[str] = []
    left = [selector]
    while left and len(done) + len(left) <= MOST:
        glob = left.pop(0)
        braces = _BRACES.search(glob)
        if braces and "," in braces[1]:
            left[:0] = [glob[: braces.start()] + option + glob[braces.end() :] for option in braces[1].split(",")]
        else:
            done.append(glob)
    return [*done, *left]
