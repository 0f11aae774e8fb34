"""How an agent's program is pointed at the address where its model is: by the variables that such programs read."""

from __future__ import annotations

from collections.abc import Mapping

from evalkit.execute.models.provider import Endpoint

__all__ = ["asking", "hidden", "model_name"]


def asking(*endpoints: Endpoint | None) -> dict[str, str]:
    """The variables that point clients of the endpoints' protocols there. Raises UserError where a key is none.

    Anthropic's API key is set to nothing on purpose beside a token: one that is set would win over it.
    """
    found: dict[str, str] = {}
    for endpoint in endpoints:
        found |= _variables(endpoint) if endpoint is not None else {}
    return found


def _variables(endpoint: Endpoint) -> dict[str, str]:
    key = endpoint.sound_key()
    if endpoint.protocol == "openai":
        return {"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": key}
    if endpoint.protocol == "gemini":
        return {"GOOGLE_GEMINI_BASE_URL": endpoint.url, "GEMINI_API_KEY": key}
    if endpoint.style == "bearer":
        return {"ANTHROPIC_BASE_URL": endpoint.url, "ANTHROPIC_AUTH_TOKEN": key, "ANTHROPIC_API_KEY": ""}
    return {"ANTHROPIC_BASE_URL": endpoint.url, "ANTHROPIC_API_KEY": key}


def model_name(slug: str, endpoint: Endpoint | None) -> str:
    """A model as it is called at an endpoint."""
    return endpoint.model(slug) if endpoint is not None else slug


def hidden(env: Mapping[str, str], *endpoints: Endpoint | None) -> dict[str, str]:
    """An environment to show: without the keys. What evalkit's own gateway is shown is none."""
    keys = {endpoint.key: endpoint.variable for endpoint in endpoints
            if endpoint is not None and endpoint.key and not endpoint.upstream}
    return {name: f"[{keys[value]} redacted]" if value in keys else value for name, value in env.items()}
