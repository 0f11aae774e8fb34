"""The guidance of a unit: the documents that go into the system prompt, and their sections.

A folder stands for the Markdown files below it: its SKILL.md first, the others by their paths. A section begins at a
line `## …` (not in a fenced block) and goes on to the next one, or to a `#` heading.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from evalkit.analysis import model as m
from evalkit.analysis.scope import Scope
from evalkit.diagnostics import Span
from evalkit.syntax import nodes as n

__all__ = ["ablations", "resolve_guidance", "section_headings", "without_sections"]

MAX_ABLATIONS = 100
"""Sections of a case's guidance that an arm can leave out, one after the other."""
MAX_DOCUMENT = 1_000_000
"""Bytes of a document that is looked through for sections."""


def resolve_guidance(scope: Scope) -> tuple[m.Guidance, ...]:
    found: dict[str, m.Guidance] = {}
    for folder, statement in scope.levels.innermost(n.Guidance, n.GuidanceNone):
        scope.note("setup.guidance", statement.span)
        if isinstance(statement, n.GuidanceNone):
            continue
        for text in statement.paths:
            for path in _documents(scope, folder, text):
                if path not in found:
                    scope.note(f"setup.guidance.{len(found)}", text.span)
                    found[path] = m.Guidance(path)
    return tuple(found.values())


def _documents(scope: Scope, folder: Path, text: n.Str) -> list[str]:
    """The documents that a path stands for."""
    files = scope.suite.files
    path = files.find(folder, text.value, text.span, "any")
    if path is None:
        return []
    if (files.root / path).is_file():
        return [path]
    found = sorted(item.relative_to(files.root).as_posix() for item in (files.root / path).rglob("*.md")
                   if item.is_file())
    if not found:
        scope.report("E040", f"there is no Markdown file in `{text.value}`", text.span)
    return sorted(found, key=lambda item: item != f"{path}/SKILL.md")


def section_headings(text: str) -> list[str]:
    """The headings of the `##` sections of a document, in order."""
    return [heading for heading in dict.fromkeys(heading for heading, _ in _parts(text)) if heading]


def without_sections(text: str, headings: Collection[str]) -> str:
    """A document without the sections that have these headings."""
    return "".join(part for heading, part in _parts(text) if not heading or heading not in headings)


def _parts(text: str) -> list[tuple[str, str]]:
    """A document cut before each section and after it, each part with the heading of its section ("" outside)."""
    parts = [("", "")]
    fence = ""
    for line in text.splitlines(keepends=True):
        opening = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if fence:
            if opening and opening[1].startswith(fence) and not line.strip(" `~\r\n"):
                fence = ""
        elif opening:
            fence = opening[1]
        elif heading := re.match(r"##[ \t]+(.*?)[ \t]*#*[ \t]*$", line.rstrip("\r\n")):
            parts.append((heading[1], ""))
        elif re.match(r"#[ \t]", line) and parts[-1][0]:
            parts.append(("", ""))
        parts[-1] = (parts[-1][0], parts[-1][1] + line)
    return parts


def ablations(scope: Scope, guidance: tuple[m.Guidance, ...], span: Span) -> list[tuple[str, tuple[m.Guidance, ...]]]:
    """For each section of the documents: a name for it, and the documents without it."""
    found: dict[str, tuple[m.Guidance, ...]] = {}
    for index, document in enumerate(guidance):
        for heading in _sections(scope, document.path, span):
            if len(found) == MAX_ABLATIONS:
                scope.report("E053", f"this comes to more than {MAX_ABLATIONS} sections", span)
                return list(found.items())
            without = m.Guidance(document.path, (heading,))
            name = _unlike(_slug(heading), found)
            found[name] = (*guidance[:index], without, *guidance[index + 1 :])
    return list(found.items())


def _sections(scope: Scope, path: str, span: Span) -> list[str]:
    scope.findings.will_read(scope.suite.files.root / path)
    try:
        with (scope.suite.files.root / path).open("rb") as file:
            return section_headings(file.read(MAX_DOCUMENT).decode("utf-8-sig"))
    except OSError as error:
        scope.report("E040", f"`{path}` cannot be read: {error.strerror}", span)
    except UnicodeDecodeError:
        scope.report("E040", f"`{path}` is not UTF-8", span, help="save it as UTF-8")
    return []


def _slug(heading: str) -> str:
    """A heading as a part of a name."""
    return "-".join(re.findall(r"[a-z0-9]+", heading.lower()))[:40].strip("-") or "section"


def _unlike(name: str, taken: Iterable[str]) -> str:
    number = 1
    candidate = name
    while candidate in taken:
        number += 1
        candidate = f"{name}-{number}"
    return candidate
