"""A server on loopback that is all of the network that a browser has: its proxy, and the one site behind that.

The site `http://localhost/` is a folder, with the folders of installed packages as `/node_modules/`. A request for
anything else, by whatever protocol, is refused and noted: its name is never looked up.
"""

from __future__ import annotations

import mimetypes
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

__all__ = ["SITE", "Site", "serving"]

SITE = "http://localhost/"
"""A host that browsers trust as they trust https, so that a page may ask for a headset, a camera, a microphone."""
PACKAGES = "node_modules"
_MOST = 100
"""Refused hosts that are noted."""
_KINDS = {".js": "text/javascript", ".mjs": "text/javascript", ".cjs": "text/javascript", ".json": "application/json",
          ".wasm": "application/wasm", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml",
          ".glb": "model/gltf-binary", ".gltf": "model/gltf+json", ".png": "image/png", ".jpg": "image/jpeg",
          ".mp3": "audio/mpeg", ".wav": "audio/wav", ".txt": "text/plain", ".md": "text/plain"}


class Site:
    """root: the folder that is served. packages: folders of installed packages, the first that has a path has it."""

    def __init__(self, root: Path, packages: Sequence[Path]) -> None:
        self.root = root
        self.packages = tuple(packages)
        self.refused: dict[str, None] = {}
        self._lock = threading.Lock()

    def refuse(self, what: str) -> None:
        with self._lock:
            if len(self.refused) < _MOST:
                self.refused[what[:200]] = None

    def find(self, path: str) -> Path | None:
        """The file of a path. A link that leads out of its folder leads nowhere."""
        parts = [part for part in unquote(path, errors="replace").split("/") if part not in ("", ".")]
        if ".." in parts or any("\0" in part for part in parts):
            return None
        folders = [(self.root, parts)]
        if parts[:1] == [PACKAGES]:
            folders += [(folder, parts[1:]) for folder in self.packages]
        for folder, inner in folders:
            base = os.path.realpath(folder)
            found = os.path.realpath(os.path.join(base, *inner))  # noqa: PTH118 - Path.resolve raises for a loop of links
            if os.path.isdir(found):  # noqa: PTH112 - as above
                found = os.path.join(found, "index.html")  # noqa: PTH118 - as above
            if found.startswith(base + os.sep) and os.path.isfile(found):  # noqa: PTH113 - as above
                return Path(found)
        return None


@contextmanager
def serving(site: Site) -> Iterator[str]:
    """Serve a site while the `with` lasts; gives the proxy's address."""
    handler = type("Handler", (_Handler,), {"site": site})
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a browser leaves when it has what it wants."""


class _Handler(BaseHTTPRequestHandler):
    site: Site
    protocol_version = "HTTP/1.1"  # without a limit of time: a browser on a busy machine may take a file in late

    def do_GET(self) -> None:
        target = urlsplit(self.path)
        if target.scheme != "http" or target.netloc not in ("localhost", "localhost:80"):
            self.site.refuse(self.path if target.scheme else self.headers.get("Host", self.path))
            self._answer(HTTPStatus.FORBIDDEN)
            return
        found = self.site.find(target.path)
        if found is None:
            # Browsers ask for this one by themselves.
            self._answer(HTTPStatus.NO_CONTENT if target.path == "/favicon.ico" else HTTPStatus.NOT_FOUND)
            return
        kind = _KINDS.get(found.suffix.lower()) or mimetypes.guess_type(found.name)[0] or "application/octet-stream"
        try:
            self._answer(HTTPStatus.OK, found.read_bytes(), kind)
        except OSError:
            self._answer(HTTPStatus.NOT_FOUND)

    do_HEAD = do_GET

    def _refused(self) -> None:
        target = urlsplit(self.path)
        own = target.scheme == "http" and target.netloc in ("localhost", "localhost:80")
        if not own:
            self.site.refuse(self.path)
        self.close_connection = True  # a body that it may have is not read
        self._answer(HTTPStatus.METHOD_NOT_ALLOWED if own else HTTPStatus.FORBIDDEN)

    do_CONNECT = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _refused

    def _answer(self, status: HTTPStatus, body: bytes = b"", kind: str = "text/plain") -> None:
        self.send_response_only(status)
        if status is not HTTPStatus.NO_CONTENT:
            charset = "; charset=utf-8" if kind.startswith("text/") else ""
            self.send_header("Content-Type", kind + charset)
            self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what was asked for is told by the browser."""
