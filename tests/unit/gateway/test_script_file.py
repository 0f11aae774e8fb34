"""Script files: what is wrong in one is told with its line; the schema and the reader agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from evalkit.errors import UserError
from evalkit.gateway.play import open_play
from evalkit.gateway.script_keys import CALL, REPLY, RULE, SCRIPT, USAGE, WHEN, script_schema

BAD = [
    ("", "1: the script is empty"),
    ("- a\n", "1: a script is a mapping of keys (known here: `script`, `about`, `rules`)"),
    ("rules: [reply: a]\n", "1: a script starts with `script: 1`"),
    ("script: 2\nrules: [{reply: a}]\n", "1: this evalkit reads scripts of version 1, not '2'"),
    ("script: 1\n", "1: a script has `rules`"),
    ("script: 1\nrules: []\n", "2: `rules` is a list"),
    ("script: 1\nrule: [{reply: a}]\nrules: [{reply: a}]\n", "2: a script has no key `rule` (did you mean `rules`?)"),
    ("script: 1\nrules:\n- when: {}\n", "3: a rule has a `reply`"),
    ("script: 1\nrules:\n- reply: a\n  reply: b\n", "4: `reply` is there twice (first in line 3)"),
    ("script: 1\nrules:\n- reply: a\n  when:\n    usr: x\n", "5: `when` has no key `usr` (did you mean `user`?)"),
    ("script: 1\nrules:\n- reply: a\n  when: {user: /(/}\n",
     "4: /(/ is no regular expression: missing ) at position 1"),
    ("script: 1\nrules:\n- reply: a\n  when: {user: /a/q}\n", "4: a pattern has no flag `q` (known: i, s, m)"),
    ("script: 1\nrules:\n- reply: a\n  when: {user: '/(?<model>.)/'}\n",
     "4: `model` cannot be captured: it is the model's name, as it was asked for"),
    ("script: 1\nrules:\n- reply: a\n  when: {protocol: antropic}\n",
     "4: there is no protocol `antropic` (did you mean `anthropic`?)"),
    ("script: 1\nrules:\n- reply: a\n  when: {turn: 0}\n", "4: `turn` is a number from 1 on"),
    ("script: 1\nrules:\n- reply: a\n  when: {side: 3}\n", "4: `side` is true or false"),
    ("script: 1\nrules:\n- reply: a\n  when: {user: {a: b}}\n", "4: `user` is a text"),
    ("script: 1\nrules:\n- reply: a\n  when: {not: {nth: 2}}\n",
     "4: `not` counts nothing and captures nothing: leave out `nth` and groups"),
    ("script: 1\nrules:\n- reply: {text: a, status: 500}\n", "3: `text` does not go with `status`"),
    ("script: 1\nrules:\n- reply: {text: a, retry_after: 5}\n",
     "3: `retry_after` belongs to an error (which has a `status`)"),
    ("script: 1\nrules:\n- reply: {status: 200}\n", "3: `status` is an error's: 300 to 599"),
    ("script: 1\nrules:\n- reply: {hang: soon}\n", "3: `hang` is a time (500ms, 2s, 1m, or a number of seconds)"),
    ("script: 1\nrules:\n- reply: {close: false}\n", "3: `close` is `true`, or is left out"),
    ("script: 1\nrules:\n- reply: {}\n", "3: a reply is empty (an empty text is `text: \"\"`)"),
    ("script: 1\nrules:\n- reply: {text: null}\n", "3: `text` is a text"),
    ("script: 1\nrules:\n- reply: {stop: max_token}\n",
     "3: no model stops for `max_token` (did you mean `max_tokens`?)"),
    ("script: 1\nrules:\n- reply: {speed: 0}\n", "3: `speed` is a number from 0.001 on"),
    ("script: 1\nrules:\n- reply: {calls: [{input: {}}]}\n", "3: a call has a `name`"),
    ("script: 1\nrules:\n- reply: {calls: [{name: a, input: [1]}]}\n", "3: `input` is a mapping of arguments"),
    ("script: 1\nrules:\n- reply: '{{who}}'\n  when: {user: '/(?<whom>.)/'}\n",
     "3: nothing captures `{{who}}` (did you mean `whom`?; `\\{{` writes the braces themselves)"),
    ("script: 1\nrules:\n- reply: a\n  then: [b]\n  times: 1\n", "5: `times: 1` leaves some of the 2 answers unused"),
    ("script: 1\nrules: [\n", "3: that is no YAML: expected the node content, but found '<stream end>'"),
    ("script: 1\nrules:\n- reply: &a [*a]\n", "3: a reply is a mapping of keys"),
]


@pytest.mark.parametrize(("text", "said"), BAD, ids=range(len(BAD)))
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    """The whole message, and where scripts are described."""
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(UserError) as raised:
        open_play(path)
    assert raised.value.message.startswith(f"{path}:{said}"), raised.value.message
    assert "docs/gateway.md describes scripts" == raised.value.hint


def test_all_errors_are_told_at_once(tmp_path: Path) -> None:
    """In the order of their lines; of very many, the first."""
    path = tmp_path / "bad.yaml"
    path.write_text("script: 1\nrules:\n" + "- {reply: {txt: a}}\n" * 30)
    with pytest.raises(UserError) as raised:
        open_play(path)
    lines = raised.value.message.splitlines()
    assert [f"{path}:{number}" for number in range(3, 23)] == [line.partition(": ")[0] for line in lines[:-1]]
    assert "and 10 more" == lines[-1]


def test_files_that_are_none(tmp_path: Path) -> None:
    """Not there, a folder, no text."""
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name, said in (("missing", "No such file"), (".", "Is a directory"), ("binary", "is no text")):
        with pytest.raises(UserError, match=said):
            open_play(tmp_path / name)


FULL: dict[str, Any] = {
    "script": 1, "about": "everything",
    "rules": [
        {"name": "all", "times": 6,
         "when": {"protocol": ["anthropic"], "model": "m*", "user": ["a", "/b/i"], "system": "s", "any": "x",
                  "result": "r", "tools": ["T"], "turn": 1, "nth": 1, "side": False, "stream": True,
                  "not": {"user": "z"}},
         "reply": {"text": "t", "calls": [{"name": "T", "input": {"a": [1]}}], "stop": "end_turn", "delay": "5ms",
                   "usage": {"input": 1, "output": 0, "cache_read": 2, "cache_write": 3}, "chunk": 3, "speed": 10.5,
                   "content_type": "text/plain", "cut": 0},
         "then": ["text", {"status": 429, "kind": "k", "message": "m", "retry_after": 1.5}, {"garbage": "g"},
                  {"hang": 1}, {"close": True}]},
    ],
}


def keys_in(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value).union(*(keys_in(each) for each in value.values()))
    return set().union(*(keys_in(each) for each in value)) if isinstance(value, list) else set()


def test_the_schema_takes_what_the_reader_takes(tmp_path: Path) -> None:
    """One script with every key there is."""
    assert {*SCRIPT, *RULE, *WHEN, *REPLY, *CALL, *USAGE} <= keys_in(FULL)
    path = tmp_path / "full.yaml"
    path.write_text(yaml.safe_dump(FULL))
    open_play(path)
    jsonschema.Draft202012Validator.check_schema(script_schema())
    assert [] == [error.message for error in jsonschema.Draft202012Validator(script_schema()).iter_errors(FULL)]


@pytest.mark.parametrize("text", [text for text, _ in BAD[1:11] + BAD[14:17] if "twice" not in _ and "(/" not in text])
def test_the_schema_refuses_unknown_keys_and_kinds(text: str) -> None:
    assert not jsonschema.Draft202012Validator(script_schema()).is_valid(yaml.safe_load(text))
