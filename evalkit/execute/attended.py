"""Waits for something that blocks, such as a provider's answer: it is seen to be at work, and given up when all is
stopped.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from evalkit.execute.running import check_going_on

__all__ = ["attended"]

_NAP = 0.2
T = TypeVar("T")


def attended(work: Callable[[], T], tick: Callable[[float], None] = lambda _: None) -> T:
    """What `work` returns or raises. tick: is told that it still works, with its seconds.

    Raises HarnessError where all is being stopped; the work is left alone then, in a thread that keeps nobody.
    """
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as error:  # noqa: BLE001 - raised below, in the thread that waits
            failed.append(error)

    thread = threading.Thread(target=run, name="attended", daemon=True)
    began = time.monotonic()
    thread.start()
    while thread.is_alive():
        thread.join(_NAP)
        check_going_on()
        tick(time.monotonic() - began)
    if failed:
        raise failed[0]
    return done[0]
