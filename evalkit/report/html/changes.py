"""What an agent changed: its final tree against the workspace that it began with.

Both are archives. The workspace's is in the store, under the key that the kept agent run tells; the final tree's is
beside the result. Digests say what differs, and only that is compared: memory holds the workspace's small files and
one file of the final tree at a time.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from evalkit.errors import HarnessError
from evalkit.execute.outcome import TREE
from evalkit.execute.store import Store
from evalkit.execute.store_entry import is_key
from evalkit.execute.tree import entries, entry_digest, members
from evalkit.records import read_plain
from evalkit.values import State, Value, field

__all__ = ["Changes", "inputs_of"]

ARCHIVE = "workspace.tar.zst"
_LARGEST = 512 * 1024
"""Bytes of a file that is compared line by line."""
_HELD = 32 * 1024 * 1024
"""Bytes of a workspace that are held."""
_MOST_FILES, _MOST_TEXT = 400, 1_500_000
"""Files that are named, and characters of differences, of one trial."""
_BINARY = 8192
"""Bytes at the beginning of a file in which a NUL says that it is no text."""


class _Base(Value):
    """A file of a workspace. data: None where it is not held."""

    kind: bytes
    digest: str
    size: int
    data: bytes | None


def inputs_of(store: Store, agent_key: str) -> dict[str, str]:
    """The inputs of a kept agent run, by name; {} where it is not kept, or cannot be read."""
    try:
        inputs = read_plain(store.path("agent", agent_key) / "agent.json")["inputs"] if is_key(agent_key) else {}
    except (FileNotFoundError, HarnessError, KeyError):
        return {}
    return {str(name): str(value) for name, value in inputs.items()} if isinstance(inputs, dict) else {}


class Changes(State):
    """Finds what agents changed. clean: takes keys out of a text."""

    store: Store
    clean: Callable[[str], str]
    _last: tuple[str, dict[str, _Base]] | None = field(default=None, init=False)

    def of(self, folder: Path, workspace: str) -> dict[str, Any]:
        """What the agent of a trial changed, as data of the report.

        folder: the trial's. workspace: the key of the one that it began with, "" where that is not known.
        """
        archive = folder / ARCHIVE
        if not archive.is_file():
            return {"note": f"its final tree is not there: {ARCHIVE} is missing", "files": []}
        try:
            if not is_key(workspace):
                raise FileNotFoundError
            base = self._workspace(workspace)
        except (FileNotFoundError, HarnessError):
            return {"note": "the workspace that the agent began with is not in the store any more, so what it changed "
                            f"cannot be told. {ARCHIVE} has its final tree.", "files": []}
        try:
            return self._compared(base, archive)
        except HarnessError as error:
            return {"note": self.clean(error.message), "files": []}

    def _workspace(self, key: str) -> dict[str, _Base]:
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        found: dict[str, _Base] = {}
        room = _HELD
        for name, kind, data in entries(self.store.path("workspace", key) / TREE):
            keep = len(data) <= min(_LARGEST, room)
            room -= len(data) if keep else 0
            found[name] = _Base(kind, entry_digest(kind, data), len(data), data if keep else None)
        self._last = key, found
        return found

    def _compared(self, base: Mapping[str, _Base], archive: Path) -> dict[str, Any]:
        files: list[dict[str, Any]] = []
        seen: set[str] = set()
        equal, room, more = 0, _MOST_TEXT, 0

        def tell(one: dict[str, Any]) -> None:
            nonlocal room, more
            if len(files) >= _MOST_FILES:
                more += 1
                return
            if len(one["diff"]) > room:
                one |= {"diff": "", "note": "not shown: there is too much"}
            room -= len(one["diff"])
            files.append(one)

        for member, read in members(archive):
            if member.kind == b"folder":
                continue
            name = member.name
            seen.add(name)
            kind = member.kind
            data = member.target.encode() if kind == b"link" else read()
            before = base.get(name)
            if before is not None and before.digest == entry_digest(kind, data):
                equal += 1
            else:
                tell(self._changed(name, before, kind, data))
        for name, gone in base.items():
            if name not in seen:
                tell(self._removed(name, gone))
        files.sort(key=lambda one: str(one["path"]))
        return {"note": "", "files": files, "equal": equal, "more": more}

    def _changed(self, name: str, before: _Base | None, kind: bytes, data: bytes) -> dict[str, Any]:
        what = "added" if before is None else "changed"
        notes = []
        if before is not None and before.kind != kind:
            notes.append(f"was a {before.kind.decode()}, is a {kind.decode()}")
        elif before is None and kind != b"file":
            notes.append("a link" if kind == b"link" else "executable")
        old = _text(before.data) if before is not None else ""
        new = _text(data)
        if before is not None and before.data == data:
            return self._told(name, what, notes)
        if old is None or new is None or len(data) > _LARGEST:
            sizes = f"{before.size:,} to {len(data):,} bytes" if before is not None else f"{len(data):,} bytes"
            large = len(data) > _LARGEST or (before is not None and before.data is None)
            return self._told(name, what, [*notes, f"{'too large to be compared' if large else 'no text'}, {sizes}"])
        return self._told(name, what, notes, old, new)

    def _removed(self, name: str, gone: _Base) -> dict[str, Any]:
        old = _text(gone.data)
        if old is None:
            return self._told(name, "removed", [f"{gone.size:,} bytes"])
        return self._told(name, "removed", [], old, "")

    def _told(self, name: str, what: str, notes: list[str], old: str = "", new: str = "") -> dict[str, Any]:
        from evalkit.report.html.difference import difference

        found = difference(self.clean(old), self.clean(new), whole=True)
        if found.cut:
            notes = [*notes, f"{found.cut:,} more lines of this difference are not shown"]
        return {"path": self.clean(name), "what": what, "added": found.added, "removed": found.removed,
                "diff": found.text, "note": "; ".join(notes)}


def _text(data: bytes | None) -> str | None:
    """A file as text, bytes that are none as `\\xff`; None for what is no text, or not held."""
    if data is None or b"\0" in data[:_BINARY]:
        return None
    return data.decode("utf-8", "backslashreplace")
