"""The three protocols: what a chat becomes, and what responses, streams and errors mean."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalkit.errors import UserError
from evalkit.execute.models import anthropic, gemini, openai
from evalkit.execute.models.chat import Chat, ModelTurn, Protocol, Reply, Tool, ToolOutput, ToolUse, UserTurn
from evalkit.execute.models.client import language
from evalkit.execute.models.counts import OWN_COST, later
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.outcome import Usage
from evalkit.values import evolve

ANTHROPIC = Endpoint("https://a.invalid", "ANTHROPIC_API_KEY", "key-1234", "x-api-key")
OPENAI = Endpoint("https://o.invalid/v1", "OPENAI_API_KEY", "key-1234", protocol="openai")
GEMINI = Endpoint("https://g.invalid", "GEMINI_API_KEY", "key-1234", "x-goog-api-key", "gemini")
SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 1}}}
ASKED = Chat("vendor/model", (UserTurn("Count."),), system="Be brief.", tools=(Tool("tell", "Tells.", SCHEMA),),
             force="tell", longest=100, temperature=0.25)
WENT_ON = Chat("vendor/model", (
    UserTurn("Count."), ModelTurn("I will.", (ToolUse("c1", "tell", {"n": 1}), ToolUse("c2", "tell", {"n": 2}))),
    UserTurn(outputs=(ToolOutput("c1", "tell", "one"), ToolOutput("c2", "tell", "no", failed=True)))))


# ---- requests ----
def test_a_request_of_the_messages_api() -> None:
    """The forced tool alone, once; the model's own name; the version of the protocol as a header."""
    request = anthropic.encode(evolve(ASKED, model="anthropic/claude-x-1.5"), ANTHROPIC)
    assert "/v1/messages" == request.path
    assert {"anthropic-version": "2023-06-01"} == request.headers
    assert {
        "model": "claude-x-1-5", "max_tokens": 100, "system": "Be brief.", "temperature": 0.25,
        "messages": [{"role": "user", "content": "Count."}],
        "tools": [{"name": "tell", "description": "Tells.", "input_schema": SCHEMA}],
        "tool_choice": {"type": "tool", "name": "tell", "disable_parallel_tool_use": True},
    } == request.body


def test_a_request_of_chat_completions() -> None:
    """OpenAI takes `max_completion_tokens`, compatible servers `max_tokens`."""
    chat = evolve(ASKED, model="openai/gpt-x", seed=7)
    request = openai.encode(chat, OPENAI)
    body = {
        "model": "gpt-x", "temperature": 0.25, "seed": 7,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Count."}],
        "tools": [{"type": "function", "function": {"name": "tell", "description": "Tells.", "parameters": SCHEMA}}],
        "tool_choice": {"type": "function", "function": {"name": "tell"}},
    }
    assert ("/chat/completions", {}) == (request.path, request.headers)
    assert body | {"max_completion_tokens": 100} == request.body
    assert body | {"max_tokens": 100} == openai.encode(chat, evolve(OPENAI, compatible=True)).body


