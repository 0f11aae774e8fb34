"""Where models are reached, with which key and over which protocol. The only place that knows an address or a key's
variable.

A gateway's key reaches any model: `anthropic/…` over its Messages API, which keeps what Claude needs to go on with,
every other over its chat completions. Without one, the vendor that a model's slug names is asked itself, with its key:

    anthropic/…, claude-…     ANTHROPIC_API_KEY
    openai/…, gpt-…, o3 …     OPENAI_API_KEY      (and any slug of no known vendor, where OPENAI_BASE_URL is set)
    google/…, gemini-…        GEMINI_API_KEY

OPENAI_BASE_URL is the address of a server with OpenAI's chat completions, its version included (`http://host/v1`). The
vendor before the first `/` chooses the provider and is no part of the model's name there: `openai/org/name` is
`org/name`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

from evalkit.errors import UserError
from evalkit.values import Value, field

if TYPE_CHECKING:
    from evalkit.execute.models.chat import Protocol

__all__ = ["ADDRESS_VARIABLE", "KEY_VARIABLES", "Endpoint", "Endpoints", "Vendor", "find_endpoint", "keys_for",
           "missing_key", "plain_model", "vendor_of"]

GATEWAY_URL = "https://ai-gateway.vercel.sh"
ANTHROPIC_URL = "https://api.anthropic.com"
OPENAI_URL = "https://api.openai.com/v1"
GEMINI_URL = "https://generativelanguage.googleapis.com"
_GATEWAY_KEYS = ("AI_GATEWAY_API_KEY", "VERCEL_AI_GATEWAY_API_KEY")
ADDRESS_VARIABLE = "OPENAI_BASE_URL"

Vendor: TypeAlias = Literal["anthropic", "openai", "google"]
_KEYS: dict[Vendor, str] = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "google": "GEMINI_API_KEY"}
KEY_VARIABLES = tuple(_KEYS.values())
"""Of the vendors' own keys."""
_NAMES: dict[Vendor, str] = {
    "anthropic": r"claude[-.]",
    "openai": r"(gpt-|chatgpt-|codex-|o[1-9](-|$))",
    "google": r"(gemini|gemma)-",
}
"""How a model's own name begins."""


def vendor_of(model: str) -> Vendor | None:
    """Who makes a model, by its slug or its own name; None: nobody whom evalkit can ask itself."""
    before, slash, _ = model.lower().partition("/")
    for vendor, names in _NAMES.items():
        if before == vendor if slash else re.match(names, before):
            return vendor
    return None


def plain_model(name: str) -> str:
    """A model's name in one form, by whichever name it was asked for: without its vendor, Claude's without dots."""
    own = next((name.removeprefix(f"{vendor}/") for vendor in _NAMES if name.startswith(f"{vendor}/")), name)
    return own.replace(".", "-") if own.startswith("claude") else own


class Endpoint(Value):
    """An address where models are reached, and the key that opens it.

    style: the header that carries the key: `bearer` (gateways, OpenAI), `x-api-key` (Anthropic itself) or
    `x-goog-api-key` (Gemini). gateway: it takes whole slugs. compatible: it is not OpenAI itself that speaks OpenAI's
    protocol. upstream: of an address of evalkit's own gateway, the one that people know.
    """

    url: str
    variable: str
    key: str = field(repr=False)
    style: Literal["bearer", "x-api-key", "x-goog-api-key"] = "bearer"
    protocol: Protocol = "anthropic"
    compatible: bool = False
    upstream: str = ""

    @property
    def shown(self) -> str:
        """The address that people are told."""
        return self.upstream or self.url

    @property
    def gateway(self) -> bool:
        return self.variable in _GATEWAY_KEYS

    @property
    def opened_by(self) -> str:
        """The variable that decided how models are asked here: the key's (one for both of the gateway's), or the one
        with the address of another server with OpenAI's protocol.
        """
        if self.gateway:
            return _GATEWAY_KEYS[0]
        return ADDRESS_VARIABLE if self.compatible else self.variable

    def model(self, slug: str) -> str:
        """The model's name here: gateways take slugs (`anthropic/claude-x-4.8`), vendors their own names."""
        if self.gateway or (self.protocol == "anthropic" and self.style == "bearer"):
            return slug
        if self.protocol == "anthropic":
            return slug.removeprefix("anthropic/").replace(".", "-")
        return slug.removeprefix("openai/" if self.protocol == "openai" else "google/")

    def sound_key(self) -> str:
        """The key. Raises UserError where a character shows that it is none (an error further on would print it)."""
        if not all("!" <= char <= "~" for char in self.key):
            raise UserError(f"{self.variable} is no key: it has blanks, or characters outside ASCII",
                            hint="was more copied than the key?")
        return self.key

    def headers(self) -> dict[str, str]:
        """The header with the key."""
        if self.style == "bearer":
            return {"authorization": f"Bearer {self.sound_key()}"}
        return {self.style: self.sound_key()}


