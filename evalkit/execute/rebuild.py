"""The final tree of an agent run of which only the transcript is left.

The successful Write, Edit and MultiEdit calls are laid over the workspace that the agent began with, in the order of
their results. The agent's own root (its working directory then, on whatever machine) and `/workspace` stand for the
tree; what was written elsewhere is left out, and said. As on a disk, a file is written through the links on its way.

What a transcript does not tell is doubtful, and stays so until a later call writes the whole file: files that a shell
command may have written (shell_writes.py), an Edit whose text is not in the rebuilt file, a call without a result.
After a command or a tool that may have written anything, the whole tree is doubtful but for the files that were written
since. An Edit's result tells the file as it was before (`originalFile`): it is believed more than the rebuilt one.

Nothing is written to a disk here: a tree is a dict of names that stay below its root.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import define, field

from evalkit.analysis.globs import BadGlob, matching
from evalkit.errors import HarnessError
from evalkit.execute.pack import MAX_BYTES, MAX_ENTRIES, MAX_FILE, MAX_NAME
from evalkit.execute.rebuilt import PATTERN, Entry, Rebuilt, is_below
from evalkit.execute.shell_writes import Named, shell_writes
from evalkit.execute.transcripts import Ended, Folder, Gap, SubAgent, ToolCall, ToolResult, read_events, writer_of
from evalkit.execute.tree import Manifest, followed

__all__ = ["rebuild"]

_READS = frozenset({
    "AskUserQuestion", "BashOutput", "EnterPlanMode", "ExitPlanMode", "Glob", "Grep", "KillBash", "KillShell", "LS",
    "LSP", "ListMcpResources", "ListMcpResourcesTool", "NotebookRead", "Read", "ReadMcpResource",
    "ReadMcpResourceTool", "ReportFindings", "SendMessage", "Skill", "StructuredOutput", "TaskCreate", "TaskGet",
    "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TodoRead", "TodoWrite", "ToolSearch", "WebFetch", "WebSearch",
})
"""Tools that leave the workspace as it is."""
_WRITES = frozenset({"Write", "Edit", "MultiEdit"})
_HALF = re.compile("[\ud800-\udfff]")
_NOTES = 20
_FOLDERS = 20
"""Folders in which an agent's shell may stand, as far as a transcript tells."""
_ROOT = "/workspace"


def rebuild(base: Mapping[str, Entry], transcript: Path, *, caches: Iterable[str] = (),
            harmless: Collection[tuple[str, ...]] = ()) -> Rebuilt:
    """Lay a transcript's calls over a tree.

    caches: what no final tree holds. harmless: how the case's own commands begin, which write nothing of interest.
    Raises HarnessError where the transcript cannot be read, or tells of nothing that an agent did: a damaged one is no
    fail of the agent's.
    """
    if agent := writer_of(transcript):
        raise HarnessError(f"the transcript of agent `{agent}` does not tell what it wrote into its workspace",
                           hint="its final tree is kept beside it, where that was not deleted")
    work, told = _Work(dict(base), harmless), False
    for event in read_events(transcript):
        told = told or isinstance(event, ToolCall | ToolResult | Gap | Ended)
        match event:
            case Folder():
                work.folder(event.path)
            case ToolResult():
                work.result(event)
            case SubAgent():
                work.told.add(event.id)
            case Gap():
                work.doubt_all(f"line {event.line} of the transcript is not known: {event.why}")
            case Ended():
                work.ended = event.how
            case _:
                pass  # a call's result decides; the rest changes no file
    if not told:
        raise HarnessError("its transcript tells of no call and of no end", hint="is it damaged, or cut off?")
    return work.rebuilt(tuple(caches))


