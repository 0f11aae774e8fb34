"""The way out that a case asks for (`network "HOST:PORT"`): an HTTP proxy that leads to these places and nowhere else.

It answers CONNECT (RFC 9110, 9.3.6) and requests with a whole `http://` address (RFC 9112, 3.2.2), each connection on a
thread, within evalkit: commands in the sandbox reach it by a listener that was made in their network, and have no other
way. What is asked for beyond the list is refused with 403 and noted; its name is never looked up.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

from attrs import define, field

__all__ = ["Proxy", "host_and_port"]

_HEAD = 64 * 1024
"""Bytes of a request's head."""
_HEAD_SECONDS, _CONNECT_SECONDS, _IDLE_SECONDS = 30.0, 30.0, 300.0
_MOST_CONNECTIONS = 64
_MOST_NOTED = 20
_PIECE = 64 * 1024


def host_and_port(text: str) -> tuple[str, int] | None:
    """`HOST:PORT`, `[ADDRESS]:PORT`; None for anything else."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]").lower().rstrip(".")
    if not colon or not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        return None
    return (host, int(port)) if all(char.isalnum() or char in ".-_:" for char in host) else None


@define
class Proxy:
    """allowed: hosts with their ports. refused: what else was asked for, as far as it is noted."""

    allowed: frozenset[tuple[str, int]]
    refused: list[str] = field(factory=list)
    _lock: threading.Lock = field(factory=threading.Lock, init=False, repr=False)

    @classmethod
    def to(cls, places: Sequence[str]) -> Proxy:
        return cls(frozenset(found for place in places if (found := host_and_port(place)) is not None))

    @contextmanager
    def serve(self, listener: socket.socket) -> Iterator[None]:
        """Answer what connects to a listening socket, for the time of a `with`."""
        closing = threading.Event()
        open_ones: set[socket.socket] = set()
        listener.settimeout(0.2)
        accepting = threading.Thread(target=self._accept, args=(listener, closing, open_ones), daemon=True)
        accepting.start()
        try:
            yield
        finally:
            closing.set()
            accepting.join(2.0)
            with self._lock:
                left = list(open_ones)
            for each in left:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def notes(self) -> tuple[str, ...]:
        """What a reader of a result should know."""
        reach = ", ".join(sorted(f"{host}:{port}" for host, port in self.allowed))
        refused = f"; refused: {', '.join(self.refused)}" if self.refused else ""
        return (f"its network led to {reach}{refused}",)

    def _accept(self, listener: socket.socket, closing: threading.Event, open_ones: set[socket.socket]) -> None:
        while not closing.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            with self._lock:
                full = len(open_ones) >= _MOST_CONNECTIONS
                if not full:
                    open_ones.add(connection)
            if full:
                connection.close()
                continue
            threading.Thread(target=self._answer, args=(connection, closing, open_ones), daemon=True).start()

    def _answer(self, client: socket.socket, closing: threading.Event, open_ones: set[socket.socket]) -> None:
        try:
            with client, contextlib.suppress(OSError):
                self._one(client, closing)
        finally:
            with self._lock:
                open_ones.discard(client)

    def _one(self, client: socket.socket, closing: threading.Event) -> None:
        head, rest = _head(client)
        method, _, target = head.partition(b"\r\n")[0].decode("latin-1").partition(" ")
        target = target.rpartition(" ")[0]
        place, forward = host_and_port(target), b""
        if method != "CONNECT":
            place, forward = _of_request(method, target, head)
        if place is None or place not in self.allowed:
            self._refuse(target)
            client.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        try:
            upstream = socket.create_connection(place, timeout=_CONNECT_SECONDS)
        except OSError:
            client.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        with upstream:
            if forward:
                upstream.sendall(forward)
            else:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            upstream.sendall(rest)
            _pass_on(client, upstream, closing)

    def _refuse(self, target: str) -> None:
        told = "".join(char if char.isprintable() else "?" for char in target[:100])
        with self._lock:
            if told not in self.refused and len(self.refused) < _MOST_NOTED:
                self.refused.append(told)


def _head(client: socket.socket) -> tuple[bytes, bytes]:
    """A request's head with its end, and what came after it. Raises OSError where none comes."""
    data, until = b"", time.monotonic() + _HEAD_SECONDS
    while b"\r\n\r\n" not in data:
        client.settimeout(max(0.1, until - time.monotonic()))
        more = client.recv(_PIECE)
        if not more or len(data) > _HEAD or time.monotonic() > until:
            raise OSError("no request")
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    return head + b"\r\n\r\n", rest


def _of_request(method: str, target: str, head: bytes) -> tuple[tuple[str, int] | None, bytes]:
    """Where a request to a whole address goes, and its head as that place wants it: one request a connection."""
    try:
        url = urlsplit(target)
        port = url.port
    except ValueError:
        return None, b""
    if url.scheme != "http" or not url.hostname:
        return None, b""
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    lines = [line for line in head.split(b"\r\n")[1:-2] if line.partition(b":")[0].strip().lower() not in
             (b"connection", b"proxy-connection", b"keep-alive", b"proxy-authorization", b"host")]
    host = url.netloc.rpartition("@")[2].encode("latin-1", "replace")
    first = f"{method} {path} HTTP/1.1".encode("latin-1", "replace")
    forward = b"\r\n".join([first, b"Host: " + host, *lines, b"Connection: close", b"", b""])
    return (url.hostname.lower().rstrip("."), port or 80), forward


def _pass_on(one: socket.socket, other: socket.socket, closing: threading.Event) -> None:
    """Hand on bytes both ways until both ends have ended, or nothing comes for a while."""
    one.settimeout(_IDLE_SECONDS)
    other.settimeout(_IDLE_SECONDS)
    last = time.monotonic()
    with selectors.DefaultSelector() as selector:
        selector.register(one, selectors.EVENT_READ, other)
        selector.register(other, selectors.EVENT_READ, one)
        while selector.get_map() and not closing.is_set():
            for key, _ in selector.select(0.2):
                source, sink = key.fileobj, key.data
                assert isinstance(source, socket.socket)
                last = time.monotonic()
                if data := source.recv(_PIECE):
                    sink.sendall(data)
                else:
                    selector.unregister(source)
                    with contextlib.suppress(OSError):
                        sink.shutdown(socket.SHUT_WR)
            if time.monotonic() - last > _IDLE_SECONDS:
                return
