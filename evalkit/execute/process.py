"""Runs a child process to its end: limits, a log, and nothing left behind.

A child gets a session of its own, so that a limit or Ctrl-C ends its whole process group. A child of a child can leave
the group (setsid); on Linux every process that carries this run's mark in its environment is found in /proc and ended
too. One that leaves the group and also empties its environment escapes: only a sandbox holds that.

The mark also names the evalkit process that made it, so that what a killed evalkit left running is found later
(`end_orphans`): nobody pays for an agent that nobody waits for.

Output of a command goes straight to a file: what a process that escaped still holds open cannot hang us. An agent's
stream comes through pipes, since its lines are cleaned of secrets before they reach the disk. Both are followed by one
loop in the caller's thread, which never blocks on a pipe.
"""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any
from uuid import uuid4

from attrs import frozen

from evalkit.errors import HarnessError

__all__ = ["Finished", "ProgramMissing", "alive", "end_all", "end_orphans", "run", "stream"]

MARK = "EVALKIT_PROCESS"
OUTPUT_LIMIT = 64 * 1024 * 1024
"""Bytes that a command may print before it is ended."""
STREAM_LIMIT = 512 * 1024 * 1024
"""Bytes that an agent may print, both its streams together."""
LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of a line of a stream; a longer one comes in pieces."""
_GRACE = 2.0
"""Seconds between asking a process to end and ending it."""
_LEFT_IN_PIPE = 4 * 1024 * 1024
"""Bytes that are read from a pipe after the end: more than a pipe holds."""
_NO_SUCH_PROGRAM = frozenset({errno.ENOENT, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.ENOEXEC,
                              errno.ELOOP, errno.ENAMETOOLONG})


class ProgramMissing(HarnessError):
    """The program of a command line is not there, or is nothing that can be started."""


@frozen
class Finished:
    """How a process ended. `exit_code` is negative for a signal. `ended_by`: "" or the limit that ended it."""

    exit_code: int
    seconds: float
    ended_by: str = ""

    @property
    def ok(self) -> bool:
        return self.exit_code == 0 and not self.ended_by


def run(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], limit: float, log: Path, errors: Path | None = None,
        tick: Callable[[float], None] | None = None) -> Finished:
    """Run a command without an input, both its output streams into `log` (appended).

    limit: seconds of wall clock. errors: a file of its own for standard error. tick: called about ten times a second
    with the seconds so far. Raises `ProgramMissing`, or HarnessError where the machine fails.
    """
    with contextlib.ExitStack() as files:
        sink = files.enter_context(_opened(log))
        error_sink = files.enter_context(_opened(errors)) if errors is not None else None
        sinks = [file for file in (sink, error_sink) if file is not None]
        before = _size(sinks)

        def over() -> str:
            return _too_much(OUTPUT_LIMIT) if _size(sinks) - before > OUTPUT_LIMIT else ""

        with _Child(argv, cwd, env, stdin=subprocess.DEVNULL, stdout=sink,
                    stderr=error_sink or subprocess.STDOUT) as child:
            finished = _follow(child, limit, over, time.sleep, tick)
        if finished.ended_by == _too_much(OUTPUT_LIMIT):
            for file in sinks:  # it printed on until it was ended
                file.truncate(min(os.fstat(file.fileno()).st_size, before + OUTPUT_LIMIT))
    if not finished.ok:
        _check_space(cwd)
    return finished


def stream(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], limit: float, text: str,
           on_line: Callable[[bytes], None], on_error_line: Callable[[bytes], None],
           stop: Callable[[], str] = lambda: "", tick: Callable[[float], None] | None = None) -> Finished:
    """Run a command with `text` as its input and hand on each line of its output and of its errors as it comes.

    Lines come without their line end, in the caller's thread; also those that the child leaves in the pipe when it
    ends, and a last one without an end. What a callback raises ends the child and is raised here. stop: asked many
    times a second; a reason that it returns ends the child. Raises `ProgramMissing`, or HarnessError where the machine
    fails.
    """
    with (_Child(argv, cwd, env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child,
          selectors.DefaultSelector() as selector):
        process = child.process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        lines = [_Lines(process.stdout, on_line), _Lines(process.stderr, on_error_line)]
        for pipe in lines:
            selector.register(pipe.file, selectors.EVENT_READ, pipe.read)
        feed = _Feed(process.stdin, text.encode("utf-8", "replace"))
        selector.register(feed.file, selectors.EVENT_WRITE, feed.write)

        def pump(seconds: float) -> None:
            for key, _ in selector.select(seconds):
                if not key.data():
                    selector.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr] # they are the pipes from above

        def over() -> str:
            if sum(pipe.size for pipe in lines) > STREAM_LIMIT:
                return _too_much(STREAM_LIMIT)
            return stop()

        finished = _follow(child, limit, over, pump, tick)
        for pipe in lines:
            pipe.drain()
    if finished.exit_code != 0:
        _check_space(cwd)
    return finished


def _follow(child: _Child, limit: float, over: Callable[[], str], pause: Callable[[float], None],
            tick: Callable[[float], None] | None) -> Finished:
    """Wait until the child ends or is over a limit. `pause` passes the given seconds, or less."""
    ended_by, wait, due = "", 0.001, 0.1
    while not child.ended() and child.mark in _running:
        seconds = child.seconds
        if tick is not None and seconds >= due:
            due = seconds + 0.1
            tick(seconds)
        ended_by = f"time limit of {limit:g} s" if seconds > limit else over()
        if ended_by:
            child.ask_to_end(pause)
            break
        pause(wait)
        wait = min(2 * wait, 0.05)
    seconds = child.seconds
    child.end()
    if child.mark not in _running:
        raise HarnessError(f"`{child.name}` was ended: evalkit is being stopped")
    return Finished(child.exit_code, seconds, ended_by)


# ---- one child ----
_running: dict[str, _Child | None] = {}
"""The children by their marks, entered before the start: whatever interrupts the start, `end_all` knows the mark."""
_lock = threading.Lock()


class _Child:
    """A started child and all that carries its mark. Leaving the `with` ends them."""

    def __init__(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], *, stdin: int, stdout: IO[bytes] | int,
                 stderr: IO[bytes] | int) -> None:
        self.name = argv[0] if argv else ""
        self.mark = f"{_namespace()}-{os.getpid()}-{uuid4().hex}"
        # A nested evalkit adds its mark to the one it was started with: the outer one finds its children as well.
        marks = ",".join(mark for mark in (os.environ.get(MARK), self.mark) if mark)
        with _lock:
            _running[self.mark] = None
        self.began = time.monotonic()
        self._over = False
        try:
            self.process = subprocess.Popen(list(argv), cwd=cwd, env={**env, MARK: marks}, stdin=stdin, stdout=stdout,
                                            stderr=stderr, start_new_session=True, bufsize=0)
        except (OSError, ValueError, IndexError) as error:
            with _lock:
                _running.pop(self.mark, None)
            raise _cannot_start(self.name, cwd, error) from error
        with _lock:
            if self.mark in _running:
                _running[self.mark] = self

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.end()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        with _lock:
            _running.pop(self.mark, None)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    @property
    def exit_code(self) -> int:
        """Its exit status after `end`; a process that even SIGKILL has not ended yet counts as killed."""
        return self.process.returncode if self.process.returncode is not None else -signal.SIGKILL

    def ended(self) -> bool:
        """Whether it ended by itself. It is not reaped here: its id, and so its group's, cannot go to another one."""
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return self.process.poll() is not None
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def ask_to_end(self, pause: Callable[[float], None]) -> None:
        """SIGTERM to its group, and some time to follow it."""
        _signal_group(self.process.pid, signal.SIGTERM)
        until = time.monotonic() + _GRACE
        while not self.ended() and time.monotonic() < until:
            pause(0.05)

    def end(self) -> None:
        """End its group and all that carries the mark; reap it. A second call does nothing.

        Also after a regular end: what a command leaves running must not write into the tree that is graded next.
        """
        if self._over:
            return
        _signal_group(self.process.pid, signal.SIGKILL)
        _end_marked(lambda mark: mark == self.mark)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=_GRACE)
        self._over = True


