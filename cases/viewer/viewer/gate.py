"""The two steps of what cannot be taken back: the first call is answered with a token, the second one brings it.

A token is good once, for the same command with the same arguments, and as long as it would still do the same.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from typing import Any

from viewer.command import Rejected

__all__ = ["Gate"]


class Gate:
    """The tokens of one session. key: what they are made from; without one they cannot be foreseen by anybody."""

    def __init__(self, key: str | None = None) -> None:
        self._key = key.encode() if key else secrets.token_bytes(32)
        self._issued = 0
        self._open: dict[str, tuple[str, str]] = {}
        self._used: set[str] = set()

    def ask(self, name: str, arguments: Mapping[str, Any], what: str) -> dict[str, Any]:
        """The answer to a first call. what: what the second one will do."""
        self._issued += 1
        call = _call(name, arguments)
        token = hmac.new(self._key, f"{self._issued} {call}".encode(), hashlib.sha256).hexdigest()[:10]
        self._open[token] = (call, what)
        return {"confirmation": {"token": token, "what": what}}

    def take(self, token: str, name: str, arguments: Mapping[str, Any], what: str) -> None:
        """Use a token. Raises Rejected where it is not good for this call."""
        again = f"call {name} without `confirm` to get a token"
        if token in self._used:
            raise Rejected(f"the token has been used; {again}")
        if token not in self._open:
            raise Rejected(f"the token was never given; {again}")
        call, told = self._open[token]
        if call != _call(name, arguments):
            raise Rejected(f"the token was given for another call; {again}")
        if told != what:
            raise Rejected(f"things have changed since the token was given; {again}")
        del self._open[token]
        self._used.add(token)


def _call(name: str, arguments: Mapping[str, Any]) -> str:
    return f"{name} {json.dumps(arguments, sort_keys=True)}"
