"""A script file -> `Script`. All errors are told at once, each with its line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

import regex
from attrs import define

from evalkit.diagnostics import did_you_mean
from evalkit.gateway.asked import Protocol
from evalkit.gateway.rules import KNOWN, Pattern, Rule, Script, When, used_names
from evalkit.gateway.script import Answer, Close, CutStream, Fault, Garbage, Hang, Reply, Text, ToolCall
from evalkit.gateway.script_keys import CALL, REPLY, RULE, SCRIPT, USAGE, WHEN
from evalkit.gateway.yaml_nodes import Problems, compose, keys_of, plain

if TYPE_CHECKING:
    import yaml

__all__ = ["read_script"]

_HINT = "docs/gateway.md describes scripts"
_REGEX = re.compile(r"/(.*)/([a-z]*)", re.DOTALL)
_FLAGS = {"i": regex.IGNORECASE, "s": regex.DOTALL, "m": regex.MULTILINE}
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m)?")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}
_STOPS = ("end_turn", "tool_use", "max_tokens", "stop_sequence", "refusal", "pause_turn")
_ERROR_KINDS = {400: "invalid_request_error", 401: "authentication_error", 402: "billing_error",
                403: "permission_error", 404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error",
                529: "overloaded_error"}
"""https://docs.anthropic.com/en/api/errors; any other is an api_error."""
_Manner: TypeAlias = Literal["reply", "status", "garbage", "hang", "close"]
_MANNERS: dict[_Manner, frozenset[str]] = {
    "reply": frozenset({"text", "calls", "stop", "usage", "delay", "chunk", "speed", "content_type", "cut"}),
    "status": frozenset({"status", "kind", "message", "retry_after"}),
    "garbage": frozenset({"garbage", "content_type"}),
    "hang": frozenset({"hang"}),
    "close": frozenset({"close"}),
}
"""Which keys of a reply go together."""


def read_script(path: Path, text: str) -> Script:
    """The script. Raises `UserError` with all that is wrong in it."""
    problems = Problems(str(path))
    root = compose(text, problems)
    script = Script(str(path), ())
    if root is not None:
        script = _Reader(problems).script(root)
    elif not problems.found:
        problems.add(1, "the script is empty")
    problems.check(_HINT)
    return script


