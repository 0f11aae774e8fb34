"""Arguments that pass the tests of an expected call: what the reference answer calls with.

For each argument there are values that may do: those that its tests name, what earlier calls were answered with under
its name, those that its schema names or allows. The first one that passes all its tests and the schema is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalkit.analysis.model import ArgumentTest, Call
from evalkit.analysis.value_tests import ABSENT, at_path, is_number, passes
from evalkit.lint.schema import follow, problem, types_of

__all__ = ["NoValue", "Told", "made_up"]

_DEEPEST = 8
_ITEMS = 64
"""Items of a list that is made up."""


class NoValue(ValueError):
    """Nothing that passes comes to mind. key: the argument."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class Told:
    """What calls were answered with, by name; later answers go before earlier ones."""

    def __init__(self) -> None:
        self._known: dict[str, list[Any]] = {}

    def add(self, answer: Any, depth: int = 0) -> None:
        if depth > _DEEPEST:
            return
        if isinstance(answer, Mapping):
            for name, value in answer.items():
                self._known.setdefault(str(name).lower(), []).append(value)
                self.add(value, depth + 1)
        elif isinstance(answer, list):
            for item in answer[:_ITEMS]:
                self.add(item, depth + 1)

    def of(self, key: str) -> Iterator[Any]:
        """What was told under a name; of `findingId` also what was told as `id`."""
        name = key.lower()
        yield from reversed(self._known.get(name, []))
        if key.endswith(("Id", "_id", "-id")):
            yield from reversed(self._known.get("id", []))


def made_up(call: Call, schema: Mapping[str, Any], told: Told) -> dict[str, Any]:
    """Arguments that meet what is expected, and the schema. Raises NoValue."""
    whole = follow(schema, schema)
    properties = whole.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    required = whole.get("required")
    tests: dict[str, list[ArgumentTest]] = {}
    for test in call.arguments:
        top = test.key if test.key in properties else test.key.partition(".")[0]
        tests.setdefault(top, []).append(test)
    found: dict[str, Any] = {}
    for key in (*tests, *(key for key in (required if isinstance(required, list) else ()) if key not in tests)):
        value = _argument(key, tests.get(key, []), properties.get(key, {}), schema, told)
        if value is not ABSENT:
            found[key] = value
    return found


def _argument(key: str, tests: list[ArgumentTest], schema: Any, root: Mapping[str, Any], told: Told) -> Any:
    if any(test.key == key and test.test == "absent" for test in tests):
        return ABSENT
    own = [test for test in tests if test.key == key]
    inner = [test for test in tests if test.key != key]
    for value in _candidates(key, own, schema, root, told):
        full = _filled(key, value, inner, schema, root, told) if inner else value
        good = all(passes(test, at_path({key: full}, test.key)) for test in tests)
        if good and not problem(full, schema, root):
            return full
    raise NoValue(next((test.key for test in tests), key))


def _candidates(key: str, tests: list[ArgumentTest], schema: Any, root: Mapping[str, Any], told: Told) -> Iterator[Any]:
    """Values that may do, the best first."""
    schema = follow(schema, root)
    for test in tests:
        yield from _named(test)
    numbers = [test for test in tests if test.test in (">", ">=", "<", "<=", "in", "==")]
    if numbers:
        yield from _numbers(numbers, schema)
    yield from told.of(key)
    for test in tests:
        if test.test == "type":
            yield from _made({**schema, "type": test.values[0]} if not types_of(schema) else schema, root)
    yield from _made(schema, root)


def _named(test: ArgumentTest) -> Iterator[Any]:
    match test.test:
        case "is" | "one of":
            yield from test.values
        case "approx":
            yield test.values[0]
            yield _rounded(test.values[0])
        case "includes":
            yield list(test.values)
            if all(isinstance(value, str) for value in test.values):
                yield " ".join(test.values)
        case "~":
            yield from test.values[2:]
            yield test.values[0]
            yield test.values[0].strip("^$").replace("\\b", "").replace("\\", "")


def _rounded(value: Any) -> Any:
    return [_rounded(item) for item in value] if isinstance(value, list) else round(value)


