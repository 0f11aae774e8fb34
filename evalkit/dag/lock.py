"""One run at a time in a project.

Who holds the lock says so in its file, and takes it back in the end. So a run finds out that an earlier one was killed:
then what that one was writing into the results, under names of its own, is removed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from evalkit.dag import interrupts

__all__ = ["alone"]

_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def _say(text: str) -> None:
    print(text, file=sys.stderr)


@contextmanager
def alone(state: Path, say: Callable[[str], None] = _say) -> Iterator[bool]:
    """One run at a time in a project, whose `.evalkit` is `state`; gives whether another one had to be waited for.

    A second run waits, and says so. The lock ends with its process. A request to end (also that of a terminal that is
    closed) is treated as Ctrl-C: else the children, which have sessions of their own, would go on alone. What whoever
    started us had us ignore (`nohup`) stays ignored.
    """
    from evalkit.errors import HarnessError

    try:
        state.mkdir(parents=True, exist_ok=True)
        file = (state / "run.lock").open("a+")
    except OSError as error:
        raise HarnessError(f"cannot write to {state}: {error.strerror or error}",
                           hint="may you write to that folder, and is there room on the disk?") from error
    with file, _ending_as_interrupt():
        try:
            waited = _lock(file, say)
        except OSError as error:
            raise HarnessError(f"cannot lock {state / 'run.lock'}: {error.strerror or error}",
                               hint="not every network's file system has locks: is the project on a disk?") from error
        if os.fstat(file.fileno()).st_size:
            from evalkit.execute.folders import remove_half_written

            remove_half_written(state.parent / "results")
        _say_in(file, f"{os.getpid()}\n")
        try:
            yield waited
        finally:
            _say_in(file, "")


def _lock(file: IO[str], say: Callable[[str], None]) -> bool:
    """Lock a file; whether that had to be waited for. Raises OSError."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("another run is at work in this project: waiting for it to end")
        fcntl.flock(file, fcntl.LOCK_EX)
        return True
    return False


def _say_in(file: IO[str], text: str) -> None:
    with contextlib.suppress(OSError):  # a full disk: should it be killed, a file is left in the results
        os.ftruncate(file.fileno(), 0)
        os.write(file.fileno(), text.encode())


@contextmanager
def _ending_as_interrupt() -> Iterator[None]:
    previous = interrupts.catch(*_ENDING)
    interrupts.begin()
    try:
        yield
    finally:
        interrupts.release(previous)
