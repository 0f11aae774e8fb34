"""W004: a skill whose SKILL.md has a front matter that agents cannot read, or that the specification does not allow.

It is looked at twice: by our own check, which knows the place and explains (front_matter.py), and, where that finds
nothing and the extra `[skills]` is installed, by the reference validator of the Agent Skills specification.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalkit.analysis import model as m
from evalkit.diagnostics import Diagnostic, Span
from evalkit.lint.finding import Finding
from evalkit.lint.front_matter import Problem, problems
from evalkit.lint.subject import Subject
from evalkit.syntax import Source
from evalkit.syntax import nodes as n

__all__ = ["CODE", "find"]

CODE = "W004"
LARGEST = 1_000_000
"""Bytes of a SKILL.md that is read."""


def find(subject: Subject) -> Iterator[Finding]:
    seen: set[tuple[str, str]] = set()
    for _, case in subject.compiled():
        for skill in case.setup.skills:
            if skill.folder is None or (skill.folder, skill.name) in seen:
                continue
            seen.add((skill.folder, skill.name))
            yield from _skill(subject, case, skill, skill.folder)


def _skill(subject: Subject, case: m.Case, skill: m.Skill, folder: str) -> Iterator[Finding]:
    named = subject.node(skill.origin, n.Name)
    path = subject.root / folder / "SKILL.md"
    source = Source(path, f"{folder}/SKILL.md", "")
    try:
        data = path.read_bytes()[:LARGEST]
        source = Source(path, f"{folder}/SKILL.md", data.decode("utf-8-sig"))
        found = list(problems(source.text, skill.name)) or _reference(source.text, skill.name)
    except OSError as error:
        found = [Problem(f"it cannot be read: {error.strerror}", 0, 0)]
    except UnicodeDecodeError:
        found = [Problem("it is not UTF-8", 0, 0)]
    for problem in found:
        yield Finding(Diagnostic(
            CODE, f"skill `{skill.name}`: {problem.message}", Span(source, problem.start, problem.end),
            help=problem.help, notes=(("the skill is named here", named.span),) if named else ()),
            case, named.span if named else None)


def _reference(text: str, name: str) -> list[Problem]:
    """What the reference validator says, where it is installed. The folder that an agent gets has the skill's name."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parser: Any = importlib.import_module("skills_ref.parser")
            validator: Any = importlib.import_module("skills_ref.validator")
    except ImportError:
        return []
    try:
        metadata, _ = parser.parse_frontmatter(text)
        said = list(validator.validate_metadata(metadata, Path(name)))
    except Exception as error:  # noqa: BLE001 - whatever a foreign parser raises means that it cannot read the file
        said = [str(error)]
    return [Problem(_one_line(message), 0, 3) for message in said]


def _one_line(message: str) -> str:
    first = " ".join(message.split())
    return (first[:1].lower() + first[1:])[:300].rstrip(".")
