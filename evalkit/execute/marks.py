"""Marks: how a process is known as ours, wherever it went.

Every child carries a mark in its environment, and so does all that it starts: on Linux they are found in /proc, also
in a session of their own. A mark names the evalkit process that made it, so that what a killed evalkit left running is
found later: nobody pays for an agent that nobody waits for. A nested evalkit adds its mark to the one it was started
with, so that the outer one finds its children as well.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from uuid import uuid4

__all__ = ["MARK", "alive", "descendants", "end_descendants", "end_marked", "end_orphans", "marked", "new_mark"]

MARK = "EVALKIT_PROCESS"
"""The variable."""
_LONGEST = 2.0
"""Seconds for which processes are looked for that start others while they are ended."""
_YOUNG = 1.0
"""Seconds after its start in which a process may be about to become another program."""
_OF_THE_KERNEL = 0x00200000
"""PF_KTHREAD of Linux' sched.h."""
_POLITE = 1.0
"""Seconds in which processes that are not ours may end by themselves."""


def new_mark() -> str:
    return f"{_namespace()}-{os.getpid()}-{uuid4().hex}"


def marked(mark: str) -> dict[str, str]:
    """The variable for a child's environment."""
    return {MARK: ",".join(part for part in (os.environ.get(MARK), mark) if part)}


def _namespace() -> str:
    """The process-id namespace of this process: the same id means another process elsewhere."""
    try:
        return Path("/proc/self/ns/pid").readlink().name.partition("[")[2].rstrip("]")
    except OSError:
        return "0"


def end_marked(ours: Callable[[str], bool]) -> int:
    """SIGKILL to every process with such a mark, again and again until none is left: one may start another meanwhile.

    One that becomes another program shows no environment for a moment: it is waited for. Returns how many were found.
    """
    until = time.monotonic() + _LONGEST
    ended: set[int] = set()
    while True:
        seen = list(_found())
        found = [pid for pid, marks in seen if any(map(ours, marks))]
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        ended.update(found)
        if (not found and all(marks for _, marks in seen)) or time.monotonic() > until:
            return len(ended)
        time.sleep(0.005)


def _found() -> Iterator[tuple[int, list[str]]]:
    """Processes with marks in their environment (Linux; elsewhere none is found), but for this one.

    Without marks: those of which nobody can tell yet, since they are becoming other programs.
    """
    needle = MARK.encode() + b"="
    own = os.getpid()
    for pid in _processes():
        try:
            data = _read(f"/proc/{pid}/environ")
        except OSError:  # it ended meanwhile, or belongs to another user
            continue
        if not data and _becoming(pid):
            yield pid, []
        if needle in data and pid != own:
            for variable in data.split(b"\0"):
                if variable.startswith(needle):
                    yield pid, variable.removeprefix(needle).decode("ascii", "replace").split(",")


def _processes() -> list[int]:
    """The ids of all processes; none where there is no /proc. (Path.glob fails for one that ends meanwhile.)"""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208 - names alone
    except OSError:
        return []


def _read(path: str) -> bytes:
    """A file of /proc: there are hundreds, and a file object asks for more than their bytes. Raises OSError."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"".join(iter(partial(os.read, file, 1 << 16), b""))
    finally:
        os.close(file)


def _stat(pid: int) -> list[bytes]:
    """What proc_pid_stat(5) tells of a process from its state on: behind its name, which may hold anything."""
    return _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def _becoming(pid: int) -> bool:
    """Whether a process without an environment may get one in a moment: it was started just now. (proc_pid_stat(5);
    neither a zombie nor one of the kernel's own.)
    """
    try:
        fields = _stat(pid)
        state, flags, started = fields[0], int(fields[6]), int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):  # it ended meanwhile
        return False
    young = time.clock_gettime(time.CLOCK_BOOTTIME) - started < _YOUNG
    return young and state not in b"ZX" and not flags & _OF_THE_KERNEL


def descendants() -> set[int]:
    """What this process started, and what that started (Linux; elsewhere none is found): not what got away from it."""
    parents: dict[int, int] = {}
    for pid in _processes():
        with contextlib.suppress(OSError, IndexError):  # it ended meanwhile
            state, parent = _stat(pid)[:2]
            if state not in b"ZX":
                parents[pid] = int(parent)
    found, new = set[int](), {os.getpid()}
    while new := {pid for pid, parent in parents.items() if parent in new}:
        found |= new
    return found


def end_descendants(but: Collection[int]) -> None:
    """End what this process started beside those of `but` and bears no mark: commands that others' code runs."""
    began, asked = time.monotonic(), set[int]()
    while (passed := time.monotonic() - began) < _LONGEST and (found := descendants().difference(but)):
        for pid in found if passed > _POLITE else found - asked:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL if passed > _POLITE else signal.SIGTERM)
        asked |= found
        time.sleep(0.01)


def alive(pid: int) -> bool:
    """Whether a process with this id runs; not one that ended and that nobody waits for (a container without init)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        state = _stat(pid)[0]
    except (OSError, IndexError):  # no Linux
        return True
    return state not in b"ZX"


def end_orphans() -> int:
    """End what a killed evalkit of this user left running. Returns how many processes."""
    namespace = _namespace()
    inherited = os.environ.get(MARK, "").split(",")  # an evalkit in an evalkit is no orphan to itself

    def orphaned(mark: str) -> bool:
        where, _, rest = mark.partition("-")
        owner = rest.partition("-")[0]
        return mark not in inherited and where == namespace and owner.isdigit() and not alive(int(owner))

    return end_marked(orphaned)