@define
class _Work:
    entries: dict[str, Entry]
    harmless: Collection[tuple[str, ...]]
    told: set[str] = field(factory=set)
    """Sub-agents whose lines are there."""
    ended: str = ""
    _roots: list[str] = field(factory=lambda: [_ROOT])
    _rooted: bool = False
    """Whether the transcript told the root."""
    _size: int = field(init=False)
    _cwd: str = ""
    _shell: list[str] = field(factory=list)
    """Where, below the root, the agent's shell may stand; "" is the root."""
    _lost: bool = False
    """Whether the shell may also stand where nobody knows."""
    _uncertain: dict[str, str] = field(factory=dict)
    _lasting: dict[str, str] = field(factory=dict)
    """What is doubtful to the end, since a command went on in the background."""
    _whole: str = ""
    _whole_lasts: bool = False
    _certain: set[str] = field(factory=set)
    _agents: list[tuple[str, str]] = field(factory=list)
    _notes: dict[str, None] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self._size = sum(len(entry.data) for entry in self.entries.values())

    # ---- places ----
    def folder(self, path: str) -> None:
        """The agent's working directory: the first one is the root."""
        path = _plain(path)
        if not self._rooted:
            self._rooted = True
            within = [] if path.startswith(_ROOT) else [_ROOT]
            self._roots = [path, *_aliases(path), *within]
        self._cwd = path
        place = self._inside(path)
        self._shell = [""] if place is None else list(dict.fromkeys(["", place]))
        self._lost = False

    def _inside(self, path: str) -> str | None:
        """A path of the agent's as a path below the root ("": the root); None for one that leads elsewhere."""
        path = _plain(path)
        if not posixpath.isabs(path) and not re.match(r"[A-Za-z]:/", path):
            path = posixpath.join(self._cwd or self._roots[0], path)
        path = posixpath.normpath(path)
        for root in self._roots:
            if path == root:
                return ""
            if path.startswith(root.rstrip("/") + "/"):
                return path[len(root.rstrip("/")) + 1 :]
        return None

    def _place(self, path: object) -> str | None:
        """Where a file that a tool names is in the tree; what cannot be there is noted."""
        if not isinstance(path, str) or not path:
            self.doubt_all("a call names no file")
            return None
        place = self._inside(path)
        found = self._followed(place) if place else None
        if not found and not self._rooted:
            self.doubt_all("its transcript does not tell in which folder the agent worked")
            return None
        if not found:
            self._notes[f"{path}: left out: it is outside {self._roots[0]}"] = None
            return None
        if "\0" in found or _HALF.search(found) or len(found.encode("utf-8", "replace")) > MAX_NAME:
            self._notes[f"{found[:80]!a}: left out: no file can have this name"] = None
            return None
        return found

    def _followed(self, place: str) -> str | None:
        """A path with its links followed; None where one leads out."""
        return followed(place, self._target)

    def _target(self, place: str) -> str | None:
        entry = self.entries.get(place)
        return entry.data.decode("utf-8", "surrogateescape") if entry is not None and entry.kind == b"link" else None

    # ---- calls ----
    def result(self, result: ToolResult) -> None:
        call = result.call
        if not result.ran or call.name in _READS:
            return
        if call.name in _WRITES:
            self._write(result)
        elif call.name == "NotebookEdit":
            if result.status != "error" and (place := self._place(call.input.get("notebook_path"))):
                self._doubt(place, "a notebook's cells were edited, which is not rebuilt")
        elif call.name == "Bash":
            self._command(call)
        elif call.name in ("Task", "Agent"):
            self._agents.append((call.id, f"a sub-agent worked (line {call.line}) whose calls are not told"))
        else:
            self.doubt_all(f"the tool {call.name[:60]} may have written any file (line {call.line})")

    def _write(self, result: ToolResult) -> None:
        call = result.call
        if result.status == "error":
            return
        place = self._place(call.input.get("file_path"))
        if place is None:
            return
        if result.status == "missing":
            self._doubt(place, f"the transcript ends before the result of its {call.name}")
            return
        if result.detail.get("userModified") is True:
            self._doubt(place, f"a person changed what its {call.name} wrote (line {call.line})")
            return
        try:
            data = self._written(call, result.detail) if call.name == "Write" else self._edited(
                place, call, result.detail)
        except _NotRebuilt as error:
            self._doubt(place, f"{error} (line {call.line})")
        else:
            self._lay(place, data)

    def _written(self, call: ToolCall, detail: Mapping[str, Any]) -> bytes:
        content = detail.get("content", call.input.get("content"))
        if not isinstance(content, str):
            raise _NotRebuilt("its Write has no content")
        return _bytes(content)

    def _edited(self, place: str, call: ToolCall, detail: Mapping[str, Any]) -> bytes:
        """The file after an Edit or a MultiEdit, by Claude Code's own rules for texts and ends of lines."""
        entry = self.entries.get(place)
        ours = entry.data if entry is not None else None
        before = detail.get("originalFile", detail.get("originalFileContents"))
        windows = ours is not None and 2 * ours.count(b"\r\n") > ours.count(b"\n")
        if isinstance(before, str):
            text = before.replace("\r\n", "\n")
        elif why := self._doubtful(place):
            raise _NotRebuilt(why)
        elif ours is None:
            text = ""
        else:
            try:
                text = ours.decode("utf-8").replace("\r\n", "\n")
            except UnicodeDecodeError:
                raise _NotRebuilt(f"its {call.name} changed a file that is not UTF-8") from None
        edits: Any = call.input.get("edits") if call.name == "MultiEdit" else [call.input]
        for edit in edits if isinstance(edits, list) else [None]:
            if not isinstance(edit, dict):
                raise _NotRebuilt(f"its {call.name} has no edits")
            actual = detail if call.name == "Edit" else {}
            text = _replaced(text, actual.get("oldString", edit.get("old_string")),
                             actual.get("newString", edit.get("new_string")), every=edit.get("replace_all") is True,
                             name=call.name)
        return _bytes(text.replace("\n", "\r\n") if windows else text)

    def _lay(self, place: str, data: bytes) -> None:
        if len(data) > MAX_FILE or self._size + len(data) > MAX_BYTES or len(self.entries) >= MAX_ENTRIES:
            self._doubt(place, "it is over the caps of a tree")
            return
        parts = place.split("/")
        for depth in range(1, len(parts)):  # a file where a folder must be by now
            if self.entries.pop(parent := "/".join(parts[:depth]), None):
                self._doubt(parent, "it became a folder")
        before = self.entries.get(place)
        if before is None and any(name.startswith(place + "/") for name in self.entries):
            self._doubt(place, "it was a folder", below=True)
            return
        self._size += len(data) - (len(before.data) if before is not None else 0)
        self.entries[place] = Entry.of(before.kind if before is not None else b"file", data)
        self._uncertain.pop(place, None)
        if not self._whole_lasts and not any(is_below(place, (name.rstrip("/"),)) for name in self._lasting):
            self._certain.add(place)

    def _command(self, call: ToolCall) -> None:
        command = call.input.get("command")
        if not isinstance(command, str):
            self.doubt_all("a shell command has no text")
            return
        writes = shell_writes(command, self.harmless)
        lasting = writes.lasting or call.input.get("run_in_background") is True
        for folder in writes.folders:
            self._move(folder)
        line = f"a shell command may have written it (line {call.line}: {_short(command)})"
        if writes.whole:
            self.doubt_all(f"{writes.whole} (line {call.line}: {_short(command)})", lasting=lasting)
        for named in writes.paths:
            relative = not named.path.startswith("/")
            if relative and self._lost:
                self.doubt_all(f"a shell command wrote in a folder that is not known (line {call.line})")
            for folder in self._shell or [""] if relative else [""]:
                self._named(named, folder, line, lasting=lasting)

    def _move(self, folder: str | None) -> None:
        if folder is None:
            self._lost = True
            return
        for place in list(self._shell or [""]):
            target = folder if folder.startswith("/") else posixpath.join(self._roots[0], place, folder)
            inside = self._inside(target)
            if inside is not None and inside not in self._shell:
                self._shell = [*(self._shell or [""]), inside]
        self._lost |= len(self._shell) > _FOLDERS

    def _named(self, named: Named, folder: str, why: str, *, lasting: bool) -> None:
        """Doubt what a command names. Absolute paths outside are no concern of the tree's."""
        path = named.path if named.path.startswith("/") else posixpath.join(self._roots[0], folder, named.path)
        place = self._inside(path)
        if place is None:
            if not self._rooted:
                self.doubt_all("its transcript does not tell in which folder the agent worked")
            return
        if place == "" or "\0" in place:
            self.doubt_all(why, lasting=lasting)
            return
        if named.glob:
            try:
                places = matching([*self.entries, *(name.rstrip("/") for name in self._uncertain)], (place,))
            except BadGlob:
                self.doubt_all(why, lasting=lasting)
                return
            first = next(at for at, part in enumerate(place.split("/")) if PATTERN.search(part))
            if named.below:  # it may match folders
                prefix = "/".join(place.split("/")[:first])
                places = [name for name in self.entries if not prefix or name.startswith(prefix + "/")]
        else:
            places = [self._followed(place) or place]
        for found in places:
            below = named.below and found not in self.entries
            self._doubt(found, why, below=below)
            if lasting:
                self._lasting[found + "/" * below] = why

    # ---- doubts ----
    def _doubt(self, place: str, why: str, *, below: bool = False) -> None:
        self._certain.discard(place)
        if below:
            self._certain = {name for name in self._certain if not name.startswith(place + "/")}
        self._uncertain[place + "/" * below] = why

    def doubt_all(self, why: str, *, lasting: bool = False) -> None:
        self._whole = self._whole or why
        self._whole_lasts |= lasting
        self._certain.clear()

    def _doubtful(self, place: str) -> str:
        """Why the rebuilt file may not be the real one, or ""."""
        if place in self._uncertain:
            return self._uncertain[place]
        if place in self._certain:
            return ""
        above = (why for name, why in self._uncertain.items() if name.endswith("/") and is_below(place, (name[:-1],)))
        return next(above, self._whole)

    def rebuilt(self, caches: tuple[str, ...]) -> Rebuilt:
        for call, why in self._agents:
            if call not in self.told and "session" not in self.told:
                self.doubt_all(why)
        uncertain = {name: why for name, why in {**self._uncertain, **self._lasting}.items()
                     if not is_below(name.rstrip("/"), caches)}
        kept = {name: entry for name, entry in sorted(self.entries.items()) if not is_below(name, caches)}
        notes = list(self._notes)
        if len(notes) > _NOTES:
            notes = [*notes[:_NOTES], f"and {len(notes) - _NOTES} more"]
        manifest = Manifest({name: entry.digest for name, entry in kept.items()}, tuple(notes),
                            sum(len(entry.data) for entry in kept.values()))
        return Rebuilt(kept, manifest, uncertain, self._whole, frozenset(self._certain), tuple(notes), self.ended)