@define
class _Reader:
    problems: Problems

    def script(self, node: yaml.Node) -> Script:
        keys = keys_of(node, "a script", SCRIPT, self.problems)
        if "script" not in keys:
            self.problems.add(node, "a script starts with `script: 1`")
        elif plain(keys["script"]) != 1:
            self.problems.add(keys["script"], f"this evalkit reads scripts of version 1, not {keys['script'].value!r}")
        rules = [self.rule(item, number) for number, item in enumerate(self.items(keys.get("rules"), "rules"), 1)]
        if "rules" not in keys:
            self.problems.add(node, "a script has `rules`")
        return Script(self.problems.path, tuple(rules), self.text(keys.get("about"), "about"))

    def rule(self, node: yaml.Node, number: int) -> Rule:
        keys = keys_of(node, "a rule", RULE, self.problems)
        place = f"{self.problems.path}:{node.start_mark.line + 1}"
        when = self.when(keys["when"]) if "when" in keys else When()
        answers: list[Answer] = []
        if "reply" in keys:
            answers.append(self.reply(keys["reply"], when))
        elif keys:
            self.problems.add(node, "a rule has a `reply`")
        answers += [self.reply(item, when) for item in self.items(keys.get("then"), "then")]
        times = self.count(keys.get("times"), "times")
        if times is not None and times < len(answers):
            self.problems.add(keys["times"], f"`times: {times}` leaves some of the {len(answers)} answers unused")
        return Rule(self.text(keys.get("name"), "name") or f"rule {number}", when, tuple(answers), times, place)

    # ---- when ----
    def when(self, node: yaml.Node) -> When:
        keys = keys_of(node, "`when`", WHEN, self.problems)
        unless = None
        if "not" in keys:
            unless = self.when(keys["not"])
            if unless.nth is not None or unless.groups():
                self.problems.add(keys["not"], "`not` counts nothing and captures nothing: leave out `nth` and groups")
        protocols = self.names(keys.get("protocol"), "protocol")
        for name in protocols:
            if name not in get_args(Protocol):
                self.problems.add(keys["protocol"], f"there is no protocol `{name}`",
                                  did_you_mean(name, get_args(Protocol)))
        patterns = {name: self.patterns(keys.get(name), name) for name in ("user", "system", "any", "result")}
        return When(
            cast(tuple[Protocol, ...], protocols), self.names(keys.get("model"), "model"),
            patterns["user"], patterns["system"], patterns["any"], patterns["result"],
            self.names(keys.get("tools"), "tools"), self.count(keys.get("turn"), "turn"),
            self.count(keys.get("nth"), "nth"), self.flag(keys.get("side"), "side"),
            self.flag(keys.get("stream"), "stream"), unless)

    def patterns(self, node: yaml.Node | None, name: str) -> tuple[Pattern, ...]:
        return tuple(self.pattern(item, name) for item in self.one_or_more(node))

    def pattern(self, node: yaml.Node, name: str) -> Pattern:
        text = self.text(node, name)
        found = _REGEX.fullmatch(text)
        if found is None:
            return Pattern(text)
        flags = 0
        for letter in found[2]:
            if letter not in _FLAGS:
                self.problems.add(node, f"a pattern has no flag `{letter}`", "known: i, s, m")
            flags |= _FLAGS.get(letter, 0)
        try:
            compiled = regex.compile(found[1], flags)
        except regex.error as error:
            self.problems.add(node, f"{text} is no regular expression: {error}")
            return Pattern(text)
        for group in set(compiled.groupindex) & set(KNOWN):
            self.problems.add(node, f"`{group}` cannot be captured: it is {KNOWN[group]}")
        return Pattern(text, compiled)

    # ---- replies ----
    def reply(self, node: yaml.Node, when: When) -> Answer:
        import yaml

        if isinstance(node, yaml.ScalarNode):
            keys: dict[str, yaml.Node] = {"text": node}
        else:
            keys = keys_of(node, "a reply", REPLY, self.problems)
            if not keys:
                if isinstance(node, yaml.MappingNode) and not node.value:
                    self.problems.add(node, "a reply is empty", 'an empty text is `text: ""`')
                return Close()
        answer = self.answer(node, keys)
        known = when.groups() | set(KNOWN)
        for name in sorted(used_names([answer]) - known):
            self.problems.add(node, f"nothing captures `{{{{{name}}}}}`",
                              did_you_mean(name, known) + r"; `\{{` writes the braces themselves")
        return answer

    def answer(self, node: yaml.Node, keys: dict[str, yaml.Node]) -> Answer:
        special = [manner for manner in _MANNERS if manner in keys]
        manner: _Manner = special[0] if special else "reply"
        for name in sorted(set(keys) - _MANNERS[manner]):
            if special:
                self.problems.add(keys[name], f"`{name}` does not go with `{manner}`")
            else:
                self.problems.add(keys[name], f"`{name}` belongs to an error", "which has a `status`")
        if manner == "status":
            return self.fault(keys)
        if manner == "garbage":
            return Garbage(self.text(keys["garbage"], "garbage").encode(),
                           content_type=self.text(keys.get("content_type"), "content_type") or "application/json")
        if manner == "hang":
            return Hang(self.seconds(keys["hang"], "hang") or 0.0)
        if manner == "close":
            if self.flag(keys["close"], "close") is False:
                self.problems.add(keys["close"], "`close` is `true`, or is left out")
            return Close()
        return self.message(node, keys)

    def fault(self, keys: dict[str, yaml.Node]) -> Fault:
        status = self.number(keys["status"], "status", int, low=0)
        if status is not None and not 300 <= status <= 599:
            self.problems.add(keys["status"], "`status` is an error's: 300 to 599")
        kind = self.text(keys.get("kind"), "kind") or _ERROR_KINDS.get(int(status or 0), "api_error")
        message = self.text(keys.get("message"), "message") or "the script says that this request fails"
        return Fault(int(status or 500), kind, message, self.seconds(keys.get("retry_after"), "retry_after"))

    def message(self, node: yaml.Node, keys: dict[str, yaml.Node]) -> Reply | CutStream:
        text = self.text(keys.get("text"), "text")
        blocks: list[Text | ToolCall] = [Text(text)] if text else []
        blocks += [self.call(item) for item in self.items(keys.get("calls"), "calls")]
        stop = self.text(keys.get("stop"), "stop") or None
        if stop is not None and stop not in _STOPS:
            self.problems.add(keys["stop"], f"no model stops for `{stop}`", did_you_mean(stop, _STOPS))
        usage = {"input": 100, "output": 20, "cache_read": 0, "cache_write": 0}
        given = keys_of(keys["usage"], "`usage`", USAGE, self.problems) if "usage" in keys else {}
        usage |= {name: int(self.number(value, name, int, low=0) or 0) for name, value in given.items()}
        speed = self.number(keys["speed"], "speed", float, low=0.001) if "speed" in keys else None
        reply = Reply(tuple(blocks), stop, usage["input"], usage["output"],
                      self.seconds(keys.get("delay"), "delay") or 0.0, usage["cache_read"], usage["cache_write"],
                      self.count(keys.get("chunk"), "chunk") or 16, speed,
                      self.text(keys.get("content_type"), "content_type") or None)
        if "cut" in keys:
            return CutStream(int(self.number(keys["cut"], "cut", int, low=0) or 0), reply)
        return reply

    def call(self, node: yaml.Node) -> ToolCall:
        keys = keys_of(node, "a call", CALL, self.problems)
        name = self.text(keys.get("name"), "name")
        if not name:
            self.problems.add(node, "a call has a `name`")
        data: Any = {}
        if "input" in keys:
            try:
                data = plain(keys["input"])
            except ValueError as error:
                self.problems.add(keys["input"], f"`input` cannot be read: {error}")
        if not isinstance(data, dict):
            self.problems.add(keys["input"], "`input` is a mapping of arguments")
            data = {}
        return ToolCall(name, data)

    # ---- values ----
    def text(self, node: yaml.Node | None, name: str) -> str:
        import yaml

        if node is None:
            return ""
        if not isinstance(node, yaml.ScalarNode) or node.tag.endswith(":null"):
            self.problems.add(node, f"`{name}` is a text")
            return ""
        return str(node.value)

    def items(self, node: yaml.Node | None, name: str) -> list[yaml.Node]:
        import yaml

        if node is None:
            return []
        if not isinstance(node, yaml.SequenceNode) or not node.value:
            self.problems.add(node, f"`{name}` is a list")
            return []
        return list(node.value)

    def one_or_more(self, node: yaml.Node | None) -> list[yaml.Node]:
        import yaml

        if node is None:
            return []
        return list(node.value) if isinstance(node, yaml.SequenceNode) else [node]

    def names(self, node: yaml.Node | None, name: str) -> tuple[str, ...]:
        return tuple(self.text(item, name) for item in self.one_or_more(node))

    def number(self, node: yaml.Node, name: str, kind: Callable[[str], float], *, low: float) -> float | None:
        try:
            value = kind(self.text(node, name))
        except ValueError:
            value = -1
        if value < low:
            self.problems.add(node, f"`{name}` is a number from {low:g} on")
            return None
        return value

    def count(self, node: yaml.Node | None, name: str) -> int | None:
        value = None if node is None else self.number(node, name, int, low=1)
        return None if value is None else int(value)

    def flag(self, node: yaml.Node | None, name: str) -> bool | None:
        if node is None:
            return None
        value = plain(node)
        if not isinstance(value, bool):
            self.problems.add(node, f"`{name}` is true or false")
            return None
        return value

    def seconds(self, node: yaml.Node | None, name: str) -> float | None:
        if node is None:
            return None
        found = _SECONDS.fullmatch(self.text(node, name))
        if found is None:
            self.problems.add(node, f"`{name}` is a time", "500ms, 2s, 1m, or a number of seconds")
            return None
        return float(found[1]) * _UNITS[found[2] or "s"]


