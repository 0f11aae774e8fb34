"""One command behind bubblewrap, from its start to its status: what `process` needs to know of walls.

bubblewrap is started with its arguments in a file in memory, so that no other user of the machine reads them, and stops
(`--block-fd`) when it has made the sandbox. Then limits are put on it, and the network's listener is handed out; then
the command begins. By its report (`--json-status-fd`) a status is the command's own; without one it never began.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import orjson
from attrs import define, field

from evalkit.errors import HarnessError
from evalkit.execute.lanes.base import Serve
from evalkit.execute.lanes.bwrap import ETC, Plan
from evalkit.execute.lanes.limits import Cgroup, Watch
from evalkit.execute.lanes.syscalls import program
from evalkit.execute.process import Finished, ProgramMissing
from evalkit.values import evolve

__all__ = ["PORT", "PROXY_PORT", "Walls"]

PORT = 8791
"""Where commands find evalkit's gateway on their loopback."""
PROXY_PORT = 8792
"""Where they find the proxy to what their case asks for, if it does."""
_LONGEST_START = 60.0
"""Seconds in which the sandbox must be made: far more than a busy machine needs."""
_OPENER = Path(__file__).with_name("opener.py")
_EXEC = "bwrap: execvp "
DOCTOR = "`evalkit doctor` says what keeps the sandbox from working; lane=local does without"


@define
class Walls:
    """Leaving the `with` closes all that was opened. serve: by ports inside, who answers what connects to them."""

    program: str
    plan: Plan
    watch: Watch
    serve: Mapping[int, Serve] = field(factory=dict)
    group: Cgroup | None = None
    fds: tuple[int, ...] = ()
    last_words: Callable[[], str] = field(default=lambda: "", repr=False)
    _status: int = -1
    _gate: int = -1
    _listener: socket.socket | None = None
    _told: bytes = b""
    _open: contextlib.ExitStack = field(factory=contextlib.ExitStack, init=False, repr=False)
    _inside: contextlib.ExitStack = field(factory=contextlib.ExitStack, init=False, repr=False)

    # ---- before the start ----
    def command(self, argv: Sequence[str]) -> list[str]:
        """The command line that starts `argv` in the sandbox. Raises HarnessError where the machine fails."""
        if not argv:
            raise ProgramMissing("cannot start ``: it names no program")
        try:
            files = ETC if self.plan.root is None else {}
            data = {path: self._in_memory(text.encode()) for path, text in files.items()}
            self._status, report = os.pipe()
            gate, self._gate = os.pipe()
            for descriptor in (report, gate):
                self._inside.callback(os.close, descriptor)
            words = self.plan.arguments(data)
            if refused := program():
                data["seccomp"] = self._in_memory(refused)
                words += ["--seccomp", str(data["seccomp"])]
            if any("\0" in word for word in words):
                raise HarnessError(f"cannot start `{argv[0]}`: its environment holds a NUL")
            arguments = self._in_memory("\0".join([*words, ""]).encode("utf-8", "surrogateescape"))
            self.fds = (*data.values(), report, gate, arguments)
            line = [self.program, "--args", str(arguments), "--json-status-fd", str(report),
                    "--block-fd", str(gate), "--", *argv]
            if self.serve:
                outside, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
                self._listener = self._open.enter_context(outside)
                self._inside.enter_context(inside)
                self.fds = (*self.fds, inside.fileno())
                ports = ",".join(map(str, self.serve))
                line = [sys.executable, "-I", "-S", str(_OPENER), str(inside.fileno()), ports, *line]
        except OSError as error:
            raise HarnessError(f"the sandbox cannot be made: {error.strerror or error}",
                               hint="the machine is out of memory, processes or open files") from error
        return line

    def _in_memory(self, data: bytes) -> int:
        descriptor = os.memfd_create("evalkit")
        self._inside.callback(os.close, descriptor)
        os.write(descriptor, data)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor

    # ---- from the start to the end ----
    def began(self, process: subprocess.Popen[bytes]) -> None:
        """Let the command begin, once the sandbox is made. Where it cannot be made, the process ends by itself."""
        self._inside.close()
        until = time.monotonic() + _LONGEST_START
        try:
            if self._listener is not None:
                self._serve(self._listener, process, until)
            pid = self._first(process, until)
            if pid is not None:
                self.watch.pid = pid
                self.watch.limits.apply(pid)
                if self.group is not None:
                    self.group.enter(pid)
        except OSError as error:
            if process.poll() is None:
                raise HarnessError(f"the sandbox cannot be limited: {error.strerror or error}", hint=DOCTOR) from error
        finally:
            os.close(self._gate)
            self._gate = -1

    def _serve(self, outside: socket.socket, process: subprocess.Popen[bytes], until: float) -> None:
        outside.settimeout(max(0.1, until - time.monotonic()))
        _, found, _, _ = socket.recv_fds(outside, 1, len(self.serve))
        for descriptor, serve in zip(found, self.serve.values(), strict=False):
            listener = socket.socket(fileno=descriptor)
            self._open.enter_context(listener)
            self._open.enter_context(serve(listener))

    def _first(self, process: subprocess.Popen[bytes], until: float) -> int | None:
        """The process id of the sandbox's first process; None where it was not made."""
        while b"\n" not in self._told:
            if not select.select([self._status], [], [], 0.2)[0]:
                if time.monotonic() > until:
                    raise HarnessError(f"the sandbox was not made within {_LONGEST_START:g} s", hint=DOCTOR)
                if process.poll() is not None:
                    return None
                continue
            if not (more := os.read(self._status, 4096)):
                return None
            self._told += more
        return int(orjson.loads(self._told.partition(b"\n")[0])["child-pid"])

    def over(self) -> str:
        """The limit that the command passed, or ""."""
        return (self.group.over() if self.group is not None else "") or self.watch.over()

    def settled(self, finished: Finished, name: str) -> Finished:
        """How the command itself ended. Raises ProgramMissing, or HarnessError where there was no sandbox."""
        while select.select([self._status], [], [], 0)[0] and (more := os.read(self._status, 4096)):
            self._told += more
        lines = [orjson.loads(line) for line in self._told.splitlines() if line.endswith(b"}")]
        status = next((line["exit-code"] for line in lines if "exit-code" in line), None)
        if finished.ended_by:
            return finished
        if self.group is not None and (over := self.group.over()) and status != 0:
            return evolve(finished, ended_by=over)
        if status is None:
            if finished.exit_code < 0:  # somebody ended bubblewrap
                return finished
            said = self.last_words().strip().rpartition("\n")[2]
            if said.startswith(_EXEC):
                raise ProgramMissing(f"cannot start `{name}`: {said.rpartition(': ')[2]}")
            raise HarnessError(f"the sandbox cannot be made: {said or 'it said nothing'}", hint=DOCTOR)
        if status == 128 + signal.SIGXFSZ:
            return evolve(finished, exit_code=-signal.SIGXFSZ, ended_by=self.watch.limits.told("file"))
        return evolve(finished, exit_code=128 - status if 128 < status < 160 else status)

    def __enter__(self) -> Walls:
        return self

    def __exit__(self, *_: object) -> None:
        self._inside.close()
        self._open.close()
        for descriptor in (self._status, self._gate):
            if descriptor >= 0:
                with contextlib.suppress(OSError):
                    os.close(descriptor)
        if self.group is not None:
            self.group.remove()
