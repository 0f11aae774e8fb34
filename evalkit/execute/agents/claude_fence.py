"""What keeps Claude Code to its workspace and its prompt: permission rules, and whose instructions it must not find.

Measured on 2.1.332. A rule denies an absolute folder only as `Read(//folder/**)`, with two slashes; and Edit needs a
rule of its own. It holds for what links lead to it, for `cat FILE` and `cd FOLDER` of its Bash tool too, and with every
permission skipped. CLAUDE.md files of every folder above the workspace are read: workspaces stand outside the project
(see places.py). What an administrator put on the machine is read whatever HOME is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from evalkit.errors import UserError

__all__ = ["MANAGED", "check_memories", "denied", "readable"]

MANAGED = tuple(Path(folder, name) for folder in ("/etc/claude-code", "/Library/Application Support/ClaudeCode")
                for name in ("CLAUDE.md", "managed-settings.json", "managed-settings.d", "managed-mcp.json"))
"""What an administrator may have put on a machine: it reaches every Claude Code there, whatever its HOME."""


def denied(places: Iterable[Path]) -> list[str]:
    """The rules under which folders, with all below them, and files are neither read nor written."""
    return [f"{tool}({_rule_path(place)}{'' if place.is_file() else '/**'})"
            for place in places for tool in ("Read", "Edit")]


def readable(folders: Iterable[Path]) -> list[str]:
    """The rules under which folders outside of the workspace can be read."""
    return [f"Read({_rule_path(folder)}/**)" for folder in folders]


def check_memories(workspace: Path) -> None:
    """Raise UserError where somebody else's instructions would be read beside the prompt."""
    for path in MANAGED:
        if path.exists():
            raise UserError(f"Claude Code would read {path}: it holds for everybody on this machine",
                            hint="move it away, or measure on another machine")
    for folder in workspace.parents:
        for name in ("CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"):
            if (folder / name).exists():
                raise UserError(f"Claude Code would read {folder / name}: it is above the workspace",
                                hint="remove it, or work elsewhere: EVALKIT_WORK=/some/folder")


def _rule_path(folder: Path) -> str:
    """An absolute folder as permission rules have it: `//folder`, and `?` for what would open a pattern.

    (A rule for a folder with `[` in its name, or a blank at its end, matches nothing at all; commas, `*`, `?`, braces,
    parentheses, quotes, line ends and other blanks do no harm.)
    """
    return "/" + re.sub(r"[\[\]\\]| (?=/|$)", "?", folder.as_posix())
