"""Cassettes: what was asked of a model and answered, in a file that holds no key and no account.

JSON Lines. The first line is `{"cassette": 1, …}`. A part of requests (a system text, a list of tools, a turn) has a
line of its own, `{"part": DIGEST, "is": …}`, before the first exchange that refers to it, so that a long conversation
takes as much room as its longest request. An exchange is `{"exchange": NUMBER, "request": {…}, "answer": {…}}`: the
request as `Normal` has it, the answer with its body's chunks as they came, as texts (or in base64). Numbers tell in
which order requests came; lines stand in the order in which answers ended.

A file is written beside its place and gets its name when it is closed: what has the name is whole.
"""

from __future__ import annotations

import base64
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from attrs import frozen

from evalkit import __version__
from evalkit.errors import HarnessError, UserError
from evalkit.gateway.normal import Normal, digest_of

__all__ = ["Cassette", "CassetteWriter", "Exchanged", "Played", "is_cassette", "read_cassette"]

VERSION = 1
_OPENING = b'{"cassette":'
_HINT = "record it again; docs/gateway.md says how"


@frozen
class Played:
    """An answer. chunks: of its body, as texts or as they are. whole: it came in one piece, with its length told.

    cut: the connection broke before its end.
    """

    status: int
    headers: Mapping[str, str]
    chunks: tuple[str | bytes, ...]
    whole: bool = False
    cut: bool = False


@frozen
class Exchanged:
    """number: from 1, in the order in which requests came. by: the variable that opened the provider, "" where the
    cassette does not tell.
    """

    number: int
    request: Normal
    answer: Played
    by: str = ""


@frozen
class Cassette:
    """path: where it was read. exchanges: in the order of their numbers."""

    path: str
    exchanges: tuple[Exchanged, ...]


def is_cassette(path: Path) -> bool:
    """Whether a file starts as a cassette does. Raises OSError."""
    with path.open("rb") as file:
        return file.read(len(_OPENING)) == _OPENING


# ---- reading ----
def read_cassette(path: Path) -> Cassette:
    """The cassette. Raises OSError, or `UserError` with the line that is damaged."""
    parts: dict[str, Any] = {}
    exchanges: list[Exchanged] = []
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            try:
                line = json.loads(raw)
                if number == 1:
                    _check_version(path, line["cassette"])
                elif "part" in line:
                    parts[line["part"]] = line["is"]
                else:
                    exchanges.append(_exchange(line, parts))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
                raise UserError(f"{path}:{number}: the cassette is damaged: {type(error).__name__}: {error}",
                                hint=_HINT) from None
    return Cassette(str(path), tuple(sorted(exchanges, key=lambda each: each.number)))


def _check_version(path: Path, version: Any) -> None:
    if version != VERSION:
        raise UserError(f"{path} is a cassette of version {version}, this evalkit plays {VERSION}", hint=_HINT)


def _exchange(line: Any, parts: Mapping[str, Any]) -> Exchanged:
    request, answer = line["request"], line["answer"]
    normal = Normal(dict(request["head"]), str(parts[request["system"]]), list(parts[request["tools"]]),
                    [{"role": str(parts[turn]["role"]), "parts": list(parts[turn]["parts"])}
                     for turn in request["turns"]])
    chunks = tuple(base64.b64decode(chunk["base64"], validate=True) if isinstance(chunk, dict) else str(chunk)
                   for chunk in answer["chunks"])
    headers = {str(name): str(value) for name, value in answer["headers"].items()}
    status = int(answer["status"])
    if not 100 <= status <= 599 or any("\n" in text or "\r" in text for item in headers.items() for text in item):
        raise ValueError("no such status, or a header of several lines")
    return Exchanged(int(line["exchange"]), normal,
                     Played(status, headers, chunks, answer.get("whole") is True, answer.get("cut") is True),
                     str(line.get("by", "")))


# ---- writing ----
class CassetteWriter:
    """Writes a cassette that is not there yet. `add` may be called on several threads at once."""

    def __init__(self, path: Path) -> None:
        if path.exists():
            raise UserError(f"{path} is there already",
                            hint="a cassette is never overwritten: name another, or delete it")
        self.path = path
        self.written = 0
        self._lock = threading.Lock()
        self._parts: set[str] = set()
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] | None = self._temporary.open("xb")
        except OSError as error:
            raise UserError(f"cannot write {path}: {error.strerror or error}") from None
        self._write({"cassette": VERSION, "evalkit": __version__})

    def add(self, exchange: Exchanged) -> None:
        """One exchange, on its way to the disk when this returns. After `close` it is dropped."""
        request, answer = exchange.request, exchange.answer
        with self._lock:
            if self._file is None:
                return
            line = {
                "exchange": exchange.number, **({"by": exchange.by} if exchange.by else {}),
                "request": {"head": request.head, "system": self._part(request.system),
                            "tools": self._part(request.tools), "turns": [self._part(turn) for turn in request.turns]},
                "answer": {"status": answer.status, "headers": dict(answer.headers), "whole": answer.whole,
                           "cut": answer.cut,
                           "chunks": [chunk if isinstance(chunk, str) else {"base64": base64.b64encode(chunk).decode()}
                                      for chunk in answer.chunks]},
            }
            self._write(line)
            self.written += 1

    def _part(self, value: Any) -> str:
        name = digest_of(value)[:20]
        if name not in self._parts:
            self._parts.add(name)
            self._write({"part": name, "is": value})
        return name

    def _write(self, line: Any) -> None:
        assert self._file is not None
        try:
            self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise HarnessError(f"cannot write {self._temporary}: {error.strerror or error}",
                               hint="is the disk full?") from None

    def close(self) -> None:
        """Give the file its name; one without exchanges is removed. A second call does nothing."""
        with self._lock:
            file, self._file = self._file, None
            if file is None:
                return
            try:
                file.flush()
                os.fsync(file.fileno())
                file.close()
                if self.written:
                    os.link(self._temporary, self.path)  # unlike a rename, it replaces nothing
                self._temporary.unlink()
            except OSError as error:
                raise HarnessError(f"cannot write {self.path}: {error.strerror or error}",
                                   hint=f"what was recorded is in {self._temporary}") from None
