"""Gemini's generateContent: https://ai.google.dev/api/generate-content.

A chat is a POST to `/v1beta/models/MODEL:generateContent`. What a model said goes back part by part as it came, with
its thought signatures (https://ai.google.dev/gemini-api/docs/thought-signatures). Calls may come without an id: they
get one of ours, which is not sent back.

Tools' arguments are described in `parametersJsonSchema`, which takes the part of JSON Schema that
https://ai.google.dev/gemini-api/docs/structured-output lists: other keywords are left out (and `const` becomes an
`enum` of one), since one that is not known is refused. Whoever gets the call checks it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

from evalkit.execute.models.chat import Chat, ModelTurn, Reply, Request, Stop, ToolUse, Turn
from evalkit.execute.models.counts import count, mapping, with_own_cost
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.models.trouble import Trouble, kind_of, words_of
from evalkit.execute.outcome import Usage

__all__ = ["amend", "decode", "encode", "trouble", "usage_of_stream"]

_STOPS: dict[str, Stop] = {
    "STOP": "end", "MAX_TOKENS": "length", "SAFETY": "refusal", "RECITATION": "refusal", "BLOCKLIST": "refusal",
    "PROHIBITED_CONTENT": "refusal", "SPII": "refusal",
}
_KEYWORDS = frozenset({
    "$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items", "prefixItems",
    "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required",
    "propertyOrdering"})
_OURS = "evalkit-"


def encode(chat: Chat, endpoint: Endpoint) -> Request:
    """The chat as a request."""
    body: dict[str, Any] = {"contents": [_content(turn) for turn in chat.turns]}
    if chat.system:
        body["systemInstruction"] = {"parts": [{"text": chat.system}]}
    if chat.tools:
        body["tools"] = [{"functionDeclarations": [
            {"name": tool.name, "description": tool.description, "parametersJsonSchema": _schema(tool.schema)}
            for tool in chat.tools]}]
    if chat.force is not None:
        body["toolConfig"] = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [chat.force]}}
    settings = {"maxOutputTokens": chat.longest, "temperature": chat.temperature, "seed": chat.seed}
    if given := {name: value for name, value in settings.items() if value is not None}:
        body["generationConfig"] = given
    return Request(f"/v1beta/models/{endpoint.model(chat.model)}:generateContent", body)


def _content(turn: Turn) -> dict[str, Any]:
    if isinstance(turn, ModelTurn):
        if turn.raw is not None:
            return {"role": "model", "parts": turn.raw}
        uses = [{"functionCall": {**_id(call.id), "name": call.name,
                                  "args": {} if isinstance(call.arguments, str) else dict(call.arguments)}}
                for call in turn.calls]
        return {"role": "model", "parts": [*([{"text": turn.text}] if turn.text else []), *uses]}
    answers = [{"functionResponse": {**_id(output.id), "name": output.name,
                                     "response": {"error" if output.failed else "output": output.text}}}
               for output in turn.outputs]
    texts = [{"text": turn.text}] if turn.text or not answers else []
    return {"role": "user", "parts": [*answers, *texts]}


def _id(given: str) -> dict[str, str]:
    return {} if given.startswith(_OURS) else {"id": given}


def _schema(schema: object) -> Any:
    """A schema with what the provider knows of JSON Schema."""
    if isinstance(schema, list):
        return [_schema(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    found: dict[str, Any] = {}
    for name, value in schema.items():
        if name == "const":
            found["enum"] = [value]
        elif name in ("properties", "$defs"):
            found[name] = {key: _schema(inner) for key, inner in mapping(value).items()}
        elif name in ("enum", "required", "propertyOrdering"):
            found[name] = value
        elif name in _KEYWORDS:
            found[name] = _schema(value)
    return found


def amend(body: dict[str, Any], words: str) -> tuple[dict[str, Any], str] | None:
    """Nothing is known that could be mended."""
    return None


def decode(response: Mapping[str, Any], turn: int = 0) -> Reply:
    """A response as a reply; one whose prompt was blocked is a refusal. Raises ValueError where it is none.

    turn: the number of the turn, for ids of ours.
    """
    model, usage = str(response.get("modelVersion") or ""), _usage(response)
    candidates = response.get("candidates")
    if not isinstance(candidates, list) or not candidates:
        blocked = mapping(response.get("promptFeedback")).get("blockReason")
        if not blocked:
            raise ValueError(words_of(response) or "it has no candidate")
        return Reply("", (), "refusal", model, usage, response, detail=str(blocked))
    candidate = mapping(candidates[0])
    parts = mapping(candidate.get("content")).get("parts")
    found = [part for part in (parts if isinstance(parts, list) else []) if isinstance(part, Mapping)]
    text = "".join(part["text"] for part in found if isinstance(part.get("text"), str) and not part.get("thought"))
    calls = tuple(_call(mapping(part["functionCall"]), f"{_OURS}{turn}-{number}")
                  for number, part in enumerate(found) if "functionCall" in part)
    reason = str(candidate.get("finishReason"))
    stop = _STOPS.get(reason, "other")
    return Reply(text, calls, "tools" if calls and stop == "end" else stop, model, usage, response, detail=reason,
                 content=found)


def _call(call: Mapping[str, Any], ours: str) -> ToolUse:
    given = call.get("args", {})
    arguments = dict(given) if isinstance(given, Mapping) else orjson.dumps(given).decode()
    return ToolUse(str(call.get("id") or ours), str(call.get("name")), arguments)


def _usage(response: Mapping[str, Any]) -> Usage:
    """`promptTokenCount` has those of the cache in it; thoughts are counted apart, and cost as output does. What is
    nought is left out.
    """
    counts = mapping(response.get("usageMetadata"))
    prompt = count(counts, "promptTokenCount")
    if prompt is None:
        return with_own_cost(Usage(), response)

    def tokens(name: str) -> int:
        return count(counts, name) or 0

    read = tokens("cachedContentTokenCount")
    return with_own_cost(Usage(
        input_tokens=max(0, prompt - read) + tokens("toolUsePromptTokenCount"),
        output_tokens=tokens("candidatesTokenCount") + tokens("thoughtsTokenCount"), cache_read_tokens=read), response)


def usage_of_stream(event: Mapping[str, Any]) -> Usage | None:
    """What a chunk of a stream says of the usage so far; None where it says nothing."""
    usage = _usage(event)
    return None if usage == Usage() else usage


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [mapping(item) for item in value] if isinstance(value, list) else []


def trouble(status: int, body: object) -> Trouble:
    """An error answer, sorted: https://ai.google.dev/gemini-api/docs/troubleshooting.

    A refused key is a status 400 with a reason in its details; the pause that is asked for is in them too; a quota of a
    day is used up for longer than anybody waits.
    """
    words = words_of(body)
    error = mapping(mapping(body[0] if isinstance(body, list) and body else body).get("error"))
    details = _objects(error.get("details"))
    if any(detail.get("reason") in ("API_KEY_INVALID", "API_KEY_SERVICE_BLOCKED") for detail in details):
        return Trouble("key", words)
    quotas = [str(item.get("quotaId")) for detail in details for item in _objects(detail.get("violations"))]
    kind = kind_of(status, words)
    if kind == "busy" and any("PerDay" in quota for quota in quotas):
        return Trouble("account", words)
    waits = [match for detail in details if (match := re.fullmatch(r"([0-9.]{1,9})s", str(detail.get("retryDelay"))))]
    return Trouble(kind, words, float(waits[0][1]) if kind == "busy" and waits else None)
