"""Every statement becomes its node."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from evalkit.diagnostics import Span
from evalkit.syntax import nodes as n
from tests.unit.language.project import parse_text


def plain(node: Any) -> Any:
    """A node as (class, fields) without spans; values as what they hold."""
    if isinstance(node, n.Name | n.Number):
        return node.value
    if isinstance(node, n.Str):
        return ("block", node.value) if node.block else node.value
    if isinstance(node, tuple):
        return [plain(item) for item in node]
    if attrs.has(type(node)):
        return (type(node).__name__, {field.name: plain(getattr(node, field.name)) for field in attrs.fields(type(node))
                                      if field.type != "Span" and field.name != "span"})
    return node


def statements(kind: str, text: str) -> list[Any]:
    file, errors = parse_text(f"{kind} it {{ {text} }}")
    assert not errors, errors
    return [plain(node) for node in (file.suites[0] if kind == "suite" else file.cases[0]).body]


CASE_STATEMENTS: list[tuple[str, tuple[str, dict[str, Any]]]] = [
    ('about "a"', ("About", {"text": "a"})),
    ('about """a"""', ("About", {"text": ("block", "a")})),
    ("use app", ("UseProfile", {"name": "app"})),
    ("use none", ("UseNone", {})),
    ("use agent claude", ("UseAgent", {"name": "claude"})),
    ('prompt "a.md"', ("Prompt", {"text": "a.md"})),
    ('scaffold run "a"', ("ScaffoldRun", {"command": "a", "limit": None})),
    ('scaffold run "a" time 2m', ("ScaffoldRun", {"command": "a", "limit": 120})),
    ('scaffold copy "a"', ("ScaffoldCopy", {"path": "a"})),
    ('starter "a"', ("Starter", {"path": "a"})),
    ('skills a, b-c by "d"', ("Skills", {"names": ["a", "b-c"], "delivery": "by", "value": "d"})),
    ('skills a from "d"', ("Skills", {"names": ["a"], "delivery": "from", "value": "d"})),
    ("skills none", ("SkillsNone", {})),
    ('prewarm "a", "b" time 1h', ("Prewarm", {"commands": ["a", "b"], "limit": 3600})),
    ('caches "a", "b"', ("Caches", {"paths": ["a", "b"]})),
    ("limits { turns 3; time 1h30m }", ("Limits", {"turns": 3, "time": 5400})),
    ("limits { }", ("Limits", {"turns": None, "time": None})),
    ('model "a"', ("Model", {"role": "model", "variable": None, "default": "a"})),
    ('judge-model env A_B else "a"', ("Model", {"role": "judge-model", "variable": "A_B", "default": "a"})),
    ('agent x { allow Read, "Bash(a *)"; deny B; suffix "c"; mcp none; env D = "e" }',
     ("Agent", {"name": "x", "body": [
         ("Allow", {"tools": ["Read", "Bash(a *)"]}), ("Deny", {"tools": ["B"]}), ("Suffix", {"text": "c"}),
         ("McpNone", {}), ("Env", {"name": "D", "value": "e"})]})),
    ('check run "a"', ("Check", {"kind": ("CheckRun", {"command": "a"}), "ids": [], "lanes": [], "advisory": False,
                                 "limits": [], "texts": []})),
    ('check grep "a", "b" has "c", /d\\/e/i "f" as g advisory on h, i',
     ("Check", {"kind": ("CheckGrep", {"globs": ["a", "b"], "expect": "has", "patterns": [
         "c", ("Regex", {"pattern": "d/e", "flags": "i"})]}), "ids": ["g"], "lanes": ["h", "i"], "advisory": True,
         "limits": [], "texts": ["f"]})),
    ('check snapshot lacks "a"', ("Check", {"kind": ("CheckSnapshot", {"expect": "lacks", "patterns": ["a"]}),
                                            "ids": [], "lanes": [], "advisory": False, "limits": [], "texts": []})),
    ('check own "a" "b" time 5s', ("Check", {"kind": ("CheckDefined", {"name": "own"}), "ids": [], "lanes": [],
                                             "advisory": False, "limits": [5], "texts": ["a", "b"]})),
    ('judge "a" as b { files "c"; files "d"; pass at 6, advisory; criterion "e"; criterion "f"; context "g" }',
     ("Judge", {"title": "a", "id": "b", "files": ["c", "d"], "threshold": 6, "advisory": True,
                "criteria": ["e", "f"], "context": ["g"]})),
    ("judge { advisory }", ("Judge", {"title": None, "id": None, "files": [], "threshold": None, "advisory": True,
                                      "criteria": [], "context": []})),
    ('solution "a"', ("Solution", {"path": "a"})),
    ('wrong "a" fails b, c', ("Wrong", {"path": "a", "fails": ["b", "c"]})),
]

SUITE_STATEMENTS: list[tuple[str, tuple[str, dict[str, Any]]]] = [
    ('toolchain t { npm "a", "b"; pip "c"; program d = "e"; env F = "g" }',
     ("Toolchain", {"name": "t", "body": [("Npm", {"pins": ["a", "b"]}), ("Pip", {"pins": ["c"]}),
                                          ("Program", {"name": "d", "path": "e"}),
                                          ("Env", {"name": "F", "value": "g"})]})),
    ("profile a { use agent nop }",
     ("Profile", {"name": "a", "extends": None, "body": [("UseAgent", {"name": "nop"})]})),
    ("profile a extends b { }", ("Profile", {"name": "a", "extends": "b", "body": []})),
    ('define check a(b, c) "d" { put "e" as "f"; append "g" "h"; each "i" run "j" time 1s; run "k" }',
     ("Define", {"name": "a", "params": ["b", "c"], "title": "d", "steps": [
         ("StepPut", {"source": "e", "target": "f"}), ("StepAppend", {"target": "g", "text": "h"}),
         ("StepEach", {"glob": "i", "command": "j", "limit": 1}), ("StepRun", {"command": "k", "limit": None})]})),
    ('define check a { run "b" }',
     ("Define", {"name": "a", "params": [], "title": None, "steps": [("StepRun", {"command": "b", "limit": None})]})),
    ("use agent nop", ("UseAgent", {"name": "nop"})),
]


@pytest.mark.parametrize(("text", "node"), CASE_STATEMENTS, ids=[text for text, _ in CASE_STATEMENTS])
def test_a_statement_of_a_case(text: str, node: tuple[str, dict[str, Any]]) -> None:
    """It becomes one node with what it says."""
    assert [node] == statements("case", text)


@pytest.mark.parametrize(("text", "node"), SUITE_STATEMENTS, ids=[text for text, _ in SUITE_STATEMENTS])
def test_a_statement_of_a_suite(text: str, node: tuple[str, dict[str, Any]]) -> None:
    """It becomes one node with what it says."""
    assert [node] == statements("suite", text)


def test_every_node_class_is_tested() -> None:
    """No statement is without a test of its own."""
    seen = repr([node for _, node in CASE_STATEMENTS + SUITE_STATEMENTS])
    blocks_and_values = {"Suite", "Case", "File", "Name", "Str", "Number", "CheckKind", "Setup", "StepNode", "Pattern"}

    assert [] == [name for name in n.__all__ if name not in blocks_and_values and f"'{name}'" not in seen]


KEYWORDS = ["about", "files", "time", "as", "on", "none", "run", "check", "case", "suite", "has", "judge-model"]


@pytest.mark.parametrize("word", KEYWORDS)
def test_a_keyword_is_a_name_where_only_a_name_can_stand(word: str) -> None:
    """Ids, lanes, parameters and names of blocks may be words that the language uses elsewhere."""
    [check] = statements("case", f'check run "a" as {word}')
    assert [word] == check[1]["ids"]
    assert [word] == statements("case", f'wrong "a" fails {word}')[0][1]["fails"]
    assert [word] == statements("suite", f'define check x({word}) {{ run "a" }}')[0][1]["params"]
    file, errors = parse_text(f"case {word} {{ }}")
    assert ([], word) == (errors, file.cases[0].name.value)


EQUAL = [
    'case a {\n  about "x"\n  use b\n}\n',
    'case a { about "x"; use b }',
    'case a {;; about "x";\n;use b;}\n\n',
    '# first\ncase a { # second\n  # third\n  about "x" # fourth\n\n  use b # "fifth\n}\n# sixth',
    'case a {\r\n  about "x"\r\n  use b\r\n}\r\n',
    'case\ta\t{\tabout\t"x"\n\tuse\tb\t}',
    '\n\n  case a{about"x";use b}  \n\n',
]


@pytest.mark.parametrize("text", EQUAL)
def test_layout_and_comments_mean_nothing(text: str) -> None:
    """Line ends and `;` separate alike; blank lines, comments and CRLF make no difference."""
    file, errors = parse_text(text)

    assert not errors
    assert plain(parse_text(EQUAL[0])[0].cases) == plain(file.cases)


def test_a_comma_at_the_end_of_a_line_goes_on() -> None:
    """A list goes on behind a comma, also past comments and empty lines; a comma with nothing behind is an error."""
    expected = statements("case", 'caches "a", "b"')

    assert expected == statements("case", 'caches "a",\n   "b"\n')
    assert expected == statements("case", 'caches "a", # not last\n\n  # more\n  "b"')
    assert ["`}` cannot stand here"] == [error.message for error in parse_text('case a { caches "a", }')[1]]


def test_spans_cover_the_statement() -> None:
    """A node's span is the text of its statement, without the separator."""
    text = 'case a {\n  use b; caches "c",\n    "d"  # e\n}'
    file, _ = parse_text(text)
    spans: list[Span] = [node.span for node in file.cases[0].body]

    assert ["use b", 'caches "c",\n    "d"'] == [text[span.start : span.end] for span in spans]
    assert "it.eval:2:10" == str(spans[1])


def test_suites_and_cases_stand_in_any_order() -> None:
    """A file holds any number of both."""
    file, errors = parse_text("case a { }\nsuite b { }\ncase c { }")

    assert ([], ["b"], ["a", "c"]) == (errors, [suite.name.value for suite in file.suites],
                                       [case.name.value for case in file.cases])


@pytest.mark.parametrize("text", ["", "\n", "# only a comment", ";;;"])
def test_an_empty_file_is_a_file(text: str) -> None:
    """It declares nothing, and nothing is wrong with it."""
    file, errors = parse_text(text)

    assert ([], (), ()) == (errors, file.suites, file.cases)
