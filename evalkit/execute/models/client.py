"""Asks a model: a chat -> a reply, whichever protocol its endpoint speaks.

The library for HTTP is imported when it is needed: it takes a while. Clients are made in proxies.py alone.
Errors are told apart: a refused key or an unknown model is for the person to mend, an overloaded provider is asked
again (retry.py), an account without credit and a broken answer are the provider's. No redirect is followed: the key is
for one address alone. None of the errors says anything of what was asked.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, cast
from typing import Protocol as Interface

import orjson
from attrs import define, field, frozen

from evalkit.errors import HarnessError, UserError
from evalkit.execute.models.chat import Chat, Protocol, Reply, Request
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.models.proxies import client_for
from evalkit.execute.models.trouble import Trouble, unanswered
from evalkit.execute.outcome import Usage
from evalkit.execute.retry import Retries, RetryPolicy, seconds_asked_for
from evalkit.execute.secrets import Redactor

if TYPE_CHECKING:
    import httpx

__all__ = ["POLICY", "Answer", "ProviderError", "Refused", "Speaks", "TimeUp", "complete", "language"]

_LATER = "run again later: only what is missing runs"
CONNECT_LIMIT = 15.0
"""Seconds until there is a connection."""
LONGEST_ANSWER = 600.0
"""Seconds from a request to the end of its answer, where nobody sets a limit."""
LARGEST_ANSWER = 8_000_000
"""Bytes."""
POLICY = RetryPolicy(retries=3)


class Speaks(Interface):
    """What the module of a protocol has."""

    def encode(self, chat: Chat, endpoint: Endpoint) -> Request:
        """The chat as a request. Raises UserError for what the protocol has no words for."""
        ...

    def decode(self, response: Mapping[str, Any], turn: int = 0) -> Reply:
        """A response as a reply. Raises ValueError where it is none."""
        ...

    def amend(self, body: dict[str, Any], words: str) -> tuple[dict[str, Any], str] | None:
        """A refused request as its refusal asks for it, and a note of what it lost."""
        ...

    def trouble(self, status: int, body: object) -> Trouble:
        """An error answer, sorted."""
        ...

    def usage_of_stream(self, event: Mapping[str, Any]) -> Usage | None:
        """What an event of a stream says of the usage."""
        ...


def language(protocol: Protocol) -> Speaks:
    """The module of a protocol."""
    return cast(Speaks, importlib.import_module(f"evalkit.execute.models.{protocol}"))


@frozen
class Answer:
    """A reply, how often it was asked for again, and how many answers were lost on the way.

    A lost answer may have been paid for: the connection broke after the request was sent. notes: what was asked
    otherwise than meant, because the provider refuses it.
    """

    reply: Reply
    retries: int = 0
    lost: int = 0
    notes: tuple[str, ...] = ()


class ProviderError(HarnessError):
    """The provider did not answer, or answered something that is no answer.

    lost: as in `Answer`. transient: it passes by itself. retries: how often it was asked again in vain. wait: seconds
    that it asks to wait.
    """

    def __init__(self, message: str, *, hint: str = "", lost: int = 0, transient: bool = False,
                 retries: int = 0, wait: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.lost = lost
        self.transient = transient
        self.retries = retries
        self.wait = wait


class Refused(ProviderError):
    """The provider refused what the person set, a key or a model: every further question would be, too."""


class TimeUp(ProviderError):
    """The limit of time ran out while the provider was at work on its answer."""


def complete(endpoint: Endpoint, chat: Chat, *, policy: RetryPolicy = POLICY, limit: float | None = None,
             again_if_lost: bool = True, say: Callable[[str], None] = lambda _: None,
             transport: httpx.BaseTransport | None = None) -> Answer:
    """Ask for one reply.

    What passes by itself is tried again, as the policy has it, unless the answer says that this is of no use
    (`x-should-retry: false`, as evalkit's own gateway says when it has tried again itself); `say` is told of each
    retry. limit: seconds for all of it, pauses too. again_if_lost: whether to ask again after an answer that may have
    been paid for. Raises UserError (no address, what the protocol lacks), Refused (a key, an unknown model), TimeUp,
    or another ProviderError.
    """
    speaks = language(endpoint.protocol)
    request = speaks.encode(chat, endpoint)
    headers = {**endpoint.headers(), **request.headers, "content-type": "application/json"}
    asking = _Asking(endpoint, chat, speaks, Retries(policy, say), limit, again_if_lost)
    with client_for(endpoint.url, transport=transport) as client:
        return asking.ask(client, endpoint.url + request.path, headers, request.body)


@define
class _Asking:
    """One question, until it is answered or given up."""

    endpoint: Endpoint
    chat: Chat
    speaks: Speaks
    retries: Retries
    limit: float | None
    again_if_lost: bool
    lost: int = 0
    notes: list[str] = field(factory=list)
    began: float = field(factory=time.monotonic)

    def ask(self, client: httpx.Client, url: str, headers: dict[str, str], body: dict[str, Any]) -> Answer:
        import httpx

        refused: list[dict[str, Any]] = []
        while True:
            wait = None
            try:
                status, answer_headers, answer = self._post(client, url, headers, orjson.dumps(body))
            except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
                raise UserError(f"{self.endpoint.shown} is no address: {error}", hint="gateway=https://…") from None
            except httpx.HTTPError as error:
                said = self._clean(f"{self.endpoint.shown} cannot be reached: {error or type(error).__name__}")
                self.lost += not isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError)
                if self._left() <= 0:
                    self._time_is_up()
            else:
                if status == 200:
                    return Answer(self._reply(answer), self.retries.count, self.lost, tuple(self.notes))
                if told := unanswered(answer_headers, self.endpoint.shown, _json(answer)):
                    raise ProviderError(self._clean(told[0]), hint=told[1], lost=self.lost, retries=self.retries.count)
                trouble = self._trouble(status, answer)
                amended = self.speaks.amend(body, trouble.words) if trouble.kind == "request" else None
                if amended is not None and amended[0] not in refused:
                    refused.append(body)
                    body, note = amended
                    self.notes += [note] if note else []
                    continue
                said = f"{self.endpoint.shown} answered {status}: {trouble.words}"
                self._check(trouble, status, said)
                wait = seconds_asked_for(answer_headers.get("retry-after")) or trouble.wait
                if answer_headers.get("x-should-retry") == "false":
                    raise ProviderError(said, hint=_LATER, lost=self.lost, transient=True, retries=self.retries.count)
            self._again(said, wait)

    def _left(self) -> float:
        """Seconds of the limit that are left."""
        return float("inf") if self.limit is None else self.began + self.limit - time.monotonic()

    def _post(self, client: httpx.Client, url: str, headers: dict[str, str],
              body: bytes) -> tuple[int, httpx.Headers, bytes]:
        """Status, headers and body; a body over the limit is cut, which makes it no JSON."""
        import httpx

        longest = min(LONGEST_ANSWER if self.limit is None else self.limit, self._left())
        until = time.monotonic() + longest
        limits = httpx.Timeout(max(longest, 0.001), connect=min(CONNECT_LIMIT, max(longest, 0.001)))
        with client.stream("POST", url, headers=headers, content=body, timeout=limits) as response:
            parts, size = [], 0
            for part in response.iter_bytes():
                size += len(part)
                if size > LARGEST_ANSWER:
                    break
                if time.monotonic() > until:  # the client's own limit is for each part
                    raise httpx.ReadTimeout(f"its answer took over {longest:g} s")
                parts.append(part)
            return response.status_code, response.headers, b"".join(parts)

    def _reply(self, answer: bytes) -> Reply:
        try:
            data = orjson.loads(answer)
            if not isinstance(data, dict):
                raise ValueError("it is no JSON object")
            return self.speaks.decode(data, len(self.chat.turns))
        except ValueError as error:  # orjson's own is one, too
            said = "it is no JSON" if isinstance(error, orjson.JSONDecodeError) else str(error)
            raise ProviderError(
                f"{self.endpoint.shown} answered something that is no answer: {self._clean(said)}",
                hint=f"is that the address of an API like {_LIKE[self.endpoint.protocol]}?", lost=self.lost + 1,
                retries=self.retries.count) from None

    def _trouble(self, status: int, answer: bytes) -> Trouble:
        trouble = self.speaks.trouble(status, _json(answer))
        words = trouble.words or answer[:200].decode("utf-8", "replace").strip() or "nothing"
        return Trouble(trouble.kind, self._clean(words), trouble.wait)

    def _check(self, trouble: Trouble, status: int, said: str) -> None:
        """Raise for what asking again does not mend."""
        url, variable = self.endpoint.shown, self.endpoint.variable
        match trouble.kind:
            case "key":
                raise Refused(f"{url} refused the key in {variable} (status {status})",
                              hint=f"set {variable} to a valid key", lost=self.lost, retries=self.retries.count)
            case "model":
                raise Refused(f"{url} has no model `{self.chat.model}`: {trouble.words}", lost=self.lost,
                              hint="choose another one: model=SLUG or judge_model=SLUG", retries=self.retries.count)
            case "account":
                raise ProviderError(said, hint=f"the account of {variable} has no credit or no quota left",
                                    lost=self.lost, retries=self.retries.count)
            case "request":
                raise ProviderError(said, hint="the request, or the account: asking again does not help",
                                    lost=self.lost, retries=self.retries.count)

    def _again(self, said: str, wait: float | None) -> None:
        """Pause before the next try. Raises ProviderError where there is to be none."""
        policy = self.retries.policy
        if self.lost and not self.again_if_lost:
            pass
        elif (wait or 0.0) < self._left() and self.retries.again(said, wait):
            if self._left() > 0:
                return
        elif wait is not None and wait > min(policy.patience, self._left()):
            said += f" (and asks to wait {wait:.0f} s)"
        elif self.retries.count:
            said += f" (asked {self.retries.count + 1} times)"
        raise ProviderError(said, hint=_LATER, lost=self.lost, transient=True,
                            retries=self.retries.count, wait=wait)

    def _time_is_up(self) -> NoReturn:
        raise TimeUp(f"{self.endpoint.shown} gave no answer within {self.limit:g} s", lost=self.lost,
                     hint="raise the limit of time, or run again later", retries=self.retries.count)

    def _clean(self, text: str) -> str:
        """A text without the key: a provider may show it in its answer."""
        return Redactor.of({self.endpoint.variable: self.endpoint.key}).text(text)


def _json(answer: bytes) -> object:
    """An answer's JSON; None where it is none."""
    try:
        return orjson.loads(answer)
    except orjson.JSONDecodeError:
        return None


_LIKE: dict[Protocol, str] = {"anthropic": "Anthropic's Messages", "openai": "OpenAI's chat completions",
                              "gemini": "Gemini's generateContent"}
