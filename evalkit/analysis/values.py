"""What must be right about a value wherever it stands: placeholders, commands, patterns, globs, pins."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath

from evalkit.analysis import model as m
from evalkit.analysis.dialect import FLAGS, compile_regex, literal_of
from evalkit.analysis.findings import Findings
from evalkit.analysis.globs import BadGlob, check_glob
from evalkit.analysis.placeholders import expand, placeholders, substitute
from evalkit.diagnostics import did_you_mean
from evalkit.syntax import nodes as n

__all__ = ["Values", "is_function"]

MAX_PIECES = 100_000
"""Pieces of a regex whose repetitions are written out; so many take some 30 MB and a twentieth of a second."""
RUN_LIMIT = 600
"""Seconds that a command of a case may take where the case does not say."""
_PLAIN = r"[\w@%+=:,./{}*-]+(?: [\w@%+=:,./{}*-]+)*"
"""A command line without quotes: its words are what stands between single spaces. shlex takes fifty times as long."""


class Values:
    """Turns values of the syntax into those of compiled cases, and reports those that mean nothing."""

    def __init__(self, findings: Findings) -> None:
        self.report = findings.report
        self._findings = findings

    def placeholders(self, text: n.Str, known: Collection[str]) -> bool:
        """Whether `text` has no other placeholders than these."""
        good = True
        for name in placeholders(text.value):
            if name in known:
                continue
            good = False
            if name:
                self.report("E025", f"there is no `{{{name}}}` here", text.span,
                            help=did_you_mean(name, known) or "no placeholder can stand here; a brace is `{{`")
            else:
                self.report("E025", "a `{` opens no placeholder", text.span, help="a literal brace is written `{{`")
        return good

    def command(self, text: n.Str, known: Collection[str], limit: n.Number | None,
                arguments: Mapping[str, str] | None = None) -> m.Command:
        """A command line, split into words before anything is put in: nothing put in can become another word.

        `known` are the placeholders that stay for the run; `arguments` are put in here.
        """
        arguments = arguments or {}
        self.placeholders(text, (*arguments, *known))
        words = [text.value]
        if "\0" in text.value:
            self.report("E051", "a command holds no NUL character", text.span)
        elif not text.value.strip():
            self.report("E051", "the command is empty", text.span)
        else:
            try:
                plain = re.fullmatch(_PLAIN, text.value, re.ASCII)
                words = text.value.split(" ") if plain else _shell_words(text.value)
                if not words[0]:
                    self.report("E051", "the command names no program", text.span)
            except ValueError as error:
                self.report("E051", f"this command line cannot be split into words: {str(error).lower()}", text.span,
                            help="quote as in a shell; to use a shell's own features write: sh -c '…'")
        return m.Command(tuple(substitute(word, arguments) for word in words),
                         RUN_LIMIT if limit is None else limit.value)

    def variable(self, name: n.Name) -> str:
        """The name of an environment variable."""
        if not _is_identifier(name.value):
            self.report("E038", f"`{name.value}` cannot name an environment variable", name.span,
                        help="letters, digits and `_`")
        return name.value

    def function(self, text: n.Str) -> str:
        """`package.module:name`."""
        if not is_function(text):
            self.report("E053", f"`{text.value}` does not name a Python object", text.span,
                        help='write it as "package.module:name"')
        return text.value

    def word(self, text: n.Str, what: str) -> str:
        """A name of something outside, in one word."""
        if not text.value or text.value.startswith("-") or any(char.isspace() for char in text.value) \
                or not text.value.isprintable():
            self.report("E053", f"`{text.value}` is not {what}", text.span)
        return text.value

    def bounded(self, number: n.Number | n.Real, low: float, high: float, what: str) -> None:
        """Report a number that is not from `low` to `high`."""
        if not low <= number.value <= high:
            self.report("E053", f"{what} is from {low:,} to {high:,}", number.span)

    def within_workspace(self, text: n.Str, arguments: Mapping[str, str] | None = None) -> str:
        """A path within a workspace, with the arguments put in."""
        value = self._filled(text, arguments or {})
        path = PurePosixPath(value)
        if not path.parts or path.is_absolute() or ".." in path.parts or "\\" in value or "\0" in value:
            self.report("E041", f"`{value}` is not a path within the workspace", text.span,
                        help="write it relative to the workspace's root, with `/` and without `..`")
        return path.as_posix()

    def globs(self, globs: tuple[n.Str, ...], arguments: Mapping[str, str] | None = None) -> tuple[str, ...]:
        return tuple(self._glob(glob, arguments or {}) for glob in globs)

    def _glob(self, glob: n.Str, arguments: Mapping[str, str]) -> str:
        value = self._filled(glob, arguments)
        try:
            check_glob(value)
        except BadGlob as error:
            self.report("E050", f"`{value}` is no glob: {error}", glob.span)
        return value

    def _filled(self, text: n.Str, arguments: Mapping[str, str]) -> str:
        return expand(text.value, arguments) if self.placeholders(text, arguments) else text.value

    def patterns(self, patterns: tuple[n.Pattern, ...]) -> tuple[m.Pattern, ...]:
        return tuple(self._regex(pattern) if isinstance(pattern, n.Regex) else self._text(pattern)
                     for pattern in patterns)

    def _text(self, pattern: n.Str) -> m.Pattern:
        if not pattern.value:
            self.report("E050", "an empty pattern matches everything", pattern.span)
        return m.Pattern(pattern.value)

    def _regex(self, pattern: n.Regex) -> m.Pattern:
        flags = "".join(sorted(set(pattern.flags)))
        known = pattern.pattern, flags
        literal = literal_of(*known)
        if literal is not None and len(literal) <= MAX_PIECES:
            return m.Pattern(pattern.pattern, True, flags)
        if known in self._findings.sound or self._is_sound(pattern, flags):
            self._findings.regexes.add(known)
        return m.Pattern(pattern.pattern, True, flags)

    def _is_sound(self, pattern: n.Regex, flags: str) -> bool:
        """Whether it is a regex; else what is wrong with it is reported."""
        import regex  # only here, as in dialect.py

        from evalkit.analysis.repeats import written_out

        bad = [flag for flag in flags if flag not in FLAGS]
        if bad:
            self.report("E050", f"there is no regex flag `{bad[0]}`", pattern.span,
                        help="known: `i` ignores case, `s` lets `.` match line ends, `x` is verbose; "
                        "multi-line is always on")
        elif written_out(pattern.pattern, flags, MAX_PIECES) > MAX_PIECES:
            self.report("E050", f"the repetitions of this regex come to more than {MAX_PIECES:,} pieces", pattern.span,
                        help="it is written out before it is used: give `{…}` smaller numbers, or use `*` or `+`")
        else:
            try:
                compile_regex(pattern.pattern, flags)
            except (regex.error, ValueError, OverflowError, RecursionError) as error:
                self.report("E050", f"this regex is not valid: {error}", pattern.span)
            else:
                return True
        return False

    def pin(self, pin: n.Str, separator: str, wanted: str) -> str:
        """A package with its version."""
        # An npm scope starts with an @ of its own. A leading dash would be read as an option by the installer.
        name, _, version = pin.value.removeprefix("@").partition(separator)
        if not name or not version or pin.value.startswith("-") or not pin.value.isprintable() or " " in pin.value:
            self.report("E052", f"`{pin.value}` is not pinned", pin.span, help=f"results depend on it: give {wanted}")
        return pin.value


def _shell_words(text: str) -> list[str]:
    import shlex

    return shlex.split(text)


def is_function(text: n.Str) -> bool:
    """Whether a quoted string reads as `package.module:name`."""
    module, _, name = text.value.partition(":")
    return not text.block and all(map(_is_identifier, (*module.split("."), *name.split("."))))


def _is_identifier(text: str) -> bool:
    return text.isascii() and text.isidentifier()