class _NotRebuilt(Exception):
    """A call that cannot be laid over the tree, and why."""


def _replaced(text: str, old: object, new: object, *, every: bool, name: str) -> str:
    if not isinstance(old, str) or not isinstance(new, str):
        raise _NotRebuilt(f"its {name} has no texts")
    if not old:
        return new  # it makes the file, or fills an empty one
    count = text.count(old)
    if not count:
        raise _NotRebuilt(f"the text that its {name} replaces is not in the rebuilt file")
    if count > 1 and not every:
        raise _NotRebuilt(f"the text that its {name} replaces is there {count} times")
    if not new and not old.endswith("\n") and old + "\n" in text:
        old += "\n"  # what is deleted takes the end of its line with it
    return text.replace(old, new)


def _bytes(text: str) -> bytes:
    return _HALF.sub("\ufffd", text).encode()


def _plain(path: str) -> str:
    """A path with `/`, without an end: also one of Windows, whose drive shows what it is."""
    if re.match(r"[A-Za-z]:[\\/]", path):
        path = path[0].upper() + path[1:].replace("\\", "/")
    return path.rstrip("/") or path


def _aliases(path: str) -> list[str]:
    """macOS calls /tmp and /var also /private/tmp and /private/var."""
    if path.startswith("/private/"):
        return [path.removeprefix("/private")]
    return [f"/private{path}"] if path.startswith(("/tmp/", "/var/")) else []


def _short(command: str) -> str:
    said = " ".join(command.split())
    return said if len(said) <= 60 else said[:59] + "…"
