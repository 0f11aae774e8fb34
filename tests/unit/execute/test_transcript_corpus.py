"""The corpus of awkward transcripts, tests/transcripts: what each comes to."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from evalkit.execute.transcripts import Event, Folder, Gap, Limit, Message, SubAgent, ToolCall, ToolResult, read_events
from evalkit.execute.transcripts import lines as module
from evalkit.execute.transcripts.totals import Totals
from evalkit.values import evolve

CORPUS = Path(__file__).resolve().parents[2] / "transcripts"
SHORT = {"Folder": "f", "Message": "m", "ToolCall": "c", "ToolResult": "r", "MessageUsage": "u", "Limit": "l",
         "SubAgent": "s", "Compacted": "k", "Gap": "g", "Ended": "e"}
PLAIN = ("f1 m2 c3 r3 u4 e1", (48, 113, 4200, 150), "success")

EXPECTED: dict[str, tuple[str, tuple[int, int, int, int], str]] = {
    "array-pretty.json": PLAIN,
    "array-truncated.json": ("f1 m1 c2 r2 u2", (32, 63, 1900, 150), "no end is told, 1 call without a result"),
    "array.json": PLAIN,
    "bom-crlf.jsonl": PLAIN,
    "compaction-session.jsonl": ("f1 m4 c1 r1 u2 k1", (40, 25, 0, 0), "no end is told"),
    "compaction.jsonl": ("f1 m1 c1 r1 u2 k1 e1", (40, 25, 0, 0), "success"),
    "damaged-calls.jsonl": ("f1 m2 c2 r2 u4 g4 e1", (48, 113, 4200, 150), "success, 1 call without a result"),
    "denials.jsonl": ("f1 c4 r4 u4 e1", (40, 80, 0, 0), "success"),
    "empty.jsonl": ("", (0, 0, 0, 0), "no end is told"),
    "growing-usage.jsonl": ("f1 m3 c1 r1 u2", (14, 94, 310, 320), "no end is told"),
    "invalid-utf8.jsonl": PLAIN,
    "lone-surrogates.jsonl": PLAIN,
    "no-result-line.jsonl": ("f1 m2 c3 r3 u4", (48, 113, 4200, 150), "no end is told"),
    "noise.jsonl": PLAIN,
    "nul-bytes.jsonl": PLAIN,
    "over-long-line.jsonl": ("f1 m2 c3 r3 u4 g2 e1", (48, 113, 4200, 150), "success"),
    "own-api.jsonl": ("m3 u1 l1 e1", (420, 31, 0, 0), "completed"),
    "own-tools.jsonl": ("f1 m1 c3 r3 u1 l1 g2 e1", (300, 20, 64, 0), "capped, 1 call without a result"),
    "own-truncated.jsonl": ("f1 m1 c1 r1 u1 g1", (300, 20, 64, 0), "no end is told, 1 call without a result"),
    "partial-messages.jsonl": ("f1 m2 c1 r1 u2 e1", (17, 83, 1890, 0), "success"),
    "plain-session.jsonl": ("f1 m3 c3 r3 u4", (48, 150, 4200, 150), "no end is told"),
    "plain-stream.jsonl": PLAIN,
    "repeated-usage.jsonl": ("f1 m1 c3 r3 u2 e1", (130, 12, 4500, 500), "success"),
    "retries-and-limits.jsonl": ("f1 m1 c1 r1 u2 l6 e1", (20, 4116, 0, 0), "error: error_max_turns"),
    "sidechains-session.jsonl": ("f1 m4 c2 r2 u3 s1", (80, 35, 0, 0), "no end is told"),
    "spliced-between-lines.jsonl": PLAIN,
    "spliced-record.jsonl": PLAIN,
    "sub-agents.jsonl": ("f1 m3 c2 r2 u4 s1 e1", (140, 47, 0, 0), "success"),
    "truncated-call.jsonl": ("f1 m1 c2 r2 u2 g1", (32, 63, 1900, 150), "no end is told, 1 call without a result"),
    "truncated-result.jsonl": ("f1 m1 c3 r3 u3", (40, 93, 3000, 150), "no end is told, 1 call without a result"),
    "unknown-events.jsonl": PLAIN,
}
"""File -> its events by kind, the tokens (input, output, read from a cache, written to one), the last state."""


def read(name: str) -> list[Event]:
    return list(read_events(CORPUS / name))


def test_every_file_has_its_expectation() -> None:
    assert {path.name for path in CORPUS.glob("*.json*")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_of_the_corpus(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of events, usage and the last state."""
    if name == "over-long-line.jsonl":
        monkeypatch.setattr(module, "LONGEST", 8192)
    totals, counts = Totals(), Counter[str]()
    for event in read_events(CORPUS / name):
        totals.add(event)
        counts[type(event).__name__] += 1
    tokens = totals.input_tokens, totals.output_tokens, totals.cache_read_tokens, totals.cache_write_tokens
    told = " ".join(f"{short}{counts[kind]}" for kind, short in SHORT.items() if counts[kind])
    assert EXPECTED[name] == (told, tokens, totals.state)


