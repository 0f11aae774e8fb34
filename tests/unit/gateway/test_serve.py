"""`evalkit gateway serve`: the live gateway alone, for programs without the key."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from evalkit.gateway import Fault, Reply, ScriptedGateway, Text, ToolCall
from tests.unit.gateway.test_command import KEY, Running, evalkit, running

TOOL = {"name": "Write", "input_schema": {"type": "object"}}
HAS_KEY = {"AI_GATEWAY_API_KEY": KEY}
REPLY = Reply((Text("hi"),), input_tokens=1000, output_tokens=100)


def ask(gateway: Running, token: str, model: str = "anthropic/claude-sonnet-4.5") -> httpx.Response:
    body = {"model": model, "tools": [TOOL], "messages": [{"role": "user", "content": "a"}]}
    return httpx.post(f"{gateway.url}/v1/messages", headers={"authorization": f"Bearer {token}"}, trust_env=False,
                      timeout=20, json=body)


def token_of(gateway: Running) -> str:
    return "".join(gateway.greeting).partition("ANTHROPIC_AUTH_TOKEN=")[2].split()[0]


def test_it_holds_the_key_and_counts() -> None:
    """The printed token opens it, any other is refused; in the end it tells what went through, by model."""
    with (ScriptedGateway([REPLY, Reply((ToolCall("Write", {}),))]) as provider,
          running("serve", "--upstream", provider.url, env=HAS_KEY) as (gateway, _)):
        assert 200 == ask(gateway, token_of(gateway)).status_code
        assert 200 == ask(gateway, token_of(gateway)).status_code
        assert 401 == ask(gateway, "evalkit-guessed").status_code
        assert {f"Bearer {KEY}"} == {request.headers["authorization"] for request in provider.requests}
        assert f"# passing on to {provider.url} on {gateway.url}; Ctrl-C ends it\n" == \
            gateway.greeting[0]
        assert KEY not in "".join(gateway.greeting)
        status, errors = gateway.end()
    lines = errors.splitlines()
    assert 0 == status
    assert "anthropic/claude-sonnet-4.5: 2 replies" == lines[0]
    assert lines[1].startswith("2 in all: 1100 tokens in, 0 from a cache, 0 into one, 120 out; $0.0051 (price list")


def test_a_limit_and_a_failure_are_told() -> None:
    """No request is served after the limit; a refused key makes the status 3, and names the variable."""
    with (ScriptedGateway([REPLY, REPLY]) as provider,
          running("serve", "--upstream", provider.url, "--tokens", "1000", env=HAS_KEY) as (one, _)):
        assert [200, 403] == [ask(one, token_of(one)).status_code for _ in range(2)]
        status, errors = one.end()
    assert 0 == status
    assert "reached its limit of 1000 tokens" in errors
    with (ScriptedGateway([Fault(401, "authentication_error", "no")]) as provider,
          running("serve", "--upstream", provider.url, env=HAS_KEY) as (other, _)):
        assert 401 == ask(other, token_of(other)).status_code
        status, errors = other.end()
    assert 3 == status
    assert "refused the key in AI_GATEWAY_API_KEY (status 401)" in errors


def test_on_a_socket(tmp_path: Path) -> None:
    """The key to show there stands in a line of its own."""
    path = tmp_path / "s.sock"
    with ScriptedGateway([REPLY]) as provider:
        gateway = Running("serve", "--upstream", provider.url, "--socket", str(path), env=HAS_KEY)
        assert gateway.process.stdout is not None
        held = gateway.process.stdout.readline()
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), timeout=20) as client:
            token = held.removeprefix("# the key to show there: ").strip()
            assert 200 == client.post("http://localhost/v1/messages", json={"model": "m", "messages": []},
                                      headers={"x-api-key": token}).status_code
        status, errors = gateway.end()
    assert 0 == status
    assert "cost not known" in errors


@pytest.mark.parametrize(("args", "env", "said"), [
    ([], {}, "AI_GATEWAY_API_KEY"), (["--cost", "0"], {"AI_GATEWAY_API_KEY": KEY}, "more than nothing")])
def test_mistakes(args: list[str], env: dict[str, str], said: str) -> None:
    """Status 2."""
    status, _, errors = evalkit("serve", *args, env=env)
    assert 2 == status
    assert said in errors
