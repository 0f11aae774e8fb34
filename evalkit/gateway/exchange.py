"""One request through the live gateway: the client's bytes -> the provider -> the client, counted on the way.

A reply that comes as a stream goes on as it comes. A reply in one piece is read whole first: a part of it is of no use
to anybody. What fails before anything went on is asked again, by the one policy of retries: a lost connection, a rate
limit, a server's error, with the pause that the provider asks for. Agents' programs ask again by themselves, each in
its own way; so that tries do not multiply, an error that is left after ours is marked as final (`x-should-retry:
false`, which the vendors' own libraries and Claude Code obey). A reply that broke off cannot be taken back: there the
program asks again, and after some that broke off in a row it is told to stop.

Each request has a connection of its own to the provider. That costs a handshake, next to a reply's seconds, and buys
that a client that leaves ends the provider's work at once, and that no reply is lost to a connection gone stale.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson
from attrs import define, field, frozen

from evalkit.errors import UserError
from evalkit.execute.leases import GIVE_UP_AFTER
from evalkit.execute.models.client import language
from evalkit.execute.models.openai import with_streamed_usage
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.models.trouble import unanswered
from evalkit.execute.outcome import AgentError
from evalkit.execute.retry import RetryPolicy, seconds_asked_for
from evalkit.execute.secrets import Redactor
from evalkit.gateway.connection import Received, Responder
from evalkit.gateway.ledger import Ledger
from evalkit.gateway.meter import ReplyMeter, is_usage_alone
from evalkit.gateway.routes import Route, passed_back, passed_headers, refusal, upstream_url

if TYPE_CHECKING:
    import httpx

__all__ = ["LARGEST_REPLY", "POLICY", "Exchange"]

POLICY = RetryPolicy(retries=10, window=1.0, longest=30.0, patience=120.0)
"""A minute and a half, in the mean: to begin an agent's run again costs more than to wait."""
LARGEST_REPLY = 64 * 1024 * 1024
"""Bytes."""
_LARGEST_ERROR = 1024 * 1024
FINAL = {"x-should-retry": "false"}


@frozen
class _Failed:
    """A try that failed before anything went on. status: the provider's, 0 for a connection. error: what it comes to.

    again: it passes by itself, after `wait` seconds where the provider named a time. ours: it is a matter between us
    and the provider, else the program's own request was wrong.
    """

    status: int
    error: AgentError
    body: bytes = b""
    headers: Mapping[str, str] = field(factory=dict)
    again: bool = False
    wait: float | None = None
    ours: bool = True


