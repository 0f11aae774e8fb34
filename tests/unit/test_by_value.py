"""Classes that share their equality, hash and form behave as those do whose methods attrs writes."""

from __future__ import annotations

import pickle

import pytest
from attrs import field, frozen

from evalkit.by_value import by_value


@by_value
@frozen(eq=False, repr=False)
class Shared:
    name: str
    at: int = field(default=0, hash=False)
    key: str = field(default="", repr=False)
    note: str = field(default="", eq=False)


@frozen
class Own:
    name: str
    at: int = field(default=0, hash=False)
    key: str = field(default="", repr=False)
    note: str = field(default="", eq=False)


OTHERS = [("b",), ("a", 1), ("a", 0, "k"), ("a", 0, "", "n")]


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_equal_where_attrs_says_so(other: tuple[str, ...]) -> None:
    """Fields with eq=False do not count; those with hash=False count in no hash."""
    for kind in (Shared, Own):
        one, two = kind("a"), kind(*other)  # type: ignore[arg-type]
        assert (one == two, hash(one) == hash(two)) == (Own("a") == Own(*other),  # type: ignore[arg-type]
                                                        hash(Own("a")) == hash(Own(*other)))  # type: ignore[arg-type]
    assert Shared("a") == Shared("a")
    another: object = Own("a")
    assert Shared("a") != another


def test_what_is_shown() -> None:
    """A field with repr=False is not: keys are such fields."""
    assert "Shared(name='a', at=0, note='')" == repr(Shared("a", key="secret"))


def test_a_field_that_is_shown_otherwise() -> None:
    """Such as a key by its length."""
    @by_value
    @frozen(eq=False, repr=False)
    class Masked:
        key: str = field(repr=lambda key: f"{len(key)} characters")

    assert "Masked(key=6 characters)" == repr(Masked("secret"))


def test_it_survives_pickling() -> None:
    """Compiled cases are kept so."""
    assert Shared("a", 3, "k", "n") == pickle.loads(pickle.dumps(Shared("a", 3, "k", "n")))
