"""Records: passes requests on to a provider, with its key, and keeps what is asked and answered in a cassette.

Answers go on as they come. What is kept of headers is an allow-list; bodies pass the redactor (execute/secrets.py), and
folders that a request tells of stand there by their names (volatile.py). A refused key, and a provider that cannot be
reached, are no part of a cassette.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from evalkit.errors import UserError
from evalkit.execute.models.provider import Endpoint, find_endpoint, missing_key
from evalkit.execute.models.proxies import client_for
from evalkit.execute.secrets import Redactor
from evalkit.gateway.asked import Call, Protocol, call_of
from evalkit.gateway.cassette import CassetteWriter, Exchanged, Played
from evalkit.gateway.connection import ClientGone, Received, Responder
from evalkit.gateway.normal import normal_form
from evalkit.gateway.play_cassette import roots_in
from evalkit.gateway.play_script import send_fixed
from evalkit.gateway.routes import passed_headers, refusal, upstream_url
from evalkit.gateway.stream_text import replace_in_body

if TYPE_CHECKING:
    import httpx

__all__ = ["Recorder", "has_a_key"]

_KEPT = ("content-type", "cache-control", "retry-after", "retry-after-ms", "x-should-retry")
"""Headers of answers that a cassette keeps, and that go back: none tells of a key, an account or a request."""
_CONNECT, _SILENT = 15.0, 600.0
"""Seconds until there is a connection, and without a byte."""
_LARGEST = 200_000_000
"""Bytes of an answer; a longer one is cut."""
_REFUSED = (401, 403)
_ANY: dict[Protocol, str] = {"anthropic": "anthropic/any", "openai": "openai/any", "gemini": "google/any"}


def has_a_key(environ: Mapping[str, str]) -> None:
    """Raise `UserError` where the environment opens no provider at all."""
    if not any(find_endpoint(environ, None, model) for model in _ANY.values()):
        raise missing_key("recording")


class Recorder:
    """The app that records. url: the provider's address; its key comes from `environ`. secret: variables that a
    project calls secret.
    """

    def __init__(self, url: str, writer: CassetteWriter, environ: Mapping[str, str], *, secret: Iterable[str] = (),
                 transport: httpx.BaseTransport | None = None) -> None:
        import httpx

        self.url, self.writer, self._environ = url.rstrip("/"), writer, environ
        self._redactor = Redactor.of(environ, secret)
        self._clean = self._redactor.text
        self._lock = threading.Lock()
        self._number = 0
        self._troubles: list[str] = []
        self._client = client_for(self.url, timeout=httpx.Timeout(_SILENT, connect=_CONNECT, pool=None),
                                  transport=transport, limits=httpx.Limits(max_connections=None))

    def troubles(self) -> list[str]:
        """What could not be recorded, in a line each."""
        with self._lock:
            return list(self._troubles)

    def close(self) -> None:
        """Call it when the server has stopped: the cassette gets its name."""
        self._client.close()
        self.writer.close()

    def handle(self, request: Received, out: Responder) -> None:
        call = call_of(request)
        if call is None:
            send_fixed(request, out)
            return
        with self._lock:
            self._number += 1
            number = self._number
        try:
            endpoint = self._endpoint(call)
            headers = passed_headers(request, endpoint)
        except UserError as error:
            self._trouble(call, str(error), out)
            return
        self._pass_on(request, call, number, endpoint, headers, out)

    def _endpoint(self, call: Call) -> Endpoint:
        """By the model's name; of a model that nobody knows, by the protocol. Raises `UserError` without a key."""
        for model in (call.model, _ANY[call.protocol]):
            if found := find_endpoint(self._environ, self.url, model, only=call.protocol):
                return found
        raise missing_key("recording", call.model)

    def _pass_on(self, request: Received, call: Call, number: int, endpoint: Endpoint, headers: dict[str, str],
                 out: Responder) -> None:
        import httpx

        chunks: list[bytes] = []
        cut = False
        try:
            with self._client.stream("POST", upstream_url(endpoint, request), headers=headers,
                                     content=request.body) as answer:
                kept = {name: self._clean(answer.headers[name]) for name in _KEPT if name in answer.headers}
                length = answer.headers.get("content-length", "")
                whole = length.isdigit() and "content-encoding" not in answer.headers
                out.start(answer.status_code, kept, length=int(length) if whole else None)
                size = 0
                try:
                    for chunk in answer.iter_bytes():
                        chunks.append(chunk)
                        out.write(chunk)
                        size += len(chunk)
                        if size > _LARGEST:
                            raise httpx.ReadError("the answer is too long")
                except httpx.HTTPError:
                    cut = True
        except ClientGone:
            self._note(f"request {number}: its client left before the answer ended")
            raise
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            self._trouble(call, f"{self.url} cannot be reached: {error or type(error).__name__}", out)
            return
        out.drop() if cut else out.finish()
        if answer.status_code in _REFUSED:
            self._note(f"{self.url} refused the key in {endpoint.variable} (status {answer.status_code})")
            return
        roots = roots_in(call)
        events = "event-stream" in kept.get("content-type", "")
        texts = replace_in_body(chunks, roots, self._clean, events=events, error=answer.status_code >= 400)
        body: tuple[str | bytes, ...] = (self._redactor.clean(b"".join(chunks)),) if texts is None else tuple(texts)
        self.writer.add(Exchanged(number, normal_form(call, roots, self._clean),
                                  Played(answer.status_code, kept, body, whole, cut), endpoint.opened_by))

    def _trouble(self, call: Call, said: str, out: Responder) -> None:
        said = self._clean(said)
        self._note(said)
        out.send(502, refusal(call.protocol, 502, said))

    def _note(self, said: str) -> None:
        with self._lock:
            self._troubles.append(said)
