"""Runs a program to its end and says what it cost: CPU and wall time, and the most memory that it held.

CPU is user and system time of the process and of all the children that it waited for, as the kernel counts them
(`wait4`). The peak of memory is that of the largest single process among them. Linux counts to a process's peak what
its parent held when it was started: so this module, and who imports it, import nothing large.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["Cost", "Ran", "run"]

_MB = 1 << 20 if sys.platform == "darwin" else 1 << 10


class Cost(NamedTuple):
    """Seconds of CPU, seconds by the clock, and MB at the peak."""

    cpu: float
    wall: float
    mb: float

    def best(self, other: Cost) -> Cost:
        """The least of both times, as noise only ever adds; the larger peak."""
        return Cost(min(self.cpu, other.cpu), min(self.wall, other.wall), max(self.mb, other.mb))


class Ran(NamedTuple):
    """A program that ended: its exit status, what it printed, and its cost."""

    status: int
    out: str
    err: str
    cost: Cost


def run(command: Sequence[str], folder: Path, environ: Mapping[str, str]) -> Ran:
    """Run a command in a folder, its output to files, nothing to read."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, env=environ, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            _, status, used = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Ran(process.returncode, out.read().decode(errors="replace"), err.read().decode(errors="replace"),
                   Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / _MB))
