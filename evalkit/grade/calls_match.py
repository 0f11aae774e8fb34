"""Whether a sequence of expectations is an order-preserving subsequence of the actual calls, decided exactly.

What has been matched so far is a state: the number of calls that are used up. Of two states between which no call must
be kept, the earlier one is as good for all that may follow, so one state is held for each stretch between such calls. A
single expectation takes the first call of its stretch that fits; an `either` is the union of its branches.

Items of `in any order` are assigned to calls as in a bipartite matching. A call that cannot be added to an assignment
can never be added later (assignable sets are a matroid), so one pass over the calls finds the first one where all items
are taken (augmenting paths; Kuhn 1955). Where calls must be kept, all items and all kept calls of a stretch can be
taken at once as soon as each of both can be (Mendelsohn and Dulmage 1958).

Kept calls: with `expect only`, those that wrote. All is polynomial, and linear in the calls for what cases contain.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from attrs import define, field, frozen

from evalkit.analysis.model import AnyOrder, Call, Either, Expected

__all__ = ["Assignment", "Match", "Matcher", "Taken"]

Fits: TypeAlias = Callable[[Call], Callable[[int], bool]]
"""Of an expectation: whether the actual call with a number, from 0, meets it."""
Taken: TypeAlias = tuple[tuple[Call, int], ...]
"""Expectations, each with the call that it took."""


@frozen
class _Trail:
    """What was taken, the last first: states share what they have in common."""

    before: _Trail | None
    taken: Taken


@frozen
class Match:
    """How far the calls are used up, and what was taken."""

    end: int
    trail: _Trail | None = field(default=None, repr=False, eq=False)

    @property
    def taken(self) -> Taken:
        parts: list[Taken] = []
        trail = self.trail
        while trail is not None:
            parts.append(trail.taken)
            trail = trail.before
        return tuple(pair for part in reversed(parts) for pair in part)


class Matcher:
    """Matches expectations with calls. names: of the calls, in order. kept: the numbers of those that none may pass by.

    What is expected must live as long as this: what `fits` makes of it is remembered.
    """

    def __init__(self, names: Sequence[str], fits: Fits, kept: Sequence[int] = ()) -> None:
        self.count = len(names)
        self._names = names
        self._kept = sorted(kept)
        self._known: dict[int, Callable[[int], bool]] = {}
        self._fits = fits

    @cached_property
    def _places(self) -> Mapping[str, list[int]]:
        places: dict[str, list[int]] = {}
        for number, name in enumerate(self._names):
            places.setdefault(name, []).append(number)
        return places

    def whole(self, sequence: Sequence[Expected]) -> Match | None:
        """A match of a sequence that passes by no call which must be kept."""
        return next((state for state in self.after(sequence, [Match(0)])
                     if self._stretch(state.end) == len(self._kept)), None)

    def after(self, sequence: Sequence[Expected], states: Sequence[Match]) -> list[Match]:
        """The states after a sequence, the earliest first; none where it cannot be matched."""
        found = list(states)
        for expected in sequence:
            if not found:
                break
            found = self._earliest(list(self._next(expected, found)))
        return found

    def _next(self, expected: Expected, states: list[Match]) -> Iterator[Match]:
        match expected:
            case Call():
                for state in states:
                    for number in self._firsts(expected, state.end):
                        yield Match(number + 1, _Trail(state.trail, ((expected, number),)))
            case Either(branches=branches):
                for branch in branches:
                    yield from self.after(branch, states)
            case AnyOrder(items=items):
                for state in states:
                    yield from self._any_order(items, state)

    def _stretch(self, end: int) -> int:
        """The number of kept calls before a place."""
        return bisect_left(self._kept, end)

    def _next_kept(self, start: int) -> int:
        """The first call from a place on that must be kept; the count of all where there is none."""
        at = self._stretch(start)
        return self._kept[at] if at < len(self._kept) else self.count

    def _earliest(self, states: list[Match]) -> list[Match]:
        """Of each stretch the earliest state."""
        found: dict[int, Match] = {}
        for state in sorted(states, key=lambda state: state.end):
            found.setdefault(self._stretch(state.end), state)
        return list(found.values())

    def fits(self, call: Call) -> Callable[[int], bool]:
        """Whether a call with a number, of the same name, meets an expectation."""
        found = self._known.get(id(call))
        if found is None:
            found = self._known[id(call)] = self._fits(call)
        return found

    def _firsts(self, call: Call, start: int) -> Iterator[int]:
        """The first call that fits before the next kept one, and that one, if it fits."""
        border, fits = self._next_kept(start), self.fits(call)
        places = self._places.get(call.name, [])
        for at in range(bisect_left(places, start), len(places)):
            number = places[at]
            if number >= border:
                break
            if fits(number):
                yield number
                break
        if border < self.count and self._names[border] == call.name and fits(border):
            yield border

    # ---- in any order ----
    def _any_order(self, items: Sequence[Call | Either], state: Match) -> Iterator[Match]:
        """Of each stretch the earliest end where all items, and all kept calls up to there, are taken."""
        group = _Group(items, self)
        every, kept = Assignment(len(items)), Assignment(len(items))
        border, done = self._next_kept(state.end), -1
        for number in self._of_group(group, state.end):
            if number == border:
                if not kept.add(group.mask(number), number):
                    return
                border = self._next_kept(number + 1)
            if not every.full:
                every.add(group.mask(number, every.open), number)
            stretch = self._stretch(number + 1)
            if every.full and stretch > done:
                done = stretch
                yield Match(number + 1, _Trail(state.trail, self._taken(group, state.end, number + 1)))
            if every.full and border == self.count:
                return  # all that follows is in the same stretch

    def _of_group(self, group: _Group, start: int) -> list[int]:
        """The calls from a place on that may meet an item, and those that must be kept."""
        found = {number for name in group.names for number in self._from(name, start)}
        return sorted(found | set(self._kept[self._stretch(start):]))

    def _from(self, name: str, start: int) -> list[int]:
        places = self._places.get(name, [])
        return places[bisect_left(places, start):]

    def _taken(self, group: _Group, start: int, end: int) -> Taken:
        """An assignment of all items to calls of a window that has all kept ones in it: those are added first."""
        window = [number for number in self._of_group(group, start) if number < end]
        kept = {number for number in self._kept if start <= number < end}
        assignment = Assignment(len(group.items))
        for number in (*sorted(kept), *(number for number in window if number not in kept)):
            if not assignment.full:
                assignment.add(group.mask(number, assignment.open), number)
        return tuple((group.single(at, number), number)
                     for at, number in enumerate(assignment.holders) if number is not None)

    def unassigned(self, items: Sequence[Call | Either], start: int) -> list[int]:
        """The items of an `in any order` that find no call from a place on, when as many as possible have one."""
        group, assignment = _Group(items, self), Assignment(len(items))
        for number in self._of_group(group, start):
            assignment.add(group.mask(number, assignment.open), number)
        return [at for at, number in enumerate(assignment.holders) if number is None]

    def name(self, number: int) -> str:
        return self._names[number]


class _Group:
    """The items of an `in any order`, and which of them a call meets."""

    def __init__(self, items: Sequence[Call | Either], matcher: Matcher) -> None:
        self.items = items
        self._name = matcher.name
        self._singles = [list(_singles(item)) for item in items]
        self._fits = [[(single.name, matcher.fits(single)) for single in singles] for singles in self._singles]
        self.names = {name for of_item in self._fits for name, _ in of_item}
        self._known: dict[tuple[str, int], list[tuple[int, Callable[[int], bool]]]] = {}

    def mask(self, number: int, first: int = -1) -> int:
        """The items that a call meets, as bits; 0 where it meets none of `first`."""
        name = self._name(number)
        if not any(fits(number) for _, fits in self._of(name, first)):
            return 0
        mask = 0
        for bit, fits in self._of(name, -1):
            if not mask & bit and fits(number):
                mask |= bit
        return mask

    def _of(self, name: str, among: int) -> list[tuple[int, Callable[[int], bool]]]:
        """What calls of a name may meet among some items: the items, as bits, and whether a call does."""
        key = name, among
        if key not in self._known:
            self._known[key] = [(1 << at, fits) for at, of_item in enumerate(self._fits) if among >> at & 1
                                for known, fits in of_item if known == name]
        return self._known[key]

    def single(self, at: int, number: int) -> Call:
        """The call of an item that a call meets."""
        return next(single for single, (name, fits) in zip(self._singles[at], self._fits[at], strict=True)
                    if name == self._name(number) and fits(number))


def _singles(item: Expected) -> Iterator[Call]:
    """The calls of which each meets an item by itself."""
    if isinstance(item, Call):
        yield item
    elif isinstance(item, Either):
        for branch in item.branches:
            for single in branch[:1]:
                yield from _singles(single)


@define
class Assignment:
    """Items, each with the call that it is assigned to, as many as possible of those that were added."""

    count: int
    holders: list[int | None] = field(init=False)
    _masks: dict[int, int] = field(init=False, factory=dict)
    _free: int = field(init=False)
    _closed: int = field(init=False, default=0)
    """Items that are taken, and by calls that fit no others: nothing can be added for these alone any more."""

    def __attrs_post_init__(self) -> None:
        self.holders = [None] * self.count
        self._free = (1 << self.count) - 1

    @property
    def full(self) -> bool:
        return not self._free

    @property
    def open(self) -> int:
        """The items for which something could still be added: a call that meets none of these changes nothing."""
        return (1 << self.count) - 1 & ~self._closed

    def add(self, mask: int, number: int) -> bool:
        """Assign a call to an item that it fits (`mask`, as bits), moving others where that is needed."""
        if not mask & ~self._closed:
            return False
        came_from: dict[int, int] = {}
        seen = todo = mask
        while todo:
            if free := todo & self._free:
                self._move(free.bit_length() - 1, came_from, mask, number)
                return True
            item = todo.bit_length() - 1
            todo ^= 1 << item
            holder = self.holders[item]
            assert holder is not None
            more = self._masks[holder] & ~seen
            seen |= more
            todo |= more
            while more:
                next_item = more.bit_length() - 1
                more ^= 1 << next_item
                came_from[next_item] = item
        self._closed |= seen
        return False

    def _move(self, item: int, came_from: dict[int, int], mask: int, number: int) -> None:
        self._free ^= 1 << item
        while item in came_from:
            self.holders[item] = self.holders[came_from[item]]
            item = came_from[item]
        self.holders[item] = number
        self._masks[number] = mask
