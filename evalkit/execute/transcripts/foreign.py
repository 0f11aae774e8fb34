"""JSON that anybody may have written: read with what Python takes and the fast reader does not, and walked through.

The fast reader, orjson, refuses half a surrogate pair, and a number that no float can hold. Python's own takes these,
but raises a plain ValueError for an integer of more than 4,300 digits, gives NaN and infinities, which nothing of ours
can write, and recurses. Here a number that cannot be kept is None, as if it were not told; a nesting that is too deep
is a ValueError like any other damage.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

__all__ = ["LARGEST_COUNT", "decode", "decode_at", "texts_within"]

LARGEST_COUNT = 2**53
"""No count of tokens or turns is larger: sums of many stay writable."""
_DIGITS = 19
"""Characters of an integer that surely has 64 bits or fewer."""


def _float(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def _int(text: str) -> int | float | None:
    return int(text) if len(text) <= _DIGITS else _float(text)


_DECODER = json.JSONDecoder(parse_int=_int, parse_float=_float, parse_constant=lambda name: None)


def decode_at(text: str, at: int = 0) -> tuple[Any, int]:
    """The value that begins at a place of a text, and its end. Raises json.JSONDecodeError, which says where.

    Integers of more than 19 characters are floats, as the fast reader has those of more than 64 bits.
    """
    try:
        return _DECODER.raw_decode(text, at)
    except RecursionError:
        raise json.JSONDecodeError("it is nested too deeply", text, at) from None


def decode(data: bytes) -> Any:
    """The value that some bytes are. Raises ValueError."""
    text = data.decode("utf-8", "surrogatepass").strip(" \t\r\n")
    value, end = decode_at(text)
    if end != len(text):
        raise json.JSONDecodeError("there is more", text, end)
    return value


def texts_within(value: object) -> Iterator[str]:
    """All texts within JSON data, in order, however deep it is."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            waiting += reversed(item.values())
        elif isinstance(item, list):
            waiting += reversed(item)
