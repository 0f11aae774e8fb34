"""Ctrl-C and requests to end: one of them, or any number in a row, ends a run the same way, whenever they come.

Before a command has begun there is nothing to end, and the process just ends. Then the first one raises
KeyboardInterrupt in the main thread, and so does another one that a person sends when that takes too long; those that
come at the same time count as one, so that they cannot keep us from doing what the first one asked for. From the moment
at which the command only says what came of it they change nothing any more; at Python's own end they are ignored by
the system, since Python takes its handlers away there.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping
from types import FrameType
from typing import Any

__all__ = ["SAID", "begin", "catch", "ending", "ignore", "release"]

SAID = "interrupted: what finished is kept, the next run takes up from there"
_AT_ONCE = 0.3
"""Seconds in which several count as one."""
_LATER = 0.005
"""Seconds after which an interrupt comes again that came where no exception gets through."""
_ALL = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class _State:
    begun = False
    ending = False
    last = float("-inf")


def catch(*numbers: signal.Signals) -> dict[signal.Signals, Any]:
    """Have signals interrupt us; the handlers they had. What whoever started us had us ignore stays ignored."""
    return {number: signal.signal(number, _interrupt) for number in numbers
            if signal.getsignal(number) is not signal.SIG_IGN}


def release(previous: Mapping[signal.Signals, Any]) -> None:
    """Give signals their handlers back, unless nothing is left that they could end."""
    if not _State.ending:
        for number, handler in previous.items():
            signal.signal(number, handler)


def begin() -> None:
    """From now on there is something to end: signals raise KeyboardInterrupt."""
    _State.begun, _State.ending, _State.last = True, False, float("-inf")


def ending() -> None:
    """What is left to do is not to be interrupted."""
    _State.ending = True


def ignore() -> None:
    """For the last moments of the process."""
    for number in _ALL:
        if signal.getsignal(number) is _interrupt:
            signal.signal(number, signal.SIG_IGN)


def _interrupt(signum: int, frame: FrameType | None) -> None:
    if not _State.begun:
        print("\ninterrupted", file=sys.stderr, flush=True)
        os._exit(130)
    if frame is not None and _swallows(frame):  # it would be told as an "exception ignored", and be lost
        signal.signal(signal.SIGALRM, _interrupt)
        signal.setitimer(signal.ITIMER_REAL, _LATER)
        return
    now = time.monotonic()
    if not _State.ending and now >= _State.last + _AT_ONCE:
        _State.last = now
        raise KeyboardInterrupt


def _swallows(frame: FrameType) -> bool:
    """Whether Python drops what is raised here: it called this itself, when an object or a module's lock went away."""
    code = frame.f_code
    return code.co_name == "__del__" or (code.co_name == "cb" and code.co_filename.startswith("<frozen importlib"))
