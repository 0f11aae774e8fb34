"""A stand-in on loopback for the parts of Braintrust's API that the SDK asks for. It keeps rows as the real one does: a
row that comes again under its id is the same row.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

__all__ = ["Braintrust", "braintrust"]


class Braintrust:
    """What the stand-in was asked and keeps. api: the address that it names at sign-in (default: its own)."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.api: str | None = None
        self.broken = False
        self.url = ""
        self.asked: list[str] = []
        self.experiments: dict[tuple[str, str], dict[str, Any]] = {}
        self.rows: dict[str, dict[str, Any]] = {}

    def answer(self, method: str, path: str, key: str, body: Any) -> tuple[int, Any]:
        self.asked.append(f"{method} {path}")
        if key != f"Bearer {self.key}":
            return 401, {"error": f"no such key: {key}"}
        if path == "/api/apikey/login":
            return 200, {"org_info": [{"id": "o1", "name": "us", "api_url": self.api or self.url, "proxy_url": self.url,
                                       "realtime_url": None, "is_universal_api": True, "git_metadata": None}]}
        if path == "/version":
            return 200, {"version": "1"}
        if path == "/v1/project":
            return 200, {"id": f"p-{body['name']}", "name": body["name"], "org_id": "o1"}
        if path == "/v1/experiment":
            place = (body["project_id"], body["name"])
            assert not body["ensure_new"]
            found = self.experiments.setdefault(place, {**body, "id": f"e-{len(self.experiments)}"})
            return 200, found
        if path == "/logs3":
            if self.broken:
                return 500, {"error": f"something broke with {key}"}
            for row in body["rows"]:
                self.rows[row["id"]] = row
            return 200, {"ids": [row["id"] for row in body["rows"]]}
        return 404, {"error": f"no {path}"}


@contextmanager
def braintrust(key: str) -> Iterator[Braintrust]:
    """Run the stand-in on a port of its own."""
    state = Braintrust(key)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        stands_for: ClassVar[Braintrust] = state

        def _answer(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, said = state.answer(self.command, self.path.partition("?")[0], self.headers["Authorization"] or "",
                                        json.loads(data) if data else None)
            body = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = _answer

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