@pytest.mark.parametrize("name", sorted(name for name, expected in EXPECTED.items() if expected == PLAIN
                                        and name not in ("invalid-utf8.jsonl", "lone-surrogates.jsonl")))
def test_nothing_is_lost_or_bent(name: str) -> None:
    """What can be read in spite of all tells exactly what the plain stream tells, but for its line."""
    def bare(events: list[Event]) -> list[Event]:
        return [evolve(event, line=0, call=evolve(event.call, line=0)) if isinstance(event, ToolResult) else
                evolve(event, line=0) for event in events]

    assert bare(read("plain-stream.jsonl")) == bare(read(name))


def test_lines_are_those_of_the_file() -> None:
    """Also of a record that was torn: the line that it begins on. Of an array it is the number of the element."""
    def calls(name: str) -> list[int]:
        return [event.line for event in read(name) if isinstance(event, ToolCall)]

    assert [3, 5, 7] == calls("plain-stream.jsonl") == calls("array-pretty.json") == calls("array.json")
    assert [3, 4, 6] == calls("spliced-record.jsonl")
    assert [3, 5, 8] == calls("spliced-between-lines.jsonl")


def test_tools_have_one_name_for_all_agents() -> None:
    """Beside the agent's own; with the path or the command that a call names."""
    found = [(event.name, event.tool, event.path, event.command) for event in read("plain-stream.jsonl")
             if isinstance(event, ToolCall)]
    assert [("Read", "read", "/home/dev/shop/src/list.ts", ""), ("Write", "write", "/home/dev/shop/src/price.ts", ""),
            ("Bash", "shell", "", "npm test")] == found
    assert ["shell", "write", "web", "mcp"] == [event.tool for event in read("denials.jsonl")
                                                if isinstance(event, ToolCall)]
    assert ["other", "other", "read"] == [event.tool for event in read("own-tools.jsonl")
                                          if isinstance(event, ToolCall)]


def test_what_came_of_calls() -> None:
    """A denial counts however it is told; a refused call did not run; the text is the one that the model was shown."""
    found = [(event.status, event.ran, event.text) for event in read("denials.jsonl") if isinstance(event, ToolResult)]
    assert [("denied", False, "no"), ("denied", False, "This cannot be done here")] == found[:2]
    assert [("denied", False), ("error", False)] == [item[:2] for item in found[2:]]
    assert ["It is in src/price.ts."] == [event.text for event in read("sub-agents.jsonl") if isinstance(
        event, ToolResult) and event.call.tool == "task"]


def test_who_said_what() -> None:
    """Summaries and remarks of the program are no words of the user's; a sub-agent's have its name."""
    said = [(event.role, event.sub_agent) for event in read("compaction-session.jsonl") if isinstance(event, Message)]
    assert [("user", ""), ("system", ""), ("system", ""), ("assistant", "")] == said
    said = [(event.role, event.sub_agent) for event in read("sidechains-session.jsonl") if isinstance(event, Message)]
    assert [("user", ""), ("user", "session"), ("thinking", ""), ("assistant", "")] == said
    assert [SubAgent("toolu_task")] == [event for event in read("sub-agents.jsonl") if isinstance(event, SubAgent)]
    assert [Folder("/home/dev/shop")] == [event for event in read("own-tools.jsonl") if isinstance(event, Folder)]


def test_limits_and_retries() -> None:
    """What was met, in the order in which it was."""
    assert [("retry", "status 429: rate_limit"), ("retry", "no connection: connection"),
            ("rate", "five_hour: rejected"), ("tokens", "a reply reached its greatest length"),
            ("rate", "API Error: rate limit reached"), ("turns", "")] == [
        (event.what, event.detail) for event in read("retries-and-limits.jsonl") if isinstance(event, Limit)]


def test_gaps_say_what_is_missing() -> None:
    """Only where something was lost that may have been a call or its result."""
    def gaps(name: str) -> list[tuple[int, str]]:
        return [(event.line, event.why) for event in read(name) if isinstance(event, Gap)]

    assert [(3, "it is damaged, and held a tool call"), (6, "it is damaged, and may have held a call"),
            (9, "its tool call has no name, id or input"),
            (4, "it is the result of a call that is not there")] == gaps("damaged-calls.jsonl")
    assert [(6, "it is damaged, and held a tool call")] == gaps("truncated-call.jsonl")
    assert [(5, "it is damaged")] == gaps("own-truncated.jsonl")
    assert [(9, "its tool_result cannot be read: it is the result of a call that is not there"),
            (10, "its tool_result cannot be read: `status` is none of ok, error, denied, missing")] == gaps(
        "own-tools.jsonl")
