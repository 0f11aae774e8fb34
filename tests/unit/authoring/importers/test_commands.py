"""The format commands: lists of instructions with the calls that they should lead to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalkit.authoring.importers.commands import value_text
from evalkit.syntax import Source, parse
from tests.unit.authoring.importers.sets import files_of, import_set, lost, put

CASES: list[dict[str, Any]] = [
    {"id": "lamp-on", "prompt": "Light, please", "tier": "plain",
     "expect": [{"name": "setLamp", "args": {"on": True}}]},
    {"id": "lamp-dim", "prompt": "Half as \"bright\"", "tier": "plain",
     "expect": [{"name": "getLamp"}, {"name": "setLamp", "args": {"level": 0.5, "tags": ["a", -1, None]}}]},
    {"id": "no-shop", "prompt": "Note the milk", "tier": "careful", "expect": [{"name": "addNote"}], "never": ["buy"]},
    {"id": "calm", "prompt": "Do nothing", "never": "buy"},
]


def convert(folder: Path, cases: Any, name: str = "home.json") -> Any:
    return import_set("commands", put(folder, {name: cases if isinstance(cases, str) else json.dumps(cases)}) / name)


def test_list_is_converted(tmp_path: Path) -> None:
    """A case is a line in the file of its tier; one without a tier goes to a file named like the list."""
    job = convert(tmp_path, CASES)
    files = files_of(job)
    suite = files.pop("suite.eval")
    assert {
        "plain.eval": 'case lamp-on plain "Light, please" { expect setLamp(on: true) }\n\n'
                      'case lamp-dim plain "Half as \\"bright\\"" {\n'
                      '  expect getLamp then setLamp(level: 0.5, tags: ["a", -1, null])\n}\n',
        "careful.eval": 'case no-shop careful "Note the milk" { expect addNote; never buy }\n',
        "home.eval": 'case calm "Do nothing" { never buy }\n',
    } == files
    assert "  agent tools { }\n  use agent tools\n" in suite
    assert '  tier plain "cases of the tier plain"\n  tier careful "cases of the tier careful"\n' in suite
    assert [] == lost(job)


def test_yaml_list_is_the_same(tmp_path: Path) -> None:
    """YAML and JSON of equal content become equal files."""
    text = """
- {id: lamp-on, prompt: "Light, please", tier: plain, expect: [{name: setLamp, args: {on: true}}]}
- id: lamp-dim
  prompt: Half as "bright"
  tier: plain
  expect: [{name: getLamp}, {name: setLamp, args: {level: 0.5, tags: [a, -1, null]}}]
- {id: no-shop, prompt: Note the milk, tier: careful, expect: [{name: addNote}], never: [buy]}
- {id: calm, prompt: Do nothing, never: buy}
"""
    assert files_of(convert(tmp_path / "j", CASES)) == files_of(convert(tmp_path / "y", text, "home.yaml"))


def test_yaml_words_are_words(tmp_path: Path) -> None:
    """`no`, a time and a date are texts, as in JavaScript's readers; numbers and truth values are not."""
    job = convert(tmp_path, "- {id: it, prompt: Do, expect: [{name: a, args: {b: no, c: 1:30, d: 2024-01-02, e: 010,"
                            " f: 1e3, g: true, h: ~, i: 0x1f, j: '5'}}]}", "l.yaml")
    assert 'a(b: "no", c: "1:30", d: "2024-01-02", e: 10, f: 1000.0, g: true, h: null, i: 31, j: "5")' in \
        files_of(job)["l.eval"]


def test_check_by_code_is_kept_as_a_remark(tmp_path: Path) -> None:
    """A function cannot be carried over: the call stays, the code stands in a comment and in the report."""
    expect = [{"name": "setSize", "check": "(a) => a.px > 1"}]
    job = convert(tmp_path, [{"id": "big", "prompt": "Bigger", "expect": expect}])
    assert ('case big "Bigger" {\n  # look: the source also checks the arguments of setSize by code: (a) => a.px > 1\n'
            "  expect setSize\n}\n") == files_of(job)["home.eval"]
    assert ["big: expect[0].check: it is code, which is not run: (a) => a.px > 1; write it as ranges or types: `px > 1`"
            ', `at in 1..2`, `mode one of "a", "b"`'] == lost(job)


@pytest.mark.parametrize(("change", "expected"), [
    ({"expect": [{"name": "a", "args": {"o": {"x": 1}}}]},
     "expect[0].args.o: it is an object, which has no literal; any value is accepted"),
    ({"expect": [{"name": "a", "args": {"a b": 1}}]},
     "expect[0].args.a b: `a b` is no name of the language; any value is accepted"),
    ({"expect": [{"name": "a", "args": [1]}]}, "expect[0].args: it is a list, not an object"),
    ({"expect": [{"name": "ok"}, {"name": "9"}]},
     "expect[1].name: `9` is no name of the language; the call was left out"),
    ({"expect": [{"name": "ok"}, {}]}, "expect[1].name: it is missing"),
    ({"expect": [{"name": "ok"}, 5]}, "expect[1]: it is a number, not an object"),
    ({"expect": [{"name": "a", "why": 1}]},
     "expect[0].why: the format has no such field, so that nobody knows what it asks for"),
    ({"never": ["x y"]}, "never[0]: `x y` is no name of the language"),
    ({"note": "x"}, "note: the format has no such field, so that nobody knows what it asks for"),
])
def test_odd_field_is_reported(tmp_path: Path, change: dict[str, Any], expected: str) -> None:
    """The case converts without it."""
    job = convert(tmp_path, [{"id": "it", "prompt": "Do", "expect": [{"name": "a"}], **change}])
    assert [f"it: {expected}"] == lost(job)
    assert "home.eval" in job.target.files


