"""Arguments that pass what is expected: what the reference answer calls with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.analysis.model import ArgumentTest, Call
from evalkit.analysis.value_tests import at_path, passes
from evalkit.execute.agents.made_up import NoValue, Told, made_up
from evalkit.lint.schema import problem
from tests.unit.grade.calls import calls_of

NUMBER = {"type": "number"}


def schema(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def made(folder: Path, arguments: str, of: dict[str, Any], told: Any = None) -> dict[str, Any]:
    known = Told()
    known.add(told)
    call = calls_of(folder, f"expect go({arguments})").sequences[0][0]
    assert isinstance(call, Call)
    return made_up(call, of, known)


@pytest.mark.parametrize(("arguments", "properties", "value"), [
    ('a: "x"', {}, "x"), ('a one of "x", "y"', {}, "x"), ('a one of "x", "y"', {"enum": ["y"]}, "y"),
    ("a in 1..2", NUMBER, 1.5), ("a in 1..4", {"type": "integer"}, 2), ("a > 1", NUMBER, 2), ("a >= 1", NUMBER, 1),
    ("a < 1", NUMBER, 0), ("a > 1, a < 2", NUMBER, 1.5), ("a > 1", {**NUMBER, "maximum": 1.5}, 1.25),
    ("a > 0.2, a number", {**NUMBER, "exclusiveMaximum": 1}, 0.6), ("a approx 12.5 within 1", {"type": "integer"}, 12),
    ("a approx [0, 12.5] within 0.1", {}, [0, 12.5]), ('a includes "deck"', {"type": "array"}, ["deck"]),
    ('a includes "deck", "pier"', {"type": "string"}, "deck pier"), ('a ~ /^crack/ like "crack 1"', {}, "crack 1"),
    ("a ~ /^crack$/", {}, "crack"), ("a ~ /^(mesh|points)$/", {"enum": ["all", "mesh"]}, "mesh"),
    ("a number", {}, 1), ("a string", {}, "text"), ("a boolean", {}, True), ("a any", {"enum": ["p", "q"]}, "p"),
    ("a any", {"default": 7, "enum": [1, 7]}, 7), ("a any", {"type": "integer", "minimum": 3, "maximum": 6}, 4),
    ("a any", {"type": "array", "items": NUMBER, "minItems": 3}, [1, 1, 1]),
    ("a.x > 1", {"type": "object", "properties": {"x": NUMBER, "y": NUMBER}, "required": ["y"]}, {"y": 1, "x": 2}),
    ("a.2: 5", {"type": "array", "items": NUMBER, "minItems": 3}, [1, 1, 5]),
    ("a.x absent", {"type": "object"}, {}), ("a.b.c: 1", {}, {"b": {"c": 1}}),
])
def test_a_value_that_passes(tmp_path: Path, arguments: str, properties: dict[str, Any], value: Any) -> None:
    """Of each form of a test, within what the schema allows."""
    assert {"a": value} == made(tmp_path, arguments, schema(a=properties))


def test_what_is_required_and_what_is_absent(tmp_path: Path) -> None:
    """Required arguments are made up, others are left out."""
    of = schema(("kind", "at"), kind={"enum": ["crack"]}, at=NUMBER, note={"type": "string"})
    assert {"at": 3, "kind": "crack"} == made(tmp_path, "at: 3, note absent", of)


def test_what_was_told_before(tmp_path: Path) -> None:
    """Under the argument's name, or as `id`; the latest first, and only where it fits."""
    of = schema(("findingId", "kind"), findingId={"type": "string"}, kind={"enum": ["crack", "spall"]})
    told = [{"id": "f-1", "kind": "other"}, {"result": {"id": "f-2"}}]
    assert {"findingId": "f-2", "kind": "crack"} == made(tmp_path, "findingId any", of, told)


@pytest.mark.parametrize(("arguments", "properties", "key"), [
    ("a ~ /^[a-f]{3}$/", {}, "a"), ("a > 5", {**NUMBER, "maximum": 3}, "a"), ('a.b: "x"', {"type": "string"}, "a.b"),
])
def test_what_cannot_be_made_up(tmp_path: Path, arguments: str, properties: dict[str, Any], key: str) -> None:
    """The argument is named."""
    with pytest.raises(NoValue) as error:
        made(tmp_path, arguments, schema(a=properties))
    assert key == error.value.key


WHOLE = st.integers(-5, 5)
TESTS = st.one_of(
    WHOLE.map(lambda n: ArgumentTest("a", ">", (n,))), WHOLE.map(lambda n: ArgumentTest("a", "<=", (n,))),
    WHOLE.map(lambda n: ArgumentTest("a", "in", (n, n + 3))),
    WHOLE.map(lambda n: ArgumentTest("a", "approx", (n, 0.5))),
    st.just(ArgumentTest("a", "type", ("number",))))


@given(st.lists(TESTS, min_size=1, max_size=3), st.sampled_from(["number", "integer"]), st.integers(-4, 0),
       st.integers(0, 4))
def test_what_is_made_up_passes(tests: list[ArgumentTest], kind: str, low: int, high: int) -> None:
    """Whatever is asked of a number: a value meets all of it and the schema, or there is said to be none."""
    of = schema(a={"type": kind, "minimum": low, "maximum": high})
    try:
        value = made_up(Call("go", tuple(tests)), of, Told())["a"]
    except NoValue:
        return
    assert all(passes(test, at_path({"a": value}, "a")) for test in tests)
    assert "" == problem(value, of["properties"]["a"], of)
