"""Asks a model over the Messages API (https://docs.anthropic.com/en/api/messages).

The only place that builds an HTTP client, and that imports the library for it (when it is needed: it takes a while).
Errors are told apart: a refused key or an unknown model is for the person to mend, an overloaded provider is asked
again (retry.py), a broken answer is the provider's. None of them says anything of what was being judged.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import orjson
from attrs import frozen

from evalkit.errors import HarnessError, UserError
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.retry import Retries, RetryPolicy, passes_by_itself, seconds_asked_for
from evalkit.execute.secrets import Redactor

if TYPE_CHECKING:
    import httpx

__all__ = ["Answer", "ProviderError", "ask"]

LIMIT, CONNECT_LIMIT = 180.0, 15.0
"""Seconds without a byte, and until there is a connection."""
LONGEST_ANSWER = 600.0
"""Seconds from the request to the end of its answer."""
LARGEST_ANSWER = 8_000_000
"""Bytes."""
POLICY = RetryPolicy(retries=3)


@frozen
class Answer:
    """A response's JSON, how often it was asked for again, and how many answers were lost on the way.

    A lost answer may have been paid for: the connection broke after the request was sent.
    """

    response: dict[str, Any]
    retries: int = 0
    lost: int = 0


class ProviderError(HarnessError):
    """The provider did not answer, or answered something that is no answer. lost: as in `Answer`."""

    def __init__(self, message: str, *, hint: str = "", lost: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.lost = lost


def ask(endpoint: Endpoint, request: dict[str, Any], *, policy: RetryPolicy = POLICY,
        say: Callable[[str], None] = lambda _: None, transport: httpx.BaseTransport | None = None) -> Answer:
    """Send one request (model, messages, …).

    What passes by itself is tried again, as the policy has it; `say` is told of each retry. Raises `UserError` (refused
    key, unknown model) or `ProviderError`.
    """
    import httpx

    headers = {**endpoint.headers(), "anthropic-version": "2023-06-01", "content-type": "application/json"}
    body = orjson.dumps({**request, "model": endpoint.model(request["model"])})
    # A provider may show the key in its answer.
    clean = Redactor.of({endpoint.variable: endpoint.key}).text
    retries, lost = Retries(policy, say), 0
    limits = httpx.Timeout(LIMIT, connect=CONNECT_LIMIT)
    with httpx.Client(timeout=limits, follow_redirects=False, transport=transport, trust_env=True) as client:
        while True:
            asked_for = None
            try:
                status, answer_headers, answer = _post(client, f"{endpoint.url}/v1/messages", headers, body)
            except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
                raise UserError(f"{endpoint.url} is no address: {error}", hint="gateway=https://…") from None
            except httpx.HTTPError as error:
                said = clean(f"{endpoint.url} cannot be reached: {error or type(error).__name__}")
                lost += not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError)
            else:
                if status == 200:
                    return Answer(_json(endpoint, answer, lost), retries.count, lost)
                said = clean(f"{endpoint.url} answered {status}: {_message(answer)}")
                _check_persons_own(endpoint, request["model"], status, clean(_message(answer)))
                if not passes_by_itself(status):
                    raise ProviderError(said, hint="the request, or the account: asking again does not help", lost=lost)
                asked_for = seconds_asked_for(answer_headers.get("retry-after"))
            if not retries.again(said, asked_for):
                break
    if asked_for is not None and asked_for > policy.patience:
        said += f" (and asks to wait {asked_for:.0f} s)"
    elif retries.count:
        said += f" (asked {retries.count + 1} times)"
    raise ProviderError(said, hint="run again later: only what is missing runs", lost=lost)


def _check_persons_own(endpoint: Endpoint, model: str, status: int, words: str) -> None:
    """Raise UserError for what the person can mend."""
    if status in (401, 403):
        raise UserError(f"{endpoint.url} refused the key in {endpoint.variable} (status {status})",
                        hint=f"set {endpoint.variable} to a valid key")
    if status == 404:
        raise UserError(f"{endpoint.url} has no model `{model}`: {words}",
                        hint="choose another one: model=SLUG or judge_model=SLUG")


def _post(client: httpx.Client, url: str, headers: dict[str, str], body: bytes) -> tuple[int, httpx.Headers, bytes]:
    """Status, headers and body; a body over the limit is cut, which makes it no JSON."""
    import httpx

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


def _json(endpoint: Endpoint, answer: bytes, lost: int) -> dict[str, Any]:
    try:
        data = orjson.loads(answer)
    except orjson.JSONDecodeError:
        data = None
    if not isinstance(data, dict):
        raise ProviderError(f"{endpoint.url} answered something that is no message", hint="is that a Messages API?",
                            lost=lost + 1)
    return data


def _message(answer: bytes) -> str:
    """The provider's words, from an error body of the Messages API or from whatever came."""
    try:
        return str(orjson.loads(answer)["error"]["message"])[:300]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return answer[:200].decode("utf-8", "replace").strip() or "nothing"
