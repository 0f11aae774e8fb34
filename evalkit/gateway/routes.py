"""Which requests the gateway lets through, whose they are, and what of them goes on to the provider.

Let through are the paths of three protocols that an agent's program needs: asking, counting, and the list of models.
The token that a request holds is the gateway's own, wherever a protocol carries it; it never goes on, nor does any
header that belongs to one connection (RFC 9110, 7.6.1) or that tells of the person.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Literal
from urllib.parse import parse_qsl, urlencode

from attrs import frozen

from evalkit.execute.models.chat import Protocol
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.models.trouble import NO_ANSWER
from evalkit.gateway.connection import Received, error_body

__all__ = ["Route", "passed_back", "passed_headers", "refusal", "route_of", "token_of", "upstream_url"]

_PATHS: tuple[tuple[Protocol, Literal["ask", "count", "list"], str, re.Pattern[str]], ...] = (
    ("anthropic", "ask", "POST", re.compile(r"/v1/messages")),
    ("anthropic", "count", "POST", re.compile(r"/v1/messages/count_tokens")),
    ("openai", "ask", "POST", re.compile(r"/v1/chat/completions")),
    ("gemini", "ask", "POST", re.compile(r"/v1(beta)?/models/[\w.-]+:(generateContent|streamGenerateContent)")),
    ("gemini", "count", "POST", re.compile(r"/v1(beta)?/models/[\w.-]+:countTokens")),
    ("gemini", "list", "GET", re.compile(r"/v1beta/models(/[\w.-]+)?")),
    ("openai", "list", "GET", re.compile(r"/v1/models(/[\w./:-]+)?")),
)
_NOT_ON = frozenset({
    "authorization", "proxy-authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie",
    "host", "content-length", "accept-encoding", "expect", "connection", "keep-alive", "proxy-connection", "te",
    "trailer", "transfer-encoding", "upgrade", "forwarded", "x-forwarded-for", "x-real-ip", "via", "origin", "referer",
})
_BACK = ("content-type", "request-id", "x-request-id", NO_ANSWER)
"""Headers of an answer that go back: others tell of the account, or of one connection."""


@frozen
class Route:
    """A request that is let through. what: it asks for a reply, counts tokens, or lists models."""

    protocol: Protocol
    what: Literal["ask", "count", "list"]


def route_of(request: Received) -> Route | None:
    """The route of a request; None for one that is not let through. Lists of models are asked for in two protocols at
    one path: who sends Anthropic's header speaks that.
    """
    for protocol, what, method, path in _PATHS:
        if request.method == method and path.fullmatch(request.path) and ".." not in request.path:
            is_anthropic = protocol == "openai" and what == "list" and "anthropic-version" in request.headers
            return Route("anthropic" if is_anthropic else protocol, what)
    return None


def token_of(request: Received) -> str:
    """The token that a request holds, "" where it holds none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token:
        return token.strip()
    for name in ("x-api-key", "x-goog-api-key"):
        if found := request.headers.get(name, ""):
            return found.strip()
    return next((value for name, value in parse_qsl(request.query) if name == "key"), "")


def upstream_url(endpoint: Endpoint, request: Received) -> str:
    """The address of a request at its provider. OpenAI's addresses have the version in them."""
    path = request.path.removeprefix("/v1") if endpoint.protocol == "openai" else request.path
    pairs = [(name, value) for name, value in parse_qsl(request.query, keep_blank_values=True) if name != "key"]
    return endpoint.url + path + (f"?{urlencode(pairs)}" if pairs else "")


def passed_headers(request: Received, endpoint: Endpoint) -> dict[str, str]:
    """The headers of a request as they go on, with the provider's key. A reply is to come as it is, not packed."""
    named = {name.strip().lower() for name in request.headers.get("connection", "").split(",")}
    passed = {name: value for name, value in request.headers.items() if name not in _NOT_ON and name not in named}
    return {**passed, **endpoint.headers(), "accept-encoding": "identity", "connection": "close"}


def passed_back(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of an answer as they go back."""
    return {name: headers[name] for name in _BACK if name in headers}


_KINDS = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
          429: "rate_limit_error"}
_GEMINI = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
           429: "RESOURCE_EXHAUSTED"}


def refusal(protocol: Protocol, status: int, message: str) -> bytes:
    """An error of the gateway's own, in the protocol's shape."""
    if protocol == "gemini":
        error = {"code": status, "message": message, "status": _GEMINI.get(status, "UNAVAILABLE")}
        return json.dumps({"error": error}).encode()
    kind = _KINDS.get(status, "api_error")
    if protocol == "openai":
        return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": None}}).encode()
    return error_body(kind, message)
