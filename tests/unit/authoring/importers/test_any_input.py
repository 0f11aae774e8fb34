"""No source makes an importer raise, and whatever it writes has no syntax errors and is in canonical form."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.authoring.printer import format_text
from evalkit.syntax import Source, parse
from tests.unit.authoring.importers.sets import GUIDANCE, SKILLS, files_of, import_set, put

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-10**20, 10**20) | st.floats() | st.text(max_size=8)
    | st.sampled_from(["a\"\"\"b", "x\ny\n", "\ud800", "\0", "#{}", "../x", "src/*.{a,b}", "(", r"\d+[\w-]", "native",
                       "app-dual", "macos-local", "harness.zig", "none", "a b", '"', "\u202e"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=6)


def object_with(*keys: str, **fixed: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with some of these keys, each with any value or with one of its own kind."""
    return st.fixed_dictionaries({}, optional={key: fixed.get(key, JSON) | JSON for key in (*keys, *fixed)})


TEXT = st.text(max_size=20) | st.sampled_from(["one\ntwo\n", "  \n\t\n", "a\n", '"""', "\\", "x" * 300])
CHECK = object_with(
    "args", "entry", "minScore", "advisory", "lanes", "extra", description=TEXT, files=TEXT, pattern=TEXT,
    expect=st.booleans(), harness=st.just("harness.zig"), patterns=st.lists(TEXT, max_size=3),
    criteria=st.lists(TEXT, max_size=3), type=st.sampled_from([
        "build_test", "markup_check", "file_grep", "snapshot_grep", "ts_transpile", "ts_harness", "zig_harness",
        "llm_judge"]))
CHECKS = st.lists(CHECK, max_size=4)
TRACKS = object_with(ts=object_with(checks=CHECKS), zig=object_with(checks=CHECKS))
NATIVE_CASE = object_with(
    "timeoutMs", "maxTurns", "extra", name=TEXT, description=TEXT, prompt=TEXT, checks=CHECKS, tracks=TRACKS,
    frontend=st.sampled_from(["native", "ts-core", "app-dual"]))
SPEC = object_with(
    "skill", "reference_files", "template", "edit_file", "extra", expected_imports=st.lists(TEXT, max_size=3),
    expected_apis=st.lists(TEXT, max_size=3), forbidden_patterns=st.lists(TEXT, max_size=3))
CALL = object_with("check", name=st.sampled_from(["call", "a.b", "9"]), args=st.dictionaries(
    st.sampled_from(["a", "b-c", "one", "in"]), JSON, max_size=3))
COMMAND = object_with("tier", "never", "extra", id=TEXT, prompt=TEXT, expect=st.lists(CALL, max_size=3))


def check(form: str, files: dict[str, str | bytes]) -> None:
    """Convert a set, and look at what is written."""
    with tempfile.TemporaryDirectory() as folder:
        job = import_set(form, put(Path(folder), files))
        assert job.report.markdown()
        for name, text in files_of(job).items():
            if name.endswith(".eval"):
                assert [] == [error.message for error in parse(Source(Path(name), name, text))[1]], text
                assert text == format_text(text)


@settings(deadline=None, max_examples=60)
@given(NATIVE_CASE)
def test_native_case(data: dict[str, Any]) -> None:
    """An eval.json with any fields of any types."""
    check("native-evals", {"a/eval.json": json.dumps(data), "a/harness.zig": "//\n", "a/starter-ts/x": "x\n"})


@settings(deadline=None, max_examples=60)
@given(SPEC, TEXT)
def test_guidance_case(data: dict[str, Any], prompt: str) -> None:
    """A spec.json with any fields of any types."""
    check("guidance-evals", {**GUIDANCE, "x/spec.json": json.dumps(data), "x/prompt.md": prompt})


@settings(deadline=None, max_examples=60)
@given(st.lists(COMMAND | JSON, max_size=4) | JSON)
def test_commands(data: Any) -> None:
    """A list of anything."""
    check("commands", {"a.json": json.dumps(data)})


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=60) | st.text(st.sampled_from("-[]{}:,&*a1 \n\"'!|>#?%@~<"), max_size=60))
def test_yaml(text: str) -> None:
    """Any text as YAML."""
    check("commands", {"a.yaml": text.encode("utf-8", "replace")})


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=40))
@pytest.mark.parametrize(("form", "name"), [("native-evals", "a/eval.json"), ("skill-evals", "a/package.json"),
                                            ("skill-evals", "a/PROMPT.md"), ("guidance-evals", "x/spec.json"),
                                            ("guidance-evals", "x/prompt.md"), ("commands", "a.json")])
def test_bytes(form: str, name: str, data: bytes) -> None:
    """Any bytes in place of a file."""
    rest: dict[str, str | bytes] = {"a/EVAL.ts": "//\n", **SKILLS, "x/spec.json": "{}", "x/prompt.md": "Do.\n"}
    check(form, {**rest, name: data})
