"""One connection: bytes -> requests -> what the app sends through a `Responder`.

A request has to be complete `Limits.request_seconds` after its first byte, however slowly it drips in; a client that
does not take what it is sent is given up after `write_seconds`.
"""

from __future__ import annotations

import contextlib
import io
import json
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.client import HTTPException, HTTPMessage, parse_headers
from typing import Any

from attrs import field, frozen

__all__ = ["ClientGone", "Connection", "Limits", "Received", "Responder", "error_body", "masked"]

_METHODS = frozenset({"HEAD", "GET", "POST"})
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_CREDENTIALS = frozenset({"authorization", "proxy-authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie"})
_LINE = 65_536


@frozen
class Limits:
    """What a client may ask for: bytes, seconds, and how many connections at once.

    idle_seconds: for a connection without a request. Header lines are limited by http.client, to 64 kB and a hundred.
    """

    body: int = 64 * 1024 * 1024
    request_seconds: float = 60.0
    write_seconds: float = 60.0
    idle_seconds: float = 3600.0
    connections: int = 512


def masked(headers: Mapping[str, str]) -> str:
    """Headers for people: without credentials."""
    return repr({name: "***" if name in _CREDENTIALS else value for name, value in headers.items()})


@frozen
class Received:
    """One request. path: without the query; query: as it was sent, without the question mark.

    headers: names in lower case; what came several times is joined with commas. client: who asks, for messages.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str] = field(repr=masked)
    body: bytes = field(repr=False)
    client: str = ""

    def json(self) -> dict[str, Any] | None:
        """The body, if it is a JSON object."""
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError):  # bad UTF-8 is a ValueError too
            return None
        return value if isinstance(value, dict) else None


def error_body(kind: str, message: str) -> bytes:
    """An error in the shape of the Messages API; `error.message` is where OpenAI's and Gemini's clients look, too."""
    return json.dumps({"type": "error", "error": {"type": kind, "message": message}}).encode()


class ClientGone(OSError):
    """The other side closed, or takes nothing."""


class Responder:
    """How an app answers: `send` at once; or `start`, any number of `write`s that go out as they come, and `finish`; or
    `drop`. Its methods raise an OSError where the client is gone: an app lets it pass.
    """

    def __init__(self, connection: Connection, head_only: bool) -> None:
        self._connection, self._head_only = connection, head_only
        self._chunked = False
        self.started = self.finished = False
        self.keep_alive = True

    @property
    def closing(self) -> threading.Event:
        """Set when the server stops: what waits in an app waits on it."""
        return self._connection.closing

    def send(self, status: int, body: bytes = b"", content_type: str = "application/json",
             headers: Mapping[str, str] | None = None) -> None:
        """A whole answer. A content type among the headers wins."""
        self.start(status, {"Content-Type": content_type, **(headers or {})}, length=len(body))
        if body:
            self.write(body)
        self.finish()

    def start(self, status: int, headers: Mapping[str, str] | None = None, *, length: int | None = None) -> None:
        """Status and headers; the body follows in chunks, or has exactly `length` bytes."""
        assert not self.started
        self.started = True
        try:
            phrase = HTTPStatus(status).phrase
        except ValueError:
            phrase = "Overloaded" if status == 529 else "Status"
        named = {name.lower(): (name, text) for name, text in (headers or {}).items()}
        for name in ("content-length", "transfer-encoding", "connection"):
            named.pop(name, None)
        lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {text}" for name, text in named.values())]
        if length is not None:
            lines.append(f"Content-Length: {length}")
        elif status not in (204, 304):
            self._chunked = True
            lines.append("Transfer-Encoding: chunked")
        if not self.keep_alive:
            lines.append("Connection: close")
        if any("\r" in line or "\n" in line for line in lines):
            raise ValueError("a header's value has a line break")
        self._connection.write("\r\n".join([*lines, "", ""]).encode("latin-1", "replace"))

    def write(self, data: bytes) -> None:
        """Some of the body, on the wire when this returns."""
        if data and not self._head_only:
            self._connection.write(b"%x\r\n%s\r\n" % (len(data), data) if self._chunked else data)

    def finish(self) -> None:
        """The body is complete."""
        self.finished = True
        if self._chunked and not self._head_only:
            self._connection.write(b"0\r\n\r\n")

    def drop(self) -> None:
        """End the connection as it is: a client sees an answer that is cut off, or none."""
        self.keep_alive = False
        self.finished = True

    def wait(self, seconds: float) -> bool:
        """Wait; whether the server stopped, or the client went away, meanwhile."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self.closing.wait(min(left, 0.2)) or self.client_is_gone():
                return True
        return self.closing.is_set()

    def client_is_gone(self) -> bool:
        """Whether the other side has closed its end."""
        return self._connection.is_closed()


class _Refused(Exception):
    """A request that never reaches the app."""

    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message


