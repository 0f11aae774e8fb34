"""E081 to E084: calls against a registry; and how a registry is loaded."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from evalkit.analysis.resolve import compile_units
from evalkit.diagnostics import render_all
from evalkit.lint import Subject, registry
from evalkit.lint.commands import find
from evalkit.lint.registry import FORMS, Loaded, Loading, load_registry
from evalkit.syntax import Source, parse

COMMANDS: dict[str, Any] = {
    "setColorMode": {"properties": {"mode": {"enum": ["elevation", "intensity"]}}},
    "setPointSize": {"properties": {"px": {"type": "number", "minimum": 1, "exclusiveMaximum": 20}}},
    "setSection": {"properties": {"box": {"type": "array", "items": {"type": "number"}}}},
    "free": {"properties": {"a": {}}, "additionalProperties": True},
    "any": {},
    "fit": {"properties": {}, "additionalProperties": False},
    "query": {"properties": {"text": {"type": "string"}}, "annotations": {"readOnlyHint": True}},
    "publish": {"properties": {"confirm": {"type": "string"}}, "annotations": {"destructiveHint": True}},
    "add": {"properties": {"kind": {"type": "string"}, "at": {"type": "object", "properties": {
        "x": {"type": "number", "maximum": 5}, "list": {"type": "array", "items": {"type": "number"}}}}},
            "required": ["kind"]},
}
SUITE = """\
suite viewer {
  agent tools { registry "app.registry:viewer" }
  tier flat requires schema flat
  tier guarded requires confirmation
  tier read requires read
  tier spatial requires one of setSection, add
}
"""


def findings(root: Path, *statements: str, tier: str = "", loading: Loading | None = None) -> str:
    """What the rule finds in a suite of one case."""
    text = f'case it {tier} "Do it." {{\n' + "\n".join(statements) + "\n}\n"
    files = []
    for name, content in {"suite.eval": SUITE, "it.eval": text}.items():
        path = root / "cases" / "v" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        file, errors = parse(Source(path, f"cases/v/{name}", content))
        assert "" == render_all(errors)
        files.append((path, file))
    units, _, errors = compile_units(root, files)
    assert "" == render_all(errors)
    subject = Subject(root, tuple(files), units, load=lambda name, folders: loading or Loading(Loaded(COMMANDS)))
    return render_all(finding.diagnostic for finding in find(subject))


def messages(rendered: str) -> list[str]:
    return [line for line in rendered.splitlines() if line.startswith("error")]


def test_an_unknown_command(tmp_path: Path) -> None:
    """In `expect` and in `never`, with the nearest one."""
    assert """\
error[E081]: the registry has no command `setColourMode`
 --> cases/v/it.eval:2:27
  |
2 | expect setPointSize then  setColourMode(mode: "elevation")
  |                           ^^^^^^^^^^^^^
  = did you mean `setColorMode`?

error[E081]: the registry has no command `publsh`
 --> cases/v/it.eval:3:14
  |
3 | never query, publsh
  |              ^^^^^^
  = did you mean `publish`?""" == findings(
        tmp_path, 'expect setPointSize then  setColourMode(mode: "elevation")', "never query, publsh")


def test_an_unknown_argument(tmp_path: Path) -> None:
    """The key is underlined."""
    assert """\
error[E082]: command `setColorMode` has no argument `mod`
 --> cases/v/it.eval:2:21
  |
2 | expect setColorMode(mod: "elevation")
  |                     ^^^
  = did you mean `mode`?""" == findings(tmp_path, 'expect setColorMode(mod: "elevation")')


def test_a_value_that_does_not_fit(tmp_path: Path) -> None:
    """The argument with its value is underlined."""
    assert """\
error[E082]: `mode` of `setColorMode` must be one of "elevation", "intensity"
 --> cases/v/it.eval:2:21
  |
