"""What makes two requests equal, and what does not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.gateway.asked import Call, Protocol
from evalkit.gateway.difference import differences, nearest_request
from evalkit.gateway.normal import Normal, normal_form
from evalkit.gateway.play_script import describe
from evalkit.gateway.stream_text import replace_in_body
from evalkit.gateway.volatile import roots_of, steady

REMINDER = ("<system-reminder>\n# Environment\n - Primary working directory: {cwd}\n - OS Version: {os}\n"
            "</system-reminder>")


def claude(cwd: str = "/tmp/one/ws", *, os: str = "Linux 6.1", user: str = "u1", date: str = "2026-01-02",
           prompt: str = "Write it.", result: str = "ok", marks: bool = False, listed: bool = False,
           swapped: bool = False) -> dict[str, Any]:
    """A request as Claude Code makes it."""
    memory = f"{cwd}/../home/projects/{cwd.replace('/', '-')}/memory/"
    today = {"type": "text", "text": f"<system-reminder>Today is {date}.</system-reminder>"}
    cache = {"cache_control": {"type": "ephemeral"}} if marks else {}
    results = [{"type": "tool_result", "tool_use_id": "t1", "content": result},
               {"type": "tool_result", "tool_use_id": "t2", "content": "two", "is_error": True}]
    return {
        "model": "m", "max_tokens": 5, "metadata": {"user_id": user},
        "system": [{"type": "text", "text": f"x-anthropic-billing-header: cc_version={user};"},
                   {"type": "text", "text": f"You have memory at `{memory}`. It is {date}."}],
        "tools": [{"name": "Write", "description": f"writes below {cwd}"}],
        "messages": [
            {"role": "user", "content": [today, {"type": "text", "text": prompt, **cache}]},
            {"role": "system", "content": ([{"type": "text", "text": REMINDER.format(cwd=cwd, os=os)}] if listed
                                           else REMINDER.format(cwd=cwd, os=os))},
            {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": f"{cwd}/a"}},
                {"type": "tool_use", "id": "t2", "name": "Read", "input": {}}]},
            {"role": "user", "content": results[::-1] if swapped else results},
        ],
    }


def normal(body: dict[str, Any], protocol: Protocol = "anthropic") -> Normal:
    call = Call(protocol, "answer", "m", "", body)
    asked = call.asked()
    return normal_form(call, roots_of([asked.system, *asked.texts()]), str)


@pytest.mark.parametrize("changed", [
    {"cwd": "/var/tmp/two/other"}, {"os": "Darwin 24"}, {"user": "u2"}, {"date": "2027-10-11"}, {"marks": True},
    {"listed": True}, {"swapped": True}, {"result": "ok"},
], ids=str)
def test_what_differs_from_run_to_run_is_equal(changed: dict[str, Any]) -> None:
    assert normal(claude()).key() == normal(claude(**changed)).key()
    assert normal(claude()) == normal(claude(**changed))


def test_a_prompt_is_compared_as_it_stands() -> None:
    """Dates and durations in what a person says are no noise; nor is anything at all of what the model said."""
    assert normal(claude()).place() != normal(claude(prompt="Write them.")).place()
    assert normal(claude(prompt="by 2026-01-02")).key() != normal(claude(prompt="by 2026-01-03")).key()
    assert normal(claude(prompt="wait 2 s")).key() != normal(claude(prompt="wait 3 s")).key()
    body = claude()
    body["messages"][2]["content"][0]["input"]["file_path"] = "/tmp/one/ws/b"
    assert normal(claude()).place() != normal(body).place()


def test_the_place_leaves_out_what_tools_returned() -> None:
    """But not whether they failed."""
    assert normal(claude()).key() != normal(claude(result="else")).key()
    assert normal(claude()).place() == normal(claude(result="else")).place()
    body = claude()
    body["messages"][3]["content"][0]["is_error"] = True
    assert normal(claude()).place() != normal(body).place()


@pytest.mark.parametrize(("one", "two"), [
    ("Nov 30 07:18 a", "Dec  1 23:59 a"), ("me 43 Nov 30 07:18 a", "me 43 Dec  1 23:59 a"),
    ("on 30 Nov 2026 at", "on 1 Dec 2027 at"), ("30 Nov 07:18 a", "1 Dec 23:59 a"),
    ("Mon Nov 30 07:18:08 UTC 2026", "Tue Dec 01 08:00:00 UTC 2026"),
    ("at 2026-11-30T07:18:08.123Z", "at 2027-01-02T00:00:00Z"), ("Ran 3 tests in 0.31s", "Ran 3 tests in 12.5s"),
    ("took 15 ms", "took 7 ms"), ("http://localhost:8080/x", "http://localhost:9/x"), ("pid 12", "pid 34567"),
    ("/tmp/tmp.abc/x failed", "/tmp/tmp.def/y failed"), ("0x7f3a2b1c", "0x55e0aa11"),
    ("id 11111111-2222-3333-4444-555555555555", "id aaaaaaaa-2222-3333-4444-555555555555"),
])
def test_results_without_times_and_numbers_of_the_moment(one: str, two: str) -> None:
    assert steady(one) == steady(two)


@pytest.mark.parametrize(("one", "two"), [
    ("3 tests passed", "2 tests passed"), ("line 12", "line 13"), ("May be", "March be"), ("v1.2.3", "v1.2.4"),
    ("5 of 6", "6 of 6"), ("me 43 Nov 30 07:18 a", "me 44 Nov 30 07:18 a"), ("sat 3", "sat 4"), ("exit 1", "exit 2"),
])
def test_results_keep_what_they_mean(one: str, two: str) -> None:
    assert steady(one) != steady(two)


@pytest.mark.parametrize("said", [
    "Primary working directory: /work/x y", "<cwd>/work/x</cwd>", "I'm currently working in the directory: /work/x",
    "Working directory: /work/x\n", 'the current working directory is "/work/x".', "cwd=/work/x",
])
def test_the_working_directory_is_found(said: str) -> None:
    """As agents' programs tell of it."""
    assert "/work/x" == roots_of(["nothing", said]).get("workspace")


