"""Agents of other distributions: what is handed on, and whose fault it is when something goes wrong in one."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import define

from evalkit.analysis.model import Case, Toolchain
from evalkit.errors import UserError
from evalkit.execute.agents.base import Job
from evalkit.execute.agents.registry import Agents, Wanted
from evalkit.execute.outcome import AgentError, Ending, Usage
from evalkit.plan.trials import AgentTraits, Subject, Trial
from evalkit.values import evolve
from tests.unit.execute.make import case, trial
from tests.unit.language.plugins import offer

TRAITS = AgentTraits("7", frozenset(), sampled=True, builds=False, models=True)
DONE = Ending("completed", "done", Usage())
WHO = "the agent `parrot` of the distribution evalkit-wordy 0.1.0"


@define
class Parrot:
    """An agent that does as it is told. raises: what it fails with, wherever it is asked."""

    wanted: Wanted
    raises: BaseException | None = None
    returns: Any = DONE
    traits: Any = TRAITS
    toolchain: Toolchain | None = None

    def _say(self, what: Any) -> Any:
        if self.raises is not None:
            raise self.raises
        return what

    def cannot(self, unit: Case) -> list[str]:
        said: list[str] = self._say(["`mcp`"])
        return said

    def given(self, unit: Case) -> tuple[tuple[str, str], ...]:
        given: tuple[tuple[str, str], ...] = self._say((("data", "data.txt"),))
        return given

    def check(self, of: Trial) -> None:
        raise UserError("not on this machine")

    def run(self, job: Job) -> Ending:
        ending: Ending = self._say(self.returns)
        return ending

    def describe(self, job: Job) -> str:
        text: str = self._say("says it again")
        return text


def agents(monkeypatch: pytest.MonkeyPatch, make: Any) -> Agents:
    offer(monkeypatch, value="evalkit_wordy:make")
    monkeypatch.setitem(sys.modules, "evalkit_wordy", SimpleNamespace(make=make))
    return Agents(None, None, Path("/project"))


def parrot(monkeypatch: pytest.MonkeyPatch, **has: Any) -> Any:
    return agents(monkeypatch, lambda wanted: Parrot(wanted, **has)).of(Subject("parrot"))


def changed(value: Any, **fields: Any) -> Any:
    """A value with fields of whatever types."""
    return evolve(value, **fields) if fields else value


JOB: Any = None
"""Parrots do not look at theirs."""


def test_it_is_made_for_a_subject(monkeypatch: pytest.MonkeyPatch) -> None:
    """It knows its name and the project; its version has the distribution's before its own."""
    made = parrot(monkeypatch)
    assert ("parrot", Path("/project"), "") == (made.agent.wanted.name, made.agent.wanted.root,
                                                made.agent.wanted.argument)
    assert evolve(TRAITS, version="evalkit-wordy 0.1.0 7") == made.traits
    assert (["`mcp`"], DONE, "says it again") == (made.cannot(case()), made.run(JOB), made.describe(JOB))


def test_what_it_may_have_beside_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that it reads, trials that it cannot run, models."""
    found = agents(monkeypatch, Parrot)
    assert (("data", "data.txt"),) == found.given(Subject("parrot"), case())
    assert found.asks_model("parrot", case())
    with pytest.raises(UserError, match="not on this machine"):
        found.check(trial(agent="parrot", model=None))


@pytest.mark.parametrize("error", [ValueError("x"), AssertionError(), KeyError("x"), SystemExit(0), GeneratorExit()])
def test_what_goes_wrong_in_a_run_is_no_outcome(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept, and its makers are named, not we."""
    made = parrot(monkeypatch, raises=error)
    for ask in (made.run, made.describe):
        with pytest.raises(AgentError) as raised:
            ask(JOB)
        assert raised.value.message.startswith(f"{WHO} failed: {type(error).__name__}")
    for ask in (made.cannot, made.given):
        with pytest.raises(UserError, match="failed"):
            ask(case())


def test_only_a_persons_interruption_goes_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C reaches the main thread alone; in another one the plug-in made it up."""
    made = parrot(monkeypatch, raises=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        made.run(JOB)
    with ThreadPoolExecutor(1) as other:
        error = other.submit(made.run, JOB).exception()
    assert isinstance(error, AgentError)
    assert f"{WHO} failed: KeyboardInterrupt" in error.message


@pytest.mark.parametrize(("ending", "said"), [
    (changed(DONE, status="great"), "status"),
    (changed(DONE, detail=None), "detail"),
    (changed(DONE, detail="\ud800"), "not valid UTF-8"),
    (changed(DONE, notes=("fine", 7)), "notes"),
    (changed(DONE, notes="fine"), "notes"),
    (changed(DONE, retries="2"), "retries"),
    (changed(DONE, usage=None), "usage: not a Usage but NoneType"),
    (changed(DONE, usage=changed(Usage(), turns="3")), "turns"),
    (changed(DONE, usage=Usage(cost=float("nan"))), "cost: nan is no amount"),
    (changed(DONE, usage=Usage(output_tokens=-1)), "output_tokens: -1 is no amount"),
])
def test_an_ending_that_could_not_be_read_again(ending: Ending, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused when it comes, and its makers are named."""
    with pytest.raises(AgentError) as raised:
        parrot(monkeypatch, returns=ending).run(JOB)
    assert raised.value.message.startswith(f"{WHO} returned an ending that is none: ")
    assert said in raised.value.message


def test_an_ending_that_is_nearly_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of notes is as good as a tuple."""
    given = changed(DONE, notes=["fine"], usage=Usage(cost=1))
    assert changed(DONE, notes=("fine",), usage=Usage(cost=1.0)) == parrot(monkeypatch, returns=given).run(JOB)


def test_its_own_errors_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """They say whose fault it was."""
    told = AgentError("overloaded", transient=True)
    with pytest.raises(AgentError) as raised:
        parrot(monkeypatch, raises=told).run(JOB)
    assert raised.value is told


def test_a_run_without_an_ending(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no completed one."""
    with pytest.raises(AgentError, match="returned no ending but NoneType"):
        parrot(monkeypatch, returns=None).run(JOB)


@pytest.mark.parametrize(("make", "said"), [
    (lambda wanted: SimpleNamespace(), "failed: AttributeError"),
    (lambda wanted: Parrot(wanted, traits="1"), "is no agent"),
    (lambda wanted: SimpleNamespace(traits=TRAITS, toolchain=None), "is no agent"),
    (lambda: None, "failed: TypeError"),
    (lambda wanted: Parrot(wanted, traits=changed(TRAITS, sampled="yes")), "has traits that are none: sampled"),
    (lambda wanted: Parrot(wanted, **{"toolchain": changed("npm")}), "is no agent"),
    (lambda wanted: sys.exit(3), "failed: SystemExit: 3"),
])
def test_what_is_no_agent(make: Any, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told before anything runs, with its distribution."""
    with pytest.raises(UserError, match=f"{WHO} {said}".replace(".", r"\.")):
        agents(monkeypatch, make).of(Subject("parrot"))


def test_an_agent_that_nobody_offers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known is told, others' agents included."""
    with pytest.raises(UserError) as raised:
        agents(monkeypatch, Parrot).of(Subject("parot"))
    assert ("there is no agent `parot`", "did you mean `parrot`?") == (raised.value.message, raised.value.hint)
