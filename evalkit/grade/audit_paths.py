"""Which files and folders a call names: by its path, or by the words of its shell command.

A command is not understood but followed as far as it is plain: quotes, `cd`, variables that it sets itself, `~`,
braces, links that it makes, brackets for a while. Patterns stay patterns. A word that cannot be a path does no harm: it
names nothing that is protected. What is computed (by a program of the agent's own, in base64) is not seen here; what it
prints may be (audit_lines.py).
"""

from __future__ import annotations

import contextlib
import itertools
import os
import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from attrs import define, field

from evalkit.execute.lanes.bwrap import HOME as SANDBOX_HOME
from evalkit.execute.transcripts import ToolCall
from evalkit.execute.transcripts.foreign import texts_within

__all__ = ["Command", "Named", "Places"]

_PIECE = re.compile(r"""
    (?P<blank>[ \t]+) | (?P<operator>\$\(|[;&|()<>\n`]+) | '(?P<single>[^']*)'
  | "(?P<double>(?:[^"\\]|\\.)*)" | \\(?P<escaped>.) | (?P<plain>[^\s;&|()<>`'"\\$]+|\$(?!\() | \\)
""", re.VERBOSE | re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_ASSIGNED = re.compile(r"(\w+)=(.*)", re.DOTALL)
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_WITHIN = re.compile(r"(?:(?<![\w.~/$}*?-])|(?<=^-\w))(?:~|\.{1,2}|\$\{?\w+\}?)?/[^\s\"'`;|&()<>,:\[\]{}\\]+")
"""What looks like a path within a longer word: the text of a program, a URL, an option's value."""
_SKIPPED = frozenset({"export", "local", "readonly", "declare", "sudo", "env", "exec", "command", "time", "nohup",
                      "then", "do", "else", "!", "{", "if", "while", "builtin"})
_MOST_WORDS = 20_000
_DEEPEST = 12
"""Folders below the workspace that an agent may be in."""


class Named(NamedTuple):
    """A path that a call names: absolute, without `..`. said: as the call has it."""

    path: str
    said: str


class Command(NamedTuple):
    """A simple command: its words, and the folder that it runs in."""

    words: tuple[str, ...]
    folder: str


@define
class Places:
    """Where the agent is. scratch: the folder that its workspace and its home are in; "" where nobody knows."""

    workspace: str = ""
    scratch: str = ""
    folder: str = ""
    links: dict[str, str] = field(factory=dict)

    def begin(self, folder: str) -> None:
        """The agent's working directory is told."""
        if not self.workspace:
            around = posixpath.dirname(folder)
            self.workspace, self.scratch = folder, folder if around == "/" else around  # as in the sandbox
        self.folder = folder

    @property
    def home(self) -> str:
        if self.scratch and self.scratch == self.workspace:
            return str(SANDBOX_HOME)
        return f"{self.scratch}/home" if self.scratch else ""

    def whole(self, path: str, folder: str = "") -> str:
        """An absolute path, without `..`, `~` and links that the agent made; "" where it is not known."""
        if path == "~" or path.startswith("~/"):
            path = self.home + path[1:]
        elif path.startswith("~"):
            with contextlib.suppress(ValueError):
                path = posixpath.expanduser(path)
        joined = re.sub("^/+", "/", posixpath.normpath(posixpath.join(folder or self.folder, path)))
        for _ in range(8):
            link = next((link for link in self.links if joined == link or joined.startswith(link + "/")), None)
            if link is None:
                break
            joined = posixpath.normpath(self.links[link] + joined[len(link) :])
        return joined if joined.startswith("/") else ""

    def is_own(self, path: str) -> bool:
        """Whether a path is within what the agent was given to work in."""
        own = (self.scratch, self.home) if self.scratch else ()
        return any(path == folder or path.startswith(folder + "/") for folder in own)

    # ---- calls ----
    def named(self, call: ToolCall) -> tuple[list[Named], list[Command]]:
        """What a call names, and the simple commands of a shell call."""
        if call.tool == "shell":
            return self._of_command(call.command)
        if call.tool in ("write", "edit", "task"):  # their texts are no paths
            given = [call.path] if call.path else []
        else:
            given = [call.path, *texts_within(call.input)]
        found = []
        for text in given[:_MOST_WORDS]:
            if text and "\n" not in text and (call.path == text or "/" in text):
                text = text.removeprefix("file://")
                found += [Named(path, text) for path in self._resolved(text, self.folder)]
                found += [Named(path, text) for part in _WITHIN.findall(text) for path in self._resolved(part, "")
                          if part != text]
        return found, []

    def _resolved(self, word: str, folder: str) -> list[str]:
        """The absolute paths that a word may be, as it is written and as it really is (where that is outside)."""
        found = []
        # Some agents' shells begin in the workspace each time; a way upwards leads to two places then.
        begins = [folder, self.workspace] if ".." in word and self.workspace else [folder]
        for text, begin in itertools.product(_braces(word), dict.fromkeys(begins)):
            path = self.whole(text, begin)
            if path:
                found.append(path)
                if not self.is_own(path) and not re.search(r"[*?\[]", path):
                    with contextlib.suppress(OSError, ValueError):  # it is no path of this system
                        found.append(os.path.realpath(path))
        return list(dict.fromkeys(found))

    def _of_command(self, text: str) -> tuple[list[Named], list[Command]]:
        found: list[Named] = []
        commands: list[Command] = []
        variables = {"HOME": self.home, "PWD": self.folder, "TMPDIR": "/tmp"}
        folder, before, saved = self.folder, self.folder, list[str]()
        for words, operator in _simple(text):
            said: list[str] = []
            for word in words:
                word = _filled(word, {**variables, "PWD": folder, "OLDPWD": before})
                if not said and (match := _ASSIGNED.fullmatch(word)):
                    variables[match[1]] = match[2]
                    found += self._words([match[2]], folder)
                elif said or word not in _SKIPPED:
                    said.append(word)
            found += self._words(said, folder)
            if said:
                commands.append(Command(tuple(said), folder))
                if said[0] in ("cd", "pushd"):
                    target = next((word for word in said[1:] if not word.startswith("-") or word == "-"), "~")
                    goes = before if target == "-" else self.whole(target, folder) or folder
                    folder, before = goes, folder
                elif said[0] == "popd":
                    folder, before = before, folder
                elif said[0] == "ln" and len(plain := [word for word in said[1:] if not word.startswith("-")]) >= 1:
                    self._link(plain, folder)
            for sign in operator:
                if sign == "(":
                    saved.append(folder)
                elif sign == ")" and saved:
                    folder = saved.pop()
        deep = folder.count("/") - self.workspace.count("/")
        self.folder = folder if deep <= _DEEPEST else self.workspace  # `cd src` once more failed, most likely
        return found, commands

    def _link(self, words: list[str], folder: str) -> None:
        target = self.whole(words[0], folder)
        name = self.whole(words[1] if len(words) > 1 else posixpath.basename(words[0].rstrip("/")), folder)
        if len(words) > 1 and (name == self.workspace or words[1].endswith("/") or words[1] in (".", "..")):
            name = f"{name}/{posixpath.basename(words[0].rstrip('/'))}"
        if target and name and target != name and not target.startswith(name + "/"):
            self.links[name] = target

    def _words(self, words: list[str], folder: str) -> list[Named]:
        found = []
        for word in words[:_MOST_WORDS]:
            if "\n" not in word and len(word) < 4_000:
                found += [Named(path, word) for path in self._resolved(word, folder)]
            if "/" in word:
                found += [Named(path, part) for part in _WITHIN.findall(word) if part != word
                          for path in self._resolved(part, folder)]
        return found


def _simple(text: str) -> Iterator[tuple[list[str], str]]:
    """The simple commands of a text: their words, and the operator that follows."""
    words: list[str] = []
    word: str | None = None
    for match in _PIECE.finditer(text.replace("\\\n", "")):
        kind, part = match.lastgroup, match[match.lastgroup or 0]
        if kind in ("blank", "operator"):
            if word is not None:
                words.append(word)
                word = None
            if kind == "operator" and not (set(part) & set("<>") and set(part) <= set("<>&")):  # no redirection
                yield words, part
                words = []
        elif kind == "double":
            inner = re.sub(r"\\([\"\\$`])", r"\1", part)
            word = (word or "") + inner
            if "$(" in inner or "`" in inner:
                yield from _simple(re.sub(r".*?(\$\(|`)", "", inner, count=1, flags=re.DOTALL))
        else:
            word = (word or "") + part
    if word is not None:
        words.append(word)
    yield words, ""


def _filled(word: str, variables: dict[str, str]) -> str:
    return _VARIABLE.sub(lambda match: variables.get(match[1] or match[2], match[0]), word) if "$" in word else word


def _braces(word: str, deep: int = 0) -> list[str]:
    """A word with its braces expanded: `{a,b}/c` is `a/c` and `b/c`."""
    match = _BRACES.search(word) if deep < 3 else None
    if match is None:
        return [word]
    before, after = word[: match.start()], word[match.end() :]
    return [text for part in match[1].split(",")[:20] for text in _braces(before + part + after, deep + 1)]
