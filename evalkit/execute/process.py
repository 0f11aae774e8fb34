"""Runs a child process to its end: limits, a log, and nothing left behind.

A child gets a session of its own, so that a limit or Ctrl-C ends its whole process group. A child of a child can leave
the group (setsid): on Linux it is found by its mark (see marks.py) and ended too. One that leaves the group and also
empties its environment escapes: only a sandbox holds that.

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
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol

from evalkit.errors import HarnessError
from evalkit.execute.marks import end_marked, marked, new_mark
from evalkit.execute.pipes import Feed, Lines
from evalkit.execute.running import enter, is_running, leave, signal_group, started
from evalkit.values import Value

__all__ = ["Dialogue", "Finished", "LimitPassed", "ProgramMissing", "Walls", "converse", "run", "stream", "tended"]

OUTPUT_LIMIT = 64 * 1024 * 1024
"""Bytes that a command may print before it is ended."""
STREAM_LIMIT = 512 * 1024 * 1024
"""Bytes that an agent may print, both its streams together."""
_GRACE = 2.0
"""Seconds between asking a process to end and ending it."""
_NO_SUCH_PROGRAM = frozenset({errno.ENOENT, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.ENOEXEC,
                              errno.ELOOP, errno.ENAMETOOLONG})


class ProgramMissing(HarnessError):
    """The program of a command line is not there, or is nothing that can be started."""


class LimitPassed(HarnessError):
    """A child that is talked to passed a limit of its walls."""


class Finished(Value):
    """How a process ended. `exit_code` is negative for a signal. `ended_by`: "" or the limit that ended it."""

    exit_code: int
    seconds: float
    ended_by: str = ""

    @property
    def ok(self) -> bool:
        return self.exit_code == 0 and not self.ended_by


class Walls(Protocol):
    """What stands around a child beside the limits here. fds: descriptors that it needs.

    began: is told of it once it was started. over: the limit that it passed, or "": asked many times a second.
    """

    @property
    def fds(self) -> tuple[int, ...]: ...
    def began(self, process: subprocess.Popen[bytes]) -> None: ...
    def over(self) -> str: ...


def run(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], limit: float, log: Path, errors: Path | None = None,
        tick: Callable[[float], None] | None = None, walls: Walls | None = None) -> Finished:
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
            if _size(sinks) - before > OUTPUT_LIMIT:
                return _too_much(OUTPUT_LIMIT)
            return walls.over() if walls is not None else ""

        with _Child(argv, cwd, env, stdin=subprocess.DEVNULL, stdout=sink,
                    stderr=error_sink or subprocess.STDOUT, walls=walls) as child:
            finished = _follow(child, limit, over, time.sleep, tick)
        if finished.ended_by == _too_much(OUTPUT_LIMIT):
            for file in sinks:  # it printed on until it was ended
                file.truncate(min(os.fstat(file.fileno()).st_size, before + OUTPUT_LIMIT))
    if not finished.ok:
        _check_space(cwd)
    return finished


def stream(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], limit: float, text: str,
           on_line: Callable[[bytes], None], on_error_line: Callable[[bytes], None],
           stop: Callable[[], str] = lambda: "", tick: Callable[[float], None] | None = None,
           walls: Walls | None = None) -> Finished:
    """Run a command with `text` as its input and hand on each line of its output and of its errors as it comes.

    Lines come without their line end, in the caller's thread; also those that the child leaves in the pipe when it
    ends, and a last one without an end. What a callback raises ends the child and is raised here. stop: asked many
    times a second; a reason that it returns ends the child. Raises `ProgramMissing`, or HarnessError where the machine
    fails.
    """
    with (_Child(argv, cwd, env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 walls=walls) as child,
          selectors.DefaultSelector() as selector):
        process = child.process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        lines = [Lines(process.stdout, on_line), Lines(process.stderr, on_error_line)]
        for pipe in lines:
            selector.register(pipe.file, selectors.EVENT_READ, pipe.read)
        feed = Feed(process.stdin, text.encode("utf-8", "replace"))
        selector.register(feed.file, selectors.EVENT_WRITE, feed.write)

        def pump(seconds: float) -> None:
            for key, _ in selector.select(seconds):
                if not key.data():
                    selector.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr] # they are the pipes from above

        def over() -> str:
            if sum(pipe.size for pipe in lines) > STREAM_LIMIT:
                return _too_much(STREAM_LIMIT)
            return stop() or (walls.over() if walls is not None else "")

        finished = _follow(child, limit, over, pump, tick)
        for pipe in lines:
            pipe.drain()
    if finished.exit_code != 0:
        _check_space(cwd)
    return finished


@contextlib.contextmanager
def converse(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path,
             walls: Walls | None = None) -> Iterator[Dialogue]:
    """Start a command that answers each line of its input with one of its output; it ends with the `with`.

    log: where its standard error goes. walls: as of `run`. Raises `ProgramMissing`, or HarnessError where the machine
    fails.
    """
    with (_opened(log) as errors,
          _Child(argv, cwd, env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, walls=walls) as child):
        yield Dialogue(child, walls.over if walls is not None else lambda: "")


class Dialogue:
    """A child that is asked and answers, line by line. over: the limit that it passed, or ""."""

    def __init__(self, child: _Child, over: Callable[[], str] = lambda: "") -> None:
        assert child.process.stdin is not None
        assert child.process.stdout is not None
        self._child = child
        self.over = over
        self._input, self._answers = child.process.stdin, list[bytes]()
        self._output = Lines(child.process.stdout, self._answers.append)

    def ask(self, line: bytes, limit: float) -> bytes:
        """Its answer to a line; neither has its line end. limit: seconds.

        Raises HarnessError where it ends, passes a limit or does not answer in time; it cannot be asked again then.
        """
        until = time.monotonic() + limit
        feed = Feed(self._input, line + b"\n")
        with selectors.DefaultSelector() as selector:
            selector.register(feed.file, selectors.EVENT_WRITE, feed.write)
            selector.register(self._output.file, selectors.EVENT_READ, self._output.read)
            while not self._answers:
                if not is_running(self._child.mark):
                    raise HarnessError(f"`{self._child.name}` was ended: evalkit is being stopped")
                if struck := self.over():
                    raise LimitPassed(f"was ended by its {struck}")
                if time.monotonic() > until:
                    raise HarnessError(f"`{self._child.name}` did not answer within {limit:.3g} s")
                for key, _ in selector.select(0.05):
                    if not key.data():
                        selector.unregister(key.fileobj)
                        if key.fileobj is self._output.file and not self._answers:
                            raise HarnessError(f"`{self._child.name}` ended before it answered")
        return self._answers.pop(0)


@contextlib.contextmanager
def tended() -> Iterator[dict[str, str]]:
    """For a library that starts children itself: the variables to start them with. All end with the `with`."""
    mark = new_mark()
    enter(mark)
    try:
        yield marked(mark)
    finally:
        end_marked(lambda found: found == mark)
        leave(mark)


def _follow(child: _Child, limit: float, over: Callable[[], str], pause: Callable[[float], None],
            tick: Callable[[float], None] | None) -> Finished:
    """Wait until the child ends or is over a limit. `pause` passes the given seconds, or less."""
    ended_by, wait, due = "", 0.001, 0.1
    while not child.ended() and is_running(child.mark):
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
    if not is_running(child.mark):
        raise HarnessError(f"`{child.name}` was ended: evalkit is being stopped")
    return Finished(child.exit_code, seconds, ended_by)


# ---- one child ----
class _Child:
    """A started child and all that carries its mark. Leaving the `with` ends them."""

    def __init__(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], *, stdin: int, stdout: IO[bytes] | int,
                 stderr: IO[bytes] | int, walls: Walls | None = None) -> None:
        self.name = argv[0] if argv else ""
        self.mark = new_mark()
        enter(self.mark)
        self.began = time.monotonic()
        self._over = False
        try:
            self.process = subprocess.Popen(list(argv), cwd=cwd, env={**env, **marked(self.mark)}, stdin=stdin,
                                            stdout=stdout, stderr=stderr, start_new_session=True, bufsize=0,
                                            pass_fds=walls.fds if walls is not None else ())
        except (OSError, ValueError, IndexError) as error:
            leave(self.mark)
            raise _cannot_start(self.name, cwd, error) from error
        self._walls = walls
        started(self.mark, self.process.pid)

    def __enter__(self) -> _Child:
        if self._walls is not None:
            try:
                self._walls.began(self.process)
            except BaseException:
                self.__exit__(None, None, None)
                raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.end()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        leave(self.mark)

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
        signal_group(self.process.pid, signal.SIGTERM)
        until = time.monotonic() + _GRACE
        while not self.ended() and time.monotonic() < until:
            pause(0.05)

    def end(self) -> None:
        """End its group and all that carries the mark; reap it. A second call does nothing.

        Also after a regular end: what a command leaves running must not write into the tree that is graded next.
        """
        if self._over:
            return
        signal_group(self.process.pid, signal.SIGKILL)
        end_marked(lambda mark: mark == self.mark)
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
