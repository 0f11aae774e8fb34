"""A provider on loopback whose every step a test holds in its hand, and a live gateway in front of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from attrs import define, field

from evalkit.analysis.model import Limits
from evalkit.execute.models.prices import Price, Prices
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.retry import RetryPolicy
from evalkit.gateway.connection import Received, Responder
from evalkit.gateway.live import LiveGateway, LiveLease
from evalkit.gateway.server import Server

KEY = "sk-a-real-key-0123456789"
PRICES = Prices({"m": Price(1_000.0, 2_000.0, 100.0, 0.0)})
"""A dollar for a thousand tokens in, two for a thousand out."""
AT_ONCE = RetryPolicy(retries=2, window=0.0, patience=5.0)
"""Tries again without a pause."""
SSE = {"Content-Type": "text/event-stream; charset=utf-8"}


def start(tokens: int = 100, model: str = "m") -> bytes:
    usage = {"input_tokens": tokens, "output_tokens": 1, "cache_read_input_tokens": 10}
    return sse({"type": "message_start", "message": {"id": "msg_1", "model": model, "content": [], "usage": usage}})


def text(said: str) -> bytes:
    return sse({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": said}})


def end(tokens: int = 20) -> bytes:
    return sse({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": tokens}}) + \
        sse({"type": "message_stop"})


def sse(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def message(tokens: int = 100, out: int = 20, said: str = "hi") -> bytes:
    return json.dumps({"type": "message", "id": "msg_1", "model": "m", "content": [{"type": "text", "text": said}],
                       "stop_reason": "end_turn", "usage": {"input_tokens": tokens, "output_tokens": out}}).encode()


@define
class Upstream:
    """An app: each request is noted and given to `answer`."""

    answer: Callable[[Received, Responder], None]
    seen: list[Received] = field(factory=list)
    _lock: Any = field(factory=threading.Lock)

    def handle(self, request: Received, out: Responder) -> None:
        with self._lock:
            self.seen.append(request)
        self.answer(request, out)


@define
class Front:
    """A live gateway, one lease of it, and what is behind it."""

    upstream: Upstream
    server: Server
    gateway: LiveGateway
    lease: LiveLease
    endpoint: Endpoint
    client: httpx.Client
    errors: list[BaseException]

    def ask(self, path: str = "/v1/messages", **body: Any) -> httpx.Response:
        return self.client.post(self.gateway.url + path, headers=self.endpoint.headers(),
                                json={"model": "m", "messages": [], **body})

    def stream(self, **body: Any) -> Any:
        return self.client.stream("POST", f"{self.gateway.url}/v1/messages", headers=self.endpoint.headers(),
                                  json={"model": "m", "messages": [], "stream": True, **body})


@contextmanager
def front(answer: Callable[[Received, Responder], None], *, policy: RetryPolicy = AT_ONCE, limits: Limits | None = None,
          real: Callable[[str], Endpoint] = lambda url: Endpoint(url, "AI_GATEWAY_API_KEY", KEY),
          spent: Callable[[float], None] = lambda _: None) -> Iterator[Front]:
    """A provider that answers so, and the gateway in front of it. real: the provider's endpoint at an address."""
    upstream, errors = Upstream(answer), list[BaseException]()
    with (Server(upstream, on_error=errors.append) as server,
          LiveGateway(PRICES, policy=policy, on_error=errors.append) as gateway,
          httpx.Client(timeout=20, trust_env=False) as client):
        endpoint = real(server.url)
        with gateway.lease("a trial", [endpoint], model="m", limits=limits, spent=spent) as lease:
            yield Front(upstream, server, gateway, lease, lease.endpoint(endpoint), client, errors)
    assert [] == errors
