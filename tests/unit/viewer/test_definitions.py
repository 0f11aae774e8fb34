"""What every command of the viewer is like: its definition, its schema, and how it takes arguments of all kinds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from viewer import registry, tool_definitions
from viewer.schema import KEYWORDS, problems

from tests.unit.viewer.opened import CALLS, confirmed, rejected, session

DEFINITIONS = {one["name"]: one for one in tool_definitions()}
EACH = pytest.mark.parametrize("name", DEFINITIONS)
READS = ("query", "list", "get")
GUARDED = {"deletePoints", "publishFinding", "retractFinding", "deleteFinding", "exportReport"}


def test_there_are_about_forty_and_each_is_tried() -> None:
    assert set(CALLS) == set(DEFINITIONS)
    assert 40 == len(DEFINITIONS)
    assert len(DEFINITIONS) == len({one["title"].casefold() for one in DEFINITIONS.values()})
    assert registry.commands == session().tool_definitions()


@EACH
def test_a_definition_says_all_that_is_needed(name: str) -> None:
    one = DEFINITIONS[name]
    assert {"name", "title", "description", "input_schema", "annotations"} == set(one)
    assert json.loads(json.dumps(one)) == one
    assert len(one["description"]) >= 15
    jsonschema.Draft202012Validator.check_schema(one["input_schema"])
    assert False is one["input_schema"]["additionalProperties"]
    assert all(schema["description"] for schema in one["input_schema"]["properties"].values())


@EACH
def test_annotations_are_what_the_names_promise(name: str) -> None:
    told = DEFINITIONS[name]["annotations"]
    assert told["readOnlyHint"] is name.startswith(READS)
    assert told["destructiveHint"] is (name in GUARDED)
    assert ("confirm" in DEFINITIONS[name]["input_schema"]["properties"]) is (name in GUARDED)


def test_arguments_are_flat_where_they_can_be() -> None:
    deep = {name for name, one in DEFINITIONS.items()
            if any(schema["type"] in ("array", "object") for schema in one["input_schema"]["properties"].values())}
    assert {"measureDistance"} == deep


@EACH
def test_a_right_call_is_done(name: str) -> None:
    """What reads changes nothing, and what needs a confirmation nothing at its first call."""
    viewer = session()
    before = viewer.state()
    told = viewer.call(name, CALLS[name])
    assert json.loads(json.dumps(told)) == told
    if name in GUARDED:
        assert {"confirmation"} == set(told)
    if name in GUARDED or name.startswith(READS):
        assert before == viewer.state()
    if name in GUARDED:
        confirmed(viewer, name, **CALLS[name])
        assert before != viewer.state()


@pytest.mark.parametrize("name", [name for name in CALLS if not name.startswith((*READS, "clear"))
                                  and name not in GUARDED])
def test_a_writing_call_changes_the_state(name: str) -> None:
    viewer = session()
    before = viewer.state()
    viewer.call(name, CALLS[name])
    if name != "fitAll":  # all is in view at first
        assert before != viewer.state()


@EACH
def test_an_argument_too_many_and_one_too_few(name: str) -> None:
    viewer = session()
    assert "surprise is no argument" in rejected(viewer, name, **CALLS[name], surprise=1)
    for missing in DEFINITIONS[name]["input_schema"]["required"]:
        given = {key: value for key, value in CALLS[name].items() if key != missing}
        assert f"{missing} is missing" in rejected(viewer, name, **given)


def wrong(schema: dict[str, Any]) -> Iterator[Any]:
    """Values just outside of what a schema takes."""
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    samples = {"string": "", "number": 1, "boolean": True, "array": [], "object": {}, "null": None}
    yield from (value for kind, value in samples.items() if kind not in types)
    if "enum" in schema:
        yield from ("", schema["enum"][0].upper() + "!", schema["enum"][0] + " ")
    for keyword, step in (("minimum", -0.001), ("maximum", 0.001), ("exclusiveMinimum", 0)):
        if keyword in schema:
            yield schema[keyword] + step
    if "maxLength" in schema:
        yield "x" * (schema["maxLength"] + 1)
    if "array" in types:
        yield from ([1, 2], [1, 2, 3, 4], [1, 2, "3"], [1, 2, None])
    if "number" in types:
        yield from (float("nan"), float("inf"))


@EACH
def test_every_argument_is_held_to_its_schema(name: str) -> None:
    viewer = session()
    for key, schema in DEFINITIONS[name]["input_schema"]["properties"].items():
        for value in wrong(schema):
            assert key in rejected(viewer, name, **{**CALLS[name], key: value}), value


@EACH
def test_our_reading_of_a_schema_is_that_of_json_schema(name: str) -> None:
    """For right and wrong arguments alike; JSON has no numbers that are none."""
    schema = DEFINITIONS[name]["input_schema"]
    reference = jsonschema.Draft202012Validator(schema)
    tries = [CALLS[name], {}, {**CALLS[name], "surprise": 1}]
    tries += [{**CALLS[name], key: value} for key, part in schema["properties"].items() for value in wrong(part)
              if not (isinstance(value, float) and value in (float("inf"),)) and value == value]
    for arguments in tries:
        assert reference.is_valid(arguments) is not any(problems(arguments, schema)), arguments


@EACH
def test_no_keyword_is_overlooked(name: str) -> None:
    def keywords(schema: dict[str, Any]) -> Iterator[str]:
        yield from schema
        for part in (*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])):
            yield from keywords(part)
    assert set(keywords(DEFINITIONS[name]["input_schema"])) <= KEYWORDS


def test_arguments_that_are_no_object() -> None:
    viewer = session()
    arguments: Any
    for arguments in ([], "x", 1, None):
        assert list(problems(arguments, DEFINITIONS["fitAll"]["input_schema"]))
    assert "no command 'setColourMode'" in rejected(viewer, "setColourMode")
