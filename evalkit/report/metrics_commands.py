"""Compliance commands among what an agent ran in its shell: which are there, and whose exit status was seen; pure.

A declared text is how a command begins, word by word: `make test` is in `cd x && timeout 60 make test -s; echo done`
and not in `make tests`. Programs that run another one (`timeout`, `env`, `sh -c` …) are looked through; a program is
known by its name, wherever it lies. A declared regex is found in a command's words.
"""

from __future__ import annotations

import posixpath
import re
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from attrs import define, frozen

from evalkit.analysis.dialect import compile_regex
from evalkit.analysis.model import Pattern
from evalkit.execute.shell import Simple, Unclear, simple_commands

if TYPE_CHECKING:
    import regex

__all__ = ["Checked", "Compliance", "Patience"]

_WRAPPERS = frozenset({"builtin", "command", "env", "exec", "nice", "nohup", "npx", "bunx", "stdbuf", "time",
                       "timeout", "xargs"})
_ASKS = frozenset({"--help", "-h", "--version"})
"""A command with such a word tells of itself, and checks nothing."""
_SHELLS = frozenset({"sh", "bash", "zsh", "dash"})
_OWN_WORDS = re.compile(r"-|\d[\d.]*[smhd]?$|\w+=")
"""Words of a wrapper's own: options, numbers, variables."""
_SEPARATORS = re.compile(r"&&|\|\||[;&|\n]")
_SECONDS = 2.0
"""For one regex on one text."""


@define
class Patience:
    """Searches for regexes of a suite in texts that an agent decides on, for so many seconds in all.

    lost: searches that took too long, or for which no time was left: they found nothing.
    """

    left: float = 30.0
    lost: int = 0

    def search(self, pattern: regex.Pattern[str], text: str) -> regex.Match[str] | None:
        if self.left <= 0:
            self.lost += 1
            return None
        begun = time.monotonic()
        try:
            return pattern.search(text, timeout=min(_SECONDS, self.left))
        except TimeoutError:
            self.lost += 1
            return None
        finally:
            self.left -= time.monotonic() - begun


@frozen
class Checked:
    """What a shell call is, that runs at least one compliance command.

    alone: it is one command. settled: where the call succeeded, so did all its compliance commands; else another
    command's exit status (behind `;`, `|` or `||`) was seen instead. background: they go on by themselves.
    """

    alone: bool
    settled: bool
    background: bool


class Compliance:
    """The compliance commands that a suite declares."""

    def __init__(self, patterns: Sequence[Pattern], patience: Patience) -> None:
        self._patience = patience
        self._begins = [_known(pattern.text.split()) for pattern in patterns
                        if not pattern.regex and pattern.text.strip()]
        self._found = [compile_regex(pattern.text, pattern.flags) for pattern in patterns if pattern.regex]

    def look(self, command: str) -> Checked | None:
        """What a shell call's text runs; None where it has no compliance command."""
        try:
            commands = simple_commands(command)
        except Unclear:
            return self._roughly(command)
        inner = [self._within(simple) for simple in commands]
        at = next((index for index, found in enumerate(inner) if found is not None), None)
        if at is None:
            return None
        within = [found for found in inner if found is not None]
        return Checked(
            len(commands) == 1 and within[0].alone,
            all(simple.then == "&&" for simple in commands[at:-1]) and all(found.settled for found in within),
            any(found.background or simple.background for found, simple in zip(inner, commands, strict=True)
                if found is not None))

    def _within(self, simple: Simple) -> Checked | None:
        """One simple command, through those that run another one."""
        words = [word.text for word in simple.words]
        while words:
            if self._is(words):
                return Checked(True, True, False)
            name = posixpath.basename(words[0])
            if name in _SHELLS and len(words) > 2 and re.fullmatch(r"-\w*c", words[1]):
                return self.look(words[2])
            if name not in _WRAPPERS:
                return None
            words = words[1:]
            while words and _OWN_WORDS.match(words[0]):
                words = words[1:]
        return None

    def _is(self, words: Sequence[str]) -> bool:
        if _ASKS.intersection(words):
            return False
        known = _known(words)
        said = " ".join(words)
        return any(known[: len(begin)] == begin for begin in self._begins) or any(
            self._patience.search(pattern, said) for pattern in self._found)

    def _roughly(self, command: str) -> Checked | None:
        """A text that is not understood: its parts between what looks like operators. Its status tells nothing."""
        return Checked(False, False, False) if any(self._is(words) for words in _parts(command)) else None


def _parts(command: str) -> Iterator[list[str]]:
    return (words for part in _SEPARATORS.split(command) if (words := part.split()))


def _known(words: Sequence[str]) -> list[str]:
    """Words as they are compared: the program by its name, files without `./`."""
    return [posixpath.basename(words[0]) or words[0], *(word.removeprefix("./") for word in words[1:])]
