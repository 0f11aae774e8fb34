"""Where two requests part: what a cassette shows of the nearest one that it holds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from evalkit.gateway.normal import Normal
from evalkit.gateway.script import JsonObject

__all__ = ["differences", "nearest_request"]

_AROUND, _SHOWN = 30, 90
"""Characters before a difference, and from there on."""


def nearest_request(asked: Normal, known: Sequence[Normal]) -> Normal | None:
    """The one of which most is equal: head, system text and tools, then turns from the first on."""
    return max(known, key=lambda each: _likeness(asked, each), default=None)


def _likeness(asked: Normal, other: Normal) -> tuple[Any, ...]:
    equal = 0
    for one, two in zip(asked.turns, other.turns, strict=False):
        if one != two:
            break
        equal += 1
    head, others = asked.compared(), other.compared()
    same = [name for name in head if head[name] == others.get(name)]
    last = 0.0
    if equal < min(len(asked.turns), len(other.turns)):
        last = SequenceMatcher(None, _short(asked.turns[equal]), _short(other.turns[equal])).quick_ratio()
    return ("protocol" in same and "action" in same, equal, len(same), asked.tools == other.tools,
            asked.system == other.system, last, -abs(len(asked.turns) - len(other.turns)))


def _short(turn: JsonObject) -> str:
    return json.dumps(turn)[:2000]


def differences(asked: Normal, recorded: Normal) -> list[str]:
    """What differs, in lines: what is recorded, then what was asked."""
    head, others = asked.compared(), recorded.compared()
    lines = [f"{name}: recorded {_json(recorded.head.get(name))}, asked {_json(asked.head.get(name))}"
             for name in sorted({*head, *others}) if name != "settings" and head.get(name) != others.get(name)]
    one, two = asked.head.get("settings") or {}, recorded.head.get("settings") or {}
    lines += [f"{name}: recorded {_json(two.get(name))}, asked {_json(one.get(name))}"
              for name in sorted({*one, *two}) if one.get(name) != two.get(name)]
    if asked.system != recorded.system:
        lines.append("system text: " + _texts(recorded.system, asked.system))
    lines += _tools(asked.tools, recorded.tools)
    lines += next(_turns(asked.turns, recorded.turns), [])
    return lines


def _tools(asked: list[Any], recorded: list[Any]) -> list[str]:
    if asked == recorded:
        return []
    one, two = _by_name(asked), _by_name(recorded)
    lines = [f"tools: {what} {', '.join(names)}" for what, names in (
        ("recorded and not offered now:", sorted(two.keys() - one.keys())),
        ("offered now and not recorded:", sorted(one.keys() - two.keys()))) if names]
    lines += [f"tool {name}: " + _texts(two[name], one[name]) for name in one if one[name] != two.get(name, one[name])]
    return lines[:4] or ["tools: another order"]


def _by_name(tools: Iterable[Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, tool in enumerate(tools):
        inner = tool.get("function") if isinstance(tool, dict) and isinstance(tool.get("function"), dict) else tool
        name = inner.get("name") if isinstance(inner, dict) else None
        found[str(name or f"number {number + 1}")] = _json(tool, limit=None)
    return found


def _turns(asked: list[JsonObject], recorded: list[JsonObject]) -> Iterator[list[str]]:
    """The first turn that differs."""
    for number, (one, two) in enumerate(zip_longest(asked, recorded), 1):
        if one == two:
            continue
        if one is None or two is None:
            few, many = sorted((len(asked), len(recorded)))
            yield [f"turns: recorded {len(recorded)}, asked {len(asked)}; the first {few} of {many} are equal"]
        elif one["role"] != two["role"]:
            yield [f"turn {number}: recorded one of the {two['role']}, asked one of the {one['role']}"]
        else:
            yield [f"turn {number} ({one['role']}): {line}" for line in _parts(one["parts"], two["parts"])]


def _parts(asked: list[JsonObject], recorded: list[JsonObject]) -> list[str]:
    for one, two in zip_longest(asked, recorded):
        if one == two:
            continue
        if one is None or two is None:
            return [f"recorded {_json(two)}, asked {_json(one)}"]
        for name in ("text", "result"):
            if name in one and name in two and one[name] != two[name]:
                return [f"{name}: {_texts(two[name], one[name])}"]
        return [_texts(_json(two, limit=None), _json(one, limit=None))]
    return []


def _texts(recorded: str, asked: str) -> str:
    """Both texts around the first character that differs."""
    at = next((number for number, (one, two) in enumerate(zip(asked, recorded, strict=False)) if one != two),
              min(len(asked), len(recorded)))
    start = max(0, at - _AROUND)
    before = "…" if start else ""
    return (f"recorded {before + recorded[start : at + _SHOWN]!r}, "
            f"asked {before + asked[start : at + _SHOWN]!r}")


def _json(value: Any, *, limit: int | None = 200) -> str:
    if value is None:
        return "nothing"
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if limit is None or len(text) <= limit else text[:limit] + "…"
