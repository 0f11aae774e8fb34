"""Which lane a run takes, and what keeps the sandbox from working on this machine, with the line to type."""

from __future__ import annotations

import platform
import sys
import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from functools import cache
from pathlib import Path

from attrs import frozen

from evalkit.errors import HarnessError, UserError
from evalkit.execute.lanes.base import Lane
from evalkit.execute.lanes.bwrap import HOME, INSTALL, WORKSPACE, covered, find_bwrap
from evalkit.execute.lanes.local import Local
from evalkit.execute.lanes.sandbox import Sandbox
from evalkit.execute.places import Places

__all__ = ["Trouble", "chosen", "hidden", "lane_of", "trouble"]

_LIMIT = 60.0
_APPARMOR = ("this system forbids user namespaces to programs without a profile (AppArmor): "
             "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0")
_HINTS = (
    ("uid map: Permission denied", _APPARMOR),
    ("/proc/self/", _APPARMOR), ("no namespaces can be made", _APPARMOR),
    ("No permissions to create", "this system forbids user namespaces: "
                                 "sudo sysctl -w kernel.unprivileged_userns_clone=1; in a container, start it with "
                                 "--security-opt seccomp=unconfined --security-opt apparmor=unconfined"),
    ("No space left on device", "this user may make no more user namespaces: "
                                "sudo sysctl -w user.max_user_namespaces=15000"),
    ("Unknown option", "bubblewrap is too old (0.8 or newer is needed): " + INSTALL),
    ("mount proc", "in a container, /proc cannot be mounted: start it with --security-opt systempaths=unconfined"),
)


@frozen
class Trouble:
    """Why there is no sandbox. hint: the line to type."""

    reason: str
    hint: str


def chosen(said: str, environ: Mapping[str, str], root: Path) -> tuple[str, str]:
    """The lane of a run, and what a person should know of the choice, "" for nothing. said: of the choice `lane`. root:
    the project.

    Raises UserError where the sandbox was asked for, and there is none. Who asks for it where it would hide something
    is told when that is needed: a case may do without.
    """
    if said == "local":
        return "local", ""
    found = trouble(environ.get("PATH")) or (hidden(root, environ) if said == "auto" else None)
    if found is None:
        return "sandbox", ""
    if said == "auto":
        return "local", f"lane=auto takes the local lane: {found.reason}. {found.hint}"
    raise UserError(f"lane=sandbox: {found.reason}", hint=found.hint)


def lane_of(name: str, environ: Mapping[str, str]) -> Lane:
    """Raises HarnessError where this machine has no such lane."""
    if name == "local":
        return Local()
    if name != "sandbox":
        raise HarnessError(f"this evalkit knows no lane `{name}`")
    program = find_bwrap(environ.get("PATH"))
    if program is None:
        raise HarnessError("the sandbox lane needs bubblewrap, and there is no `bwrap`", hint=INSTALL)
    return Sandbox(program)


def hidden(root: Path, environ: Mapping[str, str]) -> Trouble | None:
    """What commands may need, and could not see in the sandbox for its own folders: the project, toolchains, Python."""
    for path in (root.resolve(), Places.of(root, environ).cache, Path(sys.prefix), Path(sys.base_prefix)):
        if (own := next((own for own in (WORKSPACE, HOME) if path.is_relative_to(own)), None)) is not None:
            return Trouble(*covered(path, own))
    return None


@cache
def trouble(path: str | None) -> Trouble | None:
    """What keeps the sandbox from working here, found by trying it; None where it works. path: where programs are."""
    if platform.system() != "Linux":
        return Trouble(f"the sandbox lane needs Linux, and this is {platform.system()}", "lane=local does without")
    program = find_bwrap(path)
    if program is None:
        return Trouble("the sandbox lane needs bubblewrap, and there is no `bwrap`", INSTALL)
    with tempfile.TemporaryDirectory(prefix="evalkit-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        log = folder / "log"
        try:
            for reaches in (False, True):
                room = Sandbox(program).room(folder, (), {})
                if reaches:
                    room.reach("", lambda listener: nullcontext())
                done = room.run(["/bin/sh", "-c", "test -w /workspace"], limit=_LIMIT, log=log)
                if not done.ok:
                    return Trouble(f"a first command in the sandbox ended with {done.exit_code}", _hint(log))
        except HarnessError as error:
            return Trouble(error.message, _hint(log))
    return None


def _hint(log: Path) -> str:
    said = log.read_text("utf-8", "replace") if log.is_file() else ""
    return next((hint for words, hint in _HINTS if words in said), "lane=local does without" + (
        f"; it said: {said.strip()[-300:]}" if said.strip() else ""))