def find_endpoint(environ: Mapping[str, str], gateway: str | None, model: str | None = None, *,
                  only: Protocol | None = None) -> Endpoint | None:
    """Where a model is reached with the keys of the environment; None without one.

    gateway: another address for it. model: None for one of Anthropic's. only: the one protocol that is spoken by who
    asks; a vendor that has another one is no endpoint then.
    """
    vendor = "anthropic" if model is None else vendor_of(model)
    for variable in _GATEWAY_KEYS:
        if key := environ.get(variable, "").strip():
            base = (gateway or GATEWAY_URL).rstrip("/")
            if only == "anthropic" or (only is None and vendor == "anthropic"):
                return Endpoint(base, variable, key)
            if only == "gemini":
                return None
            return Endpoint(f"{base}/v1", variable, key, protocol="openai", compatible=True)
    address = environ.get(ADDRESS_VARIABLE, "").strip().rstrip("/")
    if vendor is None and address:
        vendor = "openai"
    if vendor is None or not (key := environ.get(_KEYS[vendor], "").strip()):
        return None
    found = _of_vendor(vendor, key, gateway.rstrip("/") if gateway else None, address)
    return found if only in (None, found.protocol) else None


def _of_vendor(vendor: Vendor, key: str, gateway: str | None, address: str) -> Endpoint:
    if vendor == "anthropic":
        return Endpoint(gateway or ANTHROPIC_URL, _KEYS[vendor], key, "x-api-key")
    if vendor == "google":
        return Endpoint(gateway or GEMINI_URL, _KEYS[vendor], key, "x-goog-api-key", "gemini")
    url = f"{gateway}/v1" if gateway else address or OPENAI_URL
    return Endpoint(url, _KEYS[vendor], key, protocol="openai", compatible=bool(address))


def keys_for(model: str) -> str:
    """The variables of which one has to be set for a model, in words."""
    vendor = vendor_of(model)
    return f"{_GATEWAY_KEYS[0]} or {_KEYS[vendor] if vendor else f'OPENAI_API_KEY with {ADDRESS_VARIABLE}'}"


_SELF_CHECK = "agent=oracle plays the reference answer"


def missing_key(what: str, model: str | None = None, *, only: Protocol | None = None,
                without: str = _SELF_CHECK) -> UserError:
    """The error for a model that is asked for without a key that opens it. only: as in `find_endpoint`.

    without: what to say to do without a model.
    """
    vendor = "anthropic" if model is None else vendor_of(model)
    if only == "anthropic" and vendor != "anthropic" and model is not None:
        return UserError(f"{what} speaks Anthropic's Messages API only, and cannot reach `{model}`",
                         hint=f"choose an anthropic/… model, or export {_GATEWAY_KEYS[0]}=…: a gateway has any for it; "
                              f"without a key, {without}")
    own = _KEYS[vendor] if vendor else f"OPENAI_API_KEY with {ADDRESS_VARIABLE}"
    needed = "a model, and no key is set" if model is None else f"the model `{model}`, and no key for it is set"
    return UserError(
        f"{what} needs {needed}",
        hint=f"export {_GATEWAY_KEYS[0]}=…   (or {_GATEWAY_KEYS[1]}, or {own}); "
        f"without a key, {without}")


class Endpoints(Value):
    """The endpoints that one run's environment opens. gateway: another address for all of them."""

    environ: Mapping[str, str] = field(repr=False)
    gateway: str | None = None

    def find(self, model: str | None, *, only: Protocol | None = None) -> Endpoint | None:
        """As `find_endpoint`."""
        return find_endpoint(self.environ, self.gateway, model, only=only)

    def of(self, model: str | None, what: str, *, only: Protocol | None = None) -> Endpoint:
        """The endpoint of a model that `what` needs. Raises UserError where no key opens one."""
        found = self.find(model, only=only)
        if found is None:
            raise missing_key(what, model, only=only)
        return found