def test_a_request_of_gemini() -> None:
    """The model is in the path; settings have a place of their own."""
    request = gemini.encode(evolve(ASKED, model="google/gemini-x-1.5", seed=7), GEMINI)
    assert "/v1beta/models/gemini-x-1.5:generateContent" == request.path
    assert {
        "contents": [{"role": "user", "parts": [{"text": "Count."}]}],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [{"functionDeclarations": [
            {"name": "tell", "description": "Tells.", "parametersJsonSchema": SCHEMA}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["tell"]}},
        "generationConfig": {"maxOutputTokens": 100, "temperature": 0.25, "seed": 7},
    } == request.body


def test_what_is_not_said_is_left_to_the_provider() -> None:
    """No system prompt is no empty one; the Messages API alone must be told a length."""
    chat = Chat("m", (UserTurn("Hello."),), longest=None)
    assert {"model": "m", "max_tokens": anthropic.LONGEST,
            "messages": [{"role": "user", "content": "Hello."}]} == anthropic.encode(chat, ANTHROPIC).body
    assert {"model": "m", "messages": [{"role": "user", "content": "Hello."}]} == openai.encode(chat, OPENAI).body
    assert {"contents": [{"role": "user", "parts": [{"text": "Hello."}]}]} == gemini.encode(chat, GEMINI).body


def test_the_messages_api_has_no_seed() -> None:
    """To leave it out would measure something else."""
    with pytest.raises(UserError, match="has no seed"):
        anthropic.encode(evolve(ASKED, seed=1), ANTHROPIC)


def test_calls_and_what_came_of_them() -> None:
    """Each protocol's way to tell a failure."""
    assert [
        {"role": "user", "content": "Count."},
        {"role": "assistant", "content": [
            {"type": "text", "text": "I will."}, {"type": "tool_use", "id": "c1", "name": "tell", "input": {"n": 1}},
            {"type": "tool_use", "id": "c2", "name": "tell", "input": {"n": 2}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
            {"type": "tool_result", "tool_use_id": "c2", "content": "no", "is_error": True}]},
    ] == anthropic.encode(WENT_ON, ANTHROPIC).body["messages"]
    assert [
        {"role": "user", "content": "Count."},
        {"role": "assistant", "content": "I will.", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "tell", "arguments": '{"n":1}'}},
            {"id": "c2", "type": "function", "function": {"name": "tell", "arguments": '{"n":2}'}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "one"},
        {"role": "tool", "tool_call_id": "c2", "content": "error: no"},
    ] == openai.encode(WENT_ON, OPENAI).body["messages"]
    assert [
        {"role": "user", "parts": [{"text": "Count."}]},
        {"role": "model", "parts": [
            {"text": "I will."}, {"functionCall": {"id": "c1", "name": "tell", "args": {"n": 1}}},
            {"functionCall": {"id": "c2", "name": "tell", "args": {"n": 2}}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"id": "c1", "name": "tell", "response": {"output": "one"}}},
            {"functionResponse": {"id": "c2", "name": "tell", "response": {"error": "no"}}}]},
    ] == gemini.encode(WENT_ON, GEMINI).body["contents"]


def test_gemini_gets_the_part_of_a_schema_that_it_knows() -> None:
    """At every depth; an argument that has the name of a keyword is no keyword."""
    schema = {"$schema": "x", "type": "object", "additionalProperties": False, "properties": {
        "pattern": {"type": "string", "pattern": "a+", "minLength": 1}, "kind": {"const": "b"},
        "list": {"type": "array", "uniqueItems": True, "items": {"anyOf": [{"type": "string", "not": {}}, {}]}}}}
    chat = Chat("m", (), tools=(Tool("t", "", schema),))
    (declared,) = gemini.encode(chat, GEMINI).body["tools"][0]["functionDeclarations"]
    assert {"type": "object", "additionalProperties": False, "properties": {
        "pattern": {"type": "string"}, "kind": {"enum": ["b"]},
        "list": {"type": "array", "items": {"anyOf": [{"type": "string"}, {}]}}}} == declared["parametersJsonSchema"]


# ---- responses ----
def message(*content: dict[str, Any], stop: str = "end_turn", **more: Any) -> dict[str, Any]:
    return {"type": "message", "model": "claude-x", "content": list(content), "stop_reason": stop, **more}


def completion(finish: str = "stop", usage: Any = None, **more: Any) -> dict[str, Any]:
    return {"model": "gpt-x", "choices": [{"finish_reason": finish, "message": {"role": "assistant", **more}}],
            "usage": usage}


def candidate(*parts: dict[str, Any], finish: str = "STOP", **more: Any) -> dict[str, Any]:
    return {"modelVersion": "gemini-x", "candidates": [{"content": {"role": "model", "parts": list(parts)},
                                                        "finishReason": finish}], **more}


