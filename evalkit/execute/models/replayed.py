"""Endpoints for what is played: no key is needed, and each model is reached as it was when it was recorded.

Which key was set decides how an agent asks: over which protocol, by which name of the model, and what it is told of
both. So a cassette is asked as its recording was, whatever keys the person has now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import orjson
from attrs import frozen

from evalkit.execute.models.chat import Protocol
from evalkit.execute.models.provider import (
    ADDRESS_VARIABLE,
    KEY_VARIABLES,
    Endpoint,
    Endpoints,
    find_endpoint,
    plain_model,
)
from evalkit.values import evolve

__all__ = ["Replayed", "Way", "ways_in"]

_NONE = "no-key-is-needed"
_GATEWAY = {"AI_GATEWAY_API_KEY": _NONE}
_VENDORS = dict.fromkeys(KEY_VARIABLES, _NONE)
_COMPATIBLE = {**_VENDORS, ADDRESS_VARIABLE: "http://127.0.0.1"}


@frozen
class Way:
    """A way on which a model was asked. variable: the one that opened it, "" where the recording does not tell."""

    protocol: Protocol
    model: str
    variable: str = ""


class Replayed(Endpoints):
    """ways: those of the recording, read once for all; none of a script's. file: what plays, as people are told it."""

    file: str = ""
    ways: Callable[[], frozenset[Way]] = frozenset

    def find(self, model: str | None, *, only: Protocol | None = None) -> Endpoint | None:
        found = find_endpoint(self._environ(model), self.file, model, only=only)
        return evolve(found, upstream=self.file) if found is not None else None

    def _environ(self, model: str | None) -> Mapping[str, str]:
        """The variables that would have had this model asked as it was; a gateway's key where nobody knows better."""
        known = self.ways()
        if not known:
            return _GATEWAY
        wanted = [way for way in known if way.protocol == "anthropic"] if model is None else [
            way for way in known if plain_model(way.model) == plain_model(model)]
        # A program may have a name of its own for a model: then the key that was set decides.
        for ways in (wanted, [way for way in known if way.variable]):
            for environ in (_GATEWAY, _VENDORS, _COMPATIBLE):
                if any(_opens(environ, way, model or way.model) for way in ways):
                    return environ
        return _GATEWAY


def ways_in(path: Path) -> frozenset[Way]:
    """The ways on which the models of a cassette were asked; none for a script, nor for a file that who plays it tells
    to be wrong. No more of the file is read than that (gateway/cassette.py reads all of it).
    """
    ways = set()
    try:
        with path.open("rb") as file:
            if not file.readline().startswith(b'{"cassette":'):
                return frozenset()
            for line in file:
                if line.startswith(b'{"exchange":'):
                    exchange = orjson.loads(line)
                    head = exchange["request"]["head"]
                    ways.add(Way(head["protocol"], str(head["model"]), str(exchange.get("by", ""))))
    except (OSError, ValueError, KeyError, TypeError):
        return frozenset()
    return frozenset(ways)


def _opens(environ: Mapping[str, str], way: Way, model: str) -> bool:
    """Whether a model is asked on that way with these variables."""
    found = find_endpoint(environ, None, model, only=way.protocol)
    if found is None or (way.variable and way.variable != found.opened_by):
        return False
    return bool(way.variable) or found.model(model) == way.model