def _cannot_start(name: str, cwd: Path, error: Exception) -> HarnessError:
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, OSError) and not cwd.is_dir():
        return HarnessError(f"cannot start `{name}`: its folder {cwd} is not there")
    if number in _NO_SUCH_PROGRAM:
        return ProgramMissing(f"cannot start `{name}`: {os.strerror(number or 0)}")
    reason = os.strerror(number) if number else str(error)
    return HarnessError(f"cannot start `{name}`: {reason}",
                        hint="the machine is out of memory, processes or open files" if number in
                        (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE) else "")


class _Lines:
    """The reading end of a pipe, cut into lines."""

    def __init__(self, file: IO[bytes], on_line: Callable[[bytes], None]) -> None:
        self.file = file
        self.size = 0
        self._on_line = on_line
        self._begun: list[bytes] = []
        self._length = 0
        os.set_blocking(file.fileno(), False)

    def read(self) -> bool:
        """Take what is there; False at the end of the pipe."""
        try:
            data = os.read(self.file.fileno(), 1 << 18)
        except BlockingIOError:
            return True
        if not data:
            self._flush()
            return False
        self.size += len(data)
        *whole, rest = data.split(b"\n")
        for part in whole:
            self._begun.append(part)
            self._flush(always=True)
        self._begun.append(rest)
        self._length += len(rest)
        if self._length >= LONGEST_LINE:
            self._flush()
        return True

    def drain(self) -> None:
        """Take what is left after the end, and no more than a pipe holds: somebody may still write into it."""
        until = self.size + _LEFT_IN_PIPE
        while not self.file.closed and self.size < until:
            before = self.size
            if not self.read() or self.size == before:
                break
        self._flush()

    def _flush(self, *, always: bool = False) -> None:
        line = b"".join(self._begun)
        self._begun, self._length = [], 0
        if line or always:
            self._on_line(line.removesuffix(b"\r"))


