"""What every importer is given, and what it shares with the others: names of cases, files named by cases, prompts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path

from attrs import define, field

from evalkit.authoring.importers import writer
from evalkit.authoring.importers.jsregex import BadPattern, Translation
from evalkit.authoring.importers.report import Report, Section
from evalkit.authoring.importers.source import LARGEST_TEXT, Source
from evalkit.authoring.importers.target import Target

__all__ = ["Job"]

_MOST_WORDS = 25_000
"""Words, values and signs of one file, counted roughly; the language takes 30,000."""
_WORDS = re.compile(r'"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|[\w.-]+|[^\s\w]')
_LONGEST_LINE = 200
"""Characters of a prompt of one line that stands in the case file."""


@define
class Job:
    """One import: the sources, where it goes, what is said about it."""

    suite: str
    sources: list[Source]
    target: Target
    report: Report
    exact: bool = False
    names: dict[str, str] = field(factory=dict)
    """Names of cases without case -> where the first is from."""

    def case_name(self, wanted: str, section: Section) -> str | None:
        """The name of a case: as the source has it, or made from it. None, and a report, where it is taken."""
        name = wanted if writer.is_name(wanted) else writer.slug(wanted)
        if name != wanted:
            section.changed("name", f"`{wanted}` is no name of the language; it became `{name}`")
        first = self.names.setdefault(name.lower(), section.origin)
        if first != section.origin:
            section.lost(name, f"a case of this name was read from {first}; names are unique, compared without case")
            return None
        return name

    def add_case(self, name: str, lines: writer.Lines, section: Section) -> bool:
        """Add a case with a folder of its own. False, and a report, where a case file cannot hold it."""
        text = lines.text()
        if len(text.encode()) > LARGEST_TEXT or sum(1 for _ in _WORDS.finditer(text)) > _MOST_WORDS:
            section.lost(name, "it is too large for a case file")
            return False
        section.target = f"{name}/{name}.eval"
        self.target.add(section.target, text)
        return True

    def prompt(self, lines: writer.Lines, folder: str, text: str, beside: Collection[str] = ()) -> None:
        """A prompt: in the case file where that can hold exactly this text, else in a file beside it.

        `beside`: the files that will be in the case's folder.
        """
        if writer.holds_as_block(text):
            indent = "  " * (lines.depth + 1)
            body = "".join(f"{indent}{line}\n" if line else "\n" for line in text.split("\n")[:-1])
            lines.add(f'prompt """\n{body}{indent}"""')
        elif "\n" not in text and '"' not in text and "\0" not in text and len(text) <= _LONGEST_LINE:
            lines.add(f'prompt """{text}"""')
        else:
            name = "prompt.md"
            while name in beside:
                name = f"case-{name}"
            self.target.add(f"{folder}/{name}", text)
            lines.add(f"prompt {writer.quoted(name)}")

    def pattern(self, source: str, label: str, section: Section,
                translate: Callable[[str], Translation]) -> str | None:
        """A pattern of the source as a literal. None, and a report, where it cannot be translated."""
        try:
            found = translate(source)
        except BadPattern as error:
            section.lost(label, f"/{source}/ at character {error.at + 1}: {error.reason}")
            return None
        literal = writer.pattern(found)
        if found.literal is None and found.pattern != source.replace("\\/", "/"):
            section.changed(label, f"/{source}/ is written {literal}")
        return literal

    def find_folder(self, holds: str, name: str) -> tuple[Source, Path] | None:
        """The first folder of a name, anywhere in the sources, that holds a file."""
        for source in self.sources:
            for folder in source.find(holds):
                if folder.name == name:
                    return source, folder
        return None