2 | expect setColorMode(mode: "height")
  |                     ^^^^^^^^^^^^^^""" == findings(tmp_path, 'expect setColorMode(mode: "height")')


@pytest.mark.parametrize(("call", "said"), [
    ("setPointSize(px: 3)", ""), ("setPointSize(px: 0)", "must be at least 1"),
    ("setPointSize(px: 20)", "must be less than 20"),
    ('setPointSize(px: "3")', "must be a number"), ("setPointSize(px > 20)", "is at most 20"),
    ("setPointSize(px > 3)", ""), ("setPointSize(px >= 21)", "is at most 20"),
    ("setPointSize(px < 1)", "is at least 1"),
    ("setPointSize(px <= 1)", ""), ("setPointSize(px == 0)", "must be at least 1"), ("setPointSize(px in 3..5)", ""),
    ("setPointSize(px in -5..0)", "is at least 1"), ("setPointSize(px in 30..40)", "is at most 20"),
    ("setPointSize(px number)", ""), ("setPointSize(px string)", "is never a string"),
    ('setColorMode(mode one of "elevation", "height")', 'must be one of "elevation", "intensity"'),
    ("setColorMode(mode > 3)", "is never a number"), ("setColorMode(mode array)", "is never an array"),
    ("setColorMode(mode string)", ""), ('setSection(box: [1, "2"])', "has an item that must be a number"),
    ("setSection(box: [1, 2])", ""), ("free(b: 1)", ""), ("free(a: [1])", ""), ("any(x: 1)", ""),
    ("setPointSize(px approx 2 within 0.5)", ""), ("setPointSize(px approx 30 within 5)", "is at most 20"),
    ("setPointSize(px approx [1] within 1)", "is never a list"), ("setColorMode(mode ~ /^elev/)", ""),
    ("setColorMode(mode ~ /^height/)", "is one of elevation, intensity, which the regex does not match"),
    ('setColorMode(mode ~ /e/ like "e")', 'must be one of "elevation", "intensity"'),
    ("setPointSize(px ~ /1/)", "is never a text"), ("setSection(box includes 1)", ""),
    ('setSection(box includes "x")', "has items, and each must be a number"),
    ("query(text includes 1)", "is a text, and includes texts alone"), ('query(text includes "a", "b")', ""),
    ("setPointSize(px includes 1)", "is neither a list nor a text"),
    ("setSection(box approx [1, 2] within 1)", ""), ("setSection(box approx 1 within 1)", "is never a number"),
    ("setPointSize(px any)", ""), ("setPointSize(px absent)", ""),
    ("add(kind absent)", "is required: no call lacks it"),
    ("add(at.x > 1)", ""), ("add(at.x: 7)", "must be at most 5"), ("add(at.list.0: 1)", ""),
    ('add(at.list.0: "x")', "must be a number"), ("add(at.z any)", "is not in `at`"),
    ("add(kind.x any)", "leads into `kind`, which is neither a list nor an object"), ("add(at.x absent)", ""),
])
def test_tests_of_arguments(call: str, said: str, tmp_path: Path) -> None:
    """A test that no value passes which the schema takes is an error."""
    found = findings(tmp_path, f"expect {call}")

    assert said == (found.splitlines()[0].partition("` of `")[2].partition("` ")[2] if found else "")


def test_tiers(tmp_path: Path) -> None:
    """Each kind of tier, contradicted and not."""
    assert """\
error[E083]: command `setSection` takes lists or objects, and tier `flat` requires flat arguments
 --> cases/v/it.eval:2:26
  |
2 | expect setColorMode then setSection
  |                          ^^^^^^^^^^
note: the case is of this tier
 --> cases/v/it.eval:1:9
  |
