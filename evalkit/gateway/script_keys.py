"""The keys of a script file: one table for the reader, the JSON Schema and the docs.

A kind says how a value is read (script_file.py) and what JSON Schema says of it.
"""

from __future__ import annotations

from typing import Any, get_args

from attrs import frozen

from evalkit.gateway.asked import Protocol

__all__ = ["CALL", "REPLY", "RULE", "SCRIPT", "USAGE", "WHEN", "Key", "script_schema"]


@frozen
class Key:
    """kind: a name in `_KINDS`, or a part of this file's that is told by `#/$defs/NAME`."""

    kind: str
    about: str


_TEXT: dict[str, Any] = {"type": ["string", "number", "boolean"]}
_KINDS: dict[str, dict[str, Any]] = {
    "text": _TEXT,
    "patterns": {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]},
    "names": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]},
    "protocols": {"anyOf": [{"enum": list(get_args(Protocol))},
                            {"type": "array", "items": {"enum": list(get_args(Protocol))}, "minItems": 1}]},
    "count": {"type": "integer", "minimum": 1},
    "tokens": {"type": "integer", "minimum": 0},
    "events": {"type": "integer", "minimum": 0},
    "status": {"type": "integer", "minimum": 300, "maximum": 599},
    "speed": {"type": "number", "exclusiveMinimum": 0},
    "seconds": {"type": ["number", "string"], "pattern": r"^\d+(\.\d+)?(ms|s|m)$", "minimum": 0},
    "flag": {"type": "boolean"},
    "yes": {"const": True},
    "version": {"const": 1},
    "data": {"type": "object"},
    "stop": {"enum": ["end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "pause_turn"]},
}
SCRIPT = {
    "script": Key("version", "the version of this language: 1"),
    "about": Key("text", "what the script is for"),
    "rules": Key("list of rule", "tried in this order; the first that fits answers"),
}
RULE = {
    "name": Key("text", "what it is called in messages"),
    "when": Key("when", "what a request must hold; without it every request fits"),
    "reply": Key("reply", "the answer; a text alone is short for `text`"),
    "then": Key("list of reply", "the answers to the next requests that fit; the last is repeated"),
    "times": Key("count", "how many requests the rule answers at most; then it is as if it were not there"),
}
WHEN = {
    "protocol": Key("protocols", "anthropic, openai or gemini"),
    "model": Key("names", "the model's name, with `*` and `?`"),
    "user": Key("patterns", "in the text of the user's last turn"),
    "system": Key("patterns", "in the system text"),
    "any": Key("patterns", "in any turn, or in what any tool returned"),
    "result": Key("patterns", "in what the last tool calls returned"),
    "tools": Key("names", "tools that are offered, all of them"),
    "turn": Key("count", "the n-th request of its conversation: one more than the model's turns before"),
    "nth": Key("count", "the n-th of all requests that fit the rest of this rule"),
    "side": Key("flag", "whether no tools are offered, as where an agent wants a title"),
    "stream": Key("flag", "whether a stream is asked for"),
    "not": Key("when", "what the request must not hold"),
}
REPLY = {
    "text": Key("text", "what the model says"),
    "calls": Key("list of call", "tools that it calls"),
    "stop": Key("stop", "why it stops; else tool_use with calls, end_turn without"),
    "usage": Key("usage", "token counts"),
    "delay": Key("seconds", "before the first byte: seconds, or 500ms, 2s, 1m"),
    "chunk": Key("count", "characters in a piece of a streamed text (16)"),
    "speed": Key("speed", "bytes a second; else all at once"),
    "content_type": Key("text", "a wrong content type"),
    "cut": Key("events", "the connection breaks after so many events (without a stream: in mid-body)"),
    "status": Key("status", "an error with this status, instead of a reply"),
    "kind": Key("text", "the error's type; else the one that belongs to the status"),
    "message": Key("text", "the error's message"),
    "retry_after": Key("seconds", "the error's Retry-After header"),
    "garbage": Key("text", "this body, which is no answer of the protocol"),
    "hang": Key("seconds", "no answer for so long, then the connection ends"),
    "close": Key("yes", "the connection ends at once"),
}
CALL = {
    "name": Key("text", "the tool's name"),
    "input": Key("data", "its arguments"),
}
USAGE = {
    "input": Key("tokens", "tokens of the prompt that came from no cache (100)"),
    "output": Key("tokens", "tokens of the answer (20)"),
    "cache_read": Key("tokens", "tokens of the prompt that were read from a cache"),
    "cache_write": Key("tokens", "tokens of the prompt that were written into one"),
}
_PARTS = {"rule": (RULE, ("reply",)), "when": (WHEN, ()), "reply": (REPLY, ()), "call": (CALL, ("name",)),
          "usage": (USAGE, ())}


def script_schema() -> dict[str, Any]:
    """The JSON Schema of a script file, for editors. Placeholders, and which keys of a reply go together, are checked
    when a script is read.
    """
    shared = {name: _object(keys, required) for name, (keys, required) in _PARTS.items()}
    shared["reply"] = {"anyOf": [{"type": "string"}, {**shared["reply"], "minProperties": 1}]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A scripted model",
            **_object(SCRIPT, ("script", "rules")), "$defs": shared}


def _object(keys: dict[str, Key], required: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {**_of(key.kind), "description": key.about}
                                             for name, key in keys.items()},
            "required": list(required), "additionalProperties": False}


def _of(kind: str) -> dict[str, Any]:
    if kind.startswith("list of "):
        return {"type": "array", "items": _of(kind.removeprefix("list of ")), "minItems": 1}
    return {"$ref": f"#/$defs/{kind}"} if kind in _PARTS else _KINDS[kind]