def _numbers(tests: list[ArgumentTest], schema: Mapping[str, Any]) -> Iterator[Any]:
    """The middle of what all bounds leave, also as a whole number, and what stands at the bounds."""
    lows = [value for test in tests if test.test in (">", ">=", "in", "==") for value in test.values[:1]]
    highs = [value for test in tests if test.test in ("<", "<=", "in", "==") for value in test.values[-1:]]
    said_low, said_high = max(lows, default=None), min(highs, default=None)
    lows += [schema[name] for name in ("minimum", "exclusiveMinimum") if is_number(schema.get(name))]
    highs += [schema[name] for name in ("maximum", "exclusiveMaximum") if is_number(schema.get(name))]
    low, high = max(lows, default=None), min(highs, default=None)
    if said_low is not None and said_high is not None:
        middle = (said_low + said_high) / 2
        yield from (_whole(middle), round(middle))
    for value, step in ((said_low, 1), (said_high, -1)):
        if value is not None:
            yield from (value, value + step)
    if low is not None and high is not None:
        yield from (_whole((low + high) / 2), round((low + high) / 2), low, high)


def _whole(value: float) -> int | float:
    """A number without decimals as it would be written."""
    return int(value) if float(value).is_integer() else value


def _made(schema: Any, root: Mapping[str, Any], depth: int = 0) -> Iterator[Any]:
    """Values that a schema names, and one of its type."""
    schema = follow(schema, root)
    if "const" in schema:
        yield schema["const"]
    if "default" in schema:
        yield schema["default"]
    for name in ("examples", "enum"):
        if isinstance(schema.get(name), list):
            yield from schema[name]
    if depth > _DEEPEST:
        return
    for name in ("anyOf", "oneOf", "allOf"):
        for part in schema.get(name) if isinstance(schema.get(name), list) else ():
            yield from _made(part, root, depth + 1)
    for kind in types_of(schema) or ("string", "number", "boolean", "array", "object"):
        yield from _of_type(kind, schema, root, depth)


def _of_type(kind: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Iterator[Any]:
    match kind:
        case "string":
            least, most = schema.get("minLength"), schema.get("maxLength")
            text = "text".ljust(least if isinstance(least, int) else 0, "x")
            yield text[:most] if isinstance(most, int) else text
        case "number" | "integer":
            low = [schema[name] for name in ("minimum", "exclusiveMinimum") if is_number(schema.get(name))]
            high = [schema[name] for name in ("maximum", "exclusiveMaximum") if is_number(schema.get(name))]
            if low and high:
                middle = (max(low) + min(high)) / 2
                yield from (round(middle), _whole(middle))
            yield from (*low, *(value + 1 for value in low), *high, *(value - 1 for value in high), 1)
        case "boolean":
            yield True
        case "null":
            yield None
        case "array":
            yield _list(schema, root, depth)
        case "object":
            inner = schema.get("properties")
            wanted = schema.get("required")
            yield {key: next(_made((inner if isinstance(inner, Mapping) else {}).get(key, {}), root, depth + 1), None)
                   for key in (wanted if isinstance(wanted, list) else ())}


def _list(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> list[Any]:
    least, first = schema.get("minItems"), schema.get("prefixItems")
    items = [next(_made(part, root, depth + 1), None) for part in (first if isinstance(first, list) else [])[:_ITEMS]]
    while len(items) < min(least if isinstance(least, int) else 1, _ITEMS):
        items.append(next(_made(schema.get("items", {}), root, depth + 1), None))
    return items


# ---- tests of what is within an argument ----
def _filled(key: str, value: Any, tests: list[ArgumentTest], schema: Any, root: Mapping[str, Any], told: Told) -> Any:
    """A value with what its inner tests ask for put in; as it is where it has no place for that."""
    grouped: dict[str, list[ArgumentTest]] = {}
    for test in tests:
        first, _, rest = test.key.removeprefix(f"{key}.").partition(".")
        grouped.setdefault(first, []).append(ArgumentTest(f"{first}.{rest}" if rest else first, test.test, test.values))
    schema = follow(schema, root)
    if isinstance(value, list):
        full: Any = list(value)
        for name, inner in grouped.items():
            if not name.isdecimal() or int(name) >= _ITEMS:
                return value
            while len(full) <= int(name):
                full.append(next(_made(schema.get("items", {}), root), None))
            made = _argument(name, inner, schema.get("items", {}), root, told)
            full[int(name)] = None if made is ABSENT else made
        return full
    properties = schema.get("properties")
    full = dict(value) if isinstance(value, Mapping) else {}
    for name, inner in grouped.items():
        part = properties.get(name, {}) if isinstance(properties, Mapping) else {}
        made = _argument(name, inner, part, root, told)
        full.pop(name, None)
        if made is not ABSENT:
            full[name] = made
    return full
