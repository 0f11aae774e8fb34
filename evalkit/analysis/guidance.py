"""The guidance of a unit: the documents that go into the system prompt, and their sections.

A folder stands for the Markdown files below it: its SKILL.md first, the others by their paths. A section begins at a
line `## …` (not in a fenced block, nor in a comment `<!-- … -->` that begins a line) and goes on to the next one, or
to a `#` heading. A subsection begins at `### …` within a section, and goes by both headings: `Section > Subsection`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath

from evalkit.analysis import model as m
from evalkit.analysis.scope import Scope
from evalkit.diagnostics import Span
from evalkit.syntax import nodes as n

__all__ = ["ablations", "resolve_guidance", "section_headings", "without_sections"]

_NESTED = " > "
"""Between the headings of a section and of its subsection."""
MAX_ABLATIONS = 100
"""Parts of a case's guidance that an arm can leave out, one after the other."""
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


def section_headings(text: str, *, nested: bool = False) -> list[str]:
    """The headings of the `##` sections of a document, in order; with those of its subsections where `nested`."""
    found = dict.fromkeys(name for section, inner, _ in _parts(text)
                          for name in (section, *([_NESTED.join((section, inner))] if nested and inner else ())))
    return [heading for heading in found if heading]


def without_sections(text: str, headings: Collection[str]) -> str:
    """A document without the sections and subsections that have these headings."""
    return "".join(part for section, inner, part in _parts(text)
                   if not section or (section not in headings and _NESTED.join((section, inner)) not in headings))


def _parts(text: str) -> list[tuple[str, str, str]]:
    """A document cut before each section and subsection, each part with its headings ("" outside)."""
    parts = [("", "", "")]
    fence, comment = "", False
    for line in text.splitlines(keepends=True):
        opening = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if fence:
            if opening and opening[1].startswith(fence) and not line.strip(" `~\r\n"):
                fence = ""
        elif comment or re.match(r" {0,3}<!--", line):
            comment = "-->" not in line
        elif opening:
            fence = opening[1]
        elif heading := re.match(r"##[ \t]+(.*?)[ \t]*#*[ \t]*$", line.rstrip("\r\n")):
            parts.append((heading[1], "", ""))
        elif parts[-1][0] and (heading := re.match(r"###[ \t]+(.*?)[ \t]*#*[ \t]*$", line.rstrip("\r\n"))):
            parts.append((parts[-1][0], heading[1], ""))
        elif re.match(r"#[ \t]", line) and parts[-1][0]:
            parts.append(("", "", ""))
        parts[-1] = (*parts[-1][:2], parts[-1][2] + line)
    return parts


def ablations(scope: Scope, guidance: tuple[m.Guidance, ...], ablate: n.Ablate,
              ) -> list[tuple[str, tuple[m.Guidance, ...]]]:
    """For each part of the documents that is left out: a name for it, and the documents without it."""
    found: dict[str, tuple[m.Guidance, ...]] = {}
    for index, document in enumerate(guidance):
        before, after = guidance[:index], guidance[index + 1 :]
        parts: list[tuple[str, tuple[m.Guidance, ...]]]
        if ablate.by == "document":
            place = PurePosixPath(document.path)
            parts = [(place.parent.name if place.name == "SKILL.md" else place.stem, ())]
        else:
            headings = _sections(scope, document.path, ablate.span, nested=ablate.by == "subsection")
            parts = [(heading, (m.Guidance(document.path, (heading,)),)) for heading in headings]
        for heading, rest in parts:
            if len(found) == MAX_ABLATIONS:
                scope.report("E053", f"this comes to more than {MAX_ABLATIONS} {ablate.by}s", ablate.span)
                return list(found.items())
            found[_unlike(_slug(heading), found)] = (*before, *rest, *after)
    return list(found.items())


def _sections(scope: Scope, path: str, span: Span, *, nested: bool) -> list[str]:
    scope.findings.will_read(scope.suite.files.root / path)
    try:
        with (scope.suite.files.root / path).open("rb") as file:
            return section_headings(file.read(MAX_DOCUMENT).decode("utf-8-sig"), nested=nested)
    except OSError as error:
        scope.report("E040", f"`{path}` cannot be read: {error.strerror}", span)
    except UnicodeDecodeError:
        scope.report("E040", f"`{path}` is not UTF-8", span, help="save it as UTF-8")
    return []


def _slug(heading: str) -> str:
    """A heading as a part of a name: its letters without accents, and its digits."""
    import unicodedata  # few arms ablate

    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return "-".join(re.findall(r"[a-z0-9]+", plain.lower()))[:40].strip("-") or "section"


def _unlike(name: str, taken: Iterable[str]) -> str:
    number = 1
    candidate = name
    while candidate in taken:
        number += 1
        candidate = f"{name}-{number}"
    return candidate
