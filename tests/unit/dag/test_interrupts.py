"""Interrupts at odd moments."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import pytest

from evalkit.dag import interrupts


@pytest.fixture
def begun() -> Iterator[None]:
    """A command has begun; afterwards all is as it was."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGALRM)}
    interrupts.begin()
    previous = interrupts.catch(signal.SIGTERM)
    yield
    interrupts.release(previous)
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number, handler in before.items():
        signal.signal(number, handler)


class Dropped:
    """Python ignores what its `__del__` raises."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)
        self.told.append("went on")


def test_an_interrupt_where_no_exception_gets_through_comes_a_moment_later(begun: None) -> None:
    """It is neither lost nor told as an ignored exception."""
    dropped = Dropped()
    told = dropped.told
    del dropped
    assert ["went on"] == told
    with pytest.raises(KeyboardInterrupt):
        time.sleep(5)


def test_several_at_once_count_as_one(begun: None) -> None:
    """They do not keep us from doing what the first one asked for."""
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
    signal.raise_signal(signal.SIGTERM)
