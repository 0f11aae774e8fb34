"""A loopback server that speaks the Anthropic Messages API and plays a script.

Tests point a real client at it (the Claude Code command line, or our judge) and say beforehand what "the
model" answers. Three layers, top to bottom in this file:

1. What a script says: `Reply`, `Fault`, `CutStream`, `Hang`, or a function from the request's body to one
   of these.
2. What goes over the wire, as pure functions: a reply → one message object, or → a list of stream events.
3. The server: connection → `Recorded` request → the step it gets → bytes.

A request to `/v1/messages` is a *main* request if it offers tools: Claude Code's own loop does, and so does
a judge that forces a tool call. Main requests take the script's steps in the order in which they arrive.
All others are *side* requests (Claude Code asks for titles and the like): they never use up a step, so a
script does not depend on how many of them a client version happens to send. A subagent of Claude Code offers
tools of its own, so its requests are main requests too.

The shapes follow https://docs.anthropic.com/en/api/messages, .../messages-streaming and .../errors.
Credentials stay in memory: the server logs nothing, and the repr of a recorded request masks them.
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, TypeAlias

from attrs import field, frozen

__all__ = [
    "Answer",
    "CutStream",
    "Fault",
    "Hang",
    "Recorded",
    "Reply",
    "ScriptedGateway",
    "Step",
    "Text",
    "ToolCall",
]

JsonObject: TypeAlias = dict[str, Any]

# Deltas are kept short so that even a small block arrives in several pieces, as from the real service: a
# client that forgets to join them fails in a test and not in the field.
_DELTA_CHARACTERS = 16
_CLOSE_SECONDS = 5.0
_LARGEST_BODY = 256 * 1024 * 1024  # bytes; a wrong length must not become an allocation
_CREDENTIAL_HEADERS = frozenset({"authorization", "proxy-authorization", "x-api-key", "cookie"})


# What a script says


@frozen
class Text:
    """A text block of a reply."""

    text: str


@frozen
class ToolCall:
    """A tool_use block of a reply. The gateway gives it an id that is unique within the gateway."""

    name: str
    input: Mapping[str, object]


@frozen
class Reply:
    """A message from the model; `delay` is in seconds and passes before the first byte of the answer."""

    blocks: tuple[Text | ToolCall, ...]
    stop_reason: str | None = None
    input_tokens: int = 100
    output_tokens: int = 20
    delay: float = 0.0

    @property
    def ending(self) -> str:
        """The stop reason that is sent: the given one, or else what the blocks imply."""
        if self.stop_reason is not None:
            return self.stop_reason
        return "tool_use" if any(isinstance(block, ToolCall) for block in self.blocks) else "end_turn"


@frozen
class Fault:
    """An HTTP error in the API's error shape; `retry_after` is in seconds and becomes a header."""

    status: int
    kind: str = "api_error"
    message: str = "the script says that this request fails"
    retry_after: float | None = None


@frozen
class CutStream:
    """A reply whose connection breaks after `after_events` stream events, before the stream is complete.

    A request that does not stream gets half of the body that its Content-Length promised.
    """

    after_events: int
    reply: Reply = Reply((Text("this reply is cut off before it is complete"),))


@frozen
class Hang:
    """No answer at all: the connection is held for `seconds`, or until the gateway closes, then dropped."""

    seconds: float


Answer: TypeAlias = Reply | Fault | CutStream | Hang
Step: TypeAlias = Answer | Callable[[JsonObject], Answer]


def _masked(headers: Mapping[str, str]) -> str:
    return repr({name: "***" if name in _CREDENTIAL_HEADERS else value for name, value in headers.items()})


@frozen
class Recorded:
    """One request as it came in.

    `path` is without the query, header names are in lower case, and `body` is None when there was no body
    or it was not a JSON object.
    """

    method: str
    path: str
    headers: Mapping[str, str] = field(repr=_masked)
    body: JsonObject | None

    @property
    def is_main(self) -> bool:
        """Whether this is a messages request that offers tools, and so takes a step of the script."""
        if self.method != "POST" or self.path != "/v1/messages" or self.body is None:
            return False
        tools = self.body.get("tools")
        return isinstance(tools, list) and bool(tools)


# What goes over the wire


def _content(reply: Reply, number: int) -> list[JsonObject]:
    content: list[JsonObject] = []
    for index, block in enumerate(reply.blocks):
        if isinstance(block, Text):
            content.append({"type": "text", "text": block.text})
        else:
            call = {"id": f"toolu_scripted_{number:04d}_{index}", "name": block.name}
            content.append({"type": "tool_use", **call, "input": dict(block.input)})
    return content


def _message(reply: Reply, model: str, number: int) -> JsonObject:
    return {
        "id": f"msg_scripted_{number:04d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": _content(reply, number),
        "stop_reason": reply.ending,
        "stop_sequence": None,
        "usage": {
            "input_tokens": reply.input_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": reply.output_tokens,
        },
    }


