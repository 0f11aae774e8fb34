"""The catalogue for people: an entry on the terminal, the list of all codes, the page docs/diagnostics.md."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from evalkit.diagnostics.colour import Paint, Tone
from evalkit.diagnostics.entries.entry import Entry, Example, Kind

__all__ = ["as_list", "as_markdown", "as_text"]

_WIDTH = 100
_WHERE: dict[Kind, str] = {"case": "in a case", "profile": "in a profile", "suite": "in a suite",
                           "file": "a file of cases", "files": "files of a suite"}
_INTRODUCTION = """\
# Errors and warnings

What `evalkit check` and `doit` say about case files, by code. Made from evalkit/diagnostics by
`evalkit explain --markdown`; the tests compile every example.

With an error (E…) a case cannot be used. With a warning (W…) it can, but what it measures is in doubt. A warning that
is meant so is silenced by `allow CODE "reason"`: as a statement within its block, or as an option of a check.
"""


def as_text(entry: Entry, *, colour: bool = False) -> str:
    paint = Paint(colour)
    parts = [_title(entry, paint), textwrap.fill(entry.why, _WIDTH)]
    for name, example in (("wrong", entry.wrong), ("right", entry.right)):
        shown = paint(name, "red" if name == "wrong" else "cyan", bold=True)
        parts += [f"{shown}, {_where(example)}:", textwrap.indent(example.text, "    ")]
    return "\n\n".join(parts) + "\n"


def as_list(entries: Iterable[Entry], *, colour: bool = False) -> str:
    return "".join(f"{Paint(colour)(entry.code, _of(entry), bold=True)}  {entry.title}\n" for entry in entries)


def as_markdown(entries: Iterable[Entry]) -> str:
    listed = tuple(entries)
    table = ["| Code | What is wrong |", "| --- | --- |",
             *(f"| [{entry.code}](#{entry.code.lower()}) | {entry.title} |" for entry in listed)]
    sections = [f"## {entry.code}\n\n{entry.title[0].upper() + entry.title[1:]}.\n\n{textwrap.fill(entry.why, 120)}\n\n"
                f"Wrong, {_fence(entry.wrong)}\n\nRight, {_fence(entry.right)}\n" for entry in listed]
    return "\n".join([_INTRODUCTION, "\n".join(table), "", *sections])


def _fence(example: Example) -> str:
    return f"{_where(example)}:\n\n```\n{example.text}\n```"


def _where(example: Example) -> str:
    notes = [f"{example.times:,} times" if example.times > 1 else "",
             f"saved as {example.encoding}" if example.encoding != "utf-8" else ""]
    return ", ".join([_WHERE[example.kind], *(note for note in notes if note)])


def _title(entry: Entry, paint: Paint) -> str:
    severity = "warning" if entry.code.startswith("W") else "error"
    return paint(f"{severity}[{entry.code}]", _of(entry), bold=True) + paint(f": {entry.title}", bold=True)


def _of(entry: Entry) -> Tone:
    return "yellow" if entry.code.startswith("W") else "red"
