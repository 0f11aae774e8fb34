"""What may be spent, what was, and what is said of it."""

from __future__ import annotations

import threading

import pytest

from evalkit.errors import Exit
from evalkit.execute.budget import Budget, BudgetReached, dollars


def test_nothing_more_starts_once_the_budget_is_reached() -> None:
    """Up to the limit all may start; from then on nothing, with exit status 4 and a line that says what to do."""
    budget = Budget(1.0)
    budget.check()
    budget.spend(0.6, "agent run")
    budget.check()
    budget.spend(0.65, "agent run")  # it was running already
    assert budget.reached
    with pytest.raises(BudgetReached) as raised:
        budget.check()
    assert "the budget of $1.00 is reached: $1.25 spent" == raised.value.message
    assert "budget=" in raised.value.hint
    assert Exit.BUDGET == raised.value.exit_status == 4


def test_without_a_limit_all_is_counted_and_nothing_refused() -> None:
    """The default."""
    budget = Budget()
    budget.spend(1000.0, "agent run")
    budget.check()
    assert (1000.0, False) == (budget.spent, budget.reached)


def test_a_budget_of_nothing_lets_nothing_paid_start() -> None:
    """`budget=0` is a way to say so."""
    with pytest.raises(BudgetReached):
        Budget(0.0).check()


def test_unknown_costs_are_said_and_are_no_zero() -> None:
    """They are counted by their kind, beside the sum."""
    budget = Budget(1.0)
    budget.spend(0.25, "judge call")
    assert "$0.25 spent" == budget.told()
    for what in ("judge call", "judge call", "agent run"):
        budget.spend(None, what)
    assert {"judge call": 2, "agent run": 1} == budget.unknown
    assert "$0.25 spent (the cost of 1 agent run and 2 judge calls is not known)" == budget.told()


def test_who_shows_the_sum_is_told() -> None:
    """After each amount, known or not."""
    seen: list[str] = []
    budget = Budget(changed=lambda: seen.append(budget.told()))
    budget.spend(0.5, "agent run")
    budget.spend(None, "agent run")
    assert ["$0.50 spent", "$0.50 spent (the cost of 1 agent run is not known)"] == seen


def test_threads_spend_at_once() -> None:
    """No amount is lost."""
    budget = Budget()

    def spend() -> None:
        for _ in range(1000):
            budget.spend(1.0, "judge call")
            budget.spend(None, "judge call")

    threads = [threading.Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (4000.0, {"judge call": 4000}) == (budget.spent, budget.unknown)


@pytest.mark.parametrize(("amount", "expected"), [
    (0.0, "$0.00"), (5.0, "$5.00"), (0.123, "$0.12"), (0.0123, "$0.012"), (0.00012, "$0.00012"),
    (0.000001, "under $0.0001")])
def test_small_amounts_keep_their_digits(amount: float, expected: str) -> None:
    """A judge's answer costs less than a cent, and is not free."""
    assert expected == dollars(amount)


def test_what_runs_counts_before_it_ends() -> None:
    """Its cost so far stops new starts; what it came to takes its place, once."""
    told: list[float] = []
    budget = Budget(1.0, changed=lambda: told.append(budget.spent))
    one, other = object(), object()
    budget.so_far(one, 0.4)
    budget.so_far(other, 0.3)
    budget.so_far(one, 0.8)
    assert 1.1 == pytest.approx(budget.spent)
    with pytest.raises(BudgetReached):
        budget.check()
    budget.spend(0.5, "agent run", one)
    budget.check()
    budget.spend(None, "agent run", other)
    assert (0.5, {"agent run": 1}) == (budget.spent, budget.unknown)
    assert [pytest.approx(cost) for cost in (0.4, 0.7, 1.1, 0.8, 0.5)] == told


def test_a_free_budget_is_never_charged() -> None:
    """What is played costs nothing, whatever it would have cost."""
    budget = Budget(0.01, free=True)
    budget.so_far(budget, 5.0)
    budget.spend(5.0, "agent run", budget)
    budget.check()
    assert "$0.00 spent" == budget.told()