def test_an_answer_of_the_messages_api() -> None:
    """Its text and calls, without its thinking; tokens of the cache beside the others."""
    content: list[dict[str, Any]] = [{"type": "thinking", "thinking": "hm", "signature": "s"},
                                     {"type": "text", "text": "Here: "},
                                     {"type": "tool_use", "id": "c1", "name": "tell", "input": {"n": 1}}]
    reply = anthropic.decode(message(*content, stop="tool_use", usage={
        "input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 11, "cache_creation_input_tokens": 13}))
    assert ("Here: ", (ToolUse("c1", "tell", {"n": 1}),), "tools", "tool_use", "claude-x") == (
        reply.text, reply.calls, reply.stop, reply.detail, reply.model)
    assert Usage(input_tokens=5, output_tokens=7, cache_read_tokens=11, cache_write_tokens=13) == reply.usage
    assert {"role": "assistant", "content": content} == back(anthropic, reply, ANTHROPIC)["messages"][1]


def test_an_answer_of_chat_completions() -> None:
    """Tokens of the cache are no part of the fresh ones; arguments that are no JSON object stay text."""
    calls = [{"id": "c1", "type": "function", "function": {"name": "tell", "arguments": '{"n": 1}'}},
             {"id": "c2", "type": "function", "function": {"name": "tell", "arguments": '{"n": '}},
             {"id": "", "type": "function", "function": {"name": "tell", "arguments": "[1]"}},
             {"id": "c4", "type": "function", "function": {"name": "tell", "arguments": ""}}]
    reply = openai.decode(completion("tool_calls", content=None, tool_calls=calls, refusal=None, annotations=[], usage={
        "prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 15}}), turn=1)
    assert (ToolUse("c1", "tell", {"n": 1}), ToolUse("c2", "tell", '{"n": '), ToolUse("evalkit-1-2", "tell", "[1]"),
            ToolUse("c4", "tell", {})) == reply.calls
    assert ("", "tools", "gpt-x") == (reply.text, reply.stop, reply.model)
    assert Usage(input_tokens=40, output_tokens=20, cache_read_tokens=60) == reply.usage
    assert {"role": "assistant", "tool_calls": calls} == back(openai, reply, OPENAI)["messages"][1]


def test_an_answer_of_gemini() -> None:
    """Thoughts are no text, but cost; parts go back with their signatures; a call without an id gets one of ours."""
    parts: list[dict[str, Any]] = [
        {"text": "hm", "thought": True}, {"text": "Here: "},
        {"functionCall": {"name": "tell", "args": {"n": 1}}, "thoughtSignature": "c2ln"}]
    reply = gemini.decode(candidate(*parts, usageMetadata={
        "promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 20, "thoughtsTokenCount": 15,
        "toolUsePromptTokenCount": 3}), turn=1)
    assert ("Here: ", (ToolUse("evalkit-1-2", "tell", {"n": 1}),), "tools", "gemini-x") == (
        reply.text, reply.calls, reply.stop, reply.model)
    assert Usage(input_tokens=43, output_tokens=35, cache_read_tokens=60) == reply.usage
    sent = gemini.encode(Chat("m", (UserTurn("Count."), reply.turn(), UserTurn(outputs=(
        ToolOutput("evalkit-1-2", "tell", "one"),)))), GEMINI).body["contents"]
    assert {"role": "model", "parts": parts} == sent[1]
    assert {"functionResponse": {"name": "tell", "response": {"output": "one"}}} == sent[2]["parts"][0]


def back(module: Any, reply: Reply, endpoint: Endpoint) -> dict[str, Any]:
    """The request that goes on after a reply."""
    body: dict[str, Any] = module.encode(Chat("m", (UserTurn("Count."), reply.turn())), endpoint).body
    return body


@pytest.mark.parametrize(("protocol", "response", "stop"), [
    ("anthropic", message(stop="max_tokens"), "length"),
    ("anthropic", message(stop="refusal"), "refusal"),
    ("anthropic", message(stop="pause_turn"), "other"),
    ("openai", completion("length", content="x"), "length"),
    ("openai", completion("content_filter", content=""), "refusal"),
    ("openai", completion("stop", content=None, refusal="I won't."), "refusal"),
    ("openai", completion("stop", content=None, tool_calls=[{"id": "1", "function": {"name": "t"}}]), "tools"),
    ("gemini", candidate(finish="MAX_TOKENS"), "length"),
    ("gemini", candidate(finish="SAFETY"), "refusal"),
    ("gemini", candidate(finish="MALFORMED_FUNCTION_CALL"), "other"),
    ("gemini", {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "refusal"),
    ("gemini", {"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}, "refusal"),
])
def test_why_a_model_stopped(protocol: Protocol, response: dict[str, Any], stop: str) -> None:
    """In words that are the same for all."""
    assert stop == language(protocol).decode(response).stop


@pytest.mark.parametrize("protocol", ["anthropic", "openai", "gemini"])
@pytest.mark.parametrize("response", [
    {}, {"content": "text"}, {"choices": []}, {"choices": [None]}, {"choices": [{}]}, {"candidates": []},
    {"candidates": "x"}, {"promptFeedback": {}}])
def test_a_response_that_is_none(protocol: Protocol, response: dict[str, Any]) -> None:
    """Said with ValueError alone, whatever came."""
    with pytest.raises(ValueError, match="it has no "):
        language(protocol).decode(response)


@pytest.mark.parametrize("protocol", ["anthropic", "openai", "gemini"])
def test_an_error_in_the_place_of_an_answer(protocol: Protocol) -> None:
    """Some servers send it with status 200."""
    with pytest.raises(ValueError, match=r"^all is down$"):
        language(protocol).decode({"error": {"message": "all is down", "code": 502}})


@pytest.mark.parametrize("bad", [-1, 1.5, "12", True, None, 1 << 60, [], {}])
def test_what_is_no_count_is_not_known(bad: object) -> None:
    """And is never taken for nought."""
    assert anthropic.decode(message(usage={"input_tokens": bad, "output_tokens": 3})).usage.input_tokens is None
    assert openai.decode(completion(content="", usage={"prompt_tokens": bad})).usage.input_tokens is None
    assert Usage() == gemini.decode(candidate(usageMetadata={"promptTokenCount": bad})).usage
    assert Usage() == openai.decode(completion(content="", usage="none")).usage


@pytest.mark.parametrize("response", [
    completion(content="", usage={"cost": 0.25}),
    completion(content="", provider_metadata={"gateway": {"cost": "0.25", "marketCost": "0.5"}}),
    completion(content="", provider_metadata={"gateway": {"cost": "0", "marketCost": "0.25"}}),
    {**completion(content=""), "providerMetadata": {"gateway": {"cost": 0.25}}},
])
def test_a_gateways_own_figure(response: dict[str, Any]) -> None:
    """The cost that it tells, in each of the places where gateways tell it."""
    usage = openai.decode(response).usage
    assert (0.25, OWN_COST) == (usage.cost, usage.cost_source)
    usage = anthropic.decode(message(provider_metadata={"gateway": {"cost": "0.25"}})).usage
    assert (0.25, OWN_COST) == (usage.cost, usage.cost_source)


@pytest.mark.parametrize("cost", [0, "0", "free", -1, "nan", "inf", True, None, [], 1e9])
def test_a_figure_that_is_none(cost: object) -> None:
    """Nothing was taken where the person's own key paid: that is no cost of nothing."""
    assert openai.decode(completion(content="", usage={"cost": cost})).usage.cost is None


# ---- streams ----
def test_the_usage_of_streams() -> None:
    """Each event's, laid over what was said before; events without any say nothing."""
    assert Usage(input_tokens=5, output_tokens=9, cache_read_tokens=2) == stream("anthropic", [
        {"type": "message_start", "message": message(usage={
            "input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 1})},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"}])
    assert Usage(input_tokens=3, output_tokens=4, cache_read_tokens=2, cost=0.5, cost_source=OWN_COST) == stream(
        "openai", [
            {"choices": [{"delta": {"content": "x"}}], "usage": None},
            {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 4, "cost": 0.5,
                                      "prompt_tokens_details": {"cached_tokens": 2}}}])
    assert Usage(input_tokens=5, output_tokens=9, cache_read_tokens=0) == stream("gemini", [
        candidate({"text": "x"}, usageMetadata={"promptTokenCount": 5}), candidate({"text": "y"}),
        candidate(usageMetadata={"promptTokenCount": 5, "candidatesTokenCount": 3, "thoughtsTokenCount": 6})])
    assert {"stream": True, "stream_options": {"x": 1, "include_usage": True}} == openai.with_streamed_usage(
        {"stream": True, "stream_options": {"x": 1}})


def stream(protocol: Protocol, events: list[dict[str, Any]]) -> Usage:
    usage = Usage()
    for event in events:
        said = language(protocol).usage_of_stream(event)
        usage = usage if said is None else later(usage, said)
    return usage


# ---- errors ----
def gemini_error(status: str, *details: dict[str, Any]) -> dict[str, Any]:
    return {"error": {"code": 400, "message": "no", "status": status, "details": list(details)}}


@pytest.mark.parametrize(("protocol", "status", "body", "kind"), [
    ("anthropic", 401, {"type": "error", "error": {"type": "authentication_error", "message": "no"}}, "key"),
    ("anthropic", 403, {"error": {"message": "no"}}, "key"),
    ("anthropic", 404, {"error": {"message": "no"}}, "model"),
    ("anthropic", 400, {"error": {"message": "no"}}, "request"),
    ("anthropic", 400, {"error": {"message": "Your credit balance is too low"}}, "account"),
    ("anthropic", 402, {"error": {"message": "no"}}, "account"),
    ("anthropic", 429, {"error": {"message": "no"}}, "busy"),
    ("anthropic", 529, {"error": {"message": "no"}}, "busy"),
    ("anthropic", 413, None, "request"),
    ("openai", 401, {"error": {"message": "no", "code": "invalid_api_key"}}, "key"),
    ("openai", 404, {"error": {"message": "no", "code": "model_not_found"}}, "model"),
    ("openai", 400, {"error": {"message": "no", "code": "model_not_found"}}, "model"),
    ("openai", 429, {"error": {"message": "no", "code": "rate_limit_exceeded"}}, "busy"),
    ("openai", 429, {"error": {"message": "no", "code": "insufficient_quota"}}, "account"),
    ("openai", 503, None, "busy"),
    ("openai", 302, None, "request"),
    ("gemini", 400, gemini_error("INVALID_ARGUMENT", {"reason": "API_KEY_INVALID"}), "key"),
    ("gemini", 400, gemini_error("INVALID_ARGUMENT", {"reason": "OTHER"}), "request"),
    ("gemini", 403, gemini_error("PERMISSION_DENIED"), "key"),
    ("gemini", 404, gemini_error("NOT_FOUND"), "model"),
    ("gemini", 429, gemini_error("RESOURCE_EXHAUSTED", {"violations": [{"quotaId": "RequestsPerMinute"}]}), "busy"),
    ("gemini", 429, gemini_error("RESOURCE_EXHAUSTED", {"violations": [{"quotaId": "RequestsPerDay"}]}), "account"),
    ("gemini", 503, [gemini_error("UNAVAILABLE")], "busy"),
    ("gemini", 500, "garbage", "busy"),
])
def test_errors_are_sorted(protocol: Protocol, status: int, body: Any, kind: str) -> None:
    """Whose they are, by the status, and by the code or the words where it leaves that open."""
    assert kind == language(protocol).trouble(status, body).kind


def test_gemini_tells_the_pause_in_the_body() -> None:
    """It has no Retry-After header."""
    body = gemini_error("RESOURCE_EXHAUSTED", {"@type": "…RetryInfo", "retryDelay": "37.5s"})
    assert 37.5 == gemini.trouble(429, body).wait
    assert gemini.trouble(429, gemini_error("x", {"retryDelay": "soon"})).wait is None


@pytest.mark.parametrize(("body", "words"), [
    ({"error": {"message": "busy"}}, "busy"), ({"error": "busy"}, "busy"), ({"message": "busy"}, "busy"),
    ({"detail": "busy"}, "busy"), ([{"error": {"message": "busy"}}], "busy"), ({"error": {"type": "t"}}, "t"),
    ({"error": {"message": "x" * 500}}, "x" * 300), ({"error": 5}, ""), ({}, ""), ([], ""), (None, ""), ("x", "")])
def test_an_errors_words(body: Any, words: str) -> None:
    """Of all three protocols, and of servers that only resemble them."""
    for module in (anthropic, openai, gemini):
        assert words == module.trouble(400, body).words


# ---- requests that are refused for their form ----
def test_a_forced_call_that_is_refused() -> None:
    """It is left to the model: both wordings that Anthropic has for it."""
    body = anthropic.encode(evolve(ASKED, model="m"), ANTHROPIC).body
    for words in ("tool_choice forces tool use is not compatible with this model",
                  'tool_choice: type "tool" and "any" are not supported for this model'):
        amended = anthropic.amend(body, words)
        assert amended is not None
        assert ({"type": "auto", "disable_parallel_tool_use": True}, anthropic.NOT_FORCED) == (
            amended[0]["tool_choice"], amended[1])
        assert anthropic.amend(amended[0], words) is None
    assert anthropic.amend(body, "messages: at least one is needed") is None
    other = openai.amend(openai.encode(ASKED, OPENAI).body, "tool_choice is not supported")
    assert other is not None
    assert "auto" == other[0]["tool_choice"]
    assert openai.amend(other[0], "tool_choice is not supported") is None


def test_a_length_that_is_refused() -> None:
    """The other name is tried, where it is that which the server misses."""
    body = {"max_tokens": 5, "model": "m"}
    refusal = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    assert ({"model": "m", "max_completion_tokens": 5}, "") == openai.amend(body, refusal)
    assert ({"model": "m", "max_tokens": 5}, "") == openai.amend(
        {"model": "m", "max_completion_tokens": 5}, "extra field: max_completion_tokens")
    assert openai.amend(body, "max_tokens is too large: 5") is None


def test_requests_are_json() -> None:
    """Of every chat here."""
    for chat in (evolve(ASKED, model="m"), evolve(WENT_ON, model="m")):
        for endpoint in (ANTHROPIC, OPENAI, GEMINI):
            json.dumps(language(endpoint.protocol).encode(chat, endpoint).body)