class _Feed:
    """The writing end of a pipe, and what is still to be written."""

    def __init__(self, file: IO[bytes], data: bytes) -> None:
        self.file = file
        self._left = memoryview(data)
        os.set_blocking(file.fileno(), False)

    def write(self) -> bool:
        """Write what fits; False when all is written, or nobody reads any more."""
        try:
            self._left = self._left[os.write(self.file.fileno(), self._left) :] if self._left else self._left
        except BlockingIOError:
            return True
        except OSError:  # the child closed its input: it may do without
            return False
        return bool(self._left)


# ---- marks ----
def _namespace() -> str:
    """The process-id namespace of this process: the same id means another process elsewhere."""
    try:
        return Path("/proc/self/ns/pid").readlink().name.partition("[")[2].rstrip("]")
    except OSError:
        return "0"


def _signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _end_marked(ours: Callable[[str], bool]) -> int:
    """SIGKILL to every process with such a mark, again and again until none is left: one may start another meanwhile.

    Returns how many were found.
    """
    until = time.monotonic() + _GRACE
    ended: set[int] = set()
    while found := [pid for pid, marks in _marked() if any(map(ours, marks))]:
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        ended.update(found)
        if time.monotonic() > until:
            break
        time.sleep(0.005)
    return len(ended)


def _marked() -> Iterator[tuple[int, list[str]]]:
    """Processes with marks in their environment (Linux; elsewhere none is found), but for this one."""
    needle = MARK.encode() + b"="
    own = os.getpid()
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            data = entry.read_bytes()
        except OSError:  # it ended meanwhile, or belongs to another user
            continue
        pid = int(entry.parent.name)
        if needle in data and pid != own:
            for variable in data.split(b"\0"):
                if variable.startswith(needle):
                    yield pid, variable.removeprefix(needle).decode("ascii", "replace").split(",")


def alive(pid: int) -> bool:
    """Whether a process with this id runs; not one that ended and that nobody waits for (a container without init)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):  # no Linux
        return True
    return state not in "ZX"


def end_all() -> None:
    """End every running child and what it started: for Ctrl-C and SIGTERM.

    A `run` or `stream` that another thread still waits in raises HarnessError: its child did not end by itself.
    """
    with _lock:
        running = dict(_running)
        _running.clear()
    for child in running.values():
        if child is not None:
            _signal_group(child.process.pid, signal.SIGKILL)
    if running:
        _end_marked(running.__contains__)


def end_orphans() -> int:
    """End what a killed evalkit of this user left running. Returns how many processes."""
    namespace = _namespace()
    inherited = os.environ.get(MARK, "").split(",")  # an evalkit in an evalkit is no orphan to itself

    def orphaned(mark: str) -> bool:
        where, _, rest = mark.partition("-")
        owner = rest.partition("-")[0]
        return mark not in inherited and where == namespace and owner.isdigit() and not alive(int(owner))

    return _end_marked(orphaned)


# ---- the disk ----
@contextlib.contextmanager
def _opened(log: Path) -> Iterator[IO[bytes]]:
    try:
        file = log.open("ab")
    except OSError as error:
        raise HarnessError(f"cannot write {log}: {error.strerror or error}",
                           hint="is the disk full, or the folder read-only?") from error
    with file:
        yield file


def _size(files: Sequence[IO[Any]]) -> int:
    return sum(os.fstat(file.fileno()).st_size for file in files)


def _too_much(limit: int) -> str:
    return f"output limit of {limit // (1024 * 1024)} MB"


def _check_space(folder: Path) -> None:
    """Raise HarnessError where a command may have failed because the disk is full: that is nobody's fault but ours."""
    try:
        free = shutil.disk_usage(folder).free
    except OSError:  # the command removed its own folder
        return
    if free < 1024 * 1024:
        raise HarnessError(f"the disk is full: {folder}", hint="make room, then run again: nothing was graded")
