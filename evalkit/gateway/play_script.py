"""Plays a script: each request gets the answer of the first rule that fits it."""

from __future__ import annotations

import threading
from collections import Counter

from evalkit.gateway.answering import fault_body, send_answer, send_count, send_no_answer
from evalkit.gateway.asked import Asked, Call, call_of
from evalkit.gateway.connection import Received, Responder, error_body
from evalkit.gateway.rules import Rule, Script, SlowPattern, fill
from evalkit.gateway.script import Answer, Fault
from evalkit.gateway.volatile import roots_of, without_reminders

__all__ = ["ScriptPlayer", "describe", "send_fixed"]

_SHOWN = 100


class _NoAnswer(Exception):
    """What was asked that the script does not know."""


class ScriptPlayer:
    """The app that plays a script.

    A request that no rule fits gets a 403, which programs take as final: they would repeat what got another status.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self._lock = threading.Lock()
        self._fitted: Counter[int] = Counter()
        self._answered: Counter[int] = Counter()
        self._number = 0
        self._unknown: list[str] = []

    @property
    def answered(self) -> int:
        """How many requests rules have answered."""
        with self._lock:
            return self._answered.total()

    def unknown(self) -> list[str]:
        """What was asked that no rule knew, in a line each."""
        with self._lock:
            return list(self._unknown)

    def notes(self) -> list[str]:
        """What else is worth a line at the end: rules that answered nothing."""
        with self._lock:
            return [f"{rule.place}: {rule.name} answered nothing" for index, rule in enumerate(self.script.rules)
                    if not self._answered[index]]

    def handle(self, request: Received, out: Responder) -> None:
        call = call_of(request)
        if call is None:
            send_fixed(request, out)
        elif request.json() is None:
            fault = Fault(400, "invalid_request_error", "the request's body is not a JSON object")
            out.send(fault.status, fault_body(fault, call.protocol))
        elif call.action == "count":
            send_count(call, request.body, out)
        else:
            try:
                answer, number = self._answer(call)
            except _NoAnswer as error:
                with self._lock:
                    self._unknown.append(str(error))
                send_no_answer("script", str(self.script.path), str(error), call.protocol, out)
            else:
                send_answer(answer, call, number, out)

    def _answer(self, call: Call) -> tuple[Answer, int]:
        """The answer, with its number (for ids). Raises _NoAnswer with what was asked."""
        asked = call.asked()
        try:
            found = [(index, rule, captured) for index, rule in enumerate(self.script.rules)
                     if (captured := rule.when.fits(asked)) is not None]
        except SlowPattern as error:
            raise _NoAnswer(f"{describe(asked)}: {error}") from None
        with self._lock:
            self._number += 1
            number = self._number
            chosen = self._choose(found)
        if chosen is None:
            raise _NoAnswer(f"no rule fits {describe(asked)}")
        rule, answer, captured = chosen
        known = {"model": asked.model, "user": asked.user, "result": "\n".join(said.text for said in asked.results)}
        workspace = roots_of([asked.system, *asked.texts()]).get("workspace")
        if workspace is not None:
            known["workspace"] = workspace
        try:
            return fill(answer, known | captured), number
        except KeyError as error:
            raise _NoAnswer(f"{rule.place}: {describe(asked)} does not tell its {error.args[0]}") from None

    def _choose(self, found: list[tuple[int, Rule, dict[str, str]]]) -> tuple[Rule, Answer, dict[str, str]] | None:
        """The first rule that answers. Every rule that fits counts the request, for `nth`."""
        self._fitted.update(index for index, _, _ in found)
        for index, rule, captured in found:
            used_up = rule.times is not None and self._answered[index] >= rule.times
            if used_up or rule.when.nth not in (None, self._fitted[index]):
                continue
            answer = rule.answers[min(self._answered[index], len(rule.answers) - 1)]
            self._answered[index] += 1
            return rule, answer, captured
        return None


def send_fixed(request: Received, out: Responder) -> None:
    """What is asked beside models: whether anybody is there."""
    if request.path == "/" and request.method in ("HEAD", "GET"):
        out.send(200, b'{"ok": true}')
    else:
        out.send(404, error_body("not_found_error", f"there is no {request.method} {request.path}"))


def describe(asked: Asked) -> str:
    """A request in a line."""
    parts = [f"{asked.protocol} {asked.model}", f"turn {asked.number}"]
    if user := without_reminders(asked.user).strip():
        parts.append(f"user {_cut(user)}")
    if asked.results:
        parts.append(f"result {_cut(asked.results[-1].text)}")
    parts.append(f"tools {', '.join(asked.tools[:6])}{', …' if len(asked.tools) > 6 else ''}" if asked.tools
                 else "no tools")
    return f"[{'; '.join(parts)}]"


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= _SHOWN else "…" + text[-_SHOWN:])
