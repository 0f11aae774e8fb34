"""What stands beside the language for editors and hooks agrees with the language."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "editors" / "textmate"


@cache
def grammar() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FOLDER / "eval.tmLanguage.json").read_text(encoding="utf-8"))
    return loaded


# ---- a tokenizer for TextMate grammars: matches, begin and end, captures, includes; no more ----
def rules(patterns: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rules of a list of patterns, in order, with what they include."""
    for pattern in patterns:
        if "include" in pattern:
            pattern = grammar()["repository"][pattern["include"].removeprefix("#")]
        if "match" in pattern or "begin" in pattern:
            yield pattern
        else:
            yield from rules(pattern["patterns"])


def scopes(text: str) -> list[tuple[str, str]]:
    """Pieces of a text with the innermost scope of each, neighbours of one scope joined; blanks left out."""
    marks = [""] * len(text)

    def mark(start: int, end: int, name: str | None) -> None:
        if name:
            marks[start:end] = [name] * (end - start)

    def captured(match: re.Match[str], captures: dict[str, Any], base: int) -> None:
        for number, capture in captures.items():
            start, end = match.span(int(number))
            mark(base + start, base + end, capture.get("name"))
            if "patterns" in capture:
                scan(text[base + start : base + end], base + start, capture["patterns"])

    def scan(line: str, base: int, patterns: list[dict[str, Any]], until: str = "", at: int = 0) -> tuple[int, bool]:
        """Mark a line from `at` on, to its end or the end of the rule around it; which of both."""
        while at <= len(line):
            found = [(match.start(), order, match, rule) for order, rule in enumerate(rules(patterns), 1)
                     if (match := re.compile(rule.get("match") or rule["begin"]).search(line, at))]
            if until and (end := re.compile(until).search(line, at)):
                found.append((end.start(), 0, end, {}))
            if not found:
                return len(line), False
            _, _, match, rule = min(found, key=lambda item: item[:2])
            if not rule:
                return match.end(), True
            mark(base + match.start(), base + match.end(), rule.get("name"))
            captured(match, rule.get("captures") or rule.get("beginCaptures") or {}, base)
            at = max(match.end(), at + (match.end() == match.start()))
            if "begin" in rule:
                opened.append(rule)
                return at, False
        return len(line), False

    opened: list[dict[str, Any]] = []
    base = 0
    for line in text.splitlines(keepends=True):
        body, at = line.removesuffix("\n"), 0
        while True:
            depth, start = len(opened), at
            rule = opened[-1] if opened else {}
            if rule:
                mark(base + at, base + len(body), rule["name"])
            at, closed = scan(body, base, rule.get("patterns", []) if rule else grammar()["patterns"],
                              rule.get("end", ""), at)
            if closed:
                mark(base + at, base + len(body), "")
                for number in range(at - 1, start - 1, -1):  # the end belongs to what it ends
                    if number >= at - 3 and text[base + number] == '"':
                        mark(base + number, base + number + 1, rule["endCaptures"]["0"]["name"])
                    else:
                        break
                opened.pop()
            elif len(opened) == depth:
                break
        base += len(line)
    pieces: list[tuple[str, str]] = []
    for char, name in zip(text, marks, strict=True):
        if pieces and pieces[-1][1] == name:
            pieces[-1] = (pieces[-1][0] + char, name)
        else:
            pieces.append((char, name))
    return [(piece.strip(), name.removesuffix(".eval")) for piece, name in pieces if piece.strip()]


