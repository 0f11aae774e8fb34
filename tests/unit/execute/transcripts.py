"""Transcripts for tests, as Claude Code 2.1.332 writes them: its stream, and its session files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attrs import define, field

__all__ = ["HOME", "Transcript"]

HOME = "/Users/someone/work/app"
"""The agent's folder, on another machine."""


@define
class Transcript:
    """Lines of one run. session: the format of session files, else that of the stream. cwd: "" tells none."""

    session: bool = False
    cwd: str = HOME
    lines: list[str] = field(factory=list)
    _count: int = 0

    def __attrs_post_init__(self) -> None:
        if not self.session:
            self.add({"type": "system", "subtype": "init", **({"cwd": self.cwd} if self.cwd else {})})

    def add(self, event: dict[str, Any]) -> Transcript:
        self._count += 1
        common: dict[str, Any] = {"uuid": f"u{self._count}"}
        if self.session:
            common |= {"isSidechain": False, "parentUuid": None, **({"cwd": self.cwd} if self.cwd else {})}
        self.lines.append(json.dumps({**common, **event}))
        return self

    def call(self, name: str, given: dict[str, Any], **more: Any) -> str:
        """A call without its result; its id."""
        identity = f"toolu_{self._count}"
        self.add({"type": "assistant", "message": {"id": "m", "role": "assistant", "content": [
            {"type": "text", "text": "Now."}, {"type": "tool_use", "id": identity, "name": name, "input": given}]},
            **more})
        return identity

    def result(self, identity: str, text: str = "done", *, error: bool = False, detail: Any = None,
               **more: Any) -> Transcript:
        told = {} if detail is None else {"toolUseResult" if self.session else "tool_use_result": detail}
        block: dict[str, Any] = {"tool_use_id": identity, "type": "tool_result", "content": text}
        block |= {"is_error": True} if error else {}
        return self.add({"type": "user", "message": {"role": "user", "content": [block]}, **told, **more})

    # ---- whole calls ----
    def write(self, path: str, content: str, **how: Any) -> Transcript:
        return self.result(self.call("Write", {"file_path": f"{HOME}/{path}", "content": content}), **how)

    def edit(self, path: str, old: str, new: str, *, every: bool = False, **how: Any) -> Transcript:
        given = {"file_path": f"{HOME}/{path}", "old_string": old, "new_string": new, "replace_all": every}
        return self.result(self.call("Edit", given), **how)

    def multi_edit(self, path: str, *edits: tuple[str, str]) -> Transcript:
        return self.result(self.call("MultiEdit", {"file_path": f"{HOME}/{path}", "edits": [
            {"old_string": old, "new_string": new} for old, new in edits]}))

    def bash(self, command: str, **how: Any) -> Transcript:
        return self.result(self.call("Bash", {"command": command}), **how)

    def end(self, how: str = "success", denied: tuple[str, ...] = ()) -> Transcript:
        return self.add({"type": "result", "subtype": how, "permission_denials": [
            {"tool_name": "Write", "tool_use_id": name, "tool_input": {}} for name in denied]})

    def save(self, folder: Path, *, end: str = "\n") -> Path:
        path = folder / "transcript.jsonl"
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(self.lines) + end, encoding="utf-8")
        return path
