"""What an agent changed: its final tree against the workspace that it began with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalkit.digest import digest
from evalkit.execute.pack import pack
from evalkit.execute.store import Store
from evalkit.records import write_json
from evalkit.report.html.changes import Changes, inputs_of

INPUTS = {"template": "t"}
AGENT = "ab" * 32

Tree = Mapping[str, bytes]


def packed(folder: Path, tree: Tree, archive: Path) -> Path:
    for name, data in tree.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("@"):
            place.symlink_to(data.decode())
        else:
            place.write_bytes(data)
            place.chmod(0o755 if name.endswith(".sh") and b"#!" in data else 0o644)
    archive.parent.mkdir(parents=True, exist_ok=True)
    pack(folder, archive)
    return archive


def changed(root: Path, before: Tree, after: Tree, *, known: bool = True) -> dict[str, Any]:
    """What the report tells of an agent that made the one tree the other. known: the store has the first one."""
    store = Store(root / "store")
    base = packed(root / "before", before, root / "base.tar.zst").read_bytes()
    if known:
        store.put("workspace", digest(INPUTS), {"tree.tar.zst": base}, inputs=INPUTS)
    write_json(store.path("agent", AGENT) / "agent.json", {"schema": 1, "inputs": {"workspace": digest(INPUTS)}})
    packed(root / "after", after, root / "trial/workspace.tar.zst")
    return Changes(store, lambda text: text.replace("secret", "[redacted]")).of(
        root / "trial", inputs_of(store, AGENT).get("workspace", ""))


def test_files_that_came_changed_and_went(tmp_path: Path) -> None:
    """Sorted by path, with their differences; those that stayed are counted."""
    found = changed(tmp_path, {"a.txt": b"one\ntwo\n", "gone.txt": b"old\n", "same": b"x", "d/same": b"\xff"},
                    {"a.txt": b"one\n2\n", "new/b.txt": b"secret\n", "same": b"x", "d/same": b"\xff"})
    assert {"note": "", "equal": 2, "more": 0, "files": [
        {"path": "a.txt", "what": "changed", "added": 1, "removed": 1, "note": "",
         "diff": "@@ -1,2 +1,2 @@\n one\n-two\n+2"},
        {"path": "gone.txt", "what": "removed", "added": 0, "removed": 1, "note": "", "diff": "@@ -1,1 +0,0 @@\n-old"},
        {"path": "new/b.txt", "what": "added", "added": 1, "removed": 0, "note": "",
         "diff": "@@ -0,0 +1,1 @@\n+[redacted]"}]} == found


def test_what_is_no_text(tmp_path: Path) -> None:
    """Binary and large files, modes and links are told in words; bytes that are no UTF-8 as what they are."""
    found = changed(tmp_path, {"b.bin": b"\0\1", "run.sh": b"#!/bin/sh", "large": b"x" * 600_000, "bytes": b"a\n"},
                    {"b.bin": b"\0\1\2", "run.sh": b"echo", "large": b"y" * 600_001, "link@": b"bytes",
                     "bytes": b"\xff\xfe\n"})
    assert {"b.bin": "no text, 2 to 3 bytes", "run.sh": "was a program, is a file",
            "large": "too large to be compared, 600,000 to 600,001 bytes", "link@": "a link", "bytes": ""} == {
        file["path"]: file["note"] for file in found["files"]}
    assert "@@ -1,1 +1,1 @@\n-a\n+\\xff\\xfe" == found["files"][1]["diff"]


def test_too_many_files_are_counted(tmp_path: Path) -> None:
    """Names and differences have an end, however much an agent writes."""
    found = changed(tmp_path, {"a": b"a"}, {f"f{number:04}": b"line\n" * 1_000 for number in range(450)})
    assert (400, 51) == (len(found["files"]), found["more"])
    assert sum(len(file["diff"]) for file in found["files"]) <= 1_500_000
    assert {"", "not shown: there is too much"} == {file["note"] for file in found["files"]}


def test_nothing_to_compare_with(tmp_path: Path) -> None:
    """A workspace that the store has no more, a tree that is not there, an archive that is damaged: each is said."""
    found = changed(tmp_path, {"a": b"a"}, {"a": b"b"}, known=False)
    assert found["files"] == []
    assert "is not in the store any more" in found["note"]
    changes = Changes(Store(tmp_path / "store"), str)
    assert "its final tree is not there" in changes.of(tmp_path / "nowhere", digest(INPUTS))["note"]
    (tmp_path / "second").mkdir()
    changed(tmp_path / "second", {"a": b"a"}, {"a": b"b"})
    archive = tmp_path / "second/trial/workspace.tar.zst"
    archive.write_bytes(archive.read_bytes()[:20])
    told = Changes(Store(tmp_path / "second/store"), str).of(tmp_path / "second/trial", digest(INPUTS))
    assert "cannot read" in told["note"]


def test_a_key_that_is_a_path_reads_nothing(tmp_path: Path) -> None:
    """A result of somebody else's names no file of ours."""
    packed(tmp_path / "after", {"a": b"a"}, tmp_path / "trial/workspace.tar.zst")
    (tmp_path / "x").mkdir()
    write_json(tmp_path / "x/agent.json", {"schema": 1, "inputs": {"workspace": "../x"}})
    assert {} == inputs_of(Store(tmp_path / "store"), "../../../x")
    found = Changes(Store(tmp_path / "store"), str).of(tmp_path / "trial", "../../../x")
    assert "is not in the store any more" in found["note"]
