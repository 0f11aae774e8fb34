"""When a failed provider is asked again, and after which pauses."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from evalkit.errors import HarnessError
from evalkit.execute import running
from evalkit.execute.retry import Retries, RetryPolicy, passes_by_itself, seconds_asked_for


def test_what_is_tried_again() -> None:
    """What passes by itself: no refused key, no bad request, no empty account."""
    assert all(map(passes_by_itself, (408, 429, 500, 502, 503, 504, 529)))
    assert not any(map(passes_by_itself, (None, "529", 200, 301, 400, 401, 402, 403, 404, 409, 413, 600)))


def test_the_window_of_the_jitter_doubles() -> None:
    """From nothing to the whole window, which has a longest size."""
    def windows(part: float) -> list[float | None]:
        policy = RetryPolicy(retries=5, window=2.0, longest=10.0, random=lambda: part)
        return [policy.pause(before, None) for before in range(6)]

    assert [2.0, 4.0, 8.0, 10.0, 10.0, None] == windows(1.0)
    assert [0.0, 0.0, 0.0, 0.0, 0.0, None] == windows(0.0)
    assert [1.0, 2.0, 4.0, 5.0, 5.0, None] == windows(0.5)


def test_the_providers_wish_comes_first() -> None:
    """At least as long as it asks for; where that is longer than anybody waits, no try at all."""
    policy = RetryPolicy(window=2.0, patience=300.0, random=lambda: 0.5)
    assert 8.0 == policy.pause(0, 7.0)
    assert 302.0 == policy.pause(1, 300.0)
    assert policy.pause(0, 301.0) is None


def test_retries_are_counted_and_told() -> None:
    """Each with its reason and its pause; after the last one there is no other."""
    said: list[str] = []
    slept: list[float] = []
    retries = Retries(RetryPolicy(retries=2, window=2.0, sleep=slept.append, random=lambda: 0.5), said.append)
    assert [True, True, False] == [retries.again("answered 529", asked) for asked in (None, 3.0, None)]
    assert (2, [1.0, 5.0]) == (retries.count, slept)
    assert ["answered 529: again in 1.0 s (retry 1 of 2)", "answered 529: again in 5.0 s (retry 2 of 2)"] == said


def test_a_pause_ends_when_all_is_stopped() -> None:
    """Ctrl-C does not wait for a minute's pause, and nothing is tried again after it."""
    retries = Retries(RetryPolicy(window=60.0, random=lambda: 1.0))
    running.end_all()
    try:
        began = time.monotonic()
        with pytest.raises(HarnessError, match="evalkit is being stopped"):
            retries.again("answered 529")
        assert time.monotonic() - began < 30
    finally:
        running.begin()


def test_a_pause_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as it should, where nothing is stopped."""
    now = [0.0]
    monkeypatch.setattr("evalkit.execute.retry.time.monotonic", lambda: now[0])
    monkeypatch.setattr("evalkit.execute.retry.time.sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    Retries(RetryPolicy(window=10.0, random=lambda: 1.0)).again("x")
    assert 10.0 == pytest.approx(now[0])


@pytest.mark.parametrize(("header", "expected"), [
    (None, None), ("7", 7.0), (" 0.5 ", 0.5), ("0", None), ("-5", None), ("nan", None), ("inf", None), ("1e9", 1e9),
    ("junk", None), ("", None), ("Mon, 99 Foo 2026", None)])
def test_seconds_that_are_asked_for(header: str | None, expected: float | None) -> None:
    """A positive number counts; what is none says nothing."""
    assert expected == seconds_asked_for(header)


def test_a_date_is_asked_for() -> None:
    """The HTTP date of RFC 9110, against the clock; one that has passed says nothing."""
    when = datetime(2026, 11, 30, 12, 0, 30, tzinfo=UTC)
    for header in (format_datetime(when, usegmt=True), "Mon, 30 Nov 2026 12:00:30 GMT"):
        assert 30.0 == seconds_asked_for(header, lambda: when.timestamp() - 30)
        assert seconds_asked_for(header, when.timestamp) is None
