"""How an agent did its work, read off its transcript by what its suite declares (`metrics`): one trial; pure.

Only what follows the first change of a source counts: a compliance command before it tells of the starter. What the
harness got in the way of (refused commands, failed compound commands without a diagnostic) is no compliance run.

A run failed where its command failed, or, where another command's exit status was seen, where it said a diagnostic.
Its diagnostics are told line by line, the first one that matches; a line that a run repeats counts once. One with an
empty label says that a command failed, and is no violation.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import Factory, define, field, frozen

from evalkit.analysis.dialect import compile_regex
from evalkit.analysis.globs import matching
from evalkit.analysis.model import Metrics
from evalkit.execute.shell_writes import shell_writes
from evalkit.execute.transcripts import Event, Folder, Gap, Message, MessageUsage, ToolCall, ToolResult
from evalkit.report.metrics_commands import Compliance, Patience

__all__ = ["Work", "work_of"]

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_LABEL = 200
_LONGEST_PATH = 4096
"""No system takes a longer one."""
_MOVED = "backgroundTaskId"
"""What Claude Code tells of a command that it moved to the background when its time was over: its result is no end."""
_TOKENS = ("input", "output", "cache_read", "cache_write")


@frozen
class Work:
    """How one trial's work was done.

    turns: replies of the agent's own model. touched: it changed a source. first_pass: whether the first compliance
    run passed; None where there was none. runs, failed: compliance runs, and how many of them failed.
    retries_to_green: failing runs before the first that passed; turns_to_green: the turn of that one; tail: turns after
    it. None for all three: none passed. teaching: failing runs that said a teaching diagnostic.
    violations: lines of failing runs, by label. unexplained: failing runs without a diagnostic.
    lines: written to sources; shares: of these, by the shares' names. before_edit: compliance commands before a source
    was changed. by_output: runs that passed as far as what they said tells. dropped: by why. tokens: by kind, each
    message of the model once. gaps: places that cannot be read, or that took too long to search.
    blind: why nothing of it tells, or "".
    """

    turns: int = 0
    touched: bool = False
    first_pass: bool | None = None
    runs: int = 0
    failed: int = 0
    retries_to_green: int | None = None
    turns_to_green: int | None = None
    tail: int | None = None
    teaching: int = 0
    violations: dict[str, int] = field(factory=dict)
    unexplained: int = 0
    lines: int = 0
    shares: dict[str, int] = field(factory=dict)
    before_edit: int = 0
    by_output: int = 0
    dropped: dict[str, int] = field(factory=dict)
    tokens: dict[str, int] = field(factory=dict)
    gaps: int = 0
    blind: str = ""


def work_of(events: Iterable[Event], declared: Metrics) -> Work:
    """Read a transcript's events, all of them, in their order."""
    reading = _Reading(declared)
    for event in events:
        reading.add(event)
    return reading.work()


