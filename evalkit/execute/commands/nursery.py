"""Processes for an application that is started often: one imports it once and forks for each session.

Starting Python and importing an application takes most of the time of a session without a model. The process that
imports it (child.py, as `nursery`) never calls a command: each session is a fork of it, with a state and an environment
of its own, and ends with it. Where the process cannot be had, or the application started threads when it was imported,
there is none, and sessions are started as others are (python.py).
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import orjson

from evalkit.errors import HarnessError
from evalkit.execute.process import tended
from evalkit.execute.running import check_going_on

__all__ = ["Socket", "session"]

_CHILD = Path(__file__).with_name("child.py")
_IMPORT_LIMIT = 20.0
"""Seconds for the import; one that takes longer is made by each session itself."""
_STEP = 0.2
"""Seconds after which it is looked whether all is being stopped."""
_LARGEST = 64_000_000
"""Bytes of an answer."""


class Socket:
    """A session's end of a socket pair: lines are asked and answered."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._left = b""
        end.settimeout(_STEP)

    def ask(self, line: bytes, limit: float) -> bytes:
        """Its answer to a line; neither has its line end. limit: seconds.

        Raises HarnessError where it ends, or does not answer in time.
        """
        until, waiting = time.monotonic() + limit, memoryview(line + b"\n")
        parts = [self._left]
        while waiting or b"\n" not in parts[-1]:
            check_going_on()
            if time.monotonic() > until:
                raise HarnessError(f"it did not answer within {limit:.3g} s")
            try:
                if waiting:
                    waiting = waiting[self._end.send(waiting):]
                    continue
                data = self._end.recv(1 << 18)
            except TimeoutError:
                continue
            except OSError:
                data = b""
            if not data:
                raise HarnessError("it ended")
            parts.append(data)
            if sum(map(len, parts)) > _LARGEST:
                raise HarnessError(f"its answer is longer than {_LARGEST:,} bytes")
        answer, _, self._left = b"".join(parts).partition(b"\n")
        return answer


class _Nursery:
    """A process that has imported an application."""

    def __init__(self, registry: str, folders: tuple[Path, ...], env: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            argv = [sys.executable, "-B", str(_CHILD), str(theirs.fileno()), registry, *map(str, folders)]
            self._process = subprocess.Popen(
                argv, cwd=folders[0], env={**env, "PYTHONSAFEPATH": "1"}, pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self._ours = ours
        self._owner = os.getpid()
        self._lock = threading.Lock()
        ours.settimeout(_IMPORT_LIMIT)
        try:
            self.good = ours.recv(1) == b"+"
        except OSError:
            self.good = False
        if not self.good:
            self.end()

    def fork(self, end: socket.socket, log: int) -> None:
        """Fork a session that answers at the other end of a socket pair."""
        with self._lock:
            socket.send_fds(self._ours, [b"f"], [end.fileno(), log])

    def end(self) -> None:
        self._ours.close()
        if os.getpid() != self._owner:
            return  # a fork of the process that it belongs to
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


_nurseries: dict[object, _Nursery] = {}
_lock = threading.Lock()


def _nursery(registry: str, folders: tuple[Path, ...], env: Mapping[str, str]) -> _Nursery:
    key = (registry, folders, os.getpid())
    with _lock:
        if key not in _nurseries:
            _nurseries[key] = _Nursery(registry, folders, env)
            atexit.register(_nurseries[key].end)
        return _nurseries[key]


@contextmanager
def session(registry: str, *, folders: tuple[Path, ...], env: Mapping[str, str], log: Path) -> Iterator[Socket | None]:
    """A session of an application, for the time of a `with`; None where it cannot be had in this way.

    What the session's commands start ends with it, too. log: where its standard error goes.
    """
    nursery = _nursery(registry, folders, env) if hasattr(os, "pidfd_open") else None
    if nursery is None or not nursery.good:
        yield None
        return
    ours, theirs = socket.socketpair()
    pidfd = -1
    try:
        with tended() as marks, log.open("ab") as errors:
            try:
                with theirs:
                    nursery.fork(theirs, errors.fileno())
                talk = Socket(ours)
                told = orjson.loads(talk.ask(orjson.dumps({**env, **marks}), _IMPORT_LIMIT))
                pidfd = os.pidfd_open(told["pid"])
            except (OSError, HarnessError):
                check_going_on()
                yield None
                return
            try:
                yield talk
            finally:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    finally:
        ours.close()
        if pidfd >= 0:
            os.close(pidfd)
