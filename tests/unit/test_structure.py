"""Records as plain data, and back: every kind of annotation that they use."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import pytest
from attrs import field, frozen

from evalkit.digest import GROWN
from evalkit.structure import Misfit, structure, unstructure


@frozen
class Inner:
    name: str
    size: int | None = None


@frozen
class Circle:
    radius: float
    type: Literal["circle"] = "circle"


@frozen
class Square:
    side: float
    type: Literal["square"] = field(default="square", metadata=GROWN)


Shape: TypeAlias = Circle | Square


@frozen
class Node:
    value: int
    below: tuple[Node, ...] = ()


@frozen
class All:
    text: str
    whole: int
    real: float
    flag: bool
    anything: Any
    inner: Inner
    kind: Literal["a", 1]
    maybe: Inner | None
    mixed: int | str | None
    several: tuple[Inner, ...]
    pair: tuple[str, int]
    pairs: tuple[tuple[str, str], ...]
    names: list[str]
    few: frozenset[str]
    shapes: tuple[Shape, ...]
    shape: Circle | Square | None
    by_name: dict[str, Inner]
    counts: dict[Literal["x", "y"], dict[str, float]]
    read: Mapping[str, str]
    order: Sequence[int]
    tree: Node
    _hidden: int
    made: int = field(init=False, default=7)
    later: int = field(default=3, metadata=GROWN)


GOOD: dict[str, Any] = {
    "text": "é", "whole": 1, "real": 2, "flag": True, "anything": [1, {"a": None}], "inner": {"name": "x", "size": 3},
    "kind": "a", "maybe": None, "mixed": "m", "several": [{"name": "x"}, {"name": "y"}], "pair": ["p", 1],
    "pairs": [["a", "b"]], "names": ["n"], "few": ["a", "b"],
    "shapes": [{"type": "square", "side": 1.5}, {"type": "circle", "radius": 2}], "shape": None,
    "by_name": {"k": {"name": "z"}}, "counts": {"x": {"a": 1}}, "read": {"r": "s"}, "order": [1, 2],
    "tree": {"value": 1, "below": [{"value": 2}]}, "_hidden": 5,
}
MADE = All("é", 1, 2.0, True, [1, {"a": None}], Inner("x", 3), "a", None, "m", (Inner("x"), Inner("y")), ("p", 1),
           (("a", "b"),), ["n"], frozenset("ab"), (Square(1.5), Circle(2.0)), None, {"k": Inner("z")},
           {"x": {"a": 1.0}}, {"r": "s"}, (1, 2), Node(1, (Node(2),)), 5)


def test_data_becomes_what_annotations_say() -> None:
    """Classes within classes, unions told apart by `type`, tuples, dicts, literals; what has a default may miss."""
    made = structure(GOOD, All)
    assert MADE == made
    assert (float, tuple, 3, 7) == (type(made.real), type(made.order), made.later, made.made)


def test_a_value_comes_back() -> None:
    """Through JSON, with the class of each union's member."""
    plain = json.loads(json.dumps(unstructure(MADE)))
    assert MADE == structure(plain, All)
    assert ("made" in plain, 3, "square") == (False, plain["later"], plain["shapes"][0]["type"])


def test_what_a_class_does_not_know_is_left_out() -> None:
    """A later version may have added a field, at any level."""
    assert MADE == structure({**GOOD, "new": 1, "inner": {**GOOD["inner"], "new": 2}}, All)


@pytest.mark.parametrize(("change", "said"), [
    ({"text": 1}, "text: 1 is not a text"),
    ({"text": None}, "text: None is not a text"),
    ({"whole": True}, "whole: True is not a whole number"),
    ({"whole": 1.0}, "whole: 1.0 is not a whole number"),
    ({"whole": "1"}, "whole: '1' is not a whole number"),
    ({"real": "1.5"}, "real: '1.5' is not a number"),
    ({"real": True}, "real: True is not a number"),
    ({"flag": 1}, "flag: 1 is not true or false"),
    ({"inner": "x" * 99}, f"inner: 'x{'x' * 58}… is no Inner"),
    ({"inner": {}}, "inner.name: it is missing"),
    ({"kind": True}, "kind: True is not one of 'a', 1"),
    ({"kind": "b"}, "kind: 'b' is not one of 'a', 1"),
    ({"maybe": {"name": 1}}, "maybe.name: 1 is not a text"),
    ({"several": {}}, "several: {} is no list"),
    ({"several": [{"name": "x"}, {"name": 2}]}, "several.1.name: 2 is not a text"),
    ({"pair": ["p"]}, "pair: there are 1 values, not 2"),
    ({"pairs": [["a", 1]]}, "pairs.0.1: 1 is not a text"),
    ({"few": "ab"}, "few: 'ab' is no list"),
    ({"shapes": [{"type": "line"}]}, "shapes.0.type: 'line' is not one of 'circle', 'square'"),
    ({"shapes": [{"side": 1}]}, "shapes.0.type: None is not one of 'circle', 'square'"),
    ({"shapes": [{"type": []}]}, "shapes.0.type: [] is not one of 'circle', 'square'"),
    ({"shapes": ["square"]}, "shapes.0.type: None is not one of 'circle', 'square'"),
    ({"shapes": [{"type": "circle", "side": 1}]}, "shapes.0.radius: it is missing"),
    ({"by_name": []}, "by_name: [] is no object"),
    ({"by_name": {"k": None}}, "by_name.k: None is no Inner"),
    ({"counts": {"z": {}}}, "counts.z: 'z' is not one of 'x', 'y'"),
    ({"counts": {"x": {"a": "1"}}}, "counts.x.a: '1' is not a number"),
    ({"tree": {"value": 1, "below": [{"value": 2, "below": [{}]}]}}, "tree.below.0.below.0.value: it is missing"),
    ({"later": None}, "later: None is not a whole number"),
])
def test_what_does_not_fit(change: dict[str, Any], said: str) -> None:
    """It is told where, and what is there; nothing is converted silently."""
    with pytest.raises(Misfit) as raised:
        structure({**GOOD, **change}, All)
    assert said == str(raised.value)


@pytest.mark.parametrize("data", [None, [], "x", 1])
def test_what_is_no_record_at_all(data: Any) -> None:
    with pytest.raises(Misfit, match=r"is no All$"):
        structure(data, All)


@frozen
class Strange:
    value: complex


@frozen
class Nameless:
    value: Inner | Node


@pytest.mark.parametrize(("kind", "said"), [(Strange, "records hold no .*complex"), (Nameless, "no `type` of its own")])
def test_a_class_that_no_record_can_be(kind: type[Any], said: str) -> None:
    """That is a bug of ours, and no damage."""
    with pytest.raises(TypeError, match=said):
        structure({"value": 1}, kind)


def test_what_is_no_data() -> None:
    """Something else than data in a record is a bug, where it is written."""
    from evalkit.records import record_bytes

    with pytest.raises(TypeError):
        record_bytes(Strange(1j))