1 | case it flat "Do it." {
  |         ^^^^""" == findings(tmp_path, "expect setColorMode then setSection", tier="flat")
    assert ["error[E083]: command `publish` does not say that it only reads, which tier `read` requires"] == messages(
        findings(tmp_path, "expect query then publish", tier="read"))
    assert ["error[E083]: tier `guarded` requires a command that needs a confirmation: the case neither expects nor "
            "forbids one"] == messages(findings(tmp_path, "expect query", tier="guarded"))
    for tier, statement in (("flat", "expect query"), ("read", "expect query"), ("guarded", "expect publish"),
                            ("guarded", "expect query\nnever publish"), ("guarded", "never publish(confirm any)"),
                            ("spatial", "expect either { query then add } or { setSection }")):
        assert "" == findings(tmp_path, statement, tier=tier)


def test_a_tier_that_names_its_commands(tmp_path: Path) -> None:
    """Of which a case expects one; and the registry has them."""
    assert ["error[E083]: tier `spatial` requires one of setSection, add: the case expects none of them"] == messages(
        findings(tmp_path / "a", "expect query\nnever add", tier="spatial"))
    commands = {name: schema for name, schema in COMMANDS.items() if name != "add"}
    assert """\
error[E081]: the registry has no command `add`
 --> cases/v/suite.eval:6:44
  |
6 |   tier spatial requires one of setSection, add
  |                                            ^^^
  = known here: `any`, `fit`, `free`, `publish`, `query`, `setColorMode`, `setPointSize`, `setSection`""" == findings(
        tmp_path / "b", "expect query", loading=Loading(Loaded(commands)))


@pytest.mark.parametrize(("call", "said"), [
    ("add(at.x any) exact", "`exact` lists no `kind`, which command `add` requires"), ("add(kind any) exact", ""),
    ("query confirmed", "command `query` asks for no confirmation: it has no argument `confirm`"),
    ("publish confirmed", ""), ("free confirmed", ""),
    ("setPointSize(px > 5, px < 3)", "`px` of `setPointSize` is no number that passes all its tests"),
    ("setPointSize(px > 5, px <= 5)", "`px` of `setPointSize` is no number that passes all its tests"),
    ("setPointSize(px >= 5, px in 1..5)", ""),
    ("setPointSize(px one of 2, 3, px > 3)", "`px` of `setPointSize` has no value that passes all its tests"),
    ("setPointSize(px one of 2, 3, px > 2)", ""),
])
def test_a_call_as_a_whole(call: str, said: str, tmp_path: Path) -> None:
    """What no single test tells."""
    assert ([f"error[E082]: {said}"] if said else []) == messages(findings(tmp_path, f"expect {call}"))


def test_all_places_of_calls(tmp_path: Path) -> None:
    """In branches, in any order and behind `never` arguments are looked at, too."""
    found = findings(tmp_path, "expect either { query(x: 1) } or { in any order { query(y: 1); any } }",
                     "never query(z: 1)")
    assert [f"error[E082]: command `query` has no argument `{name}`" for name in "xyz"] == messages(found)


def test_a_command_without_arguments(tmp_path: Path) -> None:
    """One that says so has none; of one that says nothing it is not known."""
    assert ["error[E082]: command `fit` has no argument `x`"] == messages(
        findings(tmp_path, "expect fit(x: 1) then any(x: 1) then fit"))


def test_a_registry_that_cannot_be_loaded(tmp_path: Path) -> None:
    """It is told once, where it is named."""
    assert """\
error[E084]: registry `app.registry:viewer` cannot be loaded: ModuleNotFoundError: No module named 'app'
 --> cases/v/suite.eval:2:26
  |
2 |   agent tools { registry "app.registry:viewer" }
  |                          ^^^^^^^^^^^^^^^^^^^^^
  = modules are looked for in the suite's folder, in the project's, and among what is installed""" == findings(
        tmp_path, "expect query", loading=Loading(None, "ModuleNotFoundError: No module named 'app'"))


# ---- loading ----
def load(folder: Path, text: str, name: str = "viewer:registry") -> Loading:
    (folder / "viewer.py").write_text(text)
    return load_registry(name, (folder, folder))


@pytest.mark.parametrize(("text", "name"), [
    ('registry = {"go": {"type": "object"}}', "viewer:registry"),
    ('class App:\n    commands = {"go": {"type": "object"}}\nregistry = App()', "viewer:registry"),
    ('class App:\n    class inner:\n        @staticmethod\n        def commands(): return {"go": {"type": "object"}}',
     "viewer:App.inner"),
    ('print("hello")\nregistry = {"go": {"type": "object"}}', "viewer:registry"),
])
def test_forms_of_a_registry(text: str, name: str, tmp_path: Path) -> None:
    """A mapping, an object with one, a function that makes it; what a module prints does no harm."""
    loading = load(tmp_path, text, name)

    assert loading.registry is not None, loading.problem
    assert {"go": {"type": "object"}} == loading.registry.commands


@pytest.mark.parametrize(("text", "problem"), [
    ("registry = 3", f"it is neither a mapping nor a list; {FORMS}"),
    ("x = 1", "AttributeError: module 'viewer' has no attribute 'registry'"),
    ("raise ValueError('two\\nlines')", "ValueError: two lines"),
    ("raise SystemExit(7)", "SystemExit: 7"), ("import os; os._exit(9)", "importing it ended with status 9"),
])
def test_what_keeps_a_registry_from_loading(text: str, problem: str, tmp_path: Path) -> None:
    """It is said in a line; nothing of it happens in this process."""
    assert Loading(None, problem) == load(tmp_path, text)


MODE = '{"type": "object", "properties": {"mode": {"type": "string"}}}'


@pytest.mark.parametrize("text", [
    f'{{"setMode": {MODE}}}', f'{{"setMode": {{"description": "d", "parameters": {MODE}}}}}',
    f'{{"setMode": {{"description": "d", "inputSchema": {MODE}}}}}',
    f'{{"setMode": {{"type": "function", "function": {{"name": "setMode", "parameters": {MODE}}}}}}}',
    f'[{{"name": "setMode", "input_schema": {MODE}}}]', f'({{"name": "setMode", "inputSchema": {MODE}}},)',
    f'[{{"type": "function", "function": {{"name": "setMode", "parameters": {MODE}}}}}]',
    f'[{{"type": "function", "name": "setMode", "parameters": {MODE}}}]',
    f'__import__("types").MappingProxyType({{"setMode": {MODE}}})',
])
def test_tool_definitions_are_unwrapped(text: str, tmp_path: Path) -> None:
    """Whatever the form, the schema of the arguments is found."""
    loading = load(tmp_path, f"registry = {text}")

    assert loading.registry is not None, loading.problem
    assert {"setMode": json.loads(MODE)} == loading.registry.commands


@pytest.mark.parametrize(("text", "problem"), [
    ('{"go": {"args": {"mode": "string"}}}', "what it has for `go` is no JSON Schema"),
    ('{"go": {"mode": {"type": "string"}}}', "what it has for `go` is no JSON Schema"),
    ('{"go": {"description": "d", "parameters": {"mode": {"type": "string"}}}}',
     "what it has for `go` is no JSON Schema"),
    ('{"go": print}', "what it has for `go` is no JSON Schema"),
    ('{"go": "a text"}', "what it has for `go` is no JSON Schema"),
    (f'[{MODE}]', "item 1 of its list has no `name`"), ('["go"]', "item 1 of its list has no `name`"),
    ('"a text"', "it is neither a mapping nor a list"),
])
def test_what_is_no_registry(text: str, problem: str, tmp_path: Path) -> None:
    """It is said with the forms that are understood."""
    assert Loading(None, f"{problem}; {FORMS}") == load(tmp_path, f"registry = {text}")


def test_two_tools_of_a_name(tmp_path: Path) -> None:
    """Nobody can know which is meant."""
    assert Loading(None, "its list has two tools `a`") == load(
        tmp_path, 'registry = [{"name": "a", "parameters": {}}, {"name": "a", "parameters": {}}]')


def test_a_tool_definition_is_held_against_the_calls(tmp_path: Path) -> None:
    """Arguments are those of the schema within it, and its annotations count."""
    loading = load(tmp_path, f'registry = {{"setMode": {{"description": "d", "parameters": {MODE}, '
                             '"annotations": {"readOnlyHint": True}}}')

    assert "error[E082]: command `setMode` has no argument `x`" == messages(
        findings(tmp_path, "expect setMode(x: 1)", tier="read", loading=loading))[0]


def test_a_registry_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is ended with all that it started."""
    monkeypatch.setattr(registry, "LIMIT", 1.0)
    started = time.monotonic()

    assert Loading(None, "importing it took longer than 1 s") == load(
        tmp_path, "import subprocess, time; subprocess.Popen(['sleep', '60']); time.sleep(60)")
    assert time.monotonic() - started < 30
