"""What a provider's error is, whichever protocol told it: for the person to mend, to be waited for, or neither."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from attrs import frozen

from evalkit.execute.models.counts import mapping
from evalkit.execute.retry import passes_by_itself

__all__ = ["NO_ANSWER", "Trouble", "TroubleKind", "kind_of", "unanswered", "words_of"]

NO_ANSWER = "x-evalkit-no-answer"
"""The header by which a player tells that its file has no answer, and what of (`script`, `cassette`). Its status is
403, which programs take for final, and no key was refused.
"""

TroubleKind: TypeAlias = Literal["busy", "key", "model", "account", "request"]
"""busy: it passes by itself. key: refused. model: not there. account: no credit, or a quota that is used up for long.
request: anything else that asking again does not mend."""
_ACCOUNT = ("credit balance", "insufficient_quota", "insufficient_funds", "billing_hard_limit")
_LONGEST = 300
"""Characters of a provider's words that are shown."""


@frozen
class Trouble:
    """An error answer. words: the provider's. wait: seconds that its body asks to wait, if it does."""

    kind: TroubleKind
    words: str
    wait: float | None = None


def kind_of(status: int, text: str) -> TroubleKind:
    """What an HTTP status means, with the error's code and words for what a status alone leaves open."""
    folded = text.lower()
    if status == 402 or (status in (400, 403, 429) and any(word in folded for word in _ACCOUNT)):
        return "account"
    if status in (401, 403):
        return "key"
    if status == 404 or (status == 400 and "model_not_found" in folded):
        return "model"
    return "busy" if passes_by_itself(status) else "request"


def unanswered(headers: Mapping[str, str], file: str, body: object) -> tuple[str, str] | None:
    """What is to be told of a file that has no answer, and what to do; None for any other error. body: the error's."""
    kind = headers.get(NO_ANSWER)
    if kind is None:
        return None
    said = mapping(mapping(body).get("error")).get("message")
    first = str(said or "what was asked").partition("has no answer: ")[2].partition("\n")[0] or "the request"
    return f"{file} has no answer: {first}", (
        "the script needs a rule that fits it; docs/gateway.md tells how" if kind == "script" else
        "what is asked has changed since it was recorded: record it again; docs/gateway.md tells how")


def words_of(body: object) -> str:
    """The words of an error body: `{"error": {"message": …}}`, as all three protocols have it, or what compatible
    servers make of it (`{"error": "…"}`, `{"message": …}`, a list around it). "" where the body is no error.
    """
    if isinstance(body, list) and body:
        body = body[0]
    error: Mapping[str, Any] = mapping(body)
    said = error.get("error", error.get("detail", error.get("message") if "choices" not in error else None))
    if isinstance(said, Mapping):
        said = said.get("message") or said.get("type") or said.get("code") or said.get("status")
    return said[:_LONGEST] if isinstance(said, str) else ""
