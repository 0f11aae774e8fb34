"""Status from named inputs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from evalkit.dag.uptodate import GONE, UpToDate
from evalkit.errors import HarnessError


def ask(check: UpToDate, values: dict[str, Any]) -> tuple[bool, str, dict[str, Any]]:
    """The answer, the reason, and what would be saved on success."""
    task = SimpleNamespace(value_savers=[])
    answer = check(task, values)
    return answer, str(check), {name: value for saver in task.value_savers for name, value in saver().items()}


def test_equal_inputs_are_up_to_date() -> None:
    """And are saved again on success."""
    check = UpToDate(lambda: {"prompt": "1"})
    assert (True, "up to date", {"inputs": {"prompt": "1"}}) == ask(check, {"inputs": {"prompt": "1"}})


def test_the_reason_names_what_changed() -> None:
    """By the input's name, with short values shown."""
    check = UpToDate(lambda: {"agent version": "2", "prompt": "b" * 64})
    assert (False, "agent version 1 → 2, prompt changed") == ask(
        check, {"inputs": {"agent version": "1", "prompt": "a" * 64}})[:2]
    assert (False, "never run") == ask(check, {})[:2]


def test_a_missing_outcome_and_an_earlier_error_run_again() -> None:
    """Equal inputs are not enough."""
    values: dict[str, Any] = {"inputs": {"a": "1"}}
    assert (False, "its outcome is gone") == ask(UpToDate(lambda: {"a": "1"}, lambda _: GONE), values)[:2]
    assert (False, "it ended in an error last time") == ask(
        UpToDate(lambda: {"a": "1"}), {**values, "status": "error"})[:2]


def test_inputs_that_cannot_be_told_are_a_reason_and_no_exception() -> None:
    """An exception in an `uptodate` callable would end doit's whole run."""
    def fails() -> dict[str, str]:
        raise HarnessError("the agent has not run yet")

    assert (False, "the agent has not run yet", {}) == ask(UpToDate(fails), {})


def test_an_outcome_that_cannot_be_looked_at_is_a_reason_and_no_exception() -> None:
    """The task runs, meets the same, and tells it."""
    def fails(_: dict[str, str]) -> str:
        raise HarnessError("cannot read the store")

    assert (False, "cannot read the store") == ask(UpToDate(lambda: {"a": "1"}, fails), {"inputs": {"a": "1"}})[:2]