class _Timed(io.RawIOBase):
    """A socket to read from, until a moment that can be moved."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.until = 0.0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


class Connection:
    """Serves one socket until it ends."""

    def __init__(self, connection: socket.socket, handle: Callable[[Received, Responder], None], limits: Limits,
                 closing: threading.Event, on_error: Callable[[BaseException], None], *, any_host: bool) -> None:
        self._socket, self._handle, self._limits = connection, handle, limits
        self.closing, self._on_error, self._any_host = closing, on_error, any_host
        self._source = _Timed(connection)
        self._file = io.BufferedReader(self._source)
        self._client = "the socket"

    def serve(self) -> None:
        # A client that goes away, in whichever call it shows, ends the connection and is no error.
        with contextlib.suppress(OSError):
            if self._socket.family == socket.AF_INET:
                # Else each small event waits for the client's delayed acknowledgement.
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._client = "{}:{}".format(*self._socket.getpeername())
            while not self.closing.is_set() and self._one():
                pass

    # ---- what the responder uses ----
    def write(self, data: bytes) -> None:
        try:
            self._socket.settimeout(self._limits.write_seconds)
            self._socket.sendall(data)
        except OSError as error:
            raise ClientGone(str(error)) from None

    def is_closed(self) -> bool:
        try:
            ready, _, _ = select.select([self._socket], [], [], 0)
            return bool(ready) and self._socket.recv(1, socket.MSG_PEEK) == b""
        except (OSError, ValueError):
            return True

    # ---- a request ----
    def _one(self) -> bool:
        """Serve one request; whether another may follow."""
        self._source.until = time.monotonic() + self._limits.idle_seconds
        if not self._file.peek(1):
            return False
        self._source.until = time.monotonic() + self._limits.request_seconds
        head_only, keep_alive = False, False
        try:
            method, target, keep_alive = self._request_line()
            head_only = method == "HEAD"
            headers = self._headers()
            keep_alive = keep_alive and headers.get("connection", "").lower() != "close"
            if method not in _METHODS:
                raise _Refused(501, f"the method {method[:20]} is not served")
            self._check_host(headers)
            request = self._received(method, target, headers)
        except _Refused as refused:
            self._refuse(refused.status, refused.message, head_only)
            return False
        except TimeoutError:
            self._refuse(408, f"the request was not complete after {self._limits.request_seconds:g} s", head_only)
            return False
        return self._answer(request, Responder(self, head_only), keep_alive)

    def _answer(self, request: Received, out: Responder, keep_alive: bool) -> bool:
        out.keep_alive = keep_alive
        try:
            self._handle(request, out)
        except ClientGone:
            return False
        except BaseException as error:  # noqa: BLE001 - a thread's exception would be lost
            self._on_error(error)
            said = f"the gateway failed: {type(error).__name__}"
        else:
            said = "the gateway gave no answer"
        if not out.started and not out.finished:
            self._refuse(500, said, request.method == "HEAD", "api_error")
            return False
        return out.finished and out.keep_alive

    def _refuse(self, status: int, message: str, head_only: bool, kind: str = "invalid_request_error") -> None:
        out = Responder(self, head_only)
        out.keep_alive = False
        out.send(status, error_body(kind, message))
        with contextlib.suppress(OSError):  # what is still coming would make the system reset the connection
            self._socket.shutdown(socket.SHUT_WR)
            self._source.until = time.monotonic() + 1.0
            while self._file.read1(_LINE):
                pass

    def _request_line(self) -> tuple[str, str, bool]:
        """Method, target, and whether the protocol keeps connections."""
        line = self._file.readline(_LINE + 1)
        if line in (b"\r\n", b"\n"):  # some clients send one after a body
            line = self._file.readline(_LINE + 1)
        if len(line) > _LINE:
            raise _Refused(414, "the request's first line is too long")
        words = line.decode("latin-1").split()
        if len(words) != 3 or words[2] not in ("HTTP/1.0", "HTTP/1.1") or not words[1].startswith(("/", "http://")):
            raise _Refused(400, "that is no HTTP/1.1 request")
        method, target, version = words
        if not target.startswith("/"):  # the form for proxies
            target = "/" + target.removeprefix("http://").partition("/")[2]
        return method, target, version == "HTTP/1.1"

    def _headers(self) -> dict[str, str]:
        try:
            message: HTTPMessage = parse_headers(self._file)
        except HTTPException:
            raise _Refused(431, "the request's headers are too long, or too many") from None
        found: dict[str, str] = {}
        for name, value in message.items():
            key = name.lower()
            found[key] = f"{found[key]}, {value}" if key in found else value
        return found

    def _check_host(self, headers: Mapping[str, str]) -> None:
        host = headers.get("host", "localhost")
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if not self._any_host and name.lower() not in _LOOPBACK:
            raise _Refused(421, f"the host {host[:100]} is not served here")

    def _received(self, method: str, target: str, headers: Mapping[str, str]) -> Received:
        if headers.get("expect", "").lower() == "100-continue":
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        coding = headers.get("transfer-encoding", "").lower()
        if coding and (coding != "chunked" or "content-length" in headers):
            raise _Refused(400, "the request's body has no valid length")
        body = self._chunks() if coding else self._body(headers.get("content-length", "0").strip())
        path, _, query = target.partition("?")
        return Received(method, path, query, headers, body, self._client)

    def _body(self, length: str) -> bytes:
        if not (length.isascii() and length.isdigit() and len(length) < 16):
            raise _Refused(400, "the request's body has no valid length")
        size = int(length)
        if size > self._limits.body:
            raise _Refused(413, f"the request's body is over {self._limits.body} bytes")
        raw = self._file.read(size)
        if len(raw) != size:
            raise _Refused(400, "the request's body is incomplete")
        return raw

    def _chunks(self) -> bytes:
        body = bytearray()
        while True:
            try:
                size = int(self._file.readline(1024).partition(b";")[0], 16)
            except ValueError:
                raise _Refused(400, "the request's body is incomplete") from None
            if size < 0 or len(body) + size > self._limits.body:
                raise _Refused(413, f"the request's body is over {self._limits.body} bytes")
            if size == 0:
                break
            body += self._file.read(size)
            if self._file.readline(3) != b"\r\n":
                raise _Refused(400, "the request's body is incomplete")
        while self._file.readline(_LINE) not in {b"\r\n", b"\n", b""}:
            pass  # trailers
        return bytes(body)