def test_folders_that_are_none() -> None:
    """Neither the root nor what would need escapes in JSON is taken for one."""
    assert () == roots_of(["working directory: /"]).folders
    assert () == roots_of(["working directory: \"\\\""]).folders
    assert roots_of(["cwd: /home/u"]).get("above") is None


def test_a_folder_is_no_part_of_another_s_name() -> None:
    """`/tmp/work` stands in `/tmp/work/a`, not in `/tmp/work-2` or `/tmp/works`."""
    hidden = roots_of(["cwd: /tmp/work"]).hide("/tmp/work/a /tmp/work. /tmp/work-2 /tmp/works")
    assert "{{evalkit.workspace}}/a {{evalkit.workspace}}. /tmp/work-2 /tmp/works" == hidden


@pytest.mark.parametrize("protocol", ["openai", "gemini"])
def test_other_protocols(protocol: Protocol) -> None:
    """Calls' ids and order, arguments as text, dates of the system text."""
    def body(date: str, at: str, spaced: bool, prefix: str) -> dict[str, Any]:
        if protocol == "openai":
            arguments = json.dumps({"a": 1, "b": 2}, indent=2 if spaced else None)
            calls = [{"id": f"{prefix}{n}", "function": {"name": "Look", "arguments": arguments}} for n in (1, 2)]
            results = [{"role": "tool", "tool_call_id": f"{prefix}{n}", "content": f"{n} at {at}"} for n in (1, 2)]
            return {"user": prefix, "messages": [
                {"role": "system", "content": f"Today is {date}."}, {"role": "user", "content": "x"},
                {"role": "assistant", "tool_calls": calls}, *(results[::-1] if spaced else results)]}
        return {"systemInstruction": {"parts": [{"text": f"Today is {date}."}]}, "contents": [
            {"role": "user", "parts": [{"text": "x"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "Look", "args": {"a": 1}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "Look", "response": {"out": at}}}]}]}

    one = normal(body("2026-01-02", "10:00:00", False, "a"), protocol)
    two = normal(body("2026-02-03", "11:11:11", True, "b"), protocol)
    assert one == two
    assert 3 == len(one.turns)
    assert one.results()


@pytest.mark.parametrize("protocol", ["anthropic", "openai", "gemini"])
def test_nothing_is_taken_for_granted(protocol: Protocol) -> None:
    """A request may hold anything: it has a form all the same."""
    odd = {"messages": [None, {"role": 5, "content": [7, {"type": "tool_result"}, {"type": "tool_use"}]},
                        {"role": "tool", "tool_calls": [{"function": None}], "content": [{}]}],
           "contents": [{"parts": [{"functionCall": {}}, {"functionResponse": {}}, {}]}, 4],
           "system": 3, "systemInstruction": "x", "tools": {"a": 1}, "big": 10**40, "text": "\ud800"}
    assert normal(odd, protocol).key()
    assert normal(odd, protocol).place()


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["user", "assistant", "system", "tool", "text", "tool_use", "tool_result", "t1"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([
        "messages", "contents", "parts", "role", "content", "type", "text", "id", "tool_use_id", "tool_call_id",
        "tool_calls", "function", "arguments", "functionCall", "functionResponse", "response", "tools", "name",
        "system", "functionDeclarations", "systemInstruction", "input", "model", "is_error"]), inner, max_size=6),
    max_leaves=25)


@given(st.sampled_from(["anthropic", "openai", "gemini"]), st.dictionaries(
    st.sampled_from(["messages", "contents", "tools", "system", "systemInstruction", "other"]), ANYTHING))
@settings(max_examples=150, deadline=None)
def test_any_json_is_read(protocol: Protocol, body: dict[str, Any]) -> None:
    """Whatever a client sends, there is a form of it, and it is described, found a place and compared."""
    form = normal(body, protocol)
    assert form.key() == normal(body, protocol).key()
    assert form.place()
    assert describe(Call(protocol, "answer", "m", "", body).asked())
    assert [] != differences(form, normal(claude()))
    assert nearest_request(form, [normal(claude()), form]) is not None


@pytest.mark.parametrize("text", ["<system-reminder>" * 30_000, "\n" * 200_000, "`/a" * 60_000, "cwd " * 60_000,
                                  "1" * 300_000, "Jan 1 " * 60_000, "/tmp/" * 60_000, "data: {" * 40_000])
def test_long_texts_of_all_kinds_take_no_quadratic_time(text: str) -> None:
    """A slow pattern would take minutes here."""
    normal(claude(prompt=text, result=text))
    normal({"system": text, "messages": []})
    replace_in_body([text.encode()], roots_of([text]), str, events=True, error=True)
