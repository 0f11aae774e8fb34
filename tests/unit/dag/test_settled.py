"""What settles a case in one look, and what unsettles it."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from doit.dependency import JSONCodec

from evalkit.dag import settled
from evalkit.dag.settled import Settled, UpToDateTask, context_of
from evalkit.dag.state import StateDB

TICK = 0.03
"""Seconds after which a change has another time than one before: the clocks of file systems are coarse."""
LATER = 1_000_000_000
"""Nanoseconds by which these runs claim to start later than they do, so that no file is young."""
ROWS = [{"unit": "a"}]


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateDB]:
    state = StateDB(str(tmp_path / "state.db"), JSONCodec())
    yield state
    state.dump()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project: two files and two links that are read, and one that was made."""
    root = tmp_path / "project"
    for name in ("read/a.txt", "read/deep/b.txt", "elsewhere/c.txt", "made/result.json", "prompt.md", "other.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("text")
    (root / "read/link.txt").symlink_to("../elsewhere/c.txt")
    (root / "read/loop").symlink_to("loop")
    (root / "link.md").symlink_to("prompt.md")
    return root


def case(root: Path, **changes: Any) -> UpToDateTask:
    plain = UpToDateTask("case:a", "1", [root / "read", root / "prompt.md", root / "link.md", root / "hidden"],
                         [root / "made/result.json"], ROWS)
    return plain._replace(**changes)


def of(root: Path, state: StateDB, context: str = "c", started: int | None = None) -> Settled:
    return Settled(root, state, context, time.time_ns() + LATER if started is None else started)


def found(root: Path, state: StateDB, context: str = "c", **fingerprints: str) -> dict[str, Any]:
    """What the next command finds."""
    return of(root, state, context).find(fingerprints or {"case:a": "1", "case:b": "1"})


def test_what_did_not_move_is_settled(root: Path, state: StateDB) -> None:
    """As often as one looks, with its rows; nothing else is."""
    assert {} == found(root, state)
    of(root, state).keep([case(root)])
    assert {"case:a": ROWS} == found(root, state) == found(root, state)


def replace(root: Path) -> None:
    (root / "new").write_text("text")
    (root / "new").replace(root / "read/a.txt")


def set_back(root: Path) -> None:
    before = (root / "read/a.txt").stat()
    (root / "read/a.txt").write_text("TEXT")
    os.utime(root / "read/a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))


def another_folder(root: Path) -> None:
    (root / "read/deep").rename(root / "read/old")
    (root / "read/deep").mkdir()
    (root / "read/old/b.txt").rename(root / "read/deep/b.txt")
    (root / "read/old").rmdir()


def lead_elsewhere(root: Path) -> None:
    (root / "link.md").unlink()
    (root / "link.md").symlink_to("other.md")


def no_folder(root: Path) -> None:
    (root / "read/deep/b.txt").unlink()
    (root / "read/deep").rmdir()
    (root / "read/deep").write_text("a file")


CHANGES: dict[str, Callable[[Path], object]] = {
    "other bytes, as many": lambda root: (root / "read/a.txt").write_text("TEXT"),
    "other bytes, and the times set back": set_back,
    "another file in its place": replace,
    "touched": lambda root: (root / "read/deep/b.txt").touch(),
    "executable": lambda root: (root / "read/deep/b.txt").chmod(0o755),
    "deleted": lambda root: (root / "prompt.md").unlink(),
    "renamed": lambda root: (root / "read/deep/b.txt").rename(root / "read/deep/c.txt"),
    "a new file": lambda root: (root / "read/new.txt").touch(),
    "a new file further down": lambda root: (root / "read/deep/new.txt").touch(),
    "a new folder": lambda root: (root / "read/new").mkdir(),
    "another folder with the same in it": another_folder,
    "a file for a folder": no_folder,
    "what a link leads to": lambda root: (root / "elsewhere/c.txt").write_text("TEXT"),
    "a link that leads elsewhere": lead_elsewhere,
    "what was not there comes": lambda root: (root / "hidden").mkdir(),
    "an outcome is deleted": lambda root: (root / "made/result.json").unlink(),
    "an outcome is edited": lambda root: (root / "made/result.json").write_text("TEXT"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_what_moves_a_record(root: Path, state: StateDB, change: Callable[[Path], object]) -> None:
    """Every kind of stamp of what was read or made."""
    of(root, state).keep([case(root)])
    time.sleep(TICK)
    change(root)
    assert {} == found(root, state)


def test_what_moves_none(root: Path, state: StateDB) -> None:
    """Files beside those that were read, and new ones beside those that were made."""
    of(root, state).keep([case(root)])
    time.sleep(TICK)
    (root / "other.md").write_text("TEXT")
    (root / "made/more.json").touch()
    (root / "elsewhere/more.txt").touch()
    assert {"case:a": ROWS} == found(root, state)


def test_another_fingerprint_and_another_context(root: Path, state: StateDB) -> None:
    """Of each context the record is kept: going back finds it."""
    of(root, state).keep([case(root)])
    assert {} == found(root, state, **{"case:a": "2"})
    assert {} == found(root, state, "d")
    of(root, state, "d").keep([case(root, rows=[])])
    assert ({"case:a": ROWS}, {"case:a": []}) == (found(root, state), found(root, state, "d"))


def test_young_files_settle_nothing(root: Path, state: StateDB) -> None:
    """What changed since the start, or so shortly before that another change could have the same time."""
    now = time.time_ns()
    of(root, state, started=now - LATER).keep([case(root)])
    assert {} == found(root, state)
    (root / "read/late.txt").touch()
    now = time.time_ns()
    of(root, state, started=now).keep([case(root, read=[root / "read"])])
    assert {} == found(root, state)
    of(root, state, started=now).keep([case(root, read=[])])  # what was just made is always young
    assert {"case:a": ROWS} == found(root, state)


def test_times_of_a_coarse_file_system_are_young_for_longer(root: Path, state: StateDB) -> None:
    """There are some that count in two seconds: one whole second tells nothing."""
    second = time.time_ns() // LATER * LATER
    os.utime(root / "prompt.md", ns=(second, second))
    of(root, state, started=second + LATER + LATER // 2).keep([case(root)])
    assert {} == found(root, state)
    os.utime(root / "prompt.md", ns=(second, second + 1))
    of(root, state, started=second + LATER + LATER // 2).keep([case(root)])
    assert {"case:a": ROWS} == found(root, state)


def test_a_link_that_was_just_made_to_lead_elsewhere_is_young(root: Path, state: StateDB) -> None:
    """Even where all that it leads to is old."""
    time.sleep(TICK * 2)
    started = time.time_ns()
    lead_elsewhere(root)
    of(root, state, started=started).keep([case(root, read=[root / "link.md"])])
    assert {} == found(root, state)
    of(root, state, started=started).keep([case(root, read=[root / "prompt.md"])])
    assert {"case:a": ROWS} == found(root, state)


def test_a_change_while_the_record_is_made(root: Path, state: StateDB, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stamps are taken before it is asked whether anything is young: a change in between is one or the other."""
    started = time.time_ns() + LATER
    below = Settled._below

    def slow(self: Settled, top: str) -> list[str]:
        paths = below(self, top)
        (root / "prompt.md").write_text("TEXT")
        os.utime(root / "prompt.md", ns=(started, started))
        return paths

    monkeypatch.setattr(Settled, "_below", slow)
    of(root, state, started=started).keep([case(root)])
    assert {} == found(root, state)


def test_names_that_a_record_cannot_hold(root: Path, state: StateDB) -> None:
    """Newlines, and bytes that are no text: the tasks are looked at each time. Others are not touched by that."""
    (root / "lines").mkdir()
    (root / "lines/a\nb").touch()
    (root / "bytes").mkdir()
    Path(os.fsdecode(os.fsencode(root / "bytes") + b"/\xff")).touch()
    for folder in ("lines", "bytes"):
        of(root, state).keep([case(root, read=[root / folder]), case(root, name="case:b")])
        assert {"case:b": ROWS} == found(root, state)


def test_too_many_files(root: Path, state: StateDB, monkeypatch: pytest.MonkeyPatch) -> None:
    """They cost more than they spare."""
    monkeypatch.setattr(settled, "_MOST_FILES", 7)
    of(root, state).keep([case(root, read=[root / "read"])])  # six, and what was made
    assert {"case:a": ROWS} == found(root, state)
    (root / "read/more.txt").touch()
    of(root, state, "d").keep([case(root, read=[root / "read"])])
    assert {} == found(root, state, "d")


def test_a_folder_that_cannot_be_read(root: Path, state: StateDB, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows what moves in it."""
    scandir = os.scandir

    def refuse(path: str) -> Any:
        if path.endswith("deep"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    of(root, state).keep([case(root)])
    assert {} == found(root, state)


@pytest.mark.parametrize("data", [b"", b"\xff\x00", b"null", b"[]", b'["1", 2, "", []]', b'["1", "\\u0000", "", []]',
                                  b'{"a": 1, "b": 2, "c": 3, "d": 4}'])
def test_damaged_records_are_none(root: Path, state: StateDB, data: bytes) -> None:
    """And are no error."""
    of(root, state).keep([case(root), case(root, name="case:b")])
    state.settle("c", {"case:a": data})
    assert {"case:b": ROWS} == found(root, state)


def test_a_database_that_cannot_be_read_is_told(root: Path, state: StateDB) -> None:
    """In the words of the state."""
    other = sqlite3.connect(state.name)
    other.execute("drop table settled")
    other.close()
    with pytest.raises(Exception, match=r"the state of earlier runs, .*state.db, cannot be used: no such table"):
        found(root, state)


# ---- contexts ----
CHOICES = {"agent": "oracle", "run": "latest", "claude": None}
ENVIRON = {"HOME": "/home/a", "PATH": "/bin", "MY_MODEL": "m", "OTHER": "x"}


def context(changed: dict[str, Any] | None = None, /, **environ: str) -> str:
    return context_of({**CHOICES, **(changed or {})}, {**ENVIRON, **environ}, ["MY_MODEL"])


def test_what_is_another_context() -> None:
    """Choices, the models that variables name, places, and whether a key is set; each by itself."""
    others = [context(), context({"agent": "nop"}), context({"run": "b"}), context(MY_MODEL="n"), context(HOME="/b"),
              context(EVALKIT_CACHE="/c"), context(EVALKIT_STORE="/s"), context(XDG_CACHE_HOME="/x"),
              context(AI_GATEWAY_API_KEY="a"), context(VERCEL_AI_GATEWAY_API_KEY="a"), context(ANTHROPIC_API_KEY="a"),
              context({"claude": "claude"}), context({"claude": "claude"}, PATH="/usr/bin")]
    assert len(others) == len(set(others))


def test_what_is_the_same_context() -> None:
    """Other variables, another key, a key that is blank; the path, unless a program is looked for there."""
    assert context() == context(OTHER="y") == context(PATH="/usr/bin") == context(ANTHROPIC_API_KEY=" ")
    assert context(ANTHROPIC_API_KEY="a") == context(ANTHROPIC_API_KEY="b")
    assert context_of({**CHOICES}, ENVIRON, ["B", "A"]) == context_of({**CHOICES}, ENVIRON, ["A", "B"])


def test_no_key_stands_in_what_is_kept(root: Path, state: StateDB) -> None:
    """Of keys only whether they are set is part of a context."""
    of(root, state, context(ANTHROPIC_API_KEY="sk-dummy")).keep([case(root)])
    assert b"sk-dummy" not in Path(state.name).read_bytes() + Path(state.name + "-wal").read_bytes()


def test_our_own_code_is_a_part_of_the_context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new evalkit looks at everything anew; what Python compiled is no matter."""
    package = tmp_path / "evalkit"
    for name in ("dag/settled.py", "grade/grep.py", "grade/__pycache__/grep.pyc"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).touch()
    monkeypatch.setattr(settled, "__file__", str(package / "dag/settled.py"))
    before = context()
    (package / "grade/__pycache__/more.py").touch()
    (package / "grade/notes.txt").touch()
    assert before == context()
    (package / "grade/grep.py").write_text("# changed\n")
    changed = context()
    (package / "grade/new.py").touch()
    assert 3 == len({before, changed, context()})
