"""Texts of any origin as a report holds them: without keys, cut where they are long, and as JSON that no HTML ends.

A text is cut before it is cleaned, and again after: what is shown ends well before the first cut, so no part of a key
that the cut halved is in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from evalkit.execute.secrets import Redactor
from evalkit.values import Value

__all__ = ["HEAD", "TAIL", "Held", "cleaned", "embedded", "held"]

HEAD, TAIL = 20_000, 6_000
"""Characters of a long text that are shown of its beginning and of its end."""
_SPARE = 4_000
"""Characters beside them that are held until the text is cleaned: longer than any key."""


class Held(Value):
    """A text that waits to be cleaned: all of it, or its two ends.

    left_out: characters between what is shown; where: what has them, as that is said in their place.
    """

    head: str
    tail: str = ""
    left_out: int = 0
    where: str = ""

    @property
    def size(self) -> int:
        """Characters that will be shown, about."""
        return min(len(self.head), HEAD) + min(len(self.tail), TAIL) if self.left_out else len(self.head)


def held(text: str, where: str) -> Held:
    """A text, or its two ends. where: as of `Held`."""
    if len(text) <= HEAD + TAIL + 2 * _SPARE:
        return Held(text)
    return Held(text[: HEAD + _SPARE], text[-TAIL - _SPARE :], len(text) - HEAD - TAIL, where)


def cleaned(data: Any, redactor: Redactor) -> Any:
    """Plain data with every text cleaned, and a `Held` as what is shown of it. Names of fields are ours, and stay.

    All texts are cleaned as one: the redactor looks for each kind of key in turn, however short a text is. What parts
    them is in none of them, and no part of a key; if it is not as it was after all, each is cleaned by itself. Data
    without a key, and without a `Held`, are returned as they are.
    """
    texts: list[str] = []
    holds = _gather(data, texts)
    joined = _BETWEEN.join(texts)
    clean_text = redactor.text(joined)
    if clean_text == joined and not holds:
        return data
    parts = clean_text.split(_BETWEEN) if joined.count(_BETWEEN) == len(texts) - 1 else []
    clean = iter(parts if len(parts) == len(texts) else [redactor.text(text) for text in texts])
    return _rebuilt(data, clean)


_BETWEEN = "\n\x1e\x1f\x1e\n"


def _gather(data: Any, texts: list[str]) -> bool:
    """Add the texts in some data to a list; whether one of them is a `Held`."""
    if isinstance(data, str):
        texts.append(data)
        return False
    if isinstance(data, Held):
        texts += [data.head, data.tail] if data.left_out else [data.head]
        return True
    holds = False
    if isinstance(data, Mapping):
        for value in data.values():
            holds |= _gather(value, texts)
    elif isinstance(data, list | tuple):
        for value in data:
            holds |= _gather(value, texts)
    return holds


def _rebuilt(data: Any, clean: Iterator[str]) -> Any:
    if isinstance(data, str):
        return next(clean)
    if isinstance(data, Held):
        head = next(clean)
        if not data.left_out:
            return head
        tail = next(clean)
        return f"{head[:HEAD]}\n… {data.left_out:,} characters are left out: {data.where} …\n{tail[-TAIL:]}"
    if isinstance(data, Mapping):
        return {name: _rebuilt(value, clean) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_rebuilt(value, clean) for value in data]
    return data


def embedded(data: Any) -> str:
    """Data as JSON that can stand in a script element and in a script: no `<`, and no line ends of Unicode's own."""
    text = orjson.dumps(data).decode()
    for char, written in _ESCAPES:
        text = text.replace(char, written)
    return text


_ESCAPES = tuple((char, f"\\u{ord(char):04x}") for char in "<>&\u2028\u2029")

