"""Asks a model over the Messages API (https://docs.anthropic.com/en/api/messages).

The only place that builds an HTTP client. Errors are told apart: a refused key or an unknown model is for the person to
mend, an overloaded provider is asked again, a broken answer is the provider's. None of them says anything of what was
being judged.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import httpx
import orjson

from evalkit.errors import HarnessError, UserError
from evalkit.execute.provider import Endpoint
from evalkit.execute.secrets import Redactor

__all__ = ["ProviderError", "ask"]

LIMIT = httpx.Timeout(180.0, connect=15.0)
"""Seconds."""
LONGEST_ANSWER = 600.0
"""Seconds from the request to the end of its answer."""
LARGEST_ANSWER = 8_000_000
"""Bytes."""
TRIES = 4
_LONGEST_PAUSE = 60.0
_AGAIN = frozenset({408, 409, 429, 500, 502, 503, 504, 529})


class ProviderError(HarnessError):
    """The provider did not answer, or answered something that is no answer."""


def ask(endpoint: Endpoint, request: dict[str, Any], *, sleep: Callable[[float], None] = time.sleep,
        transport: httpx.BaseTransport | None = None) -> dict[str, Any]:
    """Send one request (model, messages, …) and return the response's JSON.

    Overload and connection errors are tried again, at most four times in all, after the provider's Retry-After or a
    growing pause with jitter. Raises `UserError` (refused key, unknown model) or `ProviderError`.
    """
    headers = {**endpoint.headers(), "anthropic-version": "2023-06-01", "content-type": "application/json"}
    body = orjson.dumps({**request, "model": endpoint.model(request["model"])})
    # A provider may show the key in its answer.
    clean = Redactor.of({endpoint.variable: endpoint.key}).text
    said, pause = "", 0.0
    with httpx.Client(timeout=LIMIT, follow_redirects=False, transport=transport, trust_env=True) as client:
        for attempt in range(TRIES):
            if attempt:
                sleep(pause)
            pause = min(_LONGEST_PAUSE, 2.0**attempt) * random.uniform(0.5, 1.0)
            try:
                status, answer_headers, answer = _post(client, f"{endpoint.url}/v1/messages", headers, body)
            except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
                raise UserError(f"{endpoint.url} is no address: {error}", hint="gateway=https://…") from None
            except httpx.HTTPError as error:
                said = clean(f"{endpoint.url} cannot be reached: {error or type(error).__name__}")
                continue
            if status == 200:
                return _json(endpoint, answer)
            said = clean(f"{endpoint.url} answered {status}: {_message(answer)}")
            if status in (401, 403):
                raise UserError(f"{endpoint.url} refused the key in {endpoint.variable} (status {status})",
                                hint=f"set {endpoint.variable} to a valid key")
            if status == 404:
                raise UserError(clean(f"{endpoint.url} has no model `{request['model']}`: {_message(answer)}"),
                                hint="choose another one: model=SLUG or judge_model=SLUG")
            if status not in _AGAIN:
                break
            pause = max(pause, min(_LONGEST_PAUSE, _retry_after(answer_headers)))
    raise ProviderError(said, hint="run again later: only what is missing runs")


def _post(client: httpx.Client, url: str, headers: dict[str, str], body: bytes) -> tuple[int, httpx.Headers, bytes]:
    """Status, headers and body; a body over the limit is cut, which makes it no JSON."""
    until = time.monotonic() + LONGEST_ANSWER
    with client.stream("POST", url, headers=headers, content=body) as response:
        parts, size = [], 0
        for part in response.iter_bytes():
            size += len(part)
            if size > LARGEST_ANSWER:
                break
            if time.monotonic() > until:  # the client's own limit is for each part
                raise httpx.ReadTimeout(f"its answer took over {LONGEST_ANSWER:g} s")
            parts.append(part)
        return response.status_code, response.headers, b"".join(parts)


def _json(endpoint: Endpoint, answer: bytes) -> dict[str, Any]:
    try:
        data = orjson.loads(answer)
    except orjson.JSONDecodeError:
        data = None
    if not isinstance(data, dict):
        raise ProviderError(f"{endpoint.url} answered something that is no message", hint="is that a Messages API?")
    return data


def _message(answer: bytes) -> str:
    """The provider's words, from an error body of the Messages API or from whatever came."""
    try:
        return str(orjson.loads(answer)["error"]["message"])[:300]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return answer[:200].decode("utf-8", "replace").strip() or "nothing"


def _retry_after(headers: httpx.Headers) -> float:
    try:
        return max(0.0, float(headers.get("retry-after", "0")))
    except ValueError:  # a date: no provider of ours sends one
        return 0.0
