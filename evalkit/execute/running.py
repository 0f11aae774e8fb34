"""What runs: children by their marks, entered before they start, and the end of all of them, for Ctrl-C and SIGTERM.

Who starts children (process.py) enters them here. Whatever interrupts a start, `end_all` knows the mark.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading

from evalkit.errors import HarnessError
from evalkit.execute.marks import end_marked

__all__ = ["begin", "check_going_on", "end_all", "enter", "is_running", "leave", "signal_group", "started", "stopping"]

_running: dict[str, int | None] = {}
"""The process group of each mark; None before its child was started, and where a library starts it."""
_lock = threading.Lock()
_stop = False
"""A plain name and no threading.Event: a second Ctrl-C, while one is set, could leave its lock taken for ever."""
_ended: set[str] = set()
"""The marks of what `end_all` has ended, or was about to."""


def stopping() -> bool:
    """Whether `end_all` was called: whoever waits, in whatever thread, gives up, and starts nothing new."""
    return _stop


def check_going_on() -> None:
    """Raise HarnessError where all is being stopped."""
    if _stop:
        raise HarnessError("evalkit is being stopped")


# ---- children ----
def enter(mark: str) -> None:
    """A child with this mark is about to be started. Raises HarnessError where all is being stopped."""
    with _lock:
        check_going_on()
        _running[mark] = None


def started(mark: str, group: int) -> None:
    with _lock:
        if mark in _running:
            _running[mark] = group


def leave(mark: str) -> None:
    with _lock:
        _running.pop(mark, None)


def is_running(mark: str) -> bool:
    """Whether a child that was entered has neither left nor been ended with all others."""
    return mark in _running


def signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


# ---- all of them ----
def begin() -> None:
    """Children may be started (again): a new run begins."""
    global _stop
    _stop = False
    _ended.clear()


def end_all() -> None:
    """End every running child and what it started, and let no other start until `begin`: for Ctrl-C and SIGTERM.

    A `run` or `stream` that another thread still waits in raises HarnessError: its child did not end by itself.
    """
    global _stop
    _stop = True
    with _lock:
        _ended.update(_running)  # first: a second Ctrl-C may come in the midst of this, and then this is called again
        groups = list(_running.values())
        _running.clear()
    for group in groups:
        if group is not None:
            signal_group(group, signal.SIGKILL)
    if _ended:
        end_marked(_ended.__contains__)
