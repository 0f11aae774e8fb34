"""`open_play`: a file -> the app that plays it, be it a script or a cassette."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from evalkit.errors import UserError
from evalkit.gateway.cassette import is_cassette, read_cassette
from evalkit.gateway.connection import Received, Responder
from evalkit.gateway.play_cassette import CassettePlayer
from evalkit.gateway.play_script import ScriptPlayer
from evalkit.gateway.script_file import read_script

__all__ = ["Player", "open_play"]

_CASSETTES = ".jsonl"
_RECORD = "record it again; docs/gateway.md says how"
_LARGEST_SCRIPT = 16_000_000
"""Bytes."""


class Player(Protocol):
    """An app that plays a file. All methods may be called on any thread."""

    @property
    def answered(self) -> int:
        """How many requests got an answer from the file."""
        ...

    def handle(self, request: Received, out: Responder) -> None: ...

    def unknown(self) -> list[str]:
        """What was asked that the file has no answer to, in a line or a few each."""
        ...

    def notes(self) -> list[str]:
        """What else is worth a line at the end."""
        ...


def open_play(path: Path, *, exact: bool = False) -> Player:
    """The player of a script (YAML) or a cassette (JSON Lines), whatever the file is called, but that no script's name
    ends with `.jsonl`.

    exact: a cassette answers only requests that hold what was recorded, results of tools included. Raises `UserError`
    for a file that cannot be read or is wrong, with its lines.
    """
    try:
        if is_cassette(path):
            cassette = read_cassette(path)
            if not cassette.exchanges:
                raise UserError(f"the cassette {path} is empty: it holds no request and no answer", hint=_RECORD)
            return CassettePlayer(cassette, exact=exact)
        if path.suffix == _CASSETTES:
            is_empty = not path.read_bytes().strip()
            raise UserError(f"the cassette {path} is empty" if is_empty else
                            f"{path} is no cassette: its first line is not `{{\"cassette\": 1, …}}`",
                            hint=_RECORD if is_empty else f"{_RECORD}; a script is called NAME.yaml")
        if path.stat().st_size > _LARGEST_SCRIPT:
            raise UserError(f"{path} is too long for a script", hint=f"at most {_LARGEST_SCRIPT} bytes")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}",
                        hint="name a script or a cassette; docs/gateway.md describes both") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is no text", hint="a script is YAML in UTF-8; docs/gateway.md describes it") from None
    return ScriptPlayer(read_script(path, text))
