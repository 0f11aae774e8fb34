"""Runs a child process to its end: limits, a log, and nothing left behind.

A child gets its own session, so that a limit or Ctrl-C ends the whole process group. A child of a child can leave the
group (setsid); on Linux every process that carries this run's mark in its environment is found in /proc and ended too.

Output goes to a file, not through a pipe: a process left behind that holds a pipe open could hang us. An agent's
stream does need a pipe, since its lines are cleaned of secrets before they reach the disk; see `stream`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from uuid import uuid4

from attrs import frozen

from evalkit.errors import HarnessError

__all__ = ["Finished", "ProgramMissing", "end_all", "run", "stream"]

MARK = "EVALKIT_PROCESS"
OUTPUT_LIMIT = 64 * 1024 * 1024
"""Bytes that a command may print before it is ended."""
_GRACE = 2.0
"""Seconds between asking a process to end and ending it."""
_LONGEST_LINE = 64 * 1024 * 1024

_running: dict[str, subprocess.Popen[bytes]] = {}
_lock = threading.Lock()


class ProgramMissing(HarnessError):
    """The program of a command line is not there or cannot be started."""


@frozen
class Finished:
    """How a process ended. `exit_code` is negative for a signal. `ended_by`: "" or the limit that ended it."""

    exit_code: int
    seconds: float
    ended_by: str = ""

    @property
    def ok(self) -> bool:
        return self.exit_code == 0 and not self.ended_by


def run(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], limit: float, log: Path,
        tick: Callable[[float], None] | None = None) -> Finished:
    """Run a command, both its output streams into `log` (appended), without an input.

    limit: seconds of wall clock. tick: called about ten times a second with the seconds so far.
    Raises `ProgramMissing`.
    """
    with log.open("ab") as sink:
        child, mark = _start(argv, cwd, env, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT)
        began = time.monotonic()

        def over() -> str:
            if time.monotonic() - began > limit:
                return f"time limit of {limit:g} s"
            if os.fstat(sink.fileno()).st_size > OUTPUT_LIMIT:
                return f"output limit of {OUTPUT_LIMIT // (1024 * 1024)} MB"
            return ""

        return _wait(child, mark, began, over, tick)


def stream(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], limit: float, text: str, errors: Path,
           on_line: Callable[[bytes], None], stop: Callable[[], str] = lambda: "",
           tick: Callable[[float], None] | None = None) -> Finished:
    """Run a command with `text` as its input and hand each line of its output to `on_line` as it comes.

    stop: asked ten times a second; a reason that it returns ends the process.

    Lines come without their line end, on another thread, one at a time; what the child leaves in the pipe when it ends
    is handed over too. Standard error goes to the file `errors`. Raises `ProgramMissing`.
    """
    with errors.open("ab") as sink:
        child, mark = _start(argv, cwd, env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sink)
        began = time.monotonic()
        failures: list[Exception] = []

        def read() -> None:
            assert child.stdout is not None
            try:
                for line in iter(lambda: child.stdout.readline(_LONGEST_LINE), b""):  # type: ignore[union-attr]
                    on_line(line.rstrip(b"\r\n"))
            except Exception as error:  # noqa: BLE001 - handed to the caller's thread
                failures.append(error)

        def write() -> None:
            assert child.stdin is not None
            with contextlib.suppress(OSError), child.stdin as pipe:  # the child may end without reading it all
                pipe.write(text.encode())

        threads = [threading.Thread(target=work, daemon=True) for work in (read, write)]
        for thread in threads:
            thread.start()

        def over() -> str:
            if failures:
                return "an error in reading its output"
            return f"time limit of {limit:g} s" if time.monotonic() - began > limit else stop()

        finished = _wait(child, mark, began, over, tick)
        for thread in threads:
            thread.join(_GRACE)
        if failures:
            raise failures[0]
        return finished


def _start(argv: Sequence[str], cwd: Path, env: Mapping[str, str], *, stdin: int, stdout: object,
           stderr: object) -> tuple[subprocess.Popen[bytes], str]:
    mark = uuid4().hex
    with _lock:
        try:
            child = subprocess.Popen(argv, cwd=cwd, env={**env, MARK: mark}, stdin=stdin, stdout=stdout,  # type: ignore[call-overload]
                                     stderr=stderr, start_new_session=True)
        except (FileNotFoundError, PermissionError, NotADirectoryError, OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ProgramMissing(f"cannot start `{argv[0] if argv else ''}`: {reason}") from error
        _running[mark] = child
    return child, mark


def _wait(child: subprocess.Popen[bytes], mark: str, began: float, over: Callable[[], str],
          tick: Callable[[float], None] | None) -> Finished:
    ended_by = ""
    try:
        while True:
            try:
                child.wait(timeout=0.1)
                break
            except subprocess.TimeoutExpired:
                pass
            if tick is not None:
                tick(time.monotonic() - began)
            ended_by = over()
            if ended_by:
                _end(child, mark, gently=True)
                break
    finally:
        # Also after a regular end: what a command leaves running must not write into the tree that is graded next.
        _end(child, mark, gently=False)
        with _lock:
            _running.pop(mark, None)
    return Finished(child.returncode if child.returncode is not None else -signal.SIGKILL,
                    time.monotonic() - began, ended_by)


def _end(child: subprocess.Popen[bytes], mark: str, *, gently: bool) -> None:
    if gently:
        _signal_group(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=_GRACE)
    _signal_group(child.pid, signal.SIGKILL)
    for pid in _marked(mark):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(timeout=_GRACE)


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _marked(mark: str) -> list[int]:
    """Processes that carry the mark in their environment (Linux; elsewhere none is found)."""
    needle = f"{MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if needle in entry.read_bytes().split(b"\0"):
                found.append(int(entry.parent.name))
        except OSError:  # it ended meanwhile, or belongs to another user
            continue
    return found


def end_all() -> None:
    """End every running child and what it started: for Ctrl-C and SIGTERM."""
    with _lock:
        running = list(_running.items())
    for mark, child in running:
        _end(child, mark, gently=False)
