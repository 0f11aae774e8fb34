"""docs/gateway.md: its tables are the reader's, and its examples do what it says."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalkit.authoring.gateway import arguments
from evalkit.gateway.play import open_play
from evalkit.gateway.record import _KEPT
from evalkit.gateway.rules import KNOWN
from evalkit.gateway.script_keys import CALL, REPLY, RULE, SCRIPT, USAGE, WHEN
from evalkit.grade.judge_question import TOOL
from tests.unit.gateway.asking import Asker, broken_off, playing, request

DOCS = (Path(__file__).parents[3] / "docs/gateway.md").read_text()
EXAMPLES = {block.split("\n", 1)[0].removeprefix("# "): block for block in re.findall(r"```yaml\n(.*?)```", DOCS, re.S)}


def test_all_keys_are_in_the_tables() -> None:
    """And nothing else is."""
    rows = dict(re.findall(r"^\| `([^`]+)` \| (.+) \|$", DOCS, re.M))
    wanted = {name: key.about for keys in (SCRIPT, RULE, WHEN, REPLY, CALL, USAGE) for name, key in keys.items()}
    assert {**wanted, **{f"{{{{{name}}}}}": about for name, about in KNOWN.items()}} == rows


def test_each_heading_stands_once() -> None:
    """Readers and links find a part by its name."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", DOCS, flags=re.S), re.M)
    assert sorted(set(headings)) == sorted(headings)


def test_all_kept_headers_are_named() -> None:
    assert re.search(r"\n  " + ", ".join(f"`{name}`" for name in _KEPT[:-1]) + f" and `{_KEPT[-1]}`", DOCS)


def test_commands_are_known() -> None:
    """Every line that starts with `evalkit gateway`."""
    parser = argparse.ArgumentParser()
    arguments(parser)
    lines = re.findall(r"^evalkit gateway (.+)$", DOCS, re.M)
    assert len(lines) >= 3
    for line in lines:
        parser.parse_args(shlex.split(line))


def hello(asker: Asker) -> None:
    more: dict[str, Any] = {"tools": ["Write", "Bash"], "system": "Working directory: /work/place\n"}
    first = asker.ask("Please greet Ada", **more).json()["content"][1]
    assert {"file_path": "/work/place/answer.txt", "content": "Hello, Ada.\n"} == first["input"]
    second = asker.ask("Please greet Ada", before=[("x", "Success.")], **more).json()["content"][0]
    assert {"command": "cat answer.txt"} == second["input"]
    assert "Done." == asker.say("Please greet Ada", before=[("x", "Success."), ("y", "Hello, Ada.")], **more)
    assert "A greeting" == asker.say("a title?")


def bad_day(asker: Asker) -> None:
    assert ["1", "429", "529"] == [asker.ask().headers["retry-after"], "429", asker.say()]
    path, body = request("x", protocol="anthropic", stream="sse", model="m", system="", tools=(), before=())
    assert b"event" in broken_off(asker, path, body)
    assert "<html>" == asker.ask().text
    with pytest.raises(Exception, match="disconnected"):
        asker.ask()
    assert ["slowly", "slowly"] == [asker.say(), asker.say()]


def judge(asker: Asker) -> None:
    answers = [asker.ask(tools=[TOOL]).json()["content"][0]["input"]["scores"][0]["score"] for _ in range(4)]
    assert [9, 9, 2, 9] == answers


PLAYED: dict[str, Callable[[Asker], None]] = {"hello.yaml": hello, "bad-day.yaml": bad_day, "judge.yaml": judge}


def test_each_example_is_played() -> None:
    assert set(PLAYED) == set(EXAMPLES)


@pytest.mark.parametrize("name", PLAYED)
def test_an_example_does_what_it_says(tmp_path: Path, name: str) -> None:
    """Every rule of it answers something, and nothing is left without an answer."""
    path = tmp_path / name
    path.write_text(EXAMPLES[name])
    open_play(path)
    with playing(path) as (asker, player):
        PLAYED[name](asker)
    assert ([], []) == (player.unknown(), player.notes())
