"""How an agent's program is pointed at the address where its model is: by the variables that such programs read."""

from __future__ import annotations

from collections.abc import Mapping

from evalkit.execute.models.provider import Endpoint

__all__ = ["asking", "hidden", "model_name"]


def asking(endpoint: Endpoint | None) -> dict[str, str]:
    """The variables that point a client of the endpoint's protocol there. Raises UserError where its key is none.

    Anthropic's API key is set to nothing on purpose beside a token: one that is set would win over it.
    """
    if endpoint is None:
        return {}
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


def hidden(env: Mapping[str, str], endpoint: Endpoint | None) -> dict[str, str]:
    """An environment to show: without the key."""
    if endpoint is None or not endpoint.key:
        return dict(env)
    return {name: f"[{endpoint.variable} redacted]" if value == endpoint.key else value for name, value in env.items()}
