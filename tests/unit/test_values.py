"""Classes of plain data behave as those that attrs makes, before and after their `__init__` is compiled."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.values import Node, State, Value, evolve, field, fields_of, has_fields

MANY = 100
"""More instances than a class has before its `__init__` is compiled."""
TIMES = pytest.mark.parametrize("times", [1, MANY], ids=["shared", "compiled"])


class Ours(Value):
    """All that a field can be."""

    kind: ClassVar[str] = "of ours"
    name: str
    at: int = field(default=0, hash=False)
    key: str = field(default="", repr=False)
    note: str = field(default="", eq=False)
    items: dict[str, int] = field(factory=dict, hash=False)
    word: str = field(default="w", kw_only=True)
    count: int = field(default=7, init=False)


@attrs.frozen
class Theirs:
    """The same, of attrs."""

    kind: ClassVar[str] = "of theirs"
    name: str
    at: int = attrs.field(default=0, hash=False)
    key: str = attrs.field(default="", repr=False)
    note: str = attrs.field(default="", eq=False)
    items: dict[str, int] = attrs.field(factory=dict, hash=False)
    word: str = attrs.field(default="w", kw_only=True)
    count: int = attrs.field(default=7, init=False)


class Point(Node):
    x: int
    y: int = 0


class Named(Point):
    name: str = ""


class Counter(State):
    step: int
    total: int = 0
    seen: list[int] = field(factory=list)
    twice: int = field(init=False)

    def __post_init__(self) -> None:
        self.twice = 2 * self.step


NAMES = st.sampled_from(["name", "at", "key", "note", "items", "word", "count", "nothing"])
VALUES = st.sampled_from([1, 2, "a"])


def outcome(make: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """What was made, by its fields; the kind of error where nothing was."""
    try:
        made = make(*args, **named)
    except TypeError:
        return TypeError
    return {part.name: getattr(made, part.name) for part in attrs.fields(Theirs)}


@given(st.lists(VALUES, max_size=7).map(tuple), st.dictionaries(NAMES, VALUES, max_size=4))
def test_arguments_mean_what_they_mean_to_attrs(args: tuple[Any, ...], named: dict[str, Any]) -> None:
    """By position and by name, too many, given twice, unknown or missing."""
    class Fresh(Ours):
        """Has had no instances yet."""

    wanted = outcome(Theirs, args, named)
    assert wanted == outcome(Fresh, args, named)
    for number in range(MANY):
        Fresh(str(number))
    assert "__init__" in vars(Fresh)
    assert wanted == outcome(Fresh, args, named)


SAME = [("a", {}), ("b", {}), ("a", {"at": 1}), ("a", {"key": "k"}), ("a", {"note": "n"}), ("a", {"word": "v"})]


@pytest.mark.parametrize("other", SAME, ids=str)
def test_equal_where_attrs_says_so(other: tuple[str, dict[str, Any]]) -> None:
    """Fields with eq=False do not count; those with hash=False count in no hash."""
    name, changes = other
    theirs = {kind: kind("a") == kind(name, **changes) for kind in (Ours, Theirs)}
    assert theirs[Ours] == theirs[Theirs]
    plain = [{"items": 0, **changes}, {"items": 0}]  # no dict: attrs would not hash it
    assert (hash(Ours("a", **plain[1])) == hash(Ours(name, **plain[0]))) == (
        hash(Theirs("a", **plain[1])) == hash(Theirs(name, **plain[0])))


def test_other_classes_are_never_equal() -> None:
    """Not even one that is derived, or has the same fields."""
    class Derived(Ours):
        pass

    one: object = Ours("a")
    assert one != Theirs("a")
    assert one != Derived("a")
    assert Point(1) != Point(1)
    assert len({Point(1), Point(1)}) == 2


@TIMES
def test_what_is_frozen(times: int) -> None:
    """Values and nodes are, and have no place for anything else; state is not, but for the latter."""
    for frozen in [(Ours("a"), Point(1)) for _ in range(times)][-1]:
        for name in ("name", "x", "other"):
            with pytest.raises(AttributeError):
                setattr(frozen, name, 1)
            with pytest.raises(AttributeError):
                delattr(frozen, name)
    counter = [Counter(3) for _ in range(times)][-1]
    counter.total += counter.step
    assert (3, 3, [], 6) == (counter.step, counter.total, counter.seen, counter.twice)
    with pytest.raises(AttributeError):
        counter.other = 1  # type: ignore[attr-defined]


@TIMES
def test_defaults_are_made_anew(times: int) -> None:
    """No two instances share a list."""
    one, other = [Counter(1) for _ in range(times)][-1], Counter(1)
    one.seen.append(1)
    assert [] == other.seen


@TIMES
def test_derived_classes_have_the_fields_of_their_base(times: int) -> None:
    """First, as in attrs; and the base's instances stay what they are."""
    named = [Named(1, 2, "n") for _ in range(times)][-1]
    assert (1, 2, "n") == (named.x, named.y, named.name)
    assert "Named(x=1, y=2, name='n')" == repr(named)
    assert "Point(x=1, y=0)" == repr(Point(1))
    match named:
        case Named(x, y, name):
            assert (1, 2, "n") == (x, y, name)


def test_a_property_is_cached() -> None:
    """Where a class has one, its instances have a place for it."""
    class Long(Value):
        words: tuple[str, ...]

        @cached_property
        def length(self) -> list[int]:
            return [len(self.words)]

    one = Long(("a", "b"))
    assert [2] == one.length
    assert one.length is one.length
    assert one == Long(("a", "b"))


def test_what_is_shown() -> None:
    """A field with repr=False is not: keys are such fields. One may be shown otherwise."""
    class Masked(Value):
        key: str = field(repr=lambda key: f"{len(key)} characters")

    assert repr(Theirs("a", key="secret")).removeprefix("Theirs") == repr(Ours("a", key="secret")).removeprefix("Ours")
    assert "Masked(key=6 characters)" == repr(Masked("secret")).rpartition(".")[2]


def test_copies() -> None:
    """By pickle and copy, as compiled cases are kept and workers are told of them."""
    one = Ours("a", 3, "k", "n", {"x": 1}, word="v")
    for other in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
        assert one == other
        assert ("n", "v") == (other.note, other.word)


def test_evolve() -> None:
    """Of both kinds of classes; a name that is none is a mistake."""
    assert Ours("b", 3, word="v") == evolve(Ours("a", 3, word="v"), name="b")
    assert Theirs("b", 3, word="v") == evolve(Theirs("a", 3, word="v"), name="b")
    with pytest.raises(TypeError):
        evolve(Ours("a"), nothing=1)


def test_fields_are_told_alike() -> None:
    """Whoever writes records and digests asks for fields, whichever kind of class it is."""
    told = [[(part.name, part.argument, part.required, part.init, part.eq, part.hash, part.kw_only,
              part.factory) for part in fields_of(kind)] for kind in (Ours, Theirs)]
    assert told[0] == told[1]
    assert [True, True, False, False] == [has_fields(kind) for kind in (Ours, Theirs, int, Ours("a"))]
    with pytest.raises(TypeError, match="int is no data"):
        fields_of(int)
