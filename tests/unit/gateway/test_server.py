"""The HTTP server: what it hands to an app, how an app answers, and what it refuses by itself."""

from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from attrs import define, field

from evalkit.errors import UserError
from evalkit.gateway.connection import Limits, Received, Responder
from evalkit.gateway.server import Server
from tests.unit.gateway.asking import serving


@define
class Scripted:
    """An app that answers by a function, and keeps what it got."""

    answer: Callable[[Received, Responder], None]
    got: list[Received] = field(factory=list)

    def handle(self, request: Received, out: Responder) -> None:
        self.got.append(request)
        self.answer(request, out)


def whole(request: Received, out: Responder) -> None:
    out.send(200, request.body or b"nothing", "text/plain")


@contextmanager
def raw(server: Server) -> Iterator[socket.socket]:
    assert server.address.port is not None
    with socket.create_connection(("127.0.0.1", server.address.port), timeout=10) as connection:
        yield connection


def answer_to(server: Server, *parts: bytes) -> bytes:
    """What comes back on a connection until it ends."""
    with raw(server) as connection:
        for part in parts:
            connection.sendall(part)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_a_request_reaches_the_app_as_it_was_sent() -> None:
    """Method, path, query, headers in lower case and joined, the body's bytes; its repr shows no credential."""
    app = Scripted(whole)
    with serving(app) as asker:
        answer = asker.client.post(f"{asker.url}/a/b?x=1&y=%20", content=b"\x00\xff",
                                   headers=[("X-Two", "a"), ("x-two", "b"), ("X-Api-Key", "sk-secret")])
    request, = app.got
    assert b"\x00\xff" == answer.content
    assert ("POST", "/a/b", "x=1&y=%20", b"\x00\xff") == (request.method, request.path, request.query, request.body)
    assert "a, b" == request.headers["x-two"]
    assert request.client.startswith("127.0.0.1:")
    assert "sk-secret" not in repr(request)


def test_a_streamed_answer_goes_out_as_it_is_written() -> None:
    """Each chunk is with the client before the next one is written."""
    seen = threading.Semaphore(0)

    def stream(request: Received, out: Responder) -> None:
        out.start(200, {"Content-Type": "text/plain"})
        for chunk in (b"one", b"", b"two"):
            out.write(chunk)
            if chunk:
                assert seen.acquire(timeout=10)
        out.finish()

    with serving(Scripted(stream)) as asker, asker.client.stream("GET", asker.url) as answer:
        got = []
        for chunk in answer.iter_raw():
            got.append(chunk)
            seen.release()
    assert [b"one", b"two"] == got


@pytest.mark.parametrize("begun", [True, False])
def test_what_is_begun_and_not_finished_is_dropped(begun: bool) -> None:
    """As where an app ends early or drops by itself; an answer that never began is a 500."""
    def half(request: Received, out: Responder) -> None:
        if begun:
            out.start(200)
            out.write(b"half")

    with serving(Scripted(half)) as asker:
        if begun:
            with pytest.raises(httpx.RemoteProtocolError):
                asker.client.get(asker.url)
        else:
            assert 500 == asker.client.get(asker.url).status_code


def test_an_app_that_raises() -> None:
    """Its client gets a 500 that names the exception and no more of it; whoever runs the server is told."""
    raised: list[BaseException] = []

    def fail(request: Received, out: Responder) -> None:
        raise OSError("a secret")

    with Server(Scripted(fail), on_error=raised.append) as server, httpx.Client(trust_env=False) as client:
        answer = client.get(server.url)
    assert (500, "the gateway failed: OSError") == (answer.status_code, answer.json()["error"]["message"])
    assert ["a secret"] == [str(error) for error in raised]


def test_a_client_that_leaves_is_no_error() -> None:
    """An app can ask whether the client is there, waits no longer than it is, and may write on without harm."""
    left, noticed = threading.Event(), threading.Event()

    def long(request: Received, out: Responder) -> None:
        assert not out.client_is_gone()
        out.start(200)
        out.write(b"x")
        assert left.wait(10)
        assert out.wait(60)
        assert out.client_is_gone()
        noticed.set()
        for _ in range(1000):
            out.write(b"x" * 10_000)

    with serving(Scripted(long)) as asker:
        with asker.client.stream("GET", asker.url) as answer:
            next(answer.iter_raw())
        left.set()
        assert noticed.wait(10)


def test_headers_of_an_answer() -> None:
    """An app's length and connection headers are the server's own matter; a line break is none of a header's."""
    def answer(request: Received, out: Responder) -> None:
        if request.path == "/bad":
            out.send(200, b"", headers={"X": "a\r\nSet-Cookie: b"})
        out.send(203, b"abc", headers={"content-length": "99", "X-Own": "yes", "content-type": "text/html"})

    raised: list[BaseException] = []
    with Server(Scripted(answer), on_error=raised.append) as server, httpx.Client(trust_env=False) as client:
        good = client.get(server.url)
        assert (203, "yes", "text/html", b"abc") == (good.status_code, good.headers["x-own"],
                                                     good.headers["content-type"], good.content)
        with pytest.raises(httpx.RemoteProtocolError):
            client.get(f"{server.url}/bad")
    assert [ValueError] == [type(error) for error in raised]


