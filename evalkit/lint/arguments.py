"""Tests of a command's arguments, against its schema: whether any call that the schema allows could pass them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit.analysis.model import ArgumentTest, Call
from evalkit.analysis.value_tests import passes
from evalkit.diagnostics import did_you_mean
from evalkit.lint.schema import allows, follow, is_open, problem

__all__ = ["CONFIRM", "amiss", "call_amiss", "is_known", "never_met"]

CONFIRM = "confirm"
"""The argument that takes the token of a confirmation."""
_INFINITE = float("inf")


def is_known(key: str, schema: Any) -> bool:
    """Whether a command may have the argument that a key begins with."""
    whole = follow(schema, schema)
    properties = whole.get("properties")
    if not isinstance(properties, Mapping) or is_open(whole):
        return True
    told = bool(properties) or whole.get("additionalProperties") is False
    return not told or key in properties or key.partition(".")[0] in properties


def amiss(test: ArgumentTest, schema: Any) -> tuple[str, str]:
    """Why no call passes a test, in words that follow the argument's name, and help; "" where one might."""
    missing = _missing(test.key, schema)
    if missing is not None:
        return missing
    found, required = _at(test.key, schema)
    if test.test == "absent":
        return "is required: no call lacks it" if required else "", ""
    return _refused(test, found, schema), ""


def call_amiss(call: Call, schema: Any) -> list[tuple[str, str]]:
    """What is wrong with a call as a whole: messages and help."""
    whole = follow(schema, schema)
    properties = whole.get("properties")
    found = []
    if call.exact:
        listed = {test.key.partition(".")[0] for test in call.arguments} | {test.key for test in call.arguments}
        required = whole.get("required")
        missing = [key for key in (required if isinstance(required, list) else ()) if key not in listed]
        if missing:
            found.append((f"`exact` lists no `{missing[0]}`, which command `{call.name}` requires",
                          f"add `{missing[0]} any`, or leave `exact` out"))
    if call.confirmed and isinstance(properties, Mapping) and CONFIRM not in properties and not is_open(whole):
        found.append((f"command `{call.name}` asks for no confirmation: it has no argument `{CONFIRM}`",
                      "leave `confirmed` out, or use `succeeds`"))
    return found


def never_met(tests: Sequence[ArgumentTest]) -> str:
    """Why no value passes all tests of one argument, as far as numbers tell; "" where one might."""
    lows = [(_number(test.values[0]), test.test == ">") for test in tests if test.test in (">", ">=", "in", "==")]
    highs = [(_number(test.values[-1]), test.test == "<") for test in tests if test.test in ("<", "<=", "in", "==")]
    low = max(lows, default=(-_INFINITE, False))
    high = min(highs, key=lambda bound: (bound[0], not bound[1]), default=(_INFINITE, False))
    if low[0] > high[0] or (low[0] == high[0] and (low[1] or high[1])):
        return "is no number that passes all its tests"
    values = next((test.values for test in tests if test.test in ("is", "one of")), None)
    if values is not None and len(tests) > 1 and not any(all(passes(test, value) for test in tests)
                                                         for value in values):
        return "has no value that passes all its tests"
    return ""


def _number(value: Any) -> float:
    return float(value)


# ---- where an argument is ----
def _at(key: str, schema: Any) -> tuple[Any, bool]:
    """The schema at a path, and whether a value must be there."""
    here, rest, required = follow(schema, schema), key, True
    while True:
        properties = here.get("properties")
        if isinstance(properties, Mapping):
            name = rest if rest in properties else rest.partition(".")[0]
            required = required and name in (here.get("required") or ())
            here = follow(properties.get(name, {}), schema)
        else:
            name, required = rest.partition(".")[0], False
            items = here.get("items")
            here = follow(items, schema) if name.isdecimal() and isinstance(items, Mapping) else {}
        if name == rest:
            return here, required
        rest = rest[len(name) + 1:]


