"""The live gateway: all traffic with models goes through it, and the keys of providers stay with it.

An agent run, or a judge's call, gets a lease: a random token that is good in this process alone and until the lease is
closed. It asks on loopback, or on a Unix socket, with that token; the gateway finds the lease by it, puts the key of
the provider in its place and passes the request on. Who has no lease gets a 401, and of a provider's paths only those
are let through by which a model is asked. What passes is counted in the lease's ledger (ledger.py); nothing of it is
kept or told.

A request after a limit was passed is refused with a 403 that says which: agents' programs take that for final. The
reply that passed it was paid for, and went through.
"""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, field

from evalkit.analysis.model import Limits
from evalkit.execute.leases import Traffic
from evalkit.execute.models.chat import Protocol
from evalkit.execute.models.prices import Prices
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.models.proxies import client_for
from evalkit.execute.retry import RetryPolicy
from evalkit.gateway.connection import Received, Responder
from evalkit.gateway.exchange import FINAL, POLICY, Exchange
from evalkit.gateway.ledger import Ledger
from evalkit.gateway.routes import Route, refusal, route_of, token_of
from evalkit.gateway.server import Address, Server
from evalkit.values import evolve

if TYPE_CHECKING:
    import httpx

__all__ = ["LiveGateway", "LiveLease"]

_TOKEN = "evalkit-"
_CONNECT, _SILENT = 15.0, 600.0
"""Seconds until there is a connection, and without a byte."""
_LOOK = 0.25
"""Seconds between two looks whether clients are gone."""


@define(eq=False)
class LiveLease:
    """See `evalkit.execute.leases.Lease`. only: the models that may be asked, by their names at the provider; all where
    it is empty.
    """

    label: str
    token: str = field(repr=False)
    upstreams: dict[Protocol, Endpoint]
    ledger: Ledger = field(repr=False)
    url: str
    _forget: Callable[[str], None] = field(repr=False)
    only: frozenset[str] = frozenset()

    def endpoint(self, upstream: Endpoint) -> Endpoint:
        url = f"{self.url}/v1" if upstream.protocol == "openai" else self.url
        return evolve(upstream, url=url, key=self.token, upstream=upstream.shown)

    @property
    def traffic(self) -> Traffic:
        return self.ledger.traffic

    def close(self) -> Traffic:
        self._forget(self.token)
        return self.traffic


