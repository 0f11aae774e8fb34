"""The front matter of a SKILL.md, held against the Agent Skills specification: YAML between two lines `---`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

import yaml
from attrs import frozen

__all__ = ["Problem", "problems"]

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
LONGEST = {"name": 64, "description": 1024, "compatibility": 500}
"""Characters."""
_BLOCK = re.compile(r"---[ \t]*\r?\n(.*?)^---[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_UNQUOTED = re.compile(r"""^\s*([\w-]+):\s+(?!["'|>\[{&*!#])(.*:(?:\s.*|$))""")


@frozen
class Problem:
    """What is wrong, at [start, end) of the text."""

    message: str
    start: int
    end: int
    help: str = ""


def problems(text: str, name: str) -> Iterator[Problem]:
    """What is wrong in the front matter of the skill `name`."""
    if not re.match(r"---[ \t]*\r?\n", text):
        yield Problem("the file has no front matter", 0, text.find("\n") if "\n" in text else len(text),
                      "it begins with a line `---`, then `name: …` and `description: …`, then a line `---`")
        return
    block = _BLOCK.match(text)
    if block is None:
        yield Problem("the front matter is not closed", 0, 3, "end it with a line `---`")
        return
    at = block.start(1)
    try:
        fields = yaml.safe_load(block.group(1))
    except yaml.MarkedYAMLError as error:
        yield _yaml_problem(block.group(1), at, error)
        return
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        yield Problem(f"the front matter is no YAML: {str(error).splitlines()[0]}", 0, 3)
        return
    if not isinstance(fields, dict):
        yield Problem("the front matter holds no fields", 0, 3, "write `name: …` and `description: …`")
        return
    yield from _fields(fields, name, block.group(1), at)


def _yaml_problem(block: str, at: int, error: yaml.MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return Problem(f"the front matter is no YAML: {error.problem}", 0, 3)
    line = block.split("\n")[mark.line] if mark.line < block.count("\n") + 1 else ""
    place = at + min(mark.index, len(block) - 1)
    match = _UNQUOTED.match(line)
    if match:
        # The place is where YAML gave up; the value is what has to be changed.
        start = at + sum(len(before) + 1 for before in block.split("\n")[: mark.line]) + match.start(2)
        return Problem(f"the value of `{match.group(1)}` has a `: ` in it and is not quoted", start,
                       start + len(match.group(2).rstrip()),
                       f'YAML reads a second field there; write {match.group(1)}: "…"')
    return Problem(f"the front matter is no YAML: {error.problem}", place, place + 1)


def _fields(fields: dict[Any, Any], name: str, block: str, at: int) -> Iterator[Problem]:
    for field in ("name", "description"):
        if field not in fields:
            yield Problem(f"the front matter has no `{field}`", 0, 3,
                          "an agent knows a skill by its name and description")
    for field, value in fields.items():
        start, end = _place(str(field), block, at)
        if field not in FIELDS:
            yield Problem(f"the specification has no field `{field}`", start, end, f"it has {', '.join(FIELDS)}")
        elif field in LONGEST:
            yield from (Problem(message, start, end, help_line) for message, help_line in _text(field, value, name))


def _text(field: str, value: Any, name: str) -> Iterator[tuple[str, str]]:
    if not isinstance(value, str) or not value.strip():
        yield f"`{field}` is not a text", ""
        return
    if len(value.strip()) > LONGEST[field]:
        yield f"`{field}` is longer than {LONGEST[field]:,} characters", ""
    if field != "name":
        return
    given = unicodedata.normalize("NFKC", value.strip())
    if given != unicodedata.normalize("NFKC", name):
        yield f"its name is `{given}`", "a skill's name is that of its folder, and the one that the case names"
    if given != given.lower() or not all(char.isalnum() or char == "-" for char in given) \
            or given.startswith("-") or given.endswith("-") or "--" in given:
        yield f"`{given}` is not a skill's name", "it has small letters, digits, and single `-` between them"


def _place(field: str, block: str, at: int) -> tuple[int, int]:
    match = re.search(rf"^(['\"]?){re.escape(field)}\1[ \t]*:[ \t]*(.*?)[ \t]*\r?$", block, re.MULTILINE)
    if match is None:
        return 0, 3
    start, end = match.span(2) if match.group(2) and field in FIELDS else match.span()
    return at + start, at + end