@pytest.mark.parametrize(("sent", "status"), [
    (b"nonsense\r\n\r\n", 400),
    (b"GET / HTTP/2.0\r\n\r\n", 400),
    (b"GET evil HTTP/1.1\r\n\r\n", 400),
    (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", 414),
    (b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", 431),
    (b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * 200 + b"\r\n", 431),
    (b"DELETE / HTTP/1.1\r\n\r\n", 501),
    (b"POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n", 413),
    (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
    (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", 413),
    (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 413),
    (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef", 400),
    (b"GET / HTTP/1.1\r\nHost: evil.example:80\r\n\r\n", 421),
    (b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
], ids=range(16))
def test_what_the_server_refuses(sent: bytes, status: int) -> None:
    """The app never sees it, and the connection ends."""
    app = Scripted(whole)
    with Server(app, limits=Limits(body=1000)) as server:
        answer = answer_to(server, sent)
    assert answer.startswith(b"HTTP/1.1 %d " % status), answer[:200]
    assert b'{"type": "error"' in answer
    assert [] == app.got


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "127.0.0.1", "[::1]:80", "LOCALHOST"])
def test_loopback_by_all_its_names(host: str) -> None:
    with Server(Scripted(whole)) as server:
        sent = f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
        assert answer_to(server, sent).endswith(b"\r\n\r\nnothing")


def drip(connection: socket.socket) -> None:
    connection.sendall(b"GET / HTTP/1.1\r\nX: ")
    while True:
        connection.sendall(b"x")
        threading.Event().wait(0.02)


@pytest.mark.parametrize("sent", [
    b"GET / HT", b"GET / HTTP/1.1\r\nX: ", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nab",
    b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"])
def test_a_request_that_never_ends(sent: bytes) -> None:
    """Its time is up, however slowly the client goes on."""
    app = Scripted(whole)
    with Server(app, limits=Limits(request_seconds=0.2)) as server:
        assert answer_to(server, sent).startswith(b"HTTP/1.1 408 ")
        with raw(server) as slow, pytest.raises(OSError):
            drip(slow)  # a byte now and then does not buy time
    assert [] == app.got


def test_idle_connections_and_too_many() -> None:
    """Without a request a connection is closed after its time; over the limit it is closed at once."""
    with Server(Scripted(whole), limits=Limits(idle_seconds=0.2, connections=1)) as server, raw(server) as first:
        assert b"" == answer_to(server)
        assert b"" == first.recv(1)


def test_a_client_that_takes_nothing() -> None:
    """The thread that writes to it ends after `write_seconds`."""
    ended = threading.Event()

    def flood(request: Received, out: Responder) -> None:
        try:
            out.send(200, b"x" * 50_000_000)
        finally:
            ended.set()

    with Server(Scripted(flood), limits=Limits(write_seconds=0.2)) as server, raw(server) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert ended.wait(10)


def test_expect_continue_and_blank_lines() -> None:
    """What older clients send."""
    with Server(Scripted(whole)) as server:
        answer = answer_to(server, b"\r\nPOST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n"
                                   b"Connection: close\r\n\r\n", b"ab")
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 ")
    assert answer.endswith(b"ab")


def test_a_unix_socket(tmp_path: Path) -> None:
    """Only its owner may use it, any host name is served, it is gone afterwards, and a dead one is replaced."""
    path = tmp_path / "gateway.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    with (Server(Scripted(whole), socket_path=path) as server,
          httpx.Client(transport=httpx.HTTPTransport(uds=str(path))) as client):
        assert 0o600 == stat.S_IMODE(path.stat().st_mode)
        assert server.address.port is None
        assert "nothing" == client.get("http://any.name/").text
        with pytest.raises(UserError, match="another process does"):
            Server(Scripted(whole), socket_path=path)
    assert not path.exists()


def test_places_where_nobody_can_listen(tmp_path: Path) -> None:
    """A file in the way stays; a path that is too long, a folder that is not there and a taken port are told."""
    (tmp_path / "file").write_text("kept")
    for path, said in ((tmp_path / "file", "there is a file"), (tmp_path / "no/x.sock", "cannot listen"),
                       (tmp_path / ("x" * 120), "cannot listen")):
        with pytest.raises(UserError, match=said):
            Server(Scripted(whole), socket_path=path)
    assert "kept" == (tmp_path / "file").read_text()
    with Server(Scripted(whole)) as server, pytest.raises(UserError, match="cannot listen on port"):
        Server(Scripted(whole), port=server.address.port or 0)
    with pytest.raises(UserError, match="cannot listen on port 99999"):
        Server(Scripted(whole), port=99999)


def test_it_listens_on_loopback_alone() -> None:
    """Whatever address the machine has, nobody is reached there."""
    with Server(Scripted(whole)) as server:
        assert server.url == f"http://127.0.0.1:{server.address.port}"
        with socket.socket() as probe:
            probe.settimeout(2)
            assert 0 != probe.connect_ex(("127.0.0.2", server.address.port or 0))


def test_stopping_leaves_nothing() -> None:
    """Threads, connections and file descriptors are gone; it may be stopped twice, also without a start."""
    before, descriptors = set(threading.enumerate()), len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(3):
        with Server(Scripted(whole)) as server, raw(server) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert connection.recv(10)
            server.stop()
        server.stop()
    Server(Scripted(whole)).stop()
    assert before == set(threading.enumerate())
    assert descriptors == len(os.listdir("/proc/self/fd"))  # noqa: PTH208


def test_a_listener_of_the_callers() -> None:
    """It may be of another network; a name that is no loopback's is refused there as well. It is closed in the end."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        with Server(Scripted(whole), listener=listener) as server:
            assert port == server.address.port
            assert b"hello" in answer_to(server, b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
                                                 b"Connection: close\r\n\r\nhello")
            assert b" 421 " in answer_to(server, b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
        assert -1 == listener.fileno()