@define(eq=False)
class Exchange:
    """One request on its way. asked: the model that it is for, as its provider calls it."""

    request: Received
    out: Responder
    route: Route
    endpoint: Endpoint
    ledger: Ledger
    client: httpx.Client
    policy: RetryPolicy = POLICY
    _socket: socket.socket | None = field(default=None, init=False)
    _abandoned: bool = field(default=False, init=False)
    _body: bytes = field(init=False)
    asked: str = field(default="", init=False)
    _hides_usage: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self._body = self.request.body
        if self.route.what != "ask":
            return
        body = self.request.json() or {}
        self.asked = str(body.get("model") or self.request.path.rpartition("/")[2].partition(":")[0])
        if self.route.protocol == "openai" and body.get("stream") is True:
            options = body.get("stream_options")
            self._hides_usage = not (isinstance(options, dict) and options.get("include_usage") is True)
            if self._hides_usage:
                self._body = orjson.dumps(with_streamed_usage(body))

    # ---- from the first try to the last ----
    def run(self) -> None:
        """Ask until there is an answer or there is to be none. Raises OSError where the client is gone."""
        tries = 0
        while True:
            failed = self._try()
            if failed is None:
                return
            tries += 1
            counts = self.route.what == "ask" and failed.ours
            if counts:
                self.ledger.fail(failed.error, tries)
            pause = self.policy.pause(tries - 1, failed.wait) if failed.again else None
            if pause is None or (failed.status == 0 and self._is_down(tries)):
                self._give_up(failed, tries, counts=counts)
                return
            self.ledger.ask_again(failed.error.message, pause)
            if self.out.wait(pause):
                self.out.drop()
                return

    def _is_down(self, tries: int) -> bool:
        """Whether a provider that does not answer is given up soon: it loses reply after reply, or never gave one."""
        return self.ledger.breaks_off or (self.ledger.is_empty and tries >= GIVE_UP_AFTER)

    def _give_up(self, failed: _Failed, tries: int, *, counts: bool) -> None:
        if counts and tries > 1:
            failed.error.message += f" (asked {tries} times)"
        if counts and failed.wait is not None and failed.wait > self.policy.patience:
            failed.error.message += f" (and asks to wait {failed.wait:.0f} s)"
        final = FINAL if failed.ours else {}
        body = failed.body or refusal(self.route.protocol, 502, f"evalkit's gateway: {failed.error.message}")
        self.out.send(failed.status or 502, body, headers={**passed_back(failed.headers), **final})

    @property
    def client_is_gone(self) -> bool:
        return self.out.client_is_gone()

    def abandon(self) -> None:
        """End the provider's work, since nobody waits for it. Called by another thread."""
        self._abandoned = True
        if self._socket is not None:
            with contextlib.suppress(OSError):  # not the TLS object's own method: that one is not for two threads
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def _connected(self, name: str, info: Mapping[str, Any]) -> None:
        """httpcore tells what it does: https://www.encode.io/httpcore/extensions/#trace."""
        if name.endswith(("connect_tcp.complete", "start_tls.complete", "connect_unix_socket.complete")):
            self._socket = info["return_value"].get_extra_info("socket")

    # ---- one try ----
    def _try(self) -> _Failed | None:
        """Ask once. None: what came went on to the client, or it is gone."""
        import httpx

        endpoint, url = self.endpoint, self.endpoint.shown
        began = False
        try:
            with self.client.stream(
                self.request.method, upstream_url(endpoint, self.request), content=self._body,
                headers=passed_headers(self.request, endpoint), extensions={"trace": self._connected},
            ) as response:
                began = True
                if response.status_code >= 300:
                    return self._sorted(response)
                return self._answered(response)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            return _Failed(0, AgentError(f"{url} is no address: {error}", hint="gateway=https://…"))
        except UserError as error:  # a key that is none
            return _Failed(0, AgentError(error.message, hint=error.hint))
        except httpx.HTTPError as error:
            if self._abandoned:
                self.out.drop()
                return None
            sent = not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError)
            said = self._clean(f"{url} cannot be reached: {error or type(error).__name__}")
            failure = AgentError(said, transient=True, hint="is the network up, and the address right?")
            if sent and self.route.what == "ask":
                self.ledger.lose(failure, began=began)
            return _Failed(0, failure, again=True)

    def _sorted(self, response: httpx.Response) -> _Failed:
        """An answer that is none, sorted: for the person to mend, to be waited for, or the program's own."""
        endpoint, status = self.endpoint, response.status_code
        body = bytearray()
        for part in response.iter_bytes():
            body += part
            if len(body) > _LARGEST_ERROR:
                break
        clean = self._redactor.clean(bytes(body))
        try:
            data = orjson.loads(clean)
        except orjson.JSONDecodeError:
            data = None
        if told := unanswered(response.headers, endpoint.shown, data):
            return _Failed(status, AgentError(told[0], hint=told[1]), clean, response.headers)
        trouble = language(endpoint.protocol).trouble(status, data)
        words = trouble.words or clean[:200].decode("utf-8", "replace").strip() or "nothing"
        said = f"{endpoint.shown} answered {status}: {words}"
        match trouble.kind:
            case "key":
                error = AgentError(f"{endpoint.shown} refused the key in {endpoint.variable} (status {status})",
                                   hint=f"set {endpoint.variable} to a valid key")
            case "model":
                error = AgentError(f"{endpoint.shown} has no model `{self.asked}`: {words}",
                                   hint="choose another one: model=SLUG")
            case "account":
                error = AgentError(said, hint=f"the account of {endpoint.variable} has no credit or no quota left")
            case "busy":
                wait = seconds_asked_for(response.headers.get("retry-after")) or trouble.wait
                error = AgentError(said, transient=True, retry_after=wait, hint="run again later: nothing was kept")
                return _Failed(status, error, clean, response.headers, again=True, wait=wait)
            case "request":
                moved = 300 <= status < 400  # the key is for one address alone
                return _Failed(502 if moved else status, AgentError(said), b"" if moved else clean, response.headers,
                               ours=moved)
        return _Failed(status, error, clean, response.headers)

    def _answered(self, response: httpx.Response) -> _Failed | None:
        if self.route.what != "ask":
            self.out.send(response.status_code, b"".join(_limited(response)), headers=passed_back(response.headers))
            return None
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            self._stream(response)
            return None
        meter, body = ReplyMeter(self.route.protocol), b"".join(_limited(response))
        reply = self.ledger.begin(self.asked)
        meter.whole(body)
        self.ledger.count(reply, meter.model, meter.usage)
        if meter.ended:
            self.ledger.end(reply)
        self.out.send(response.status_code, body, headers=passed_back(response.headers))
        return None

    def _stream(self, response: httpx.Response) -> None:
        """Pass a stream on, piece by piece; each is counted before it goes on, so that nobody acts on it uncounted."""
        import httpx

        meter, reply = ReplyMeter(self.route.protocol), self.ledger.begin(self.asked)
        self.out.start(response.status_code, passed_back(response.headers))
        try:
            for data in _limited(response):
                events = meter.feed(data)
                self.ledger.count(reply, meter.model, meter.usage)
                if meter.ended:
                    self.ledger.end(reply)
                if self._hides_usage:
                    data = b"".join(event for event in events if not is_usage_alone(event))
                self.out.write(data)
            if self._hides_usage:
                self.out.write(meter.rest)
        except httpx.HTTPError as error:
            if not self._abandoned and not meter.ended:
                self._broke_off(f"{error or type(error).__name__}")
            self.out.drop()
            return
        if not meter.ended:
            self._broke_off(meter.error or "it has no end")
        self.out.finish()

    def _broke_off(self, why: str) -> None:
        said = f"{self.endpoint.shown} broke off its reply: {self._clean(why)}"
        self.ledger.lose(AgentError(said, transient=True, hint="run again: nothing was kept"), began=True)

    @property
    def _redactor(self) -> Redactor:
        return Redactor.of({self.endpoint.variable: self.endpoint.key})

    def _clean(self, text: str) -> str:
        """A text without the key: a provider may show it in its answer."""
        return self._redactor.text(text)


def _limited(response: httpx.Response) -> Any:
    """The parts of a reply as they come. Raises a ReadError where it is too large."""
    import httpx

    size = 0
    for part in response.iter_bytes():
        size += len(part)
        if size > LARGEST_REPLY:
            raise httpx.ReadError(f"its reply is over {LARGEST_REPLY} bytes")
        yield part