class LiveGateway:
    """Serves between `start` and `stop`, on a free port of 127.0.0.1 or on a Unix socket; also a context manager.

    prices: what models cost. policy: how a provider that failed is asked again. on_error: is told of bugs of ours.
    instead: the address on loopback of what stands in every provider's place: a player, or a recorder.
    """

    def __init__(self, prices: Prices, *, port: int = 0, socket_path: Path | None = None, instead: str = "",
                 policy: RetryPolicy = POLICY, on_error: Callable[[BaseException], None] = lambda _: None) -> None:
        self.prices, self.policy, self._instead = prices, policy, instead
        self._leases: dict[str, LiveLease] = {}
        self._exchanges: set[Exchange] = set()
        self._lock = threading.Lock()
        self._server = Server(self, port=port, socket_path=socket_path, on_error=on_error)
        self._watching = threading.Thread(target=self._watch, name="gateway watch", daemon=True)
        self._clients: dict[str, httpx.Client] = {}

    @property
    def address(self) -> Address:
        return self._server.address

    @property
    def url(self) -> str:
        return self._server.url

    def start(self) -> None:
        self._server.start()
        self._watching.start()

    def stop(self) -> None:
        """End every request; takes seconds at most."""
        self._server.stop()
        with self._lock:
            for client in self._clients.values():
                client.close()

    def __enter__(self) -> LiveGateway:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def serve(self, listener: socket.socket) -> Server:
        """See `evalkit.execute.leases.Gateway`."""
        return Server(self, listener=listener, on_error=self._server.on_error)

    # ---- leases ----
    @contextmanager
    def lease(self, label: str, endpoints: Sequence[Endpoint], *, model: str, only: bool = False,
              limits: Limits | None = None, spent: Callable[[float], None] = lambda _: None,
              say: Callable[[str], None] = lambda _: None) -> Iterator[LiveLease]:
        """See `evalkit.execute.leases.Gateway`."""
        lease = self.open(label, endpoints, model=model, only=only, limits=limits, spent=spent, say=say)
        try:
            yield lease
        finally:
            lease.close()

    def open(self, label: str, endpoints: Sequence[Endpoint], *, model: str, only: bool = False,
             limits: Limits | None = None, spent: Callable[[float], None] = lambda _: None,
             say: Callable[[str], None] = lambda _: None,
             token: str = "") -> LiveLease:
        """A lease that lasts until it is closed. token: a known one instead of a random one. Raises UserError where a
        proxy leads to an endpoint that cannot be used.
        """
        for each in endpoints:
            self._client(self._reached(each))
        found = LiveLease(label, token or _TOKEN + secrets.token_urlsafe(32),
                          {each.protocol: self._reached(each) for each in endpoints},
                          Ledger(self.prices, model, limits, spent, lambda text: say(f"{label}: {text}")),
                          self.url, self._close,
                          frozenset(each.model(model) for each in endpoints) if only else frozenset())
        with self._lock:
            self._leases[found.token] = found
        return found

    def _reached(self, upstream: Endpoint) -> Endpoint:
        if not self._instead:
            return upstream
        url = self._instead + ("/v1" if upstream.protocol == "openai" else "")
        return evolve(upstream, url=url, upstream=upstream.shown)

    def _client(self, upstream: Endpoint) -> httpx.Client:
        """The client for an endpoint's address."""
        import httpx

        with self._lock:
            if upstream.url not in self._clients:
                self._clients[upstream.url] = client_for(
                    upstream.url, timeout=httpx.Timeout(_SILENT, connect=_CONNECT, pool=None),
                    limits=httpx.Limits(max_connections=None, max_keepalive_connections=0))
            return self._clients[upstream.url]

    def _close(self, token: str) -> None:
        with self._lock:
            self._leases.pop(token, None)

    # ---- requests ----
    def handle(self, request: Received, out: Responder) -> None:
        """Answer one request (see server.App)."""
        if request.path == "/" and request.method in ("HEAD", "GET"):  # Claude Code asks whether somebody is there
            out.send(200, b'{"ok": true}')
            return
        route = route_of(request)
        lease = self._leases.get(token_of(request))
        if lease is None:
            self._refuse(out, route, 401, "evalkit's gateway does not know this token: it is good for one run alone")
        elif route is None:
            self._refuse(out, None, 404, f"evalkit's gateway does not pass {request.method} {request.path[:200]} on")
        elif (upstream := lease.upstreams.get(route.protocol)) is None:
            self._refuse(out, route, 404, f"evalkit's gateway has no key for the protocol {route.protocol} here")
        elif route.what == "ask" and (over := lease.ledger.refusal()):
            self._refuse(out, route, 403, f"this trial reached its {over}: evalkit's gateway asks no more")
        elif route.what == "ask" and lease.ledger.breaks_off:
            self._refuse(out, route, 502, "the provider's replies broke off again and again")
        else:
            exchange = Exchange(request, out, route, upstream, lease.ledger, self._client(upstream), self.policy)
            if route.what == "ask" and lease.only and exchange.asked not in lease.only:
                self._refuse(out, route, 403, f"this token is for {', '.join(sorted(lease.only))} alone")
            else:
                self._pass(exchange)

    def _pass(self, exchange: Exchange) -> None:
        with self._lock:
            self._exchanges.add(exchange)
        try:
            exchange.run()
        finally:
            with self._lock:
                self._exchanges.discard(exchange)

    @staticmethod
    def _refuse(out: Responder, route: Route | None, status: int, message: str) -> None:
        out.send(status, refusal(route.protocol if route else "anthropic", status, message), headers=FINAL)

    def _watch(self) -> None:
        """End the work for clients that are gone; in the end, all of it."""
        closing = False
        while not closing:
            closing = self._server.closing.wait(_LOOK)
            with self._lock:
                at_work = list(self._exchanges)
            for exchange in at_work:
                if closing or exchange.client_is_gone:
                    exchange.abandon()
