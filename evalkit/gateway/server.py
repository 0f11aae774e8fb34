"""The HTTP side: connection -> `Recorded` request -> the answer that the gateway gives -> bytes.

Errors have the shape of https://docs.anthropic.com/en/api/errors. Nothing is logged.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

from evalkit.gateway.script import Answer, CutStream, Fault, Hang, JsonObject, Recorded
from evalkit.gateway.wire import message, stream_events

__all__ = ["Gateway", "Server"]

_CLOSE_SECONDS = 5.0
_LARGEST_BODY = 256 * 1024 * 1024  # bytes; a wrong length must not become an allocation


class Gateway(Protocol):
    """Whom the server asks. All methods are called on server threads, possibly several at once."""

    def arrive(self, record: Recorded) -> tuple[Answer, int]:
        """Note a messages request; its answer, and the answer's number."""
        ...

    def note_request(self, record: Recorded) -> None: ...
    def note_error(self, error: BaseException) -> None: ...


class Server(ThreadingHTTPServer):
    """The socket server, which knows its open connections so that `stop` can end them all.

    The standard one either waits for its threads without limit or forgets them.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, gateway: Gateway) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.gateway = gateway
        self.closing = threading.Event()
        self._open: dict[threading.Thread, socket.socket] = {}
        self._open_lock = threading.Lock()
        self._accepting = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)

    def start(self) -> None:
        self._accepting.start()

    def stop(self) -> None:
        deadline = time.monotonic() + _CLOSE_SECONDS
        self.closing.set()
        self.shutdown()
        self._accepting.join(_CLOSE_SECONDS)
        self.server_close()
        with self._open_lock:
            left = list(self._open.items())
        for _, connection in left:
            with contextlib.suppress(OSError):  # it may have ended by itself
                connection.shutdown(socket.SHUT_RDWR)
        for thread, _ in left:
            thread.join(max(0.0, deadline - time.monotonic()))

    def server_bind(self) -> None:
        # HTTPServer's own looks up the host's name, which can take seconds where there is no resolver.
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = threading.Thread(target=self._serve, args=(request, client_address), daemon=True)
        with self._open_lock:
            self._open[thread] = request
        thread.start()

    def _serve(self, request: Any, client_address: Any) -> None:
        try:
            self.process_request_thread(request, client_address)
        finally:
            with self._open_lock:
                self._open.pop(threading.current_thread(), None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, OSError):
            self.gateway.note_error(error)


class _Handler(BaseHTTPRequestHandler):
    """One connection, with any number of requests on it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each small event waits for the client's delayed acknowledgement
    server: Server

    def do_HEAD(self) -> None:
        self._respond()

    def do_GET(self) -> None:
        self._respond()

    def do_POST(self) -> None:
        self._respond()

    def handle(self) -> None:
        # A client that goes away, in whichever call it shows, ends the connection and is no error.
        with contextlib.suppress(OSError):
            super().handle()

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the base class refuses (a bad request line, another method), in the API's shape too."""
        self.close_connection = True
        self._send_fault(Fault(code, "invalid_request_error", message or "bad request"))

    def _respond(self) -> None:
        raw = self._read_body()
        if raw is None:
            self.send_error(400, "the request's body is incomplete or has no valid length")
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        record = Recorded(self.command, self.path.partition("?")[0], headers, _json_object(raw))
        route = (record.method, record.path)
        if route == ("POST", "/v1/messages"):
            answer, number = self.server.gateway.arrive(record)
            self._play(answer, record.body or {}, number)
            return
        self.server.gateway.note_request(record)
        if route in {("HEAD", "/"), ("GET", "/")}:
            self._send_json(200, {"ok": True})
        elif route != ("POST", "/v1/messages/count_tokens"):
            self._send_fault(Fault(404, "not_found_error", f"there is no {record.method} {record.path}"))
        elif record.body is None:
            self._send_fault(Fault(400, "invalid_request_error", "the request's body is not a JSON object"))
        else:
            self._send_json(200, {"input_tokens": len(raw) // 4 + 1})  # a common rule of thumb

    def _read_body(self) -> bytes | None:
        """The request's body, empty if it has none; None if its length is invalid or it ends too early."""
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            return self._read_chunks()
        length = self.headers.get("content-length", "0").strip()
        if not (length.isascii() and length.isdigit() and len(length) < 12 and int(length) <= _LARGEST_BODY):
            return None
        raw = self.rfile.read(int(length))
        return raw if len(raw) == int(length) else None

    def _read_chunks(self) -> bytes | None:
        body = bytearray()
        while True:
            try:
                size = int(self.rfile.readline(1024).partition(b";")[0], 16)
            except ValueError:
                return None
            if size <= 0 or len(body) + size > _LARGEST_BODY:
                break
            body += self.rfile.read(size)
            if self.rfile.readline(3) != b"\r\n":
                return None
        while self.rfile.readline(65536) not in {b"\r\n", b"\n", b""}:
            pass  # trailers
        return bytes(body) if size == 0 else None

    def _play(self, answer: Answer, body: JsonObject, number: int) -> None:
        model = str(body.get("model", "scripted"))
        if isinstance(answer, Fault):
            self._send_fault(answer)
            return
        if isinstance(answer, Hang):
            self.server.closing.wait(answer.seconds)
            self.close_connection = True
            return
        cut = answer.after_events if isinstance(answer, CutStream) else None
        reply = answer.reply if isinstance(answer, CutStream) else answer
        if reply.delay > 0 and self.server.closing.wait(reply.delay):
            self.close_connection = True
        elif body.get("stream") is True:
            self._send_stream(stream_events(reply, model, number), cut)
        else:
            self._send_json(200, message(reply, model, number), cut=cut is not None)

    def _send_fault(self, fault: Fault) -> None:
        headers = {} if fault.retry_after is None else {"Retry-After": f"{fault.retry_after:g}"}
        error = {"type": fault.kind, "message": fault.message}
        self._send_json(fault.status, {"type": "error", "error": error}, headers)

    def _send_json(
        self, status: int, value: JsonObject, headers: Mapping[str, str] | None = None, *, cut: bool = False
    ) -> None:
        raw = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(raw)))
        self.close_connection = self.close_connection or cut
        if self.close_connection and not cut:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(raw[: len(raw) // 2] if cut else raw)

    def _send_stream(self, events: Iterator[JsonObject], cut: int | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for index, event in enumerate(events):
            if cut is not None and index >= cut:
                break
            raw = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
        if cut is None:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True  # without the last chunk: the client must notice


def _json_object(raw: bytes) -> JsonObject | None:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):  # bad UTF-8 is a ValueError too
        return None
    return value if isinstance(value, dict) else None
