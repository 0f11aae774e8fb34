"""Whether a value can be an argument, as far as a JSON Schema says so at a glance.

The keywords that command schemas use are known: type, enum, const, the bounds of numbers, texts and lists, items,
properties with required, anyOf, oneOf, allOf, and `$ref` within the schema. Others are not looked at: what is found is
wrong for certain, and not all that is wrong is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import ge, gt, le, lt
from typing import Any, TypeAlias

__all__ = ["allows", "follow", "hint", "is_flat", "is_open", "of_command", "problem", "types_of"]

Schema: TypeAlias = Mapping[str, Any]
DEEPEST = 20
_NUMBERS = ("number", "integer")
_TYPES = frozenset({"string", "boolean", "null", "array", "object", *_NUMBERS})
_WRAPPERS = ("function", "parameters", "inputSchema", "input_schema")
"""Where a tool definition has its schema."""
_OBJECTS = frozenset({"properties", "patternProperties", "$defs", "definitions"})
_LISTS = frozenset({"required", "enum", "anyOf", "oneOf", "allOf"})
_OTHERS = frozenset({"$ref", "$schema", "const", "additionalProperties"})
_WORDS = frozenset({"name", "title", "description", "annotations", "strict", "type"})
"""What a tool without arguments may have."""


def of_command(given: Any, depth: int = 0) -> Schema | None:
    """The schema of a command: what is given, or what a tool definition holds, with the annotations of both; None where
    there is none."""
    if not isinstance(given, Mapping) or depth > DEEPEST:
        return None
    key = next((key for key in _WRAPPERS if isinstance(given.get(key), Mapping)), None)
    if key is not None and not isinstance(given.get("properties"), Mapping):
        inner = of_command(given[key], depth + 1)
        notes = [part["annotations"] for part in (inner or {}, given) if isinstance(part.get("annotations"), Mapping)]
        return {**inner, **({"annotations": {**notes[0], **notes[-1]}} if notes else {})} if inner is not None else None
    if _is_schema(given):
        return given
    texts = all(isinstance(given.get(word, ""), str) for word in ("name", "title", "description", "type"))
    return {key: given[key] for key in given if key == "annotations"} if texts and set(given) <= _WORDS else None


def _is_schema(given: Schema) -> bool:
    """Whether a mapping has a keyword of JSON Schema with a value that it can have."""
    return bool(_TYPES & set(types_of(given)) or _OTHERS & set(given)
                or any(isinstance(given.get(key), Mapping) for key in _OBJECTS)
                or any(isinstance(given.get(key), list) for key in _LISTS))


def follow(schema: Any, root: Schema) -> Schema:
    """The schema that a `$ref` within the root leads to; an empty one, which allows all, where there is none."""
    for _ in range(DEEPEST):
        if not isinstance(schema, Mapping):
            return {}
        ref = schema.get("$ref")
        if not isinstance(ref, str):
            return schema
        if not ref.startswith("#/"):
            return {}
        schema = _at(root, [part.replace("~1", "/").replace("~0", "~") for part in ref[2:].split("/")])
    return {}


def _at(schema: Any, path: list[str]) -> Any:
    for part in path:
        schema = schema.get(part) if isinstance(schema, Mapping) else None
    return schema


def problem(value: Any, schema: Any, root: Schema, depth: int = 0) -> str:
    """Why the schema does not take a value, in words that follow "it"; "" where it takes it."""
    schema = follow(schema, root)
    if depth > DEEPEST:
        return ""
    return next(_problems(value, schema, root, depth), "")


def _problems(value: Any, schema: Schema, root: Schema, depth: int) -> Iterator[str]:
    types = types_of(schema)
    if types and not any(_is(value, name) for name in types):
        yield f"must be {_any_of(types)}"
    if isinstance(schema.get("enum"), list) and not any(_equal(value, known) for known in schema["enum"]):
        yield f"must be one of {', '.join(_shown(known) for known in schema['enum'])}"
    if "const" in schema and not _equal(value, schema["const"]):
        yield f"must be {_shown(schema['const'])}"
    if _is(value, "number"):
        yield from _out_of_bounds(value, schema)
    if isinstance(value, str):
        yield from _wrong_length(len(value), schema.get("minLength"), schema.get("maxLength"), "characters")
    if isinstance(value, list):
        yield from _wrong_length(len(value), schema.get("minItems"), schema.get("maxItems"), "items")
    if isinstance(value, list):
        for item in value:
            if said := problem(item, schema.get("items"), root, depth + 1):
                yield f"has an item that {said}"
    yield from _combined(value, schema, root, depth)


def _combined(value: Any, schema: Schema, root: Schema, depth: int) -> Iterator[str]:
    for part in _parts(schema, "allOf"):
        if said := problem(value, part, root, depth + 1):
            yield said
    for keyword in ("anyOf", "oneOf"):
        refusals = [problem(value, part, root, depth + 1) for part in _parts(schema, keyword)]
        if refusals and all(refusals):
            yield " or ".join(dict.fromkeys(refusals))


def _parts(schema: Schema, keyword: str) -> list[Any]:
    parts = schema.get(keyword)
    return parts if isinstance(parts, list) else []


def _wrong_length(length: int, low: Any, high: Any, what: str) -> Iterator[str]:
    if _is(low, "number") and length < low:
        yield f"must have at least {_shown(low)} {what}"
    if _is(high, "number") and length > high:
        yield f"must have at most {_shown(high)} {what}"


_BOUNDS = {"minimum": (ge, "at least"), "maximum": (le, "at most"), "exclusiveMinimum": (gt, "more than"),
           "exclusiveMaximum": (lt, "less than")}


def _out_of_bounds(value: float, schema: Schema) -> Iterator[str]:
    for keyword, (fits, words) in _BOUNDS.items():
        bound: Any = schema.get(keyword)
        if _is(bound, "number") and not fits(value, bound):
            yield f"must be {words} {_shown(bound)}"


def types_of(schema: Schema) -> list[str]:
    """The JSON types that `type` names; none where it says nothing."""
    given = schema.get("type")
    return [given] if isinstance(given, str) else [name for name in given if isinstance(name, str)] \
        if isinstance(given, list) else []


def allows(schema: Any, root: Schema, *names: str) -> bool:
    """Whether a value of one of these types could fit."""
    schema = follow(schema, root)
    types = types_of(schema)
    wanted = {*names, *(_NUMBERS if set(names) & set(_NUMBERS) else ())}
    if types and not wanted & set(types):
        return False
    enum = schema.get("enum")
    if isinstance(enum, list) and not any(_is(value, name) for value in enum for name in names):
        return False
    choices = _parts(schema, "anyOf") or _parts(schema, "oneOf")
    return not choices or any(allows(choice, root, *names) for choice in choices[:DEEPEST])


def hint(schema: Schema, name: str) -> bool:
    """Whether a command's schema says something of it by its annotations (`readOnlyHint`, `destructiveHint`)."""
    annotations = schema.get("annotations")
    return isinstance(annotations, Mapping) and annotations.get(name) is True


def is_open(schema: Schema) -> bool:
    """Whether an object may have other keys than it names, by its own word."""
    return bool(schema.get("additionalProperties"))


def is_flat(schema: Schema) -> bool:
    """Whether each argument is a single value: no lists, no objects."""
    properties = schema.get("properties")
    return all(not allows({**_whole(follow(part, schema))}, schema, "array", "object")
               for part in (properties.values() if isinstance(properties, Mapping) else ()))


def _whole(schema: Schema) -> Schema:
    """A schema that names no type can be anything only where nothing else says what it is."""
    known = {"type", "enum", "const", "anyOf", "oneOf"} & set(schema)
    if "const" in schema:
        return {"enum": [schema["const"]]}
    return schema if known else {"type": "object"}


def _is(value: Any, name: str) -> bool:
    match name:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "integer":
            return _is(value, "number") and float(value).is_integer()
    return True


def _equal(one: Any, other: Any) -> bool:
    """As JSON: true is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _any_of(types: list[str]) -> str:
    return " or ".join(f"{'an' if name[0] in 'aio' else 'a'} {name}" if name != "null" else "null" for name in types)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return {True: "true", False: "false", None: "null"}[value] if value is None or isinstance(value, bool) \
        else str(value)
