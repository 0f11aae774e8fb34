"""The two steps of a command that needs a confirmation, as docs/language.md has them under `registry`.

The first call is answered with an object that has `{"confirmation": {"token": …}}`, and does nothing; the same call
with the token as its argument `confirm` acts.
"""

from __future__ import annotations

import orjson

__all__ = ["CONFIRM", "asked_token"]

CONFIRM = "confirm"
"""The argument that takes the token."""
_NAMED = '"confirmation"'


def asked_token(text: str) -> str | None:
    """The token that a call's answer asks to be called with again; None where it asks for nothing."""
    if _NAMED not in text:
        return None
    try:
        told = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    asked = told.get("confirmation") if isinstance(told, dict) else None
    token = asked.get("token") if isinstance(asked, dict) else None
    return token if isinstance(token, str) and token else None
