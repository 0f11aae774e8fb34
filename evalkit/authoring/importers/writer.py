"""Writes `.eval` text: literals that mean exactly a value, and lines in blocks.

Every value of the sources passes through one of these functions; none is put between quotes elsewhere. What a literal
means is said in evalkit/syntax/text.py, which the tests read it back with.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from attrs import define, field

from evalkit.authoring.importers.jsregex import Translation

__all__ = ["Lines", "command", "duration", "holds_as_block", "is_name", "join", "pattern", "quoted", "slug", "text"]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:[-.][A-Za-z0-9_]+)*")
LONGEST_NAME = 80
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
_WIDTH = 110


@define
class Lines:
    """Lines of a file, each indented by the blocks around it."""

    lines: list[str] = field(factory=list)
    depth: int = 0

    def add(self, *statements: str) -> None:
        """Add statements. One of several lines (a text block) brings its own indentation for all but the first."""
        self.lines += ["  " * self.depth + statement if statement else "" for statement in statements]

    def comment(self, words: str) -> None:
        """A comment, on as many lines as it needs."""
        line = "#"
        for word in words.split():
            if len(line) > 1 and 2 * self.depth + len(line) + 1 + len(word) > _WIDTH:
                self.add(line)
                line = "#"
            line += f" {''.join(char if char.isprintable() else '?' for char in word)}"
        self.add(line)

    def blank(self) -> None:
        """An empty line, but never two, nor one at the start of a block."""
        if self.lines and self.lines[-1] and not self.lines[-1].endswith("{"):
            self.lines.append("")

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.add(f"{head} {{")
        self.depth += 1
        yield
        self.depth -= 1
        while self.lines[-1] == "":
            self.lines.pop()
        if self.lines[-1].endswith(f"{head} {{"):
            self.lines[-1] += " }"
        else:
            self.add("}")

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


# ---- literals ----
def quoted(value: str) -> str:
    """A quoted string."""
    return '"' + "".join(_ESCAPES.get(char) or (char if char.isprintable() else f"\\u{{{ord(char):X}}}")
                         for char in value) + '"'


def holds_as_block(value: str) -> bool:
    """Whether a text block of lines can hold a text: it ends with a line end, and nothing in it ends the block."""
    return value.endswith("\n") and '"""' not in value and "\r" not in value and "\0" not in value


def text(value: str, depth: int) -> str:
    """A string of some statement in a block of such depth: quoted, or a text block where it has several lines."""
    if "\n" not in value.rstrip("\n") or not holds_as_block(value):
        return quoted(value)
    indent = "  " * (depth + 1)
    # A line of blanks alone gets the indentation too: without it some of its blanks could be taken for it.
    lines = (indent + line if line else "" for line in value.split("\n")[:-1])
    return '"""\n' + "".join(line + "\n" for line in lines) + f'{indent}"""'


def pattern(translation: Translation) -> str:
    """A quoted string where a pattern is nothing but text, else a regex."""
    if translation.literal is not None:
        return quoted(translation.literal)
    return f"/{_slashed(translation.pattern)}/{translation.flags}"


def _slashed(regex: str) -> str:
    # No backslash stands before a slash that is not itself escaped: the translators write a slash bare.
    return regex.replace("/", "\\/")


def command(words: Iterable[str]) -> str:
    """A command line whose words are these: quoted for a shell's eyes, without placeholders."""
    return quoted(shlex.join(words).replace("{", "{{"))


def duration(seconds: int) -> str:
    """5400 -> `1h30m`."""
    hours, minutes = divmod(seconds // 60, 60)
    parts = ((hours, "h"), (minutes, "m"), (seconds % 60, "s"))
    return "".join(f"{count}{unit}" for count, unit in parts if count) or "0s"


def join(values: Iterable[str]) -> str:
    """A list of quoted strings."""
    return ", ".join(quoted(value) for value in values)


# ---- names ----
def is_name(value: str) -> bool:
    """Whether a text is a name of the language."""
    return len(value) <= LONGEST_NAME and _NAME.fullmatch(value) is not None


def slug(value: str, *, longest: int = LONGEST_NAME, default: str = "case") -> str:
    """A name made from a text: its letters and digits, in small letters, joined by `-`."""
    words = re.findall(r"[a-z0-9]+", value.lower())
    while words and not words[0][0].isalpha():
        words.pop(0)
    name = ""
    for word in words:
        if len(name) + 1 + len(word) > longest:
            break
        name = f"{name}-{word}" if name else word
    return name or (words[0][:longest] if words else default)
