"""Requests in three protocols, and players on loopback."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from attrs import frozen

from evalkit.gateway.play import Player, open_play
from evalkit.gateway.server import App, Server

PROTOCOLS = ("anthropic", "openai", "gemini")


def write_script(folder: Path, rules: str) -> Path:
    """A script with these rules."""
    path = folder / "script.yaml"
    path.write_text("script: 1\nrules:\n" + textwrap.indent(textwrap.dedent(rules), "  "))
    return path


@frozen
class Asker:
    """Asks a server in one protocol or another."""

    client: httpx.Client
    url: str

    def ask(self, text: str = "hello", *, protocol: str = "anthropic", stream: str = "", model: str = "m",
            system: str = "", tools: Sequence[str] = (), before: Sequence[tuple[str, str]] = ()) -> httpx.Response:
        """One request. before: earlier calls of the tool `Look` with what they returned. stream: sse, or array."""
        path, body = request(text, protocol=protocol, stream=stream, model=model, system=system, tools=tools,
                             before=before)
        return self.client.post(self.url + path, json=body)

    def say(self, text: str = "hello", **more: Any) -> str:
        """The text of the answer, "403" or the like where it is an error."""
        answer = self.ask(text, **more)
        return said(answer, more.get("protocol", "anthropic")) if answer.status_code == 200 else str(answer.status_code)


def request(text: str, *, protocol: str, stream: str, model: str, system: str, tools: Sequence[str],
            before: Sequence[tuple[str, str]]) -> tuple[str, dict[str, Any]]:
    """Path and body."""
    if protocol == "anthropic":
        turns: list[dict[str, Any]] = [{"role": "user", "content": text}]
        for number, (asked, result) in enumerate(before):
            turns += [{"role": "assistant", "content": [
                {"type": "tool_use", "id": f"t{number}", "name": "Look", "input": {"at": asked}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{number}", "content": result}]}]
        return "/v1/messages", {
            "model": model, "max_tokens": 9, "messages": turns, **({"system": system} if system else {}),
            **({"tools": [{"name": name, "input_schema": {"type": "object"}} for name in tools]} if tools else {}),
            **({"stream": True} if stream else {})}
    if protocol == "openai":
        turns = [*([{"role": "system", "content": system}] if system else []), {"role": "user", "content": text}]
        for number, (asked, result) in enumerate(before):
            call = {"id": f"t{number}", "type": "function",
                    "function": {"name": "Look", "arguments": json.dumps({"at": asked})}}
            turns += [{"role": "assistant", "content": None, "tool_calls": [call]},
                      {"role": "tool", "tool_call_id": f"t{number}", "content": result}]
        return "/v1/chat/completions", {
            "model": model, "messages": turns,
            **({"tools": [{"type": "function", "function": {"name": name}} for name in tools]} if tools else {}),
            **({"stream": True, "stream_options": {"include_usage": True}} if stream else {})}
    contents: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": text}]}]
    for asked, result in before:
        answer = {"name": "Look", "response": {"output": result}}
        contents += [{"role": "model", "parts": [{"functionCall": {"name": "Look", "args": {"at": asked}}}]},
                     {"role": "user", "parts": [{"functionResponse": answer}]}]
    action = {"": "generateContent", "sse": "streamGenerateContent?alt=sse", "array": "streamGenerateContent"}[stream]
    return f"/v1beta/models/{model}:{action}", {
        "contents": contents, **({"systemInstruction": {"parts": [{"text": system}]}} if system else {}),
        **({"tools": [{"functionDeclarations": [{"name": name} for name in tools]}]} if tools else {})}


def events(answer: httpx.Response) -> list[dict[str, Any]]:
    """The JSON of a stream's events."""
    assert answer.headers["content-type"].startswith("text/event-stream"), answer.text
    return [json.loads(line[6:]) for line in answer.text.splitlines()
            if line.startswith("data: ") and line != "data: [DONE]"]


def said(answer: httpx.Response, protocol: str) -> str:
    """The text of an answer, whole or streamed."""
    if answer.headers["content-type"].startswith("text/event-stream"):
        found = events(answer)
        if protocol == "anthropic":
            return "".join(event.get("delta", {}).get("text", "") for event in found)
        if protocol == "openai":
            return "".join(event["choices"][0]["delta"].get("content") or "" for event in found if event["choices"])
        return "".join(_gemini(event) for event in found)
    data = answer.json()
    if protocol == "anthropic":
        return "".join(block.get("text", "") for block in data["content"])
    if protocol == "openai":
        return data["choices"][0]["message"]["content"] or ""
    return "".join(_gemini(piece) for piece in (data if isinstance(data, list) else [data]))


def _gemini(piece: dict[str, Any]) -> str:
    return "".join(part.get("text", "") for part in piece["candidates"][0]["content"]["parts"])


def broken_off(asker: Asker, path: str, body: dict[str, Any]) -> bytes:
    """What came of an answer before it broke off; one that does not fails the test."""
    got = b""
    with asker.client.stream("POST", asker.url + path, json=body) as answer:
        pieces = answer.iter_raw()
        while True:
            try:
                got += next(pieces)
            except httpx.RemoteProtocolError:
                return got
            except StopIteration:
                raise AssertionError(f"the answer is complete: {got!r}") from None


@contextmanager
def serving(app: App) -> Iterator[Asker]:
    """A server for an app; whatever the app raises fails the test."""
    raised: list[BaseException] = []
    with Server(app, on_error=raised.append) as server, httpx.Client(timeout=20, trust_env=False) as client:
        yield Asker(client, server.url)
    assert [] == raised


@contextmanager
def playing(path: Path, *, exact: bool = False) -> Iterator[tuple[Asker, Player]]:
    player = open_play(path, exact=exact)
    with serving(player) as asker:
        yield asker, player
