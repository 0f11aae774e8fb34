"""The store: an entry is there whole, or not at all."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalkit.errors import HarnessError
from evalkit.execute.store import Store
from evalkit.values import evolve

KEY = "ab" + "0" * 62


def entry(store: Store, text: str, key: str = KEY) -> None:
    with store.making("agent", key) as folder:
        (folder / "file").write_text(text)


def test_an_entry_is_kept_when_it_is_finished(tmp_path: Path) -> None:
    """While it is made nobody sees it; then it is under its key with its manifest, and nothing else is left."""
    store = Store(tmp_path / "store")
    with store.making("agent", KEY) as folder:
        (folder / "file").write_text("x")
        assert not store.has("agent", KEY)
    assert store.has("agent", KEY)
    assert not store.has("agent", KEY[::-1])
    assert not store.has("workspace", KEY)
    assert tmp_path / "store/agent/ab" / KEY == store.path("agent", KEY)
    assert store.path("agent", KEY) == store.open("agent", KEY)
    assert ["entry.json", "file"] == sorted(path.name for path in store.root.rglob("*") if path.is_file())


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, HarnessError, FileNotFoundError])
def test_a_failed_entry_is_not_kept(error: type[BaseException], tmp_path: Path) -> None:
    """The error is raised as it is, and nothing is left."""
    store = Store(tmp_path)

    def work() -> None:
        with store.making("agent", KEY) as folder:
            (folder / "file").write_text("x")
            raise error("of the body's own")

    with pytest.raises(error, match="of the body's own"):
        work()
    assert not store.has("agent", KEY)
    assert [] == list((tmp_path / "making").iterdir())


def test_the_first_of_two_is_kept(tmp_path: Path) -> None:
    """Nothing paid for is ever overwritten."""
    store = Store(tmp_path)
    entry(store, "first")
    entry(store, "second")
    assert "first" == (store.path("agent", KEY) / "file").read_text()
    assert [] == list((tmp_path / "making").iterdir())


def test_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    """A harness error with a hint, at the start and at the end."""
    (tmp_path / "file").touch()
    with pytest.raises(HarnessError, match="cannot write to the store") as raised:
        entry(Store(tmp_path / "file/store"), "x")
    assert "disk full" in raised.value.hint
    store = Store(tmp_path)
    (tmp_path / "agent").touch()
    with pytest.raises(HarnessError, match="cannot write to the store"):
        entry(store, "x")
    assert [] == list((tmp_path / "making").iterdir())


def test_a_disk_that_fills_up(tmp_path: Path) -> None:
    """No space while an entry is filled is told as the store's, with a hint."""
    with pytest.raises(HarnessError, match="No space left"), Store(tmp_path).making("agent", KEY):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_an_entry_of_a_few_bytes(tmp_path: Path) -> None:
    """It is as one that was made in a folder; who made it need not read it again, but sees what happens to it."""
    store, said = Store(tmp_path / "one"), list[str]()
    files = {"tree": b"abc", "agent.json": b"{}"}
    store.put("agent", KEY, files, inputs={"a": "b"})
    with Store(tmp_path / "two").making("agent", KEY, durable=False, inputs={"a": "b"}) as folder:
        for name, data in files.items():
            (folder / name).write_bytes(data)
    one, two = store.manifest("agent", KEY), Store(tmp_path / "two").manifest("agent", KEY)
    assert one is not None
    assert two is not None
    assert evolve(two, made_at=one.made_at) == one
    assert [] == list((tmp_path / "one/making").iterdir())
    again = Store(tmp_path / "one", said.append)
    for reader in (store, again):
        assert store.path("agent", KEY) == reader.open("agent", KEY)
    store.put("agent", KEY, {"tree": b"other"}, inputs={})  # the first one's is kept
    place = store.path("agent", KEY)
    assert b"abc" == (place / "tree").read_bytes()
    (place / "tree").write_bytes(b"abd")
    assert None is store.open("agent", KEY)


def test_sweep_removes_what_the_dead_left(tmp_path: Path) -> None:
    """What a killed process was making goes; what this one and another living one make stays."""
    store = Store(tmp_path)
    code = ("import sys, time; from pathlib import Path; from evalkit.execute.store import Store\n"
            "with Store(Path(sys.argv[1])).making('agent', 'k' * 64) as folder:\n"
            "    (folder / 'transcript').write_text('x'); print('ready', flush=True); time.sleep(60)")
    children = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE) for _ in "12"]
    try:
        for child in children:
            assert child.stdout is not None
            child.stdout.readline()
        children[0].kill()
        children[0].wait()
        with store.making("agent", KEY) as mine:
            store.sweep()
            left = {path.name.partition("-")[0] for path in (tmp_path / "making").iterdir()}
            assert {str(os.getpid()), str(children[1].pid)} == left
            (mine / "file").touch()
        assert store.has("agent", KEY)
    finally:
        for child in children:
            child.kill()
            child.wait()
            assert child.stdout is not None
            child.stdout.close()


def test_sweep_of_an_empty_store(tmp_path: Path) -> None:
    """There is nothing to do before the first entry."""
    Store(tmp_path / "none").sweep()
