"""Whether a value passes a test: arguments of calls, fields of a state. Values are JSON; true is not 1.

A regex meets texts that an agent decides on, so it has a time limit, and counts as not found when that is over.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from evalkit.analysis.dialect import regex_finder
from evalkit.analysis.model_calls import ArgumentTest

__all__ = ["ABSENT", "at_path", "compiled", "equal", "is_number", "is_type", "passes"]

REGEX_LIMIT = 2.0
"""Seconds for one text."""
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "==": operator.eq}
_TYPES: dict[str, type | tuple[type, ...]] = {"string": str, "boolean": bool, "array": list, "object": Mapping}


class _Absent:
    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = _Absent()
"""What is at a path where nothing is."""


def at_path(value: Any, path: str) -> Any:
    """What is at a path in objects and lists, ABSENT where nothing is. A key may have a `.` in it itself."""
    while True:
        if isinstance(value, Mapping) and path in value:
            return value[path]
        key, dot, path = path.partition(".")
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and len(key) < 10 and int(key) < len(value):
            value = value[int(key)]
        else:
            return ABSENT
        if not dot:
            return value


def passes(test: ArgumentTest, value: Any) -> bool:
    """Whether what is at the test's key passes it. value: ABSENT where nothing is there."""
    return compiled(test)(value)


def compiled(test: ArgumentTest) -> Callable[[Any], bool]:
    """A test as a function of what is at its key, for who has many values."""
    wanted = test.values
    first: Any = wanted[0] if wanted else None
    match test.test:
        case "absent":
            return lambda value: value is ABSENT
        case "any":
            return lambda value: value is not ABSENT
        case "is":
            return lambda value: value is not ABSENT and equal(value, first)
        case "one of":
            return lambda value: value is not ABSENT and any(equal(value, one) for one in wanted)
        case "includes":
            return lambda value: _includes(value, wanted)
        case "type":
            return lambda value: value is not ABSENT and is_type(value, first)
        case "approx":
            return lambda value: _near(value, first, wanted[1])
        case "~":
            return lambda value: isinstance(value, str) and _found(wanted[0], wanted[1], value)
        case "in":
            low, high = wanted
            return lambda value: (type(value) is int or type(value) is float) and low <= value <= high
    compare = _COMPARED[test.test]
    return lambda value: is_number(value) and compare(value, first)


def equal(one: Any, other: Any) -> bool:
    """As JSON: 1 is 1.0, and not true; objects have no order."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    return bool(one == other)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_type(value: Any, name: str) -> bool:
    return is_number(value) if name == "number" else isinstance(value, _TYPES[name])


def _includes(value: Any, wanted: tuple[Any, ...]) -> bool:
    if isinstance(value, str):
        return all(isinstance(one, str) and one in value for one in wanted)
    return isinstance(value, list) and all(any(equal(item, one) for item in value) for one in wanted)


def _near(value: Any, wanted: Any, tolerance: float) -> bool:
    """Whether numbers are so near to each other, or lists of equal shape in each number."""
    if isinstance(wanted, list):
        return isinstance(value, list) and len(value) == len(wanted) and all(
            _near(one, other, tolerance) for one, other in zip(value, wanted, strict=True))
    # What decimal fractions lose as binary ones, 12.6 - 12.5 for one, is within the tolerance.
    return is_number(value) and abs(value - wanted) <= tolerance + 1e-12 * max(1.0, abs(wanted), tolerance)


@lru_cache(maxsize=4096)
def _found(pattern: str, flags: str, text: str) -> bool:
    try:
        return regex_finder(pattern, flags)(text, REGEX_LIMIT) is not None
    except TimeoutError:
        return False
