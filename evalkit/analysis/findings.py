"""The list of what was found, which every part of the analysis adds to."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from pathlib import Path

from evalkit.analysis.survey import Stamp, stamp
from evalkit.diagnostics import Diagnostic, Span
from evalkit.syntax import nodes as n

__all__ = ["Findings", "Names", "TooMany"]

MOST = 100
"""Nobody reads more, and each takes time to find."""

LONGEST_NAME = 80
"""Names become the names of files."""


class TooMany(Exception):
    """So much was found that looking on is of no use."""


class Findings:
    """Diagnostics in the order in which they were found, each once: a suite's statement is met once per case.

    `looked`: the paths that were found, relative to the project's root. `reads`: the files whose content counts,
    beside the case files, each with its stamp before it was read. `regexes`: those that are some,
    and more than a text, each with its flags. `sound`: regexes that an earlier compile found to be some.
    """

    def __init__(self, sound: Collection[tuple[str, str]] = ()) -> None:
        self.sound = sound
        self.looked: set[str] = set()
        self.reads: dict[str, Stamp] = {}
        self.regexes: set[tuple[str, str]] = set()
        self._found: dict[tuple[str, str, int, int, int], Diagnostic] = {}

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return list(self._found.values())

    def will_read(self, path: Path) -> None:
        """Note a file whose content counts. It is called before the file is opened."""
        with contextlib.suppress(OSError):  # the reader will tell
            self.reads.setdefault(str(path), stamp(str(path)))

    def take_looks(self) -> tuple[set[str], dict[str, Stamp], set[tuple[str, str]]]:
        """What was found and read since the last call, and the regexes."""
        taken = self.looked, self.reads, self.regexes
        self.looked, self.reads, self.regexes = set(), {}, set()
        return taken

    def report(self, code: str, message: str, span: Span, *, help: str = "",
               notes: tuple[tuple[str, Span], ...] = ()) -> None:
        """Note a diagnostic. Raises `TooMany` where there are enough."""
        key = (code, message, id(span.source), span.start, span.end)
        self._found.setdefault(key, Diagnostic(code, message, span, help=help, notes=notes))
        if len(self._found) >= MOST:
            raise TooMany


class Names:
    """Names of one kind, which are unique when compared without case: files are named by them."""

    def __init__(self, findings: Findings, what: str) -> None:
        self._findings = findings
        self._what = what
        self._first: dict[str, Span] = {}

    def add(self, name: n.Name, *, made: bool = False) -> bool:
        """Note a name. False, and a report of both places, where it is taken.

        `made`: the name was made from what it names, at `name.span`; nobody wrote it.
        """
        if len(name.value) > LONGEST_NAME:
            self._findings.report("E053", f"this name is longer than {LONGEST_NAME} characters", name.span)
        first = self._first.setdefault(name.value.lower(), name.span)
        if first is name.span:
            return True
        message = f"there are two {self._what}s named `{name.value}`"
        help_line = "names are compared without case; give one of them another name"
        if made:
            message = f"this {self._what} is equal to an earlier one"
            help_line = "leave one of them out, or name it: `as NAME`"
        self._findings.report("E030", message, name.span, help=help_line, notes=(("the first is here", first),))
        return False

    def reserve(self, name: n.Name, words: tuple[str, ...]) -> None:
        """Report a name that the language uses itself in the same place."""
        if name.value in words:
            self._findings.report("E030", f"no {self._what} can be named `{name.value}`", name.span,
                                  help="the language has that word for itself; give it another name")