@define
class _Reading:
    declared: Metrics
    compliance: Compliance = field(init=False)
    diagnostics: _Diagnostics = field(init=False)
    patience: Patience = Factory(Patience)
    root: str = ""
    cwd: str = ""
    touched: bool = False
    results: list[bool] = Factory(list)
    green_line: int | None = None
    teaching: int = 0
    unexplained: int = 0
    lines: int = 0
    before_edit: int = 0
    by_output: int = 0
    gaps: int = 0
    blind: str = ""
    begun: list[int] = Factory(list)
    """The lines at which the model's replies begin."""
    spoken: list[int] = Factory(list)
    """The same where no usage is told: what follows a result, or the beginning, begins a reply."""
    answered: bool = True
    violations: Counter[str] = Factory(Counter)
    shares: Counter[str] = Factory(Counter)
    dropped: Counter[str] = Factory(Counter)
    tokens: Counter[str] = Factory(Counter)

    def __attrs_post_init__(self) -> None:
        self.compliance = Compliance(self.declared.compliance, self.patience)
        self.diagnostics = _Diagnostics(self.declared, self.patience)

    def add(self, event: Event) -> None:
        match event:
            case Folder():
                self.cwd = posixpath.normpath(event.path)
                self.root = self.root or self.cwd
            case MessageUsage():
                for kind in _TOKENS:
                    self.tokens[kind] += getattr(event, f"{kind}_tokens")
                if not event.sub_agent:
                    self.begun.append(event.line)
            case ToolCall(sub_agent="") | Message(role="assistant" | "thinking", sub_agent=""):
                if self.answered:
                    self.spoken.append(event.line)
                self.answered = False
            case ToolResult():
                self.answered |= not event.call.sub_agent
                self.result(event)
            case Gap():
                self.gaps += 1
                self.blind = self.blind or (event.why if event.blind else "")
            case _:
                pass

    # ---- calls ----
    def result(self, result: ToolResult) -> None:
        call = result.call
        if call.tool in ("write", "edit"):
            if result.status == "ok" and (place := self.source(call.path)):
                self.wrote(place, _written(call.input))
        elif call.tool == "shell":
            if result.ran and result.status != "missing":
                self.touched |= self.shell_touches(call.command)
            if (checked := self.compliance.look(call.command)) is not None:
                self.checked(result, alone=checked.alone, settled=checked.settled, background=checked.background
                             or call.input.get("run_in_background") is True or bool(result.detail.get(_MOVED)))

    def wrote(self, place: str, lines: int) -> None:
        self.touched = True
        self.lines += lines
        for name, globs in self.declared.shares:
            self.shares[name] += lines if matching([place], globs) else 0

    def checked(self, result: ToolResult, *, alone: bool, settled: bool, background: bool) -> None:
        """A call that ran a compliance command, or was to run it."""
        if not result.ran:
            self.dropped["refused"] += 1
            return
        if background or result.status == "missing":
            self.dropped["in the background" if background else "without a result"] += 1
            return
        said = self.diagnostics.told(result.text)
        passed = result.status == "ok" and (settled or not said.failed)
        if not passed and not said.failed and not alone:
            self.dropped["compound without a diagnostic"] += 1
        elif not self.touched:
            self.before_edit += 1
        else:
            self.results.append(passed)
            if passed:
                self.by_output += not settled
                self.green_line = result.call.line if self.green_line is None else self.green_line
            else:
                self.violations += said.violations
                self.teaching += said.teaching
                self.unexplained += not said.violations

    # ---- places ----
    def source(self, path: str) -> str:
        """A path below the workspace, where it is that of a source, else "". Without a known root any end of it is."""
        if not path or len(path) > _LONGEST_PATH:
            return ""
        whole = posixpath.normpath(posixpath.join(self.cwd, path))
        if self.root:
            below = posixpath.relpath(whole, self.root)
            places = [] if below.startswith("../") else [below]
        else:
            names = whole.strip("/").split("/")
            places = ["/".join(names[at:]) for at in range(len(names))]
        return next((place for place in places if matching([place], self.declared.sources)), "")

    def shell_touches(self, command: str) -> bool:
        """Whether a command's words name a source that it writes."""
        writes = shell_writes(command)
        folders = ["", *(folder for folder in writes.folders if folder)]
        return any(self.source(posixpath.join(folder, named.path)) for named in writes.paths for folder in folders)

    def work(self) -> Work:
        begun = self.begun or self.spoken
        green, turns = self.green_line, len(begun)
        to_green = None if green is None else sum(line <= green for line in begun)
        return Work(
            turns=turns, touched=self.touched, first_pass=self.results[0] if self.results else None,
            runs=len(self.results), failed=self.results.count(False),
            retries_to_green=self.results.index(True) if green is not None else None, turns_to_green=to_green,
            tail=None if to_green is None else turns - to_green, teaching=self.teaching,
            violations=dict(self.violations), unexplained=self.unexplained, lines=self.lines,
            shares={name: self.shares[name] for name, _ in self.declared.shares}, before_edit=self.before_edit,
            by_output=self.by_output, dropped=dict(self.dropped), tokens=dict(self.tokens),
            gaps=self.gaps + self.patience.lost, blind=self.blind)


@define
class _Said:
    """What a command said. failed: there is a diagnostic, if only one with an empty label."""

    violations: Counter[str] = Factory(Counter)
    teaching: bool = False
    failed: bool = False


class _Diagnostics:
    """The diagnostics that a suite declares, looked for in what a command said."""

    def __init__(self, declared: Metrics, patience: Patience) -> None:
        self._patience = patience
        self._known = [(compile_regex(known.pattern.text, known.pattern.flags), known.label, known.teaching)
                       for known in declared.diagnostics]

    def told(self, text: str) -> _Said:
        said = _Said()
        for line in dict.fromkeys(_ANSI.sub("", text).replace("\r", "\n").split("\n")):
            if (found := self._of(line)) is not None:
                said.failed = True
                said.violations += Counter([found[0]] if found[0] else [])
                said.teaching |= found[1]
        return said

    def _of(self, line: str) -> tuple[str, bool] | None:
        """The label of a line's diagnostic, and whether it teaches."""
        for pattern, label, teaching in self._known if line else ():
            if (match := self._patience.search(pattern, line)) is not None:
                said = match[0] if label is None else _filled(label, match.groupdict())
                return " ".join(said.split())[:_LABEL] or ("?" if label != "" else ""), teaching
        return None


def _filled(label: str, groups: Mapping[str, str | None]) -> str:
    return re.sub(r"\{(\w+)\}", lambda name: groups.get(name[1]) or "", label)


def _written(given: Mapping[str, Any]) -> int:
    """The lines of the texts that a call wrote."""
    return sum(text.count("\n") + (not text.endswith("\n")) for text in _texts(given) if text)


def _texts(given: Mapping[str, Any]) -> Iterator[str]:
    edits = given.get("edits")
    for part in (given, *(edits if isinstance(edits, list) else ())):
        if isinstance(part, dict):
            yield from (text for key in ("content", "new_string", "new_source")
                        if isinstance(text := part.get(key), str))
