"""JSON Schemas of arguments: short ways to write them, and what is wrong with a value.

Only the keywords that the commands use are known; `KEYWORDS` names them. The tests hold this to the package jsonschema;
the viewer itself runs where there is nothing but Python.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["KEYWORDS", "boolean", "choice", "number", "point", "problems", "text"]

KEYWORDS = frozenset({"type", "description", "enum", "minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength",
                      "items", "minItems", "maxItems", "properties", "required", "additionalProperties"})
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str, "boolean": bool, "number": (int, float), "array": list, "object": Mapping}


def number(description: str, **bounds: float) -> dict[str, Any]:
    return {"type": "number", "description": description, **bounds}


def text(description: str, longest: int = 200) -> dict[str, Any]:
    return {"type": "string", "description": description, "minLength": 1, "maxLength": longest}


def boolean(description: str) -> dict[str, Any]:
    return {"type": "boolean", "description": description}


def choice(description: str, *values: str) -> dict[str, Any]:
    return {"type": "string", "description": description, "enum": list(values)}


def point(description: str) -> dict[str, Any]:
    """Three numbers: x, y, z."""
    return {"type": "array", "description": description, "items": {"type": "number"}, "minItems": 3, "maxItems": 3}


def problems(value: Any, schema: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """What is wrong with a value, each as a sentence without a full stop; nothing where it fits."""
    said = place or "the arguments"
    types = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if not any(_is(value, name) for name in types):
        yield f"{said} must be {' or '.join(types)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{said} must be one of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, str):
        yield from _length(len(value), schema.get("minLength"), schema.get("maxLength"), said, "characters")
    elif isinstance(value, list):
        yield from _length(len(value), schema.get("minItems"), schema.get("maxItems"), said, "items")
        for index, item in enumerate(value):
            yield from problems(item, schema["items"], f"{said}[{index}]")
    elif isinstance(value, Mapping):
        yield from _members(value, schema, place)
    elif not isinstance(value, bool):
        yield from _bounds(value, schema, said)


def _is(value: Any, name: str) -> bool:
    """As JSON has it: true is no number, and neither is what JSON cannot write."""
    if name == "number" and (isinstance(value, bool) or (isinstance(value, float) and not math.isfinite(value))):
        return False
    return isinstance(value, _TYPES[name])


def _length(length: int, least: int | None, most: int | None, said: str, what: str) -> Iterator[str]:
    if least is not None and length < least:
        yield f"{said} must have at least {least} {what}"
    if most is not None and length > most:
        yield f"{said} must have at most {most} {what}"


def _bounds(value: float, schema: Mapping[str, Any], said: str) -> Iterator[str]:
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{said} must be at least {schema['minimum']:g}"
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        yield f"{said} must be more than {schema['exclusiveMinimum']:g}"
    if "maximum" in schema and value > schema["maximum"]:
        yield f"{said} must be at most {schema['maximum']:g}"


def _members(value: Mapping[str, Any], schema: Mapping[str, Any], place: str) -> Iterator[str]:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{place}.{name} is missing" if place else f"{name} is missing"
    for name, member in value.items():
        where = f"{place}.{name}" if place else name
        if name in known:
            yield from problems(member, known[name], where)
        elif schema.get("additionalProperties") is False:
            yield f"{where} is no argument; there are: {', '.join(known) or 'none'}"
