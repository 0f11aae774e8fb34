"""A loopback server that speaks the Anthropic Messages API and plays a script.

Tests point a real client at it (the Claude Code command line, or our judge) and say beforehand what "the
model" answers. What a script says is in script.py, what goes over the wire in answering.py, the server in server.py;
here is which request gets which step.

A request to `/v1/messages` is a *main* request if it offers tools: Claude Code's own loop does, and so does
a judge that forces a tool call. Main requests take the script's steps in the order in which they arrive.
All others are *side* requests (Claude Code asks for titles and the like): they never use up a step, so a
script does not depend on how many of them a client version happens to send. A subagent of Claude Code offers
tools of its own, so its requests are main requests too.

Credentials stay in memory: the server logs nothing, and the repr of a recorded request masks them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import TracebackType

from evalkit.gateway.answering import send_answer, send_count
from evalkit.gateway.asked import call_of
from evalkit.gateway.connection import Received, Responder, error_body
from evalkit.gateway.script import Answer, Fault, JsonObject, Recorded, Reply, Step, Text
from evalkit.gateway.server import Server

__all__ = ["ScriptedGateway"]

_DONE = Reply((Text("done"),))


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
        side: Callable[[JsonObject], Answer | None] | None = None,
        on_exhausted: Reply = _DONE,
    ) -> None:
        self.on_exhausted = on_exhausted
        self._side = side
        self._script = tuple(script)
        self._played = 0
        self._answered = 0
        self._requests: list[Recorded] = []
        self._errors: list[BaseException] = []
        self._lock = threading.Lock()
        self._server: Server | None = None
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
        self._server = Server(self, on_error=self.note_error)
        self._url = self._server.url
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

    def handle(self, request: Received, out: Responder) -> None:
        """The server's side: one request, answered by the script or by what is fixed."""
        body = request.json()
        record = Recorded(request.method, request.path, request.headers, body)
        route = (record.method, record.path)
        call = call_of(request)
        if call is not None and call.action == "answer":
            answer, number = self.arrive(record)
            send_answer(answer, call, number, out)
            return
        with self._lock:
            self._requests.append(record)
        if route in {("HEAD", "/"), ("GET", "/")}:
            out.send(200, b'{"ok": true}')
        elif call is None:
            out.send(404, error_body("not_found_error", f"there is no {record.method} {record.path}"))
        elif body is None:
            out.send(400, error_body("invalid_request_error", "the request's body is not a JSON object"))
        else:
            send_count(call, request.body, out)

    def arrive(self, record: Recorded) -> tuple[Answer, int]:
        """Note a messages request and find its answer, with the answer's number (for ids).

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
            self.note_error(error)
            # Claude Code 2.1 repeats what got a 400 up to five times with fewer beta features, and a 401, a
            # 429 and a 5xx for minutes. A 403 it takes as final, so that the failing test ends at once.
            return Fault(403, "permission_error", f"the script raised {type(error).__name__}"), number

    def note_error(self, error: BaseException) -> None:
        with self._lock:
            self._errors.append(error)
