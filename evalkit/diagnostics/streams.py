"""Makes the standard streams safe to write to, whatever the person who started us connected them with.

Messages (standard error) that nobody can read are dropped: the work and its exit status are as ever. Output that cannot
be written is told, as `OutputLost`: a command whose purpose it is has not done its work. Python itself would end with
status 120, or with a traceback, and in the midst of a run.
"""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["OutputLost", "drop_output", "settle_streams"]


class OutputLost(OSError):
    """Standard output cannot be written."""

    @property
    def unread(self) -> bool:
        """Whether its reader went away (`| head`): nobody misses it."""
        return self.errno == errno.EPIPE


def settle_streams() -> None:
    """Closed streams go nowhere, nor do messages that cannot be written, and a character that a terminal's encoding
    lacks becomes a `?`: none of that ends a run.

    To be called before anything is opened: a file that got the number of a closed stream would be taken for it by every
    child.
    """
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            made = open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8")  # noqa: PTH123, SIM115
            setattr(sys, name, made)
        elif isinstance(stream, io.TextIOWrapper) and name != "stdin":
            if stream is getattr(sys, f"__{name}__") and not isinstance(_raw(stream), _Descriptor):
                stream = _settled(stream, _dropped if name == "stderr" else _lost)
                setattr(sys, name, stream)
                setattr(sys, f"__{name}__", stream)
            stream.reconfigure(errors="replace")


def drop_output() -> None:
    """Let standard output go nowhere from now on, also what still waits to be written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _settled(stream: io.TextIOWrapper, failed: Callable[[OSError], None]) -> io.TextIOWrapper:
    """A stream like one of Python's own."""
    stream.flush()
    raw = _Descriptor(stream.fileno(), failed)
    buffer: Any = raw if stream.write_through else io.BufferedWriter(raw)  # (python -u has no buffers)
    return io.TextIOWrapper(buffer, encoding=stream.encoding, errors=stream.errors,
                            line_buffering=stream.line_buffering, write_through=stream.write_through)


def _raw(stream: io.TextIOWrapper) -> object:
    return getattr(stream.buffer, "raw", stream.buffer)


class _Descriptor(io.FileIO):
    """An open file by its number. failed: is told of what cannot be written, and raises where that is no good."""

    def __init__(self, number: int, failed: Callable[[OSError], None]) -> None:
        super().__init__(number, "w", closefd=False)
        self._failed = failed

    def write(self, data: ReadableBuffer, /) -> int:
        size = memoryview(data).nbytes
        try:
            while (written := super().write(data)) is None:
                select.select([], [self], [])  # who started us set it to not wait
        except OSError as error:
            self._failed(error)
            return size
        return written


def _dropped(error: OSError) -> None:
    pass


def _lost(error: OSError) -> None:
    raise OutputLost(error.errno, error.strerror) from None
