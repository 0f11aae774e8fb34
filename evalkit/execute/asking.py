"""How the models of one run are asked: through evalkit's own gateway, or directly. Little is imported until one is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from evalkit.values import evolve

if TYPE_CHECKING:
    from evalkit.execute.leases import Gateway, Lease
    from evalkit.execute.models.chat import Protocol
    from evalkit.execute.models.provider import Endpoint, Endpoints
    from evalkit.execute.outcome import Ending

__all__ = ["Models"]


class Models:
    """How the models of one run are asked. Any thread may ask.

    keys: the endpoints that its keys open; None: there are none. start: starts the gateway, when it is first needed;
    None: models are asked directly, with the person's key. played: what plays their part, as the person named it.
    """

    def __init__(self, keys: Endpoints | None = None, start: Callable[[], Gateway] | None = None,
                 played: str = "") -> None:
        self.keys, self.played = keys, played
        self._start = start
        self._started: Gateway | None = None
        self._lock = threading.Lock()

    def endpoints(self, model: str | None, protocol: Protocol | None) -> list[Endpoint]:
        """The endpoints of a model, at most one a protocol, the one that serves it best first. protocol: the only one
        that is spoken.
        """
        if self.keys is None:
            return []
        wanted: list[Protocol | None] = [protocol] if protocol else [None, "anthropic", "openai", "gemini"]
        found: dict[Protocol, Endpoint] = {}
        for only in wanted:
            if (endpoint := self.keys.find(model, only=only)) is not None:
                found.setdefault(endpoint.protocol, endpoint)
        return list(found.values())

    def example(self, model: str | None, protocol: Protocol | None) -> Endpoint | None:
        """What a run would hold, as a dry run shows it: the gateway is not started for that. None: it holds the key."""
        found = self.endpoints(model, protocol)
        if self._start is None or not found:
            return None
        url = "http://127.0.0.1:PORT" + ("/v1" if found[0].protocol == "openai" else "")
        return evolve(found[0], url=url, key="[EVALKIT_TOKEN]", upstream=found[0].shown)

    def gateway(self) -> Gateway | None:
        """The gateway, started with the first call; None where models are asked directly."""
        with self._lock:
            if self._started is None and self._start is not None:
                self._started = self._start()
            return self._started

    @contextmanager
    def asking(self, label: str, endpoint: Endpoint, model: str, say: Callable[[str], None]) -> Iterator[Lease | None]:
        """A lease for one question; None where models are asked directly. What the gateway saw of a provider that
        failed is part of the error. Arguments: as of `Gateway.lease`.
        """
        from evalkit.execute.models.client import ProviderError

        gateway = self.gateway()
        if gateway is None:
            yield None
            return
        with gateway.lease(label, [endpoint], model=model, only=True, say=say) as lease:
            try:
                yield lease
            except ProviderError as error:
                traffic = lease.close()
                if traffic.failure is not None:
                    error.message = traffic.failure.message
                error.lost += traffic.broken
                error.retries += traffic.retries
                raise

    @property
    def notes(self) -> tuple[str, ...]:
        """What results say of how models were asked, where that is not as usual."""
        if self.played:
            return (f"no model was called: played from {self.played}",)
        direct = self._start is None and self.keys is not None
        return ("gateway=direct: the key of the provider was not kept back",) if direct else ()

    def marked(self, ending: Ending) -> Ending:
        """An ending that says what played the model's part, if anything did, and that its cost is none."""
        if not self.played:
            return ending
        usage = ending.usage
        source = f"nothing was paid: {usage.cost_source or 'no price'}, for what was played"
        return evolve(ending, usage=evolve(usage, cost_source=source), notes=(*self.notes, *ending.notes))
