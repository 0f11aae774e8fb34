"""What an agent's ending comes to with what the gateway saw."""

from __future__ import annotations

import pytest

from evalkit.execute.leases import Traffic, ended, ended_by_failure
from evalkit.execute.outcome import AgentError, Ending, Usage
from evalkit.values import evolve

COUNTED = Usage(2, 100, 20, 10, 0, 0.5, "price list")
TOLD = Usage(2, 90, 25, 10, 0, 0.51, "the agent")
BUSY = AgentError("busy", hint="later", transient=True, retry_after=7.0)


@pytest.mark.parametrize(("own", "expected"), [
    (TOLD, TOLD),
    (Usage(turns=2), COUNTED),
    (Usage(turns=3), evolve(COUNTED, turns=3)),
    (evolve(TOLD, cost=None, cost_source=""), evolve(TOLD, cost=0.5, cost_source="price list")),
], ids=["its own figures stay", "none of its own", "its own turns", "no cost of its own"])
def test_a_completed_run_keeps_its_own_figures(own: Usage, expected: Usage) -> None:
    assert Ending("completed", "done", expected) == ended(Ending("completed", "done", own), Traffic(COUNTED))


def test_an_ended_run_has_the_larger_count() -> None:
    """What an agent counted before it was ended may lack the last reply."""
    early = Usage(1, 50, 10, 0, 0, 0.2, "the agent's counter")
    assert evolve(COUNTED, turns=1) == ended(Ending("timeout", "", early), Traffic(COUNTED)).usage
    more = evolve(TOLD, input_tokens=500)
    assert more == ended(Ending("timeout", "", more), Traffic(COUNTED)).usage


def test_figures_that_are_far_apart_are_told() -> None:
    ending = ended(Ending("completed", "", evolve(TOLD, cost=0.9)), Traffic(COUNTED))
    assert ("the gateway counted $0.50 (price list), and the agent $0.90",) == ending.notes
    assert 0.9 == ending.usage.cost


def test_retries_and_broken_replies_are_notes() -> None:
    ending = ended(Ending("completed", "", TOLD, ("own",)), Traffic(COUNTED, retries=1, broken=2))
    assert ("own", "the provider was asked again 1 time", "2 replies of the provider's broke off") == ending.notes
    assert 1 == ending.retries


@pytest.mark.parametrize("over", ["", "limit of 3 tokens"])
def test_tries_are_told_once_whoever_asked_again(over: str) -> None:
    """Four by the gateway, and one by the agent's program after a reply that broke off; a lost connection is no reply
    that broke off.
    """
    own = Ending("completed", "", TOLD, retries=1)
    ending = ended(own, Traffic(COUNTED, retries=4, broken=2, lost=1, over=over))
    assert ("the provider was asked again 5 times (4 by the gateway, 1 by the agent's program)",
            "1 reply of the provider's broke off",
            "1 connection to the provider ended before its reply") == ending.notes
    assert 5 == ending.retries


@pytest.mark.parametrize(("status", "traffic", "is_error"), [
    ("completed", Traffic(COUNTED, failure=BUSY, tries=9), False),
    ("completed", Traffic(Usage(turns=0), failure=BUSY, tries=1), True),
    ("timeout", Traffic(COUNTED, failure=BUSY, tries=3), True),
    ("timeout", Traffic(COUNTED, failure=BUSY, tries=2), False),
    ("timeout", Traffic(COUNTED, failure=None, tries=0), False),
    ("timeout", Traffic(Usage(turns=0), failure=BUSY, tries=1), True),
    ("capped", Traffic(COUNTED, failure=BUSY, tries=9), False),
])
def test_a_provider_that_did_not_answer_is_no_outcome(status: str, traffic: Traffic, is_error: bool) -> None:
    """A run that timed out while its provider failed, or that never got a reply, says nothing of the agent."""
    ending = Ending(status, "", TOLD)  # type: ignore[arg-type]
    if not is_error:
        assert status == ended(ending, traffic).status
        return
    with pytest.raises(AgentError) as raised:
        ended(ending, traffic)
    assert ("busy", "later", True, 7.0) == (raised.value.message, raised.value.hint, raised.value.transient,
                                            raised.value.retry_after)
    assert raised.value.usage.input_tokens


def test_a_limit_caps_whatever_the_agent_said() -> None:
    """Its program took the refusal for an end, or for a failure: neither is one."""
    over = Traffic(COUNTED, over="limit of 100 tokens")
    assert ("capped", "reached its limit of 100 tokens") == (lambda ending: (ending.status, ending.detail))(
        ended(Ending("completed", "done", TOLD), over))
    capped = ended_by_failure(AgentError("refused", usage=Usage(turns=0, cost=0.0)), over)
    assert ("capped", 100) == (capped.status, capped.usage.input_tokens)
    assert "timeout" == ended(Ending("timeout", "", TOLD), over).status


def test_an_agents_failure_is_told_as_the_gateway_saw_it() -> None:
    """With what was consumed; what the gateway knows nothing of is the agent's own error."""
    with pytest.raises(AgentError) as raised:
        ended_by_failure(AgentError("API Error: 529", usage=Usage(turns=0)), Traffic(COUNTED, failure=BUSY, tries=4))
    assert ("busy", True, 0.5) == (raised.value.message, raised.value.transient, raised.value.usage.cost)
    own = AgentError("no result line")
    with pytest.raises(AgentError) as raised:
        ended_by_failure(own, Traffic(COUNTED))
    assert own is raised.value
    assert 100 == own.usage.input_tokens
