"""Matching expectations with calls: against a matcher that tries everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.analysis.model import AnyOrder, ArgumentTest, Call, Either, Expected
from evalkit.analysis.value_tests import passes
from evalkit.grade.calls_match import Assignment, Matcher

Actual = tuple[str, int]
"""The name of a call, and its argument `n`."""


def call(name: str, *numbers: int) -> Call:
    """An expected call whose `n` is one of these; of none at all: anything."""
    return Call(name, (ArgumentTest("n", "one of", numbers),) if numbers else ())


def fits(expected: Call, actual: Actual) -> bool:
    return expected.name == actual[0] and all(passes(test, actual[1]) for test in expected.arguments)


def found(sequence: Sequence[Expected], actual: Sequence[Actual], kept: Sequence[int] = ()) -> list[int] | None:
    """The calls that were taken, or None."""
    matcher = Matcher([name for name, _ in actual], lambda one: lambda number: fits(one, actual[number]), kept)
    match = matcher.whole(sequence)
    return None if match is None else [number for _, number in match.taken]


# ---- trying everything ----
def linear(sequence: Sequence[Expected]) -> Iterator[list[Call]]:
    """All orders of single calls that meet a sequence."""
    if not sequence:
        yield []
        return
    first, rest = sequence[0], sequence[1:]
    for head in heads(first):
        for tail in linear(rest):
            yield head + tail


def heads(expected: Expected) -> Iterator[list[Call]]:
    if isinstance(expected, Call):
        yield [expected]
    elif isinstance(expected, Either):
        for branch in expected.branches:
            yield from linear(branch)
    elif not expected.items:
        yield []
    else:
        for at, item in enumerate(expected.items):
            for head in heads(item):
                for tail in heads(AnyOrder(expected.items[:at] + expected.items[at + 1:])):
                    yield head + tail


def possible(line: Sequence[Call], actual: Sequence[Actual], kept: Sequence[int], start: int = 0) -> bool:
    """Whether single calls are a subsequence that leaves out nothing that must be kept."""
    if start == len(actual):
        return not line
    if line and fits(line[0], actual[start]) and possible(line[1:], actual, kept, start + 1):
        return True
    return start not in kept and possible(line, actual, kept, start + 1)


NAMES = st.sampled_from("ab")
CALLS = st.builds(lambda name, numbers: call(name, *numbers), NAMES, st.sets(st.integers(0, 2), max_size=2))
SINGLES = st.one_of(CALLS, st.builds(lambda calls: Either(tuple((one,) for one in calls)),
                                     st.lists(CALLS, min_size=2, max_size=2)))
ANY_ORDER = st.builds(lambda items: AnyOrder(tuple(items)), st.lists(SINGLES, min_size=1, max_size=3))
BRANCHES = st.lists(st.one_of(CALLS, ANY_ORDER), min_size=1, max_size=2).map(tuple)
EITHER = st.builds(lambda branches: Either(tuple(branches)), st.lists(BRANCHES, min_size=2, max_size=2))
SEQUENCES = st.lists(st.one_of(CALLS, CALLS, EITHER, ANY_ORDER), min_size=1, max_size=3).map(tuple)
ACTUAL = st.lists(st.tuples(NAMES, st.integers(0, 2)), max_size=7)


@pytest.mark.slow
@settings(max_examples=600, deadline=None)
@given(SEQUENCES, ACTUAL, st.sets(st.integers(0, 6)))
def test_it_finds_what_trying_everything_finds(sequence: tuple[Expected, ...], actual: list[Actual],
                                               kept: set[int]) -> None:
    """A match is found where there is one, also where predicates overlap and calls must be kept."""
    kept = {number for number in kept if number < len(actual)}
    wanted = any(possible(line, actual, sorted(kept)) for line in linear(sequence))
    taken = found(sequence, actual, sorted(kept))

    assert wanted is (taken is not None)


ALIKE = st.builds(lambda numbers: call("a", *numbers), st.sets(st.integers(0, 2), max_size=2))
CROWDS = st.lists(ALIKE, min_size=2, max_size=4).map(lambda calls: AnyOrder(tuple(calls)))


@settings(max_examples=600, deadline=None)
@given(CROWDS, st.lists(st.tuples(st.just("a"), st.integers(0, 2)), min_size=2, max_size=5), st.sets(st.integers(0, 4)))
def test_calls_of_one_command_in_any_order(crowd: AnyOrder, actual: list[Actual], kept: set[int]) -> None:
    """Where most calls fit several items, and the first that fits is often the wrong one."""
    kept = {number for number in kept if number < len(actual)}
    wanted = any(possible(line, actual, sorted(kept)) for line in linear((crowd,)))

    assert wanted is (found((crowd,), actual, sorted(kept)) is not None)


@settings(max_examples=600, deadline=None)
@given(SEQUENCES, ACTUAL, st.sets(st.integers(0, 6)))
def test_what_it_took_is_a_match(sequence: tuple[Expected, ...], actual: list[Actual], kept: set[int]) -> None:
    """Each call once, each kept one, and in an order that meets the sequence."""
    kept = {number for number in kept if number < len(actual)}
    taken = found(sequence, actual, sorted(kept))
    if taken is None:
        return
    chosen = [actual[number] for number in sorted(taken)]

    assert len(set(taken)) == len(taken)
    assert kept <= set(taken)
    assert any(len(line) == len(chosen) and all(map(fits, line, chosen)) for line in linear(sequence))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 15), max_size=9))
def test_an_assignment_is_as_large_as_it_can_be(masks: list[int]) -> None:
    """As many items are taken as in the best assignment; a call is refused where it changes nothing."""
    def best(given: list[int], free: int) -> int:
        if not given:
            return 0
        options = [best(given[1:], free)]
        options += [1 + best(given[1:], free & ~(1 << item)) for item in range(4) if given[0] & free & (1 << item)]
        return max(options)

    assignment = Assignment(4)
    for number, mask in enumerate(masks):
        grew = assignment.add(mask, number)
        size = sum(holder is not None for holder in assignment.holders)
        assert best(masks[:number + 1], 15) == size
        assert grew is (best(masks[:number], 15) < size)
    assert all(number is None or masks[number] & (1 << item) for item, number in enumerate(assignment.holders))


@pytest.mark.parametrize(("sequence", "actual", "taken"), [
    # The first branch takes a call that only what follows could use.
    ((Either(((call("a"), call("a", 1)), (call("a"),))), call("a", 1)), [("a", 0), ("a", 1)], [0, 1]),
    # The wide item takes the only call of the narrow one.
    ((AnyOrder((call("a"), call("a", 1))),), [("a", 1), ("a", 0)], [1, 0]),
    ((AnyOrder((call("a", 0, 1), call("a", 1, 2), call("a", 1))),), [("a", 1), ("a", 2), ("a", 0)], [2, 1, 0]),
    ((AnyOrder((call("a"), call("a"))),), [("a", 1)], None),
    ((call("a", 1), AnyOrder((call("a"), call("b"))), call("a")), [("a", 1), ("b", 0), ("a", 0), ("a", 0)],
     [0, 2, 1, 3]),
    ((AnyOrder((Either(((call("a"),), (call("b"),))), call("b"))),), [("b", 0), ("a", 0)], [1, 0]),
])
def test_where_taking_the_first_that_fits_fails(sequence: tuple[Expected, ...], actual: list[Actual],
                                                taken: list[int] | None) -> None:
    """Predicates overlap: a matcher that never takes back what it took misses these."""
    assert taken == found(sequence, actual)


def test_a_kept_call_cannot_be_passed_by() -> None:
    """With `only`, the first call that fits may be the wrong one to take."""
    two = (call("a"), call("a"))
    assert found(two, [("a", 0), ("a", 1), ("a", 2)], kept=[0, 1, 2]) is None
    assert found((call("a"),), [("a", 0), ("a", 1)], kept=[1]) == [1]
    assert found((call("a"),), [("a", 0), ("b", 1)], kept=[1]) is None
