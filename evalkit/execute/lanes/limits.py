"""What a command in the sandbox may use, and how that is held.

Of one process the kernel holds it (setrlimit(2)): the size of a file, and that there is no core dump. Of all processes
of a command together a control group does where this user may make one (cgroups(7), version 2: under systemd, with the
controllers delegated). Elsewhere they are looked at several times a second, and ended when they are over: what they can
take in between is little. The kernel's limits of memory count what a program only reserves (as JavaScript engines do,
by the hundred GB), and its limit of processes does not hold for root: they are no help here.
"""

from __future__ import annotations

import contextlib
import os
import resource
import time
from pathlib import Path
from uuid import uuid4

from attrs import define, field, frozen

from evalkit.execute.marks import alive

__all__ = ["Cgroup", "Limits", "Watch", "below", "sweep_groups"]

_MB = 1024 * 1024
_GROUP = "evalkit-"
"""How the names of control groups begin; the process that made one comes next."""
_LOOK = 0.25
"""Seconds between two looks at a command's processes, where nothing tells that there are many new ones."""
_PAUSE = 20.0
"""How many times longer than a walk through its files a command is left alone after it."""


@frozen
class Limits:
    """What the commands of a room may use: bytes, but `processes`.

    memory: of all processes together. file: the largest. disk: the tree and the home together. shared: /tmp, which is
    in memory.
    """

    memory: int = 6 * 1024 * _MB
    processes: int = 1024
    file: int = 2 * 1024 * _MB
    disk: int = 6 * 1024 * _MB
    shared: int = 1024 * _MB

    def apply(self, pid: int) -> None:
        """Limit a process that is about to start others. Raises OSError."""
        for which, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, self.file)):
            hard = resource.prlimit(pid, which)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.prlimit(pid, which, (most, most))

    def told(self, what: str) -> str:
        """A limit as verdicts name it."""
        if what == "processes":
            return f"limit of {self.processes} processes"
        size = getattr(self, what)
        return f"{what} limit of " + (f"{size / 1024 / _MB:g} GB" if size >= 1024 * _MB else f"{size / _MB:g} MB")


@define
class Cgroup:
    """A control group for the processes of one command."""

    folder: Path
    limits: Limits

    @classmethod
    def make(cls, limits: Limits, root: Path = Path("/sys/fs/cgroup"),
             own: Path = Path("/proc/self/cgroup")) -> Cgroup | None:
        """A new group beside this process, or None where this user may make none with both controllers."""
        try:
            name = next(line[3:] for line in own.read_text("ascii").splitlines() if line.startswith("0::"))
            here = root / name.lstrip("/")
            parents = [here, here.parent] if here != root else [here]
            for parent in parents:
                with contextlib.suppress(OSError):
                    if {"memory", "pids"} <= set((parent / "cgroup.subtree_control").read_text("ascii").split()):
                        folder = parent / f"{_GROUP}{os.getpid()}-{uuid4().hex[:8]}"
                        folder.mkdir()
                        group = cls(folder, limits)
                        try:
                            group._write("memory.max", str(limits.memory))
                            group._write("pids.max", str(limits.processes))
                            with contextlib.suppress(OSError):
                                group._write("memory.swap.max", "0")
                        except OSError:
                            group.remove()
                            raise
                        return group
        except (OSError, StopIteration, UnicodeDecodeError):
            pass
        return None

    def _write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, "ascii")

    def enter(self, pid: int) -> None:
        """Raises OSError."""
        self._write("cgroup.procs", str(pid))

    def over(self) -> str:
        """The limit that was struck, or ""."""
        for name, event, what in (("memory.events", "oom_kill", "memory"), ("pids.events", "max", "processes")):
            with contextlib.suppress(OSError, ValueError):
                counts = dict(line.split() for line in (self.folder / name).read_text("ascii").splitlines())
                if int(counts.get(event, "0")):
                    return self.limits.told(what)
        return ""

    def remove(self) -> None:
        with contextlib.suppress(OSError):
            self._write("cgroup.kill", "1")
        until = time.monotonic() + 1
        while self.folder.is_dir() and time.monotonic() < until:
            try:
                self.folder.rmdir()
            except OSError:
                time.sleep(0.01)


def sweep_groups(root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> None:
    """Remove the control groups of killed evalkits: they are empty, since what was in them ended."""
    with contextlib.suppress(OSError, StopIteration, UnicodeDecodeError):
        name = next(line[3:] for line in own.read_text("ascii").splitlines() if line.startswith("0::"))
        here = root / name.lstrip("/")
        for folder in [*here.glob(f"{_GROUP}*"), *here.parent.glob(f"{_GROUP}*")]:
            owner = folder.name.removeprefix(_GROUP).partition("-")[0]
            if owner.isdigit() and not alive(int(owner)):
                with contextlib.suppress(OSError):
                    folder.rmdir()


@define
class Watch:
    """Looks at the processes of a command, and at its files. counts: whether no control group does the former."""

    limits: Limits
    folders: tuple[Path, ...]
    counts: bool = True
    pid: int = 0
    """The first process of the command's own process-id namespace, which all others descend from."""
    _next_look: float = field(default=0.0, init=False)
    _next_walk: float = field(factory=lambda: time.monotonic() + 1, init=False)
    _before: int = field(factory=lambda: _tasks(), init=False)

    def over(self) -> str:
        """The limit that was passed, or ""."""
        now = time.monotonic()
        if self.counts and self.pid and (now >= self._next_look or _tasks() > self._before + self.limits.processes):
            found = below(self.pid)
            self._next_look = time.monotonic() + max(_LOOK, 5 * (time.monotonic() - now))
            self._before = max(0, _tasks() - len(found))
            if len(found) > self.limits.processes:
                return self.limits.told("processes")
            if sum(map(_resident, found)) > self.limits.memory:
                return self.limits.told("memory")
        return self._files() if now >= self._next_walk else ""

    def _files(self) -> str:
        began = time.monotonic()
        used = sum(_used(folder, self.limits.disk) for folder in self.folders)
        took = time.monotonic() - began
        self._next_walk = time.monotonic() + max(1.0, _PAUSE * took)
        return self.limits.told("disk") if used > self.limits.disk else ""


def below(pid: int) -> list[int]:
    """A process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208 - many times a second
        if entry.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError), open(f"/proc/{entry}/stat", "rb") as file:  # noqa: PTH123
                children.setdefault(int(file.read().rpartition(b")")[2].split()[1]), []).append(int(entry))
    found = [pid]
    for parent in found:
        found += children.get(parent, ())
    return found


def _tasks() -> int:
    """How many processes and threads the machine has."""
    try:
        with open("/proc/loadavg", "rb") as file:  # noqa: PTH123 - many times a second
            return int(file.read().split()[3].partition(b"/")[2])
    except (OSError, IndexError, ValueError):
        return 0


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123
            _, resident, shared = file.read().split()[:3]
        return (int(resident) - int(shared)) * resource.getpagesize()
    except (OSError, ValueError):  # it ended meanwhile
        return 0


def _used(folder: Path, most: int) -> int:
    """Bytes on the disk below a folder; counting ends where they are more than `most`."""
    used, waiting = 0, [str(folder)]
    while waiting and used <= most:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                        used += 4096
                    else:
                        used += entry.stat(follow_symlinks=False).st_blocks * 512
    return used