def _missing(key: str, schema: Any) -> tuple[str, str] | None:
    """Words and help where a path leads to nothing that the schema has."""
    here, rest, so_far = follow(schema, schema), key, ""
    while True:
        properties = here.get("properties")
        if not isinstance(properties, Mapping):
            name = rest.partition(".")[0]
            if not so_far:
                return None
            if not allows(here, schema, "array", "object"):
                return f"leads into `{so_far}`, which is neither a list nor an object", ""
            items = here.get("items")
            here = follow(items, schema) if name.isdecimal() and isinstance(items, Mapping) else {}
        else:
            name = rest if rest in properties else rest.partition(".")[0]
            if name not in properties:
                if not properties or is_open(here):
                    return None
                return f"is not in `{so_far or 'the arguments'}`", did_you_mean(name, properties)
            here = follow(properties[name], schema)
        if name == rest:
            return None
        so_far = f"{so_far}.{name}".removeprefix(".")
        rest = rest[len(name) + 1:]


# ---- what a test asks for ----
def _refused(test: ArgumentTest, schema: Any, root: Any) -> str:
    """Why no value that the schema allows passes a test; "" where one might."""
    match test.test:
        case "is" | "one of":
            return next((said for value in test.values if (said := problem(value, schema, root))), "")
        case "type":
            fits = allows(schema, root, test.values[0])
            return "" if fits else f"is never {'an' if test.values[0][0] in 'ao' else 'a'} {test.values[0]}"
        case "any":
            return ""
        case "includes":
            return _no_part(test, schema, root)
        case "~":
            return _no_text(test, schema, root)
        case "approx" if isinstance(test.values[0], list):
            return _no_list(test.values[0], schema, root)
    return _no_number(test, schema, root)


def _no_part(test: ArgumentTest, schema: Any, root: Any) -> str:
    if allows(schema, root, "array"):
        items = follow(schema, root).get("items", {})
        said = next((said for value in test.values if (said := problem(value, items, root))), "")
        return f"has items, and each {said}" if said else ""
    if not allows(schema, root, "string"):
        return "is neither a list nor a text"
    return "" if all(isinstance(value, str) for value in test.values) else "is a text, and includes texts alone"


def _no_text(test: ArgumentTest, schema: Any, root: Any) -> str:
    if not allows(schema, root, "string"):
        return "is never a text"
    known = follow(schema, root).get("enum")
    if isinstance(known, list) and not any(passes(test, value) for value in known):
        return f"is one of {', '.join(map(str, known))}, which the regex does not match"
    example = test.values[2:]
    return next((said for value in example if (said := problem(value, schema, root))), "")


def _no_list(values: list[Any], schema: Any, root: Any) -> str:
    if not allows(schema, root, "array"):
        return "is never a list"
    found = follow(schema, root)
    for least, fits in (("minItems", len(values).__ge__), ("maxItems", len(values).__le__)):
        if isinstance(found.get(least), int) and not fits(found[least]):
            return f"has {'at least' if least == 'minItems' else 'at most'} {found[least]} items"
    items = found.get("items", {})
    for value in values:
        said = _no_list(value, items, root) if isinstance(value, list) else (
            "" if allows(items, root, "number") else "has items that are no numbers")
        if said:
            return said
    return ""


def _no_number(test: ArgumentTest, schema: Any, root: Any) -> str:
    if not allows(schema, root, "number"):
        return "is never a number"
    if test.test == "==":
        return problem(test.values[0], schema, root)
    low, high = _bounds(follow(schema, root))
    match test.test:
        case "in":
            at_least, at_most = test.values
        case "approx":
            at_least, at_most = test.values[0] - test.values[1], test.values[0] + test.values[1]
        case ">" | ">=":
            at_least, at_most = test.values[0], high
        case _:
            at_least, at_most = low, test.values[0]
    if at_least > high or (at_least == high and test.test == ">"):
        return f"is at most {high:g}"
    if at_most < low or (at_most == low and test.test == "<"):
        return f"is at least {low:g}"
    return ""


def _bounds(schema: Any) -> tuple[float, float]:
    found = []
    for inclusive, exclusive, none, closest in (("minimum", "exclusiveMinimum", -_INFINITE, max),
                                                ("maximum", "exclusiveMaximum", _INFINITE, min)):
        given = [schema.get(inclusive), schema.get(exclusive)]
        found.append(closest([none, *(bound for bound in given if isinstance(bound, int | float)
                                      and not isinstance(bound, bool))]))
    return found[0], found[1]
