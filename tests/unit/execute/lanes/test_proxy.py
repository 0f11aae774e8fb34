"""The way out that a case asks for: to the places that it names, and to no other. All servers are on loopback."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from evalkit.execute.lanes.proxy import Proxy, host_and_port


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = f"{self.path} for {self.headers['Host']}; {self.headers.get('Proxy-Authorization')}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))[::-1]
        self.send_response(201)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@contextlib.contextmanager
def server(host: str = "127.0.0.1") -> Iterator[int]:
    with ThreadingHTTPServer((host, 0), Handler) as made:
        threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield int(made.server_address[1])
        made.shutdown()


@contextlib.contextmanager
def proxied(*places: str) -> Iterator[tuple[Proxy, int]]:
    """A proxy to these places, and its port."""
    proxy = Proxy.to(places)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        port = int(listener.getsockname()[1])
        with proxy.serve(listener):
            yield proxy, port


def fetch(port: int, method: str, target: str, body: bytes | None = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    with contextlib.closing(connection):
        connection.request(method, target, body, {"Proxy-Authorization": "Basic c2VjcmV0"})
        reply = connection.getresponse()
        return reply.status, reply.read()


def test_a_place_that_is_allowed() -> None:
    """Plain requests go on, without what is the proxy's own business."""
    with server() as there, proxied(f"127.0.0.1:{there}") as (proxy, port):
        assert fetch(port, "GET", f"http://127.0.0.1:{there}/a?b=c") == (
            200, f"/a?b=c for 127.0.0.1:{there}; None".encode())
        assert fetch(port, "POST", f"http://127.0.0.1:{there}/", b"abc" * 50_000) == (201, b"cba" * 50_000)
        assert proxy.notes() == (f"its network led to 127.0.0.1:{there}",)


def test_a_tunnel_to_it() -> None:
    """What a program says through CONNECT is nobody else's business."""
    with server() as there, proxied(f"127.0.0.1:{there}") as (_, port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.set_tunnel("127.0.0.1", there)
        with contextlib.closing(connection):
            for path in ("/one", "/two"):
                connection.request("GET", path)
                assert connection.getresponse().read().startswith(path.encode())


def test_anything_else_is_refused_and_noted() -> None:
    """Another port, another host, another name of the same host, a name that is nobody's: none is asked for."""
    with server() as there, server() as other, proxied(f"127.0.0.1:{there}") as (proxy, port):
        for target in (f"http://127.0.0.1:{other}/", f"http://127.0.0.2:{there}/", f"http://localhost:{there}/",
                       f"http://127.0.0.1:{there}@nowhere.invalid/", "ftp://127.0.0.1/", "/relative"):
            assert fetch(port, "GET", target)[0] == 403
        for host, to in (("127.0.0.1", other), ("nowhere.invalid", 443)):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.set_tunnel(host, to)
            with contextlib.closing(connection), pytest.raises(OSError, match="403"):
                connection.request("GET", "/")
        assert f"127.0.0.1:{other}" in proxy.refused
        assert "nowhere.invalid:443" in proxy.notes()[0]


def test_a_place_that_does_not_answer() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        gone = closed.getsockname()[1]
        with proxied(f"127.0.0.1:{gone}") as (_, port):
            assert fetch(port, "GET", f"http://127.0.0.1:{gone}/")[0] == 502


def test_rubbish_harms_nobody() -> None:
    """What is no request gets nothing, and the next one is answered."""
    with server() as there, proxied(f"127.0.0.1:{there}") as (_, port):
        for data in (b"", b"\0" * 100_000, b"CONNECT\r\n\r\n", b"GET http://[/ HTTP/1.1\r\n\r\n",
                     b"\xff \xff \xff\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", port), timeout=10) as client, contextlib.suppress(OSError):
                client.sendall(data)
                client.shutdown(socket.SHUT_WR)
                client.recv(100)
        assert fetch(port, "GET", f"http://127.0.0.1:{there}/")[0] == 200


def test_all_ends_with_it() -> None:
    """An open tunnel is closed."""
    with server() as there, proxied(f"127.0.0.1:{there}") as (_, port):
        client = socket.create_connection(("127.0.0.1", port), timeout=10)
        client.sendall(f"CONNECT 127.0.0.1:{there} HTTP/1.1\r\n\r\n".encode())
        assert b"200" in client.recv(100)
    assert client.recv(100) == b""
    client.close()


@pytest.mark.parametrize(("text", "found"), [
    ("a.example:443", ("a.example", 443)), ("A.Example.:80", ("a.example", 80)), ("[::1]:8", ("::1", 8)),
    ("a.example", None), (":80", None), ("a:0", None), ("a:65536", None), ("a b:1", None), ("a/b:1", None)])
def test_hosts_and_ports(text: str, found: tuple[str, int] | None) -> None:
    assert host_and_port(text) == found
