"""Expected calls, and tests of values, as the language writes them."""

from __future__ import annotations

from typing import Any

import orjson

from evalkit.analysis.model_calls import AnyOrder, ArgumentTest, Call, CallsSpec, Either, Expected, StateSpec

__all__ = ["call_shown", "calls_shown", "expected_shown", "sequence_shown", "state_shown", "tell_test", "value_shown"]


def value_shown(value: Any) -> str:
    """A value as JSON, with blanks behind commas."""
    if isinstance(value, list):
        return f"[{', '.join(map(value_shown, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{value_shown(str(key))}: {value_shown(item)}" for key, item in value.items()) + "}"
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # a number of more than 64 bits, half a surrogate pair
        return repr(value)


def tell_test(test: ArgumentTest, sign: str) -> str:
    """A test of a value. sign: what `is` is written with."""
    key, values = test.key, [value_shown(value) for value in test.values]
    match test.test:
        case "is":
            return f"{key}{sign if sign == ':' else f' {sign}'} {values[0]}"
        case "one of" | "includes":
            return f"{key} {test.test} {', '.join(values)}"
        case "in":
            return f"{key} in {'..'.join(values)}"
        case "approx":
            return f"{key} approx {values[0]} within {values[1]}"
        case "~":
            return f"{key} ~ /{str(test.values[0]).replace('/', chr(92) + '/')}/{test.values[1]}"
        case "type":
            return f"{key} {test.values[0]}"
        case "any" | "absent":
            return f"{key} {test.test}"
    return f"{key} {test.test} {values[0]}"


def _argument(test: ArgumentTest) -> str:
    return tell_test(test, ":")


def call_shown(call: Call) -> str:
    arguments = f"({', '.join(map(_argument, call.arguments))})" if call.arguments else ""
    options = "".join(f" {name}" for name in ("exact", "succeeds", "confirmed") if getattr(call, name))
    return f"{call.name}{arguments}{options}"


def expected_shown(expected: Expected) -> str:
    match expected:
        case Call():
            return call_shown(expected)
        case Either(branches=branches):
            return "either " + " or ".join(f"{{ {sequence_shown(branch)} }}" for branch in branches)
        case AnyOrder(items=items):
            return f"in any order {{ {'; '.join(map(expected_shown, items))} }}"


def sequence_shown(sequence: tuple[Expected, ...]) -> str:
    return " then ".join(map(expected_shown, sequence))


def calls_shown(spec: CallsSpec) -> str:
    """All statements, in one line."""
    parts = [f"expect {'only ' if number in spec.only else ''}{sequence_shown(sequence)}"
             for number, sequence in enumerate(spec.sequences)]
    forbidden = [*spec.never, *map(call_shown, spec.never_calls)]
    return "; ".join([*parts, *([f"never {', '.join(forbidden)}"] if forbidden else [])])


def state_shown(spec: StateSpec) -> str:
    if spec.what == "value":
        return tell_test(spec.where[0], "=")
    where = f" where {' and '.join(tell_test(test, '=') for test in spec.where)}" if spec.where else ""
    if spec.bound == "exactly" and not spec.count and where:
        return f"{spec.path} lacks{where}"
    bound = "" if spec.bound == "exactly" else f"{spec.bound} "
    return f"{spec.path} has {bound}{spec.count}{where}"
