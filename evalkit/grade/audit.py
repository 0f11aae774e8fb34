"""Whether an agent saw what it must not see, from its transcript: always on, one pass.

By path: what a call names. A call that was carried out, or whose result is missing, is a finding; one that was refused,
or that failed, a try. By content: lines of hidden files, answers and the case's file in what tools returned to it,
unless it had written them itself before. An agent that comes to the same lines by itself is not contaminated; nor is
one whose tools made, in its own workspace, what the solution has too (files of a scaffold): there an answer's lines do
not count.

A transcript that tells no calls (of the agent `command`) has only what the agent printed: that counts as returned to it
(audit_printed.py). A name of a place that holds an answer is a finding there, as nobody knows whether it was read;
lines of an answer count where the final files have them not, as programs print what they wrote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from attrs import define, field

from evalkit.execute.transcripts import Folder, Gap, Message, ToolCall, ToolResult, read_events
from evalkit.execute.transcripts.foreign import texts_within
from evalkit.grade.audit_lines import KnownLine
from evalkit.grade.audit_paths import Command, Named, Places
from evalkit.grade.audit_printed import BLIND, Mentions, printed_texts
from evalkit.grade.audit_protected import PROJECT, Protected
from evalkit.grade.audit_record import Audit, Finding, How, Outcome

__all__ = ["audit"]

_LISTED = 100
_SHOWN = 160
"""Characters of evidence."""
_COPIES = frozenset({"cp", "tar", "rsync", "zip", "7z", "scp", "mv", "ln", "bsdtar", "cpio", "git"})
_SEARCHES = frozenset({"rg", "ag", "ack", "ugrep"})
_HARMLESS_GIT = frozenset({"status", "rev-parse", "version", "config", "remote", "init", "help", "check-ignore"})
_COMPUTES = frozenset({"python", "node", "perl", "ruby", "php", "deno", "bun", "base64", "xxd", "openssl", "curl",
                       "wget", "git", "zcat", "gunzip", "unzip", "tar", "nc", "socat", "sqlite", "strings", "od"})
"""Programs that may print something of anywhere without that their words say so."""
_FAILED = ("no such file or directory", "permission denied", "operation not permitted", "not a directory",
           "cannot access", "cannot open", "does not exist", "is a directory", "not a git repository",
           "eisdir", "enoent", "eacces", "was blocked. for security")
_EXIT = re.compile(r"Exit code \d+")


def audit(transcript: Path, protected: Protected, docs: Callable[[], Iterable[str]] = tuple, key: str = "",
          final: Callable[[], Iterable[str]] = tuple) -> Audit:
    """Audit a run. docs: texts that the agent's tools come with, read only where lines of a protected file were found.
    key: the digest of what this is made from. final: the texts of the final files, read only where calls are not told.

    Raises HarnessError where the transcript cannot be read.
    """
    seen = _Audit(protected, docs, final)
    for event in read_events(transcript):
        if isinstance(event, ToolCall):
            seen.call(event)
        elif isinstance(event, ToolResult):
            seen.result(event)
        elif isinstance(event, Folder):
            seen.places.begin(event.path)
        elif isinstance(event, Gap):
            seen.gaps += 1
            seen.blind = seen.blind or event.blind
        elif isinstance(event, Message) and seen.blind:
            seen.message(event)
    return seen.outcome(key)


@define
class _Look:
    """What a call looks at: protected places that it names. own: what it prints can only be from the workspace."""

    found: list[tuple[str, How, str, str]]
    own: bool


@define
class _Audit:
    protected: Protected
    docs: Callable[[], Iterable[str]]
    final: Callable[[], Iterable[str]]
    places: Places = field(factory=Places)
    gaps: int = 0
    blind: bool = False
    _told: str = ""
    _mentions: Mentions | None = None
    _looks: dict[str, _Look] = field(factory=dict)
    _findings: list[Finding] = field(factory=list)
    _tries: list[Finding] = field(factory=list)
    _known: set[tuple[str, str, str, str]] = field(factory=set)
    _more: int = 0
    _own: set[KnownLine] = field(factory=set)
    _lines: dict[int, dict[KnownLine, tuple[str, ToolResult]]] = field(factory=dict)

    # ---- by path ----
    def call(self, call: ToolCall) -> None:
        named, commands = self.places.named(call)
        found = [item for name in named if (item := self._protected(name))]
        found += [item for command in commands for item in self._by_command(command)]
        if call.tool == "search" and call.name != "Glob":
            found += [(PROJECT, "path", name.path, name.said) for name in named
                      if self.protected.is_project(name.path)]
        own = all(self.places.is_own(name.path) or not name.said.startswith(("/", "~", "..")) for name in named)
        own = own and call.tool in ("read", "write", "edit", "search", "shell") and not any(
            command.words[0].rpartition("/")[2].rstrip(".0123456789") in _COMPUTES for command in commands)
        self._looks[call.id] = _Look(list(dict.fromkeys(found)), own)
        if self.protected.lines:
            for text in texts_within(call.input):
                self._own.update(line for _, line in self.protected.lines.found(text))

    def _protected(self, name: Named) -> tuple[str, How, str, str] | None:
        place = self.protected.place(name.path, self.places.scratch)
        if place is None:
            return None
        below = name.path[len(place.path) :] if name.path.startswith(place.path) else ""
        return place.what, "path", place.shown + (below if place.shown != name.path else ""), name.said

    def _by_command(self, command: Command) -> Iterator[tuple[str, How, str, str]]:
        """What a command reads without naming it: the project as a whole, its history, a skill."""
        words, said = command.words, " ".join(command.words)
        program = words[0].rpartition("/")[2]
        for what, wanted in self.protected.skills:
            if wanted in said:
                yield what, "command", wanted, said
        named = [self.places.whole(word, command.folder) for word in words[1:] if not word.startswith("-")]
        if program == "git":
            yield from self._by_git(command, named, said)
        recursive = program in _COPIES | _SEARCHES or (
            program.endswith("grep") and any(word in ("--recursive", "--dereference-recursive") or (
                word.startswith("-") and not word.startswith("--") and set(word) & {"r", "R"}) for word in words)) or (
            program == "find" and any(word.startswith(("-exec", "-ok")) or word == "-fprint" for word in words))
        if recursive:
            here = [command.folder] if program != "git" and len(named) <= 1 else []
            yield from ((PROJECT, "path", ".", said) for path in (*named, *here) if self.protected.is_project(path))

    def _by_git(self, command: Command, named: list[str], said: str) -> Iterator[tuple[str, How, str, str]]:
        words, folder, at = command.words, command.folder, 1
        while at < len(words) and words[at].startswith("-"):
            if words[at] == "-C" and at + 1 < len(words):
                folder = self.places.whole(words[at + 1], folder) or folder
            elif words[at].startswith(("--git-dir=", "--work-tree=")):
                folder = self.places.whole(words[at].partition("=")[2], folder) or folder
            elif words[at] in ("--git-dir", "--work-tree") and at + 1 < len(words):
                folder = self.places.whole(words[at + 1], folder) or folder
            at += 2 if words[at] in ("-C", "-c", "--git-dir", "--work-tree") else 1
        if at < len(words) and words[at] in _HARMLESS_GIT:
            return
        within = not self.places.is_own(folder) and any(map(self.protected.holds_project, (folder, *named)))
        if within or any(map(self.protected.is_project, named)):
            yield "the project's history", "git", ".git", said

    # ---- results ----
    def result(self, result: ToolResult) -> None:
        look = self._looks.pop(result.call.id, None)
        if "Shell cwd was reset to" in result.text:
            self.places.folder = self.places.workspace
        if look is not None and look.found:
            outcome = _outcome(result)
            for what, how, path, said in look.found:
                self._note(result.call, result.call.line, what, how, outcome, path, said)
        if result.ran and result.text and self.protected.lines:
            self._content(result, own=look is not None and look.own)

    def _content(self, result: ToolResult, *, own: bool) -> None:
        for printed, line in self.protected.lines.found(result.text):
            if line in self._own:
                continue
            for number in line.sources:
                if not (own and self.protected.lines.sources[number].made):
                    self._lines.setdefault(number, {}).setdefault(line, (printed.strip(), result))

    # ---- what was printed, where calls are not told ----
    def message(self, message: Message) -> None:
        if message.role == "user":
            self._told += message.text + "\n"
            return
        if self._mentions is None:
            self._mentions = Mentions(self.protected, self.places.scratch, self._told)
        call = ToolCall("", "what it printed", {}, line=message.line)
        for text in printed_texts(message.text):
            for place, path, said, refused, telling in self._mentions.of(text):
                outcome: Outcome = "failed" if refused else "unknown" if telling else "named"
                self._note(call, message.line, place.what, "path", outcome, path, said)
            if self.protected.lines:
                self._content(ToolResult(call, "ok", True, text, line=message.line), own=False)

    def outcome(self, key: str) -> Audit:
        if self._lines:
            for text in self.docs():
                for _, line in self.protected.lines.found(text):
                    for found in self._lines.values():
                        found.pop(line, None)
        answers = [found for number, found in self._lines.items() if self.protected.lines.sources[number].made]
        if self.blind and any(answers):
            for text in self.final():
                for _, line in self.protected.lines.found(text):
                    for found in answers:
                        found.pop(line, None)
        for number, found in self._lines.items():
            source = self.protected.lines.sources[number]
            if found and self.protected.lines.enough(number, len(found), sum(line.size for line in found)):
                printed, result = next(iter(found.values()))
                self._note(result.call, result.line, source.what, "content", "read", source.path, printed)
        return Audit(key, bool(self._findings), tuple(self._findings), tuple(self._tries), self._more, self.gaps,
                     BLIND if self.blind else "", self.blind)

    def _note(self, call: ToolCall, line: int, what: str, how: How, outcome: Outcome, path: str, said: str) -> None:
        listed = self._findings if outcome in ("read", "unknown") else self._tries
        identity = (call.id, what, how, path)
        if identity in self._known:
            return
        self._known.add(identity)
        if len(listed) >= _LISTED:
            self._more += listed is self._findings
            return
        listed.append(Finding(what, how, outcome, _text(call.name), _text(call.id), line, _text(path), _text(said)))


def _outcome(result: ToolResult) -> Outcome:
    if result.status == "denied" or not result.ran:
        return "denied"
    if result.status == "missing":
        return "unknown"
    if result.call.tool == "shell":
        return "failed" if _all_failed(result.text) else "read"
    return "failed" if result.status == "error" else "read"


def _all_failed(text: str) -> bool:
    """Whether what a command printed is nothing but that it could not read something."""
    lines = [line.lower() for line in text.splitlines() if line.strip() and not _EXIT.fullmatch(line.strip())]
    return bool(lines) and all(any(sign in line for sign in _FAILED) for line in lines)


def _text(said: str) -> str:
    """A text that can be written, and is not too long."""
    short = said if len(said) <= _SHOWN else said[: _SHOWN - 1] + "…"
    return short.encode("utf-8", "replace").decode()
