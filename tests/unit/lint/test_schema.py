"""JSON Schemas of arguments, at a glance."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.lint.schema import allows, is_flat, of_command, problem

NUMBERS = st.integers(-3, 3) | st.sampled_from([0.5, 2.0])
SCALARS = st.none() | st.booleans() | NUMBERS | st.sampled_from(["", "a", "abc"])
VALUES = SCALARS | st.lists(SCALARS, max_size=3)
TYPES = st.sampled_from(["string", "number", "integer", "boolean", "null", "array", "object"])
LEAVES = st.fixed_dictionaries({}, optional={
    "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
    "enum": st.lists(VALUES, min_size=1, max_size=3),
    "const": VALUES, "minimum": NUMBERS, "maximum": NUMBERS, "exclusiveMinimum": NUMBERS, "exclusiveMaximum": NUMBERS,
    "minLength": st.integers(0, 3), "maxLength": st.integers(0, 3), "minItems": st.integers(0, 3),
    "maxItems": st.integers(0, 3), "title": st.just("t")})
SCHEMAS = st.recursive(LEAVES, lambda inner: st.fixed_dictionaries({}, optional={
    "items": inner, "anyOf": st.lists(inner, min_size=1, max_size=2), "allOf": st.lists(inner, min_size=1, max_size=2),
    "type": TYPES}), max_leaves=4)


@given(SCHEMAS, VALUES)
@settings(max_examples=300, deadline=None)
def test_it_agrees_with_a_validator(schema: dict[str, Any], value: Any) -> None:
    """What is refused is what the reference implementation refuses."""
    assert jsonschema.Draft202012Validator(schema).is_valid(value) == (problem(value, schema, schema) == "")


@pytest.mark.parametrize(("schema", "value", "said"), [
    ({"type": "integer"}, 1.5, "must be an integer"), ({"type": ["string", "null"]}, 1, "must be a string or null"),
    ({"enum": ["x", 2, True, None]}, "z", 'must be one of "x", 2, true, null'), ({"const": "x"}, "y", 'must be "x"'),
    ({"minimum": 1}, 0, "must be at least 1"), ({"exclusiveMaximum": 0.5}, 1, "must be less than 0.5"),
    ({"minLength": 2}, "a", "must have at least 2 characters"), ({"maxItems": 1}, [1, 2], "must have at most 1 items"),
    ({"items": {"type": "string"}}, ["a", 1], "has an item that must be a string"),
    ({"oneOf": [{"type": "string"}, {"type": "null"}]}, 1, "must be a string or must be null"),
    ({"$ref": "#/$defs/mode", "$defs": {"mode": {"enum": ["x"]}}}, "y", 'must be one of "x"'),
])
def test_the_reason(schema: dict[str, Any], value: Any, said: str) -> None:
    """In words that follow the argument's name."""
    assert said == problem(value, schema, schema)


@pytest.mark.parametrize("schema", [
    {"$ref": "#"}, {"$ref": "#/a", "a": {"$ref": "#/a"}}, {"$ref": "other.json"}, {"$ref": "#/none"}, {"$ref": 1}, 1,
    None, [], {"type": 1}, {"enum": 1}, {"minimum": "a"}, {"anyOf": 1}, {"items": [1]}, {"allOf": [{"$ref": "#"}]},
    {"anyOf": [{"$ref": "#"}]}, {"properties": 1},
])
def test_what_is_no_schema_refuses_nothing(schema: Any) -> None:
    """Odd schemas and circles do no harm."""
    root = schema if isinstance(schema, dict) else {}
    assert "" == problem([1], schema, root)
    allows(schema, root, "string")
    is_flat(root)


@pytest.mark.parametrize(("properties", "flat"), [
    ({}, True), ({"a": {"type": "string"}}, True), ({"a": {"enum": ["x"]}}, True), ({"a": {"const": 1}}, True),
    ({"a": {"type": "array"}}, False), ({"a": {"type": "object"}}, False), ({"a": {}}, False),
    ({"a": {"type": ["string", "array"]}}, False), ({"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, True),
    ({"a": {"anyOf": [{"type": "string"}, {"type": "array"}]}}, False),
])
def test_flat_arguments(properties: dict[str, Any], flat: bool) -> None:
    """Single values, whatever way that is said."""
    assert flat == is_flat({"properties": properties})


@pytest.mark.parametrize(("given", "schema"), [
    ({}, {}), ({"type": "object"}, {"type": "object"}), ({"type": "function", "name": "a"}, {}),
    ({"description": "d", "annotations": {"readOnlyHint": True}}, {"annotations": {"readOnlyHint": True}}),
    ({"parameters": {"type": "object", "annotations": {"a": 1, "b": 1}}, "annotations": {"b": 2}},
     {"type": "object", "annotations": {"a": 1, "b": 2}}),
    ({"inputSchema": {"type": "object", "annotations": {"a": 1}}}, {"type": "object", "annotations": {"a": 1}}),
    ({"function": {"parameters": {}, "annotations": {"a": 1}}}, {"annotations": {"a": 1}}),
    ({"properties": {"parameters": {}}, "parameters": {}}, {"properties": {"parameters": {}}, "parameters": {}}),
    ({"type": {"type": "string"}}, None), ({"title": {"type": "string"}}, None), ({"args": {}}, None),
    (True, None), ([], None), ({"parameters": {"args": 1}}, None),
])
def test_the_schema_of_a_command(given: Any, schema: Any) -> None:
    """It is what is given, or what a tool definition holds; annotations may stand beside it or inside."""
    assert schema == of_command(given)