@pytest.mark.parametrize(("case", "expected"), [
    ({"prompt": "Do", "never": ["a"]}, "item 1: id: it is missing"),
    ({"id": "it", "never": ["a"]}, "it: prompt: it is missing"),
    ({"id": "it", "prompt": "Do", "expect": []},
     "it: expect: no call is expected or forbidden, and a case without a check measures nothing"),
    ({"id": "it", "prompt": "x" * 9_000, "never": [f"name{n}" for n in range(2_000)]},
     "it: it: it is longer than 20,000 characters"),
    ("text", "item 1: : it is a text, not an object"),
])
def test_case_that_cannot_be_converted_is_left_out(tmp_path: Path, case: Any, expected: str) -> None:
    """It is reported, and the others convert."""
    job = convert(tmp_path, [case, CASES[0]])
    assert [expected] == lost(job)
    assert "plain.eval" in job.target.files


@pytest.mark.parametrize(("name", "text", "expected"), [
    ("l.json", "[1,", "l.json: l.json: it is not JSON: line 1, column 4: Expecting value"),
    ("l.json", "{}", "l.json: l.json: it holds an object, not a list of cases"),
    ("l.yaml", "a: [", "l.yaml: l.yaml: it is not plain YAML: line 1, column 5: expected the node content, but found "
     "'<stream end>'"),
    ("l.yaml", "!!python/object/apply:os.system [ls]", "l.yaml: l.yaml: it is not plain YAML: line 1, column 1: could "
     "not determine a constructor for the tag 'tag:yaml.org,2002:python/object/apply:os.system'"),
    ("l.yaml", "[" * 3_000, "l.yaml: l.yaml: it is not plain YAML: it cannot be read"),
])
def test_broken_list_is_reported(tmp_path: Path, name: str, text: str, expected: str) -> None:
    """With the place, and without running anything that a YAML file may ask for."""
    assert [expected] == lost(convert(tmp_path, text, name))


def test_folder_of_lists(tmp_path: Path) -> None:
    """The lists of a folder are read together; ids are unique among them; other JSON files are passed over."""
    job = import_set("commands", put(tmp_path, {
        "a.json": json.dumps(CASES[:1]), "b/c.yml": json.dumps(CASES[:2]), "package.json": "{}"}))
    assert ["lamp-on: lamp-on: a case of this name was read from a.json[0]; names are unique, compared without case"
            ] == lost(job)
    assert 2 == files_of(job)["plain.eval"].count("case ")


def test_long_list_fills_several_files(tmp_path: Path) -> None:
    """No file grows beyond what the language takes."""
    cases = [{"id": f"c{n}", "prompt": "Do " * 30, "tier": "t", "never": ["a"]} for n in range(900)]
    files = files_of(convert(tmp_path, cases))
    assert ["t-2.eval", "t-3.eval", "t.eval"] == sorted(set(files) - {"suite.eval"})
    assert 900 == sum(text.count("\ncase ") + text.startswith("case ") for text in files.values())


@pytest.mark.parametrize(("value", "literal"), [
    (1, "1"), (-2, "-2"), (1.5, "1.5"), (-0.25, "-0.25"), (1e-7, "0.0000001"), (2e3, "2000.0"), (True, "true"),
    (None, "null"), ("a\"\n", '"a\\"\\n"'), ([], "[]"), ([1, ["a"], False], '[1, ["a"], false]')])
def test_value_is_written(value: object, literal: str) -> None:
    """Every value that the language has a literal for."""
    assert literal == value_text(value)


@pytest.mark.parametrize("value", [{}, float("nan"), float("inf"), 10**400, 2**53, 1e300, 1.2345678901234567e-10,
                                   "\ud800", [[[[[[[[[[1]]]]]]]]]], list(range(300)), b"x"])
def test_value_without_a_literal_is_refused(value: object) -> None:
    """It has a reason."""
    with pytest.raises(Exception, match=r"it |has too many digits|not a number|is beyond"):
        value_text(value)


def test_shared_yaml_values_do_not_explode(tmp_path: Path) -> None:
    """Anchors that double a value again and again are cut off."""
    text = "- id: it\n  prompt: Do\n  expect:\n  - name: call\n    args:\n      a0: &a0 [1, 1]\n" + "".join(
        f"      a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}, *a{n - 1}]\n" for n in range(1, 30))
    job = convert(tmp_path, text, "l.yaml")
    assert "it: expect[0].args.a29: it is too large; any value is accepted" in lost(job)


def test_lists_parse(tmp_path: Path) -> None:
    """What is written has no syntax errors."""
    for name, text in files_of(convert(tmp_path, CASES)).items():
        assert [] == parse(Source(Path(name), name, text))[1]
