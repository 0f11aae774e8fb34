"""Claims: of all threads and processes that use a store, one at a time makes a certain entry.

A claim is a lock (flock) on a file of its own: the system ends it with its process, however that ends, and threads
exclude one another too, since each opens the file for itself. Who waits looks again and again instead of sleeping in
the kernel, so that Ctrl-C and `running.end_all` end the wait.

The holder removes the file before the lock. So a lock counts only while its file is the one that has the name: who gets
the lock on a file that was removed meanwhile begins again with the new one.

A thread that holds a claim may take it again. On a file system without locks nothing is held: of two that make one
entry the first one's is kept, but both work.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from evalkit.execute.running import check_going_on

__all__ = ["claim", "remove_left_locks", "try_claim"]

_WAIT = (0.01, 0.25)
"""Seconds between two looks: at first, at most."""
_NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})
_UNLOCKED = -1


class _Held(threading.local):
    """The claims of a thread."""

    def __init__(self) -> None:
        self.files: set[str] = set()


_held = _Held()


@contextmanager
def claim(file: Path, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold the lock on `file` for the time of a `with`; wait for it where another one holds it.

    waiting: called once, where that is so. Raises OSError where no file can be made, and HarnessError where everything
    is stopped (`running.end_all`) while it waits.
    """
    wait, most = _WAIT
    while True:
        with try_claim(file) as mine:
            if mine:
                yield
                return
        if waiting is not None:
            waiting()
            waiting = None
        check_going_on()
        time.sleep(wait)
        wait = min(2 * wait, most)


@contextmanager
def try_claim(file: Path) -> Iterator[bool]:
    """As `claim`, but without waiting: whether it is held. Raises OSError."""
    name = str(file)
    if name in _held.files:
        yield True
        return
    descriptor = _lock(name)
    if descriptor is None:
        yield False
        return
    _held.files.add(name)
    try:
        yield True
    finally:
        _held.files.discard(name)
        _unlock(name, descriptor)


def remove_left_locks(folder: Path) -> None:
    """Remove the files of locks that ended with a killed process. Raises OSError where the folder cannot be read."""
    for file in list(folder.iterdir()) if folder.is_dir() else ():
        with contextlib.suppress(OSError), try_claim(file):
            pass


def _lock(name: str) -> int | None:
    """The descriptor of the locked file; None where another one holds it."""
    while True:
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_the_one(name, descriptor):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError as error:
            os.close(descriptor)
            if error.errno in _NO_LOCKS:
                return _UNLOCKED
            raise
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_the_one(name: str, descriptor: int) -> bool:
    """Whether the locked file still has the name."""
    try:
        return os.path.samestat(Path(name).stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _unlock(name: str, descriptor: int) -> None:
    if descriptor == _UNLOCKED:
        return
    with contextlib.suppress(OSError):
        if _is_the_one(name, descriptor):
            Path(name).unlink()
    os.close(descriptor)
