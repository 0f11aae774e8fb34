"""Takes texts out of an answer's body, also where a stream has cut them into pieces.

A folder or a key that a model says comes in several events, a few characters each. The texts that belong together are
joined (of one block: the same path in the event's JSON, and the same `index`), what is looked for is replaced there,
and the new text stands in the piece where the old one began: every event stays, and keeps its other characters.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from attrs import define

from evalkit.gateway.volatile import Roots

__all__ = ["replace_in_body"]

_END_OF_EVENT = re.compile(r"(?<=\n\n)|(?<=\r\n\r\n)")
_DATA = re.compile(r"^data:[ ]?(\{.*\})[ ]*\r?$", re.MULTILINE)
_ACCOUNT = (
    (re.compile(r"(\"(?:request_id|organization|organization_id|account_uuid|account_id|project_id)\"\s*:\s*)\"[^\"]*\""),
     r'\1"removed"'),
    (re.compile(r"\b(req|org|proj|acct)[_-][A-Za-z0-9]{10,}\b"), r"\1_removed"),
)
"""Ids of accounts and requests, as errors tell them. In replies such a word is the model's own."""
_Group: TypeAlias = tuple[object, ...]


@define
class _Slot:
    """A text of an event: where it stands."""

    holder: Any
    name: Any
    event: int


def replace_in_body(chunks: Sequence[bytes], roots: Roots, clean: Callable[[str], str], *,
                    events: bool, error: bool = False) -> list[str] | None:
    """The chunks as texts, with names for folders and cleaned; an error also without ids of accounts.

    The chunks' bounds stay where nothing was replaced; else there is a chunk for each event of a stream, or one. None:
    the body is no text.
    """
    try:
        whole = b"".join(chunks).decode()
    except UnicodeDecodeError:
        return None
    parts = _in_events(_END_OF_EVENT.split(whole), roots, clean) if events else [whole]
    parts = [clean(roots.hide(part)) for part in parts]
    parts = [_without_accounts(part) if error or (events and _is_error(part)) else part for part in parts]
    if "".join(parts) == whole:
        return _decoded(chunks)
    return [part for part in parts if part]


def _decoded(chunks: Iterable[bytes]) -> list[str]:
    """A character that is cut by a bound goes into the later chunk."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    return [text for chunk in chunks if (text := decoder.decode(chunk))]


def _is_error(event: str) -> bool:
    value = _value(event)
    return isinstance(value, dict) and "error" in value


def _without_accounts(text: str) -> str:
    for pattern, by in _ACCOUNT:
        text = pattern.sub(by, text)
    return text


def _in_events(events: list[str], roots: Roots, clean: Callable[[str], str]) -> list[str]:
    parsed: list[Any] = []
    groups: dict[_Group, list[_Slot]] = {}
    for number, event in enumerate(events):
        value = _value(event)
        parsed.append(value)
        for group, holder, name in _texts(value, ()):
            groups.setdefault(group, []).append(_Slot(holder, name, number))
    touched = set()
    for slots in groups.values():
        old = [str(slot.holder[slot.name]) for slot in slots]
        new = _cleaned(_repieced(old, roots), clean)
        for slot, before, after in zip(slots, old, new, strict=True):
            if before != after:
                slot.holder[slot.name] = after
                touched.add(slot.event)
    return [_with_data(event, parsed[number]) if number in touched else event for number, event in enumerate(events)]


def _with_data(event: str, value: Any) -> str:
    data = "data: " + json.dumps(value, ensure_ascii=False)
    return _DATA.sub(lambda _: data, event)


def _value(event: str) -> Any:
    found = _DATA.findall(event)
    try:
        return json.loads(found[0]) if len(found) == 1 else None
    except (ValueError, RecursionError):
        return None


def _texts(value: Any, group: _Group) -> Iterator[tuple[_Group, Any, Any]]:
    """Each text within a value: what it belongs to, the dict or list that holds it, and its name there."""
    if isinstance(value, dict):
        group = (*group, value.get("index"))
        items: Iterable[tuple[Any, Any]] = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        return
    for name, each in items:
        if isinstance(each, str):
            yield (*group, name), value, name
        else:
            yield from _texts(each, (*group, name))


def _repieced(pieces: list[str], roots: Roots) -> list[str]:
    """The pieces with names for folders; a name stands where its folder began."""
    joined = "".join(pieces)
    spans = roots.found(joined)
    if not spans:
        return pieces
    result, at = [], 0
    for piece in pieces:
        end, start, kept = at + len(piece), at, []
        for first, last, name in spans:
            if last <= start or first >= end:
                continue
            if first >= at:
                kept += [joined[start:first], name]
            start = min(last, end)
        result.append("".join([*kept, joined[start:end]]))
        at = end
    return result


def _cleaned(pieces: list[str], clean: Callable[[str], str]) -> list[str]:
    """The pieces cleaned; where that takes the whole text, it stands in the first of them."""
    whole = clean("".join(pieces))
    parts = [clean(piece) for piece in pieces]
    return parts if "".join(parts) == whole else [whole, *[""] * (len(pieces) - 1)]
