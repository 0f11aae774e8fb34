"""How the models of a run are asked: which endpoints, through which gateway, and what its failures become."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from attrs import frozen

from evalkit.execute.asking import Models
from evalkit.execute.leases import Traffic
from evalkit.execute.models.client import ProviderError
from evalkit.execute.models.provider import Endpoint, Endpoints
from evalkit.execute.outcome import AgentError, Ending, Usage
from evalkit.values import evolve

GATEWAY = Endpoints({"AI_GATEWAY_API_KEY": "a-key"})
VENDORS = Endpoints({"OPENAI_API_KEY": "a-key", "GEMINI_API_KEY": "another"})


@pytest.mark.parametrize(("keys", "model", "protocol", "expected"), [
    (GATEWAY, "anthropic/claude-x", None, ["anthropic", "openai"]),
    (GATEWAY, "openai/gpt-x", None, ["openai", "anthropic"]),
    (GATEWAY, "openai/gpt-x", "anthropic", ["anthropic"]),
    (VENDORS, "google/gemini-x", None, ["gemini"]),
    (VENDORS, "anthropic/claude-x", None, []),
    (None, "anthropic/claude-x", None, []),
])
def test_the_endpoint_that_serves_a_model_best_comes_first(
    keys: Endpoints | None, model: str, protocol: Any, expected: list[str]
) -> None:
    """At most one a protocol; of an agent that speaks one protocol, that one."""
    assert expected == [endpoint.protocol for endpoint in Models(keys).endpoints(model, protocol)]


@frozen
class Fake:
    """A gateway whose leases saw this."""

    traffic: Traffic
    token: str = "evalkit-token"

    @contextmanager
    def lease(self, *_: object, **__: object) -> Iterator[Fake]:
        yield self

    def endpoint(self, upstream: Endpoint) -> Endpoint:
        return evolve(upstream, url="http://127.0.0.1:1", key=self.token)

    def close(self) -> Traffic:
        return self.traffic


def through(traffic: Traffic, played: str = "") -> Models:
    """Models that are asked through such a gateway."""
    gateway: Any = Fake(traffic)
    return Models(GATEWAY, lambda: gateway, played)


def test_the_gateway_is_started_once_and_only_when_it_is_needed() -> None:
    """And what a dry run shows starts none."""
    started: list[Any] = []

    def start() -> Any:
        started.append(Fake(Traffic()))
        return started[0]

    models = Models(GATEWAY, start)
    shown = models.example("anthropic/claude-x", None)
    assert shown is not None
    assert ("http://127.0.0.1:PORT", "[EVALKIT_TOKEN]") == (shown.url, shown.key)
    assert [] == started
    assert models.gateway() is models.gateway()
    assert 1 == len(started)
    assert Models(GATEWAY).gateway() is None
    assert Models(GATEWAY).example("anthropic/claude-x", None) is None


def test_a_question_fails_with_what_the_gateway_saw() -> None:
    """Its words, its tries, and what was lost on the way; without a gateway the error is the client's."""
    endpoint = GATEWAY.of(None, "a test")

    def ask(models: Models) -> None:
        with models.asking("judge", endpoint, "m", lambda _: None) as lease:
            assert (lease is None) == (models.gateway() is None)
            raise ProviderError("URL answered 529")

    seen = Traffic(retries=3, broken=1, failure=AgentError("URL answered 529: busy (asked 4 times)"))
    with pytest.raises(ProviderError) as raised:
        ask(through(seen))
    assert ("URL answered 529: busy (asked 4 times)", 1, 3) == (
        raised.value.message, raised.value.lost, raised.value.retries)
    with pytest.raises(ProviderError, match=r"^URL answered 529$"):
        ask(Models(GATEWAY))


def test_what_is_out_of_the_ordinary_is_said() -> None:
    """Played, and direct; else nothing."""
    ending = Ending("completed", "done", Usage(cost=0.5, cost_source="price list"))
    played = through(Traffic(), "x.yaml").marked(ending)
    assert ("no model was called: played from x.yaml",) == played.notes
    assert "nothing was paid: price list, for what was played" == played.usage.cost_source
    assert ending is through(Traffic()).marked(ending)
    assert () == through(Traffic()).notes == Models().notes
    assert ("gateway=direct: the key of the provider was not kept back",) == Models(GATEWAY).notes
