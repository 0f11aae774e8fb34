"""Of all who want to make an entry, one does; whoever waits can be stopped."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evalkit.errors import HarnessError
from evalkit.execute import running
from evalkit.execute.store import Store

ROOT = Path(__file__).resolve().parents[3]
KEYS = [f"{number:02x}" + "0" * 62 for number in range(10)]
WORKER = """\
import sys, time
from pathlib import Path
from evalkit.execute.store import Store
store, count = Store(Path(sys.argv[1])), Path(sys.argv[2])
for number in range(10):
    key = f"{number:02x}" + "0" * 62
    with store.claim("agent", key):
        if store.open("agent", key) is None:
            with store.making("agent", key) as folder, count.open("a") as file:
                file.write(key + "\\n")
                file.flush()
                time.sleep(0.01)
                (folder / "agent.json").write_text("{}")
"""
HOLDER = """\
import sys, time
from pathlib import Path
from evalkit.execute.store import Store
with Store(Path(sys.argv[1])).claim("agent", sys.argv[2]):
    print("held", flush=True)
    time.sleep(60)
"""


def start(code: str, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code, *args], stdout=subprocess.PIPE, text=True, cwd=ROOT)


@contextmanager
def holder(store: Store) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the claim on the first key."""
    child = start(HOLDER, str(store.root), KEYS[0])
    try:
        assert child.stdout is not None
        assert "held\n" == child.stdout.readline()
        yield child
    finally:
        child.kill()
        child.communicate()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_processes_make_an_entry_once(store: Store, tmp_path: Path) -> None:
    """Three that want the same ten entries make ten; nothing is left of their claims."""
    children = [start(WORKER, str(store.root), str(tmp_path / "count")) for _ in "123"]
    for child in children:
        child.communicate(timeout=60)
        assert 0 == child.returncode
    assert KEYS == sorted((tmp_path / "count").read_text().split())
    assert all(store.open("agent", key) for key in KEYS)
    assert [] == list((store.root / "locks").iterdir())


def test_threads_make_an_entry_once(store: Store) -> None:
    """They exclude one another as processes do, with equal paths that are spelled by stores of their own."""
    made: list[str] = []

    def work() -> None:
        own = Store(store.root)
        for key in KEYS:
            with own.claim("agent", key):
                if not own.has("agent", key):
                    with own.making("agent", key, durable=False) as folder:
                        made.append(key)
                        time.sleep(0.002)
                        (folder / "agent.json").write_text("{}")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert KEYS == made
    assert [] == list((store.root / "locks").iterdir())


def test_a_thread_may_claim_again(store: Store) -> None:
    """The claim ends with the outer `with`; another key is another claim."""
    lock = store.root / "locks" / f"agent-{KEYS[0]}"
    with store.claim("agent", KEYS[0]):
        with store.claim("agent", KEYS[0]), store.claim("agent", KEYS[1]):
            pass
        assert lock.exists()
    assert not lock.exists()


def test_waiting_is_told_once(store: Store) -> None:
    """And ends when the other process does, however it ends."""
    told: list[float] = []
    with holder(store) as child:

        def waiting() -> None:
            told.append(time.monotonic())
            threading.Timer(0.2, child.kill).start()

        with store.claim("agent", KEYS[0], waiting):
            assert 1 == len(told)
    assert [] == list((store.root / "locks").iterdir())


def test_without_waiting(store: Store) -> None:
    """Whoever does not want to wait is told whether the entry is in other hands."""
    with holder(store), store.try_claim("agent", KEYS[0]) as mine, store.try_claim("agent", KEYS[1]) as other:
        assert (False, True) == (mine, other)


def test_a_wait_ends_when_all_is_stopped(store: Store) -> None:
    """`end_all` ends it, in whatever thread."""
    try:
        with holder(store), pytest.raises(HarnessError, match="evalkit is being stopped"), \
                store.claim("agent", KEYS[0], running.end_all):
            raise AssertionError
    finally:
        running.begin()


def test_a_wait_ends_on_interrupt(store: Store) -> None:
    """Ctrl-C is not held up by a lock."""
    with holder(store), pytest.raises(KeyboardInterrupt), store.claim(
            "agent", KEYS[0], lambda: os.kill(os.getpid(), signal.SIGINT)):
        raise AssertionError


def test_a_lock_whose_file_was_removed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who locks a file that its last holder just removed holds nothing: it begins again with the file that has the
    name.
    """
    lock = store.root / "locks" / f"agent-{KEYS[0]}"
    flock = fcntl.flock
    removed: list[int] = []

    def slow(descriptor: int, operation: int) -> None:
        if not removed:
            removed.append(lock.stat().st_ino)
            lock.rename(lock.with_name("removed"))
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", slow)
    with store.claim("agent", KEYS[0]):
        assert removed != [lock.stat().st_ino]
        with holder_tries(store) as mine:
            assert not mine


@contextmanager
def holder_tries(store: Store) -> Iterator[bool]:
    """Whether another thread would get the claim."""
    got: list[bool] = []

    def work() -> None:
        with store.try_claim("agent", KEYS[0]) as mine:
            got.append(mine)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    yield got[0]


def test_locks_of_killed_processes_are_swept(store: Store) -> None:
    """Those that are held stay."""
    with holder(store) as child:
        store.sweep()
        assert [f"agent-{KEYS[0]}"] == [path.name for path in (store.root / "locks").iterdir()]
        child.kill()
        child.wait()
        store.sweep()
        assert [] == list((store.root / "locks").iterdir())


def test_a_file_system_without_locks(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work goes on: of two that make the same, the first one's is kept."""

    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with store.claim("agent", KEYS[0]), store.claim("agent", KEYS[0]):
        pass


def test_a_store_in_which_nothing_can_be_claimed(tmp_path: Path) -> None:
    """A harness error, as for anything that is to be written there."""
    (tmp_path / "file").touch()
    with pytest.raises(HarnessError, match="cannot write to the store"), \
            Store(tmp_path / "file").claim("agent", KEYS[0]):
        raise AssertionError
