"""The suite `viewer` with the models of three vendors, each in its own format, through all of `doit run`.

What a model can do wrong happens in each of them: several calls in one reply, arguments that are no object, a command
that is not there, calls without end. The server is a script on loopback.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from evalkit.gateway.play import open_play
from evalkit.gateway.server import Server
from tests.feature.project import MiniProject
from tests.feature.viewer_answers import RIGHT, Call
from tests.feature.viewer_models import SUITE, viewer_project, walked

pytestmark = pytest.mark.slow

MODELS = {"anthropic": "anthropic/claude-test", "openai": "openai/gpt-test", "gemini": "google/gemini-test"}
MANY, MALFORMED, UNKNOWN, ENDLESS, AFTERWARDS = (
    "gd-delete-noise", "det-color-elev", "det-color-class", "det-color-intensity", "fd-no-autopublish")
NO_OBJECT = {
    "anthropic": {"type": "message", "role": "assistant", "id": "m1", "model": "claude-test", "stop_reason": "tool_use",
                  "content": [{"type": "tool_use", "id": "c1", "name": "setColorMode", "input": "elevation"}],
                  "usage": {"input_tokens": 1, "output_tokens": 1}},
    "openai": {"model": "gpt-test", "choices": [{"finish_reason": "tool_calls", "message": {
        "role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {
            "name": "setColorMode", "arguments": '{"mode": "elev'}}]}}],
               "usage": {"prompt_tokens": 1, "completion_tokens": 1}},
    "gemini": {"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
        {"functionCall": {"name": "setColorMode", "args": ["elevation"]}}]}}],
               "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1}},
}


def prompt_of(case: str) -> str:
    """As a pattern that finds it in a request."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(SUITE.glob("*.eval")))
    found = re.search(rf'^case {case} +\w+ +"([^"]+)"', text, re.MULTILINE)
    assert found, case
    return "/^" + re.escape(found[1]).replace("/", r"\/") + "$/m"


def as_call(call: Call) -> dict[str, Any]:
    return {"name": call[0], "input": call[1]}


def rules(protocol: str) -> list[dict[str, Any]]:
    """What the model answers to each case, turn by turn; a request in another vendor's format is refused."""
    publish = {"name": "publishFinding", "input": {"id": "F-5"}}
    calls = [as_call(call) for call in RIGHT[AFTERWARDS]]
    right = {case: {"calls": [as_call(call) for call in RIGHT[case]]} for case in (MALFORMED, UNKNOWN)}
    looks: list[Call] = [("listFindings", {}), ("getState", {})]
    first, *rest = walked(RIGHT[MANY])
    replies: dict[str, list[dict[str, Any]]] = {
        MANY: [{"text": "A look, and the first step.", "calls": [as_call(call) for call in (*looks, first)]},
               *({"calls": [as_call(call)]} for call in rest)],
        MALFORMED: [{"garbage": json.dumps(NO_OBJECT[protocol]), "content_type": "application/json"}, right[MALFORMED]],
        UNKNOWN: [{"calls": [{"name": "paintEverything", "input": {"by": "class"}}]}, right[UNKNOWN]],
        AFTERWARDS: [{"calls": calls}, {"text": "Filed."}, {"calls": [publish]}],
    }
    found: list[dict[str, Any]] = [{"name": "another format", "when": {"not": {"protocol": protocol}},
                                    "reply": {"status": 400, "message": "another format"}}]
    for case, said in replies.items():
        found += [{"name": f"{case} {turn}", "when": {"any": prompt_of(case), "turn": turn}, "reply": reply}
                  for turn, reply in enumerate([*said, {"text": "Done."}], 1)]
    return [*found, {"name": "endless", "when": {"any": prompt_of(ENDLESS)},
                     "reply": {"calls": [{"name": "getState", "input": {}}]}}]


@pytest.fixture(params=MODELS)
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def project(tmp_path: Path) -> MiniProject:
    project = viewer_project(tmp_path)
    project.edit("cases/viewer/suite.eval", "limits { turns 12; time 3m; cost $0.25 }", "limits { turns 200; time 3m }")
    project.env |= dict.fromkeys(("GEMINI_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"), "dummy-key-for-loopback")
    return project


def test_a_vendor_s_own_format(project: MiniProject, protocol: str) -> None:
    script = project.path("script.yaml")
    script.write_bytes(orjson.dumps({"script": 1, "rules": rules(protocol)}))
    cases = (MANY, MALFORMED, UNKNOWN, ENDLESS, AFTERWARDS)
    line = ("run", *(f"case:{case}" for case in cases), "agent=tools", f"model={MODELS[protocol]}", "judge=off")
    player = open_play(script)
    with Server(player) as vendor:
        done = project.doit(*line, f"gateway={vendor.url}", timeout=300)
        assert 1 == done.status, done.err + done.out
        answered = player.answered
        again = project.doit(*line, f"gateway={vendor.url}", timeout=300)
    assert (1, {}, answered) == (again.status, again.ran, player.answered)

    results = {path.parent.parent.name: json.loads(path.read_bytes())
               for path in project.path("results/latest").rglob("result.json")}
    assert {case: case != ENDLESS for case in cases} == {
        case: all("pass" == check["verdict"]["status"] for check in result["checks"])
        for case, result in results.items()}
    assert ("capped", 200) == (results[ENDLESS]["ending"]["status"], results[ENDLESS]["ending"]["usage"]["turns"])
    assert "reached its 200 turns" in results[ENDLESS]["ending"]["detail"]
    assert 2 == results[AFTERWARDS]["ending"]["usage"]["turns"]  # nobody asks on for the call that comes then

    told = {case: next(project.path("results/latest").rglob(f"{case}/trial-1/transcript.jsonl")).read_text()
            for case in cases}
    assert "the arguments are no JSON object" in told[MALFORMED]
    assert "there is no command 'paintEverything'" in told[UNKNOWN]
    assert "dummy-key" not in "".join(told.values())
    assert all(yaml.safe_load(line) for line in told[MANY].splitlines())
