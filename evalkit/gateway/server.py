"""A small HTTP/1.1 server on loopback: connection -> `Received` -> an app -> bytes. It knows no protocol above HTTP.

It listens on a port of 127.0.0.1 or on a Unix socket and nowhere else, and answers only requests that name a loopback
host: a page in the person's browser cannot reach it under a name of its own. A connection has a thread, on which its
requests are handled. Nothing is logged. What the server itself refuses has the shape of an API error
(https://docs.anthropic.com/en/api/errors; OpenAI's clients read the same two keys).
"""

from __future__ import annotations

import contextlib
import errno
import selectors
import socket
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Protocol

from attrs import frozen

from evalkit.errors import HarnessError, UserError
from evalkit.gateway.connection import Connection, Limits, Received, Responder

__all__ = ["Address", "App", "Limits", "Received", "Responder", "Server"]

_CLOSE_SECONDS = 5.0
_HOST = "127.0.0.1"
_LIMITS = Limits()
_WAITING = 128
"""Connections that the system holds until they are accepted."""


class App(Protocol):
    """Whom the server asks, on several threads at once."""

    def handle(self, request: Received, out: Responder) -> None:
        """Answer one request through `out`.

        What is begun and not finished is dropped; a request that got nothing is answered with a 500. An exception does
        the same, and is told to the server's `on_error`.
        """
        ...


@frozen
class Address:
    """Where a server is reached. url: without a slash at the end; of a Unix socket, for the client's `Host` alone."""

    url: str
    port: int | None = None
    socket: Path | None = None


class Server:
    """Serves `app` between `start` and `stop`, which may each be called once; also as a context manager.

    port: 0 takes a free one. socket_path: listen there instead; only this user can connect. listener: a socket of the
    caller's, bound to loopback of any network, that is served instead and closed in the end. on_error: told of each
    exception of the app's, on the thread that it happened on.
    """

    def __init__(self, app: App, *, port: int = 0, socket_path: Path | None = None,
                 listener: socket.socket | None = None, limits: Limits = _LIMITS,
                 on_error: Callable[[BaseException], None] = lambda _: None) -> None:
        self.app, self.limits, self.on_error = app, limits, on_error
        self.closing = threading.Event()
        self._open: dict[threading.Thread, socket.socket] = {}
        self._open_lock = threading.Lock()
        self._listener = listener or (_on_path(socket_path) if socket_path is not None else _on_port(port))
        self._listener.setblocking(False)
        self._socket_path = socket_path
        self._wakes, self._waker = socket.socketpair()
        self._accepting = threading.Thread(target=self._accept, name="gateway", daemon=True)
        bound = None if socket_path is not None else int(self._listener.getsockname()[1])
        self.address = Address("http://localhost" if bound is None else f"http://{_HOST}:{bound}", bound, socket_path)

    @property
    def url(self) -> str:
        return self.address.url

    def start(self) -> None:
        self._listener.listen(_WAITING)
        self._accepting.start()

    def stop(self) -> None:
        """Drop every connection and end every thread, within seconds; one that is stuck in the app may outlive it."""
        deadline = time.monotonic() + _CLOSE_SECONDS
        if self.closing.is_set():
            return
        self.closing.set()
        self._waker.send(b"x")
        if self._accepting.ident is not None:
            self._accepting.join(_CLOSE_SECONDS)
        for each in (self._listener, self._wakes, self._waker):
            each.close()
        if self._socket_path is not None:
            self._socket_path.unlink(missing_ok=True)
        with self._open_lock:
            left = list(self._open.items())
        for _, connection in left:
            with contextlib.suppress(OSError):  # it may have ended by itself
                connection.shutdown(socket.SHUT_RDWR)
        for thread, _ in left:
            thread.join(max(0.0, deadline - time.monotonic()))

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.stop()

    # ---- connections ----
    def _accept(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._wakes, selectors.EVENT_READ)
            while not self.closing.is_set():
                selector.select()
                try:
                    connection, _ = self._listener.accept()
                except OSError as error:  # nobody is there, or not any more; or too many files are open
                    if error.errno in (errno.EMFILE, errno.ENFILE):
                        self.closing.wait(0.1)
                    continue
                self._serve_in_thread(connection)

    def _serve_in_thread(self, connection: socket.socket) -> None:
        thread = threading.Thread(target=self._serve, args=(connection,), name="gateway connection", daemon=True)
        with self._open_lock:
            full = len(self._open) >= self.limits.connections
            if not full:
                self._open[thread] = connection
        if full:
            connection.close()
            return
        try:
            thread.start()
        except RuntimeError:  # the system gives no more threads
            connection.close()
            with self._open_lock:
                self._open.pop(thread)

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                Connection(connection, self.app.handle, self.limits, self.closing, self.on_error,
                           any_host=self._socket_path is not None).serve()
        finally:
            with self._open_lock:
                self._open.pop(threading.current_thread(), None)


def _on_port(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setblocking(False)
    try:
        listener.bind((_HOST, port))
    except (OSError, OverflowError) as error:
        listener.close()
        said = getattr(error, "strerror", None) or str(error)
        raise UserError(f"cannot listen on port {port}: {said}",
                        hint="leave the port out: a free one is taken") from None
    return listener


def _on_path(path: Path) -> socket.socket:
    """A socket file that only this user may use. One that a dead process left is replaced."""
    _clear_the_way(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.setblocking(False)
    try:
        listener.bind(str(path))
        path.chmod(0o600)  # nobody can connect before `listen`
    except OSError as error:
        listener.close()
        raise UserError(f"cannot listen on {path}: {error.strerror or error}",
                        hint="a socket's path has at most about 100 characters, in a folder that is there") from None
    return listener


def _clear_the_way(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise UserError(f"cannot listen on {path}: {error.strerror or error}") from None
    if not stat.S_ISSOCK(mode):
        raise UserError(f"cannot listen on {path}: there is a file", hint="name a path where nothing is")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise HarnessError(f"cannot remove the old socket {path}: {error.strerror or error}") from None
        else:
            raise UserError(f"cannot listen on {path}: another process does", hint="end it, or name another path")
