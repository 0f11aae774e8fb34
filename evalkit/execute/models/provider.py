"""Where models are reached, and with which key. The only place that knows an address or a key's variable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen

from evalkit.errors import UserError

__all__ = ["Endpoint", "find_endpoint", "missing_key"]

GATEWAY_URL = "https://ai-gateway.vercel.sh"
ANTHROPIC_URL = "https://api.anthropic.com"
_GATEWAY_KEYS = ("AI_GATEWAY_API_KEY", "VERCEL_AI_GATEWAY_API_KEY")
_ANTHROPIC_KEY = "ANTHROPIC_API_KEY"


@frozen
class Endpoint:
    """An Anthropic Messages API: its address, and the key that opens it.

    style: the header that carries the key: `bearer` (gateways) or `x-api-key` (Anthropic itself).
    """

    url: str
    variable: str
    key: str = field(repr=False)
    style: Literal["bearer", "x-api-key"] = "bearer"

    def model(self, slug: str) -> str:
        """The model's name here: gateways take slugs (`anthropic/claude-x-4.8`), Anthropic its own names."""
        if self.style == "bearer":
            return slug
        return slug.removeprefix("anthropic/").replace(".", "-")

    def sound_key(self) -> str:
        """The key. Raises UserError where a character shows that it is none (an error further on would print it)."""
        if not all("!" <= char <= "~" for char in self.key):
            raise UserError(f"{self.variable} is no key: it has blanks, or characters outside ASCII",
                            hint="was more copied than the key?")
        return self.key

    def headers(self) -> dict[str, str]:
        if self.style == "bearer":
            return {"authorization": f"Bearer {self.sound_key()}"}
        return {"x-api-key": self.sound_key()}

    def claude_code(self) -> dict[str, str]:
        """The environment that points Claude Code here.

        The API key is set to nothing on purpose at a gateway: one that is set would win over the token.
        """
        if self.style == "bearer":
            return {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_AUTH_TOKEN": self.sound_key(), "ANTHROPIC_API_KEY": ""}
        return {"ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": self.sound_key()}


def find_endpoint(environ: Mapping[str, str], gateway: str | None) -> Endpoint | None:
    """The endpoint that the environment has a key for; `gateway` is another address for it. None without a key."""
    for variable in _GATEWAY_KEYS:
        if key := environ.get(variable, "").strip():
            return Endpoint((gateway or GATEWAY_URL).rstrip("/"), variable, key)
    if key := environ.get(_ANTHROPIC_KEY, "").strip():
        return Endpoint((gateway or ANTHROPIC_URL).rstrip("/"), _ANTHROPIC_KEY, key, "x-api-key")
    return None


def missing_key(what: str) -> UserError:
    """The error for a model that is asked for without a key."""
    return UserError(
        f"{what} needs a model, and no key is set",
        hint=f"export {_GATEWAY_KEYS[0]}=…   (or {_GATEWAY_KEYS[1]}, or {_ANTHROPIC_KEY}); "
        "without a key, agent=oracle plays the reference answer")