SAMPLES: list[tuple[str, list[tuple[str, str]]]] = [
    ("suite native {", [("suite", "storage.type"), ("native", "entity.name.type"), ("{", "punctuation.section.block")]),
    ("profile ts-app extends app {", [
        ("profile", "storage.type"), ("ts-app", "entity.name.type"), ("extends", "keyword.control"),
        ("app", "entity.other.inherited-class"), ("{", "punctuation.section.block")]),
    ("define check zig-harness(spec) {", [
        ("define", "storage.type"), ("check", "storage.type"), ("zig-harness", "entity.name.function.check"),
        ("(", "punctuation.section.brackets"), ("spec", "variable.other"), (")", "punctuation.section.brackets"),
        ("{", "punctuation.section.block")]),
    ('skills native-ui by "get {skill} {{x}}"  # why "not"', [
        ("skills", "keyword.control"), ("native-ui", "variable.other"), ("by", "keyword.control"),
        ('"', "punctuation.definition.string.begin"), ("get", "string.quoted.double"),
        ("{skill}", "variable.other.placeholder"), ("{{", "constant.character.escape.brace"),
        ("x", "string.quoted.double"), ("}}", "constant.character.escape.brace"),
        ('"', "punctuation.definition.string.end"), ('# why "not"', "comment.line.number-sign")]),
    (r'about "a\"\u{1F600}\q"', [
        ("about", "keyword.control"), ('"', "punctuation.definition.string.begin"), ("a", "string.quoted.double"),
        (r"\"\u{1F600}", "constant.character.escape"), (r"\q", "invalid.illegal.escape"),
        ('"', "punctuation.definition.string.end")]),
    ('prompt """\n  case "x" {y} # z\n  """\nuse none', [
        ("prompt", "keyword.control"), ('"""', "punctuation.definition.string.begin"),
        ('case "x" {y} # z', "string.quoted.triple"), ('"""', "punctuation.definition.string.end"),
        ("use", "keyword.control"), ("none", "constant.language")]),
    (r"has /<for\s+[^>]*x/i as loop", [
        ("has", "keyword.control"), ("/", "punctuation.definition.string.begin"), ("<for", "string.regexp"),
        (r"\s", "constant.character.escape.regexp"), ("+", "keyword.operator.quantifier.regexp"),
        ("[^>]", "constant.other.character-class.regexp"), ("*", "keyword.operator.quantifier.regexp"),
        ("x", "string.regexp"), ("/", "punctuation.definition.string.end"), ("i", "keyword.other.regexp-flags"),
        ("as", "keyword.control"), ("loop", "entity.name.tag")]),
    ("limits { turns 80; time 1h30m; cost $2.50 }", [
        ("limits", "keyword.control"), ("{", "punctuation.section.block"), ("turns", "keyword.control"),
        ("80", "constant.numeric"), (";", "punctuation.separator"), ("time", "keyword.control"),
        ("1h30m", "constant.numeric.duration"), (";", "punctuation.separator"), ("cost", "keyword.control"),
        ("$2.50", "constant.numeric.cost"), ("}", "punctuation.section.block")]),
    ('expect setPoint(mode: "a", px > -1, at in 10..24KB, n number, b true) then look', [
        ("expect", "keyword.control"), ("setPoint", "entity.name.function"), ("(", "punctuation.section.brackets"),
        ("mode", "variable.parameter"), (":", "punctuation.separator"), ('"', "punctuation.definition.string.begin"),
        ("a", "string.quoted.double"), ('"', "punctuation.definition.string.end"), (",", "punctuation.separator"),
        ("px", "variable.other"), (">", "keyword.operator"), ("-1", "constant.numeric"),
        (",", "punctuation.separator"), ("at", "keyword.control"), ("in", "keyword.control"),
        ("10", "constant.numeric"), ("..", "keyword.operator"), ("24KB", "constant.numeric.size"),
        (",", "punctuation.separator"), ("n", "variable.other"), ("number", "support.type"),
        (",", "punctuation.separator"), ("b", "variable.other"), ("true", "constant.language"),
        (")", "punctuation.section.brackets"), ("then", "keyword.control"), ("look", "variable.other")]),
    ("model env A_B else", [
        ("model", "keyword.control"), ("env", "keyword.control"), ("A_B", "variable.other.constant"),
        ("else", "keyword.control")]),
    ('allow W012 "why"', [
        ("allow", "keyword.control"), ("W012", "constant.other.code"), ('"', "punctuation.definition.string.begin"),
        ("why", "string.quoted.double"), ('"', "punctuation.definition.string.end")]),
    ("use agent claude; use app", [
        ("use", "keyword.control"), ("agent", "storage.type"), ("claude", "entity.name.type"),
        (";", "punctuation.separator"), ("use", "keyword.control"), ("app", "entity.name.type")]),
    ("case-in-point run.case x2", [("case-in-point run.case x2", "variable.other")]),
    ('about "not closed\nuse app', [
        ("about", "keyword.control"), ('"', "punctuation.definition.string.begin"),
        ("not closed", "string.quoted.double"), ("use", "keyword.control"),
        ("app", "entity.name.type")]),
]


@pytest.mark.parametrize(("text", "expected"), SAMPLES, ids=[text.splitlines()[0] for text, _ in SAMPLES])
def test_scopes(text: str, expected: list[tuple[str, str]]) -> None:
    """Each kind of word, literal and sign has its scope."""
    def parts(pieces: list[tuple[str, str]]) -> list[tuple[str, str]]:
        return [(word, name) for piece, name in pieces for word in piece.split(" ")]

    assert parts(expected) == parts(scopes(text))


def test_every_keyword_has_a_scope() -> None:
    """No keyword of the grammar looks like a name."""
    text = re.sub(r"(?m)(?:^|\s)//.*$", "", (ROOT / "grammar" / "eval.lark").read_text(encoding="utf-8"))
    keywords = sorted(set(re.findall(r'"([a-z][a-z-]*)"', text)))
    assert len(keywords) > 50
    plain = [word for word in keywords if not scopes(f"x {word} ")[-1][1].startswith(
        ("keyword", "storage", "constant.language", "support.type"))]
    assert [] == plain


def test_the_extension_names_its_files() -> None:
    """The editor finds the grammar of the language and the language of the files."""
    package = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    (language,), (entry,) = package["contributes"]["languages"], package["contributes"]["grammars"]
    assert [".eval"] == language["extensions"]
    assert language["id"] == entry["language"]
    assert grammar()["scopeName"] == entry["scopeName"]
    assert (FOLDER / entry["path"]).is_file()
    configuration = json.loads((FOLDER / language["configuration"]).read_text(encoding="utf-8"))
    assert "#" == configuration["comments"]["lineComment"]
    assert re.compile(configuration["wordPattern"]).fullmatch("setPointSize")


def test_every_pattern_compiles() -> None:
    """All regexes, also those of rules that no sample meets, are valid, and every rule is included."""
    def check(node: Any) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                if key in ("match", "begin", "end"):
                    re.compile(value)
                else:
                    check(value)
        elif isinstance(node, list):
            for item in node:
                check(item)

    check(grammar())
    assert {f"#{name}" for name in grammar()["repository"]} == {rule["include"] for rule in grammar()["patterns"]}


def test_hooks() -> None:
    """Each hook of pre-commit has what it must have, takes case files and runs a subcommand that there is."""
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert ["evalkit-check", "evalkit-fmt"] == [hook["id"] for hook in hooks]
    for hook in hooks:
        assert {"id", "name", "entry", "language", "files"} <= set(hook)
        assert "python" == hook["language"]
        assert re.search(hook["files"], "cases/native/suite.eval")
        assert not re.search(hook["files"], "cases/native/eval.json")
        command, subcommand = hook["entry"].split()
        assert "evalkit" == command
        assert importlib.util.find_spec(f"evalkit.authoring.{subcommand}"), subcommand