def _block_events(index: int, block: JsonObject) -> Iterator[JsonObject]:
    if block["type"] == "text":
        whole, kind, part = block["text"], "text_delta", "text"
        opening = {**block, "text": ""}
    else:
        whole, kind, part = json.dumps(block["input"]), "input_json_delta", "partial_json"
        opening = {**block, "input": {}}
    yield {"type": "content_block_start", "index": index, "content_block": opening}
    for start in range(0, len(whole), _DELTA_CHARACTERS):
        delta = {"type": kind, part: whole[start : start + _DELTA_CHARACTERS]}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _stream_events(reply: Reply, model: str, number: int) -> Iterator[JsonObject]:
    """The events of a streamed reply, in the order of the API; the token counts are split as it does."""
    whole = _message(reply, model, number)
    opening = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": opening}
    for index, block in enumerate(whole["content"]):
        yield from _block_events(index, block)
    ending = {"stop_reason": reply.ending, "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": reply.output_tokens}}
    yield {"type": "message_stop"}


# The server


class ScriptedGateway:
    """Serves on a free port of 127.0.0.1 between `__enter__` and `close`, and plays `script`.

    `side` may answer side requests; where it returns None (or is not given) they get a short text. After the
    last step every main request gets `on_exhausted`. Steps and `side` are called on server threads, possibly
    several at once. If one of them raises, its request gets a 403, and leaving the `with` block raises the
    first such exception: a script can assert on what it is asked.
    """

    def __init__(
        self,
        script: Sequence[Step],
        *,
        side: Callable[[JsonObject], Reply | None] | None = None,
        on_exhausted: Reply = Reply((Text("done"),)),
    ) -> None:
        self.on_exhausted = on_exhausted
        self._side = side
        self._script = tuple(script)
        self._played = 0
        self._answered = 0
        self._requests: list[Recorded] = []
        self._errors: list[BaseException] = []
        self._lock = threading.Lock()
        self._server: _Server | None = None
        self._url: str | None = None

    @property
    def url(self) -> str:
        """The base URL, without a slash at the end. It stays readable after `close`."""
        if self._url is None:
            raise RuntimeError("the gateway has no address before it is entered as a context manager")
        return self._url

    @property
    def requests(self) -> list[Recorded]:
        """All requests so far, in the order in which they arrived (a copy)."""
        with self._lock:
            return list(self._requests)

    @property
    def main_requests(self) -> list[JsonObject]:
        """The bodies of the main requests so far, in order."""
        return [record.body for record in self.requests if record.is_main and record.body is not None]

    @property
    def remaining(self) -> int:
        """How many steps of the script no request has taken yet."""
        with self._lock:
            return len(self._script) - self._played

    def __enter__(self) -> ScriptedGateway:
        if self._url is not None:
            raise RuntimeError("a gateway can be entered once")
        self._server = _Server(self)
        self._url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if error is None and self._errors:
            raise self._errors[0]

    def close(self) -> None:
        """Drop every connection and end every thread; a second call does nothing.

        Takes at most a few seconds. Only a thread that is stuck in a step of the script can outlive it.
        """
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.stop()

    def _arrive(self, record: Recorded) -> tuple[Answer, int]:
        """Note the request and find its answer, with the answer's number (for ids).

        One lock covers noting the request and taking the step, so that the n-th main request recorded is the
        one that got the n-th step. The step itself runs outside it: it may be slow, or look at `requests`.
        """
        with self._lock:
            self._requests.append(record)
            self._answered += 1
            number = self._answered
            step: Step = self.on_exhausted
            if record.is_main and self._played < len(self._script):
                step = self._script[self._played]
                self._played += 1
        body = record.body
        if body is None:
            return Fault(400, "invalid_request_error", "the request's body is not a JSON object"), number
        try:
            if not record.is_main:
                return (self._side(body) if self._side else None) or Reply((Text("ok"),)), number
            return step(body) if callable(step) else step, number
        except BaseException as error:  # noqa: BLE001 - pytest.fail raises no Exception
            self._note_error(error)
            # Claude Code 2.1 repeats what got a 400 up to five times with fewer beta features, and a 401, a
            # 429 and a 5xx for minutes. A 403 it takes as final, so that the failing test ends at once.
            return Fault(403, "permission_error", f"the script raised {type(error).__name__}"), number

    def _note_request(self, record: Recorded) -> None:
        with self._lock:
            self._requests.append(record)

    def _note_error(self, error: BaseException) -> None:
        with self._lock:
            self._errors.append(error)


class _Server(ThreadingHTTPServer):
    """The socket server, which knows its open connections so that `stop` can end them all.

    The standard one either waits for its threads without limit or forgets them.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, gateway: ScriptedGateway) -> None:
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
            self.gateway._note_error(error)


class _Handler(BaseHTTPRequestHandler):
    """One connection, with any number of requests on it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each small event waits for the client's delayed acknowledgement
    server: _Server

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
            answer, number = self.server.gateway._arrive(record)
            self._play(answer, record.body or {}, number)
            return
        self.server.gateway._note_request(record)
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
            self._send_stream(_stream_events(reply, model, number), cut)
        else:
            self._send_json(200, _message(reply, model, number), cut=cut is not None)

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
