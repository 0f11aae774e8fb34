"""Plays a cassette: a request gets what was answered to an equal one.

Equal is what `Normal` has equal. Of several equal requests that were recorded, the first is answered first; after the
last it starts again, so that a second trial gets what the first got.

Where no equal request was recorded, the place in a conversation decides (unless `exact`): an agent that was given the
recorded answers so far, and ran the tools that they call, is there again, even if a tool returned something else. This
is told at the end. Any other request has no answer: a 403, which programs take as final, that shows how the nearest
request differs.
"""

from __future__ import annotations

import os
import threading
from collections import Counter, defaultdict

from evalkit.execute.secrets import Redactor
from evalkit.gateway.answering import fault_body, send_count, send_no_answer
from evalkit.gateway.asked import Call, call_of
from evalkit.gateway.cassette import Cassette, Exchanged, Played
from evalkit.gateway.connection import Received, Responder
from evalkit.gateway.difference import differences, nearest_request
from evalkit.gateway.normal import Normal, normal_form
from evalkit.gateway.play_script import describe, send_fixed
from evalkit.gateway.script import Fault
from evalkit.gateway.volatile import Roots, roots_of

__all__ = ["CassettePlayer", "roots_in"]


def roots_in(call: Call) -> Roots:
    """The folders that a request tells of."""
    asked = call.asked()
    return roots_of([asked.system, *asked.texts()])


class CassettePlayer:
    """The app that plays a cassette. exact: only for equal requests."""

    def __init__(self, cassette: Cassette, *, exact: bool = False) -> None:
        self.cassette = cassette
        self._exact = exact
        self._clean = Redactor.of(os.environ).text
        self._lock = threading.Lock()
        self._equal: defaultdict[str, list[Exchanged]] = defaultdict(list)
        self._placed: defaultdict[str, list[Exchanged]] = defaultdict(list)
        self._played: Counter[int] = Counter()
        self._unknown: list[str] = []
        self._by_place: list[str] = []
        for exchange in cassette.exchanges:
            self._equal[exchange.request.key()].append(exchange)
            self._placed[exchange.request.place()].append(exchange)

    @property
    def answered(self) -> int:
        """How many requests the cassette has answered."""
        with self._lock:
            return self._played.total()

    def unknown(self) -> list[str]:
        """What was asked that was not recorded, each with how the nearest request differs."""
        with self._lock:
            return list(self._unknown)

    def notes(self) -> list[str]:
        """Which requests were answered by their place, and how many exchanges nobody asked for."""
        with self._lock:
            lines = list(self._by_place)
            left = sum(not self._played[exchange.number] for exchange in self.cassette.exchanges)
        if left:
            lines.append(f"{left} of {len(self.cassette.exchanges)} recorded requests were not asked")
        return lines

    def handle(self, request: Received, out: Responder) -> None:
        call = call_of(request)
        if call is None:
            send_fixed(request, out)
            return
        if request.json() is None:
            fault = Fault(400, "invalid_request_error", "the request's body is not a JSON object")
            out.send(fault.status, fault_body(fault, call.protocol))
            return
        roots = roots_in(call)
        normal = normal_form(call, roots, self._clean)
        exchange = self._find(normal)
        if exchange is None and call.action == "count":
            send_count(call, request.body, out)
        elif exchange is None:
            self._refuse(call, self._not_recorded(call, normal), out)
        else:
            try:
                chunks = [roots.show(chunk) if isinstance(chunk, str) else chunk for chunk in exchange.answer.chunks]
            except KeyError as error:
                self._refuse(call, f"{describe(call.asked())} does not tell its {error.args[0]}", out)
                return
            _send(exchange.answer, [chunk.encode() if isinstance(chunk, str) else chunk for chunk in chunks], out)

    def _find(self, normal: Normal) -> Exchanged | None:
        equal = self._equal.get(normal.key(), [])
        placed = [] if equal or self._exact else self._placed.get(normal.place(), [])
        with self._lock:
            if equal:
                chosen = min(equal, key=lambda each: (self._played[each.number], each.number))
            elif placed:
                chosen = min(placed, key=lambda each: (-_alike(normal, each.request), self._played[each.number],
                                                       each.number))
                self._by_place.append(f"request {chosen.number} was answered by its place in the conversation: "
                                      + "; ".join(differences(normal, chosen.request)))
            else:
                return None
            self._played[chosen.number] += 1
            return chosen

    def _not_recorded(self, call: Call, normal: Normal) -> str:
        nearest = nearest_request(normal, [exchange.request for exchange in self.cassette.exchanges])
        lines = [f"{describe(call.asked())} was not recorded"]
        if nearest is not None:
            number = next(each.number for each in self.cassette.exchanges if each.request is nearest)
            lines += [f"the nearest is request {number}", *differences(normal, nearest)]
        return "\n    ".join(lines)

    def _refuse(self, call: Call, said: str, out: Responder) -> None:
        with self._lock:
            self._unknown.append(said)
        send_no_answer("cassette", self.cassette.path, said, call.protocol, out)


def _alike(asked: Normal, recorded: Normal) -> int:
    """How many tools returned the same."""
    return sum(one == two for one, two in zip(asked.results(), recorded.results(), strict=False))


def _send(answer: Played, chunks: list[bytes], out: Responder) -> None:
    length = sum(map(len, chunks)) + answer.cut if answer.whole else None
    out.start(answer.status, answer.headers, length=length)
    for chunk in chunks:
        out.write(chunk)
    if answer.cut:
        out.drop()
    else:
        out.finish()
