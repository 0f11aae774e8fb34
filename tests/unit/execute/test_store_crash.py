"""Whatever ends a process or fills a disk while entries are made: what is there is whole."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalkit.errors import HarnessError
from evalkit.execute import store as store_module
from evalkit.execute.store import Store

ROOT = Path(__file__).resolve().parents[3]
KEY = "ab" + "0" * 62
MAKER = """\
import sys
from pathlib import Path
from evalkit.execute.store import Store
store, number = Store(Path(sys.argv[1])), int(sys.argv[2])
print("ready", flush=True)
while True:
    number += 1
    if number % 3 == 0:
        store.put("workspace", f"{number:064x}", {"tree.tar.zst": bytes(100_000), "tree.json": b"{}"}, inputs={})
        continue
    with store.claim("agent", f"{number:064x}"):
        with store.making("agent", f"{number:064x}", durable=number % 2 == 0) as folder:
            (folder / "sub").mkdir()
            (folder / "sub/tree.tar.zst").write_bytes(bytes(200_000))
            (folder / "agent.json").write_bytes(b"{}" * 500)
"""


def test_killed_at_any_moment(tmp_path: Path) -> None:
    """Of a process that makes one entry after another, every entry is whole, and what it left goes with the next
    sweep.
    """
    random.seed(4)
    said: list[str] = []
    store = Store(tmp_path / "store", said.append)
    for kill in range(12):
        child = subprocess.Popen([sys.executable, "-c", MAKER, str(store.root), str(kill * 100_000)], cwd=ROOT,
                                 stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(random.uniform(0, 0.05))
        child.kill()
        child.communicate()
        for folder in (store.root / "making").iterdir():
            os.utime(folder, (0, 0))  # one that was not claimed yet is left alone for a minute
        store.sweep()
        assert [] == [*(store.root / "making").iterdir(), *(store.root / "locks").glob("*")]
    made = list(store.entries())
    assert len(made) > 12
    assert {"agent", "workspace"} == {kind for kind, _ in made}
    for kind, key in made:
        assert store.path(kind, key) == Store(store.root, said.append).open(kind, key)
    assert [] == said


# ---- a full disk ----
@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of six megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(disk)], check=False,
                             capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("this user may not mount a disk")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_that_is_full(small_disk: Path) -> None:
    """What does not fit is told, with a hint, and leaves nothing; what was there is whole; then there is room again.

    What costs money is not even begun where there is little room.
    """
    store = Store(small_disk / "store")

    def make(key: str, size: int, *, durable: bool) -> None:
        with store.making("agent", key, durable=durable) as folder:
            began.append(key)
            (folder / "tree").write_bytes(bytes(size))

    began: list[str] = []
    make("aa" * 32, 1_000_000, durable=True)
    with pytest.raises(HarnessError, match="No space left") as raised:
        make("bb" * 32, 7_000_000, durable=True)
    assert "is the disk full, or the folder read-only?" == raised.value.hint
    assert [] == list((store.root / "making").iterdir())
    with pytest.raises(HarnessError, match="No space left"):
        store.put("agent", "bb" * 32, {"tree": bytes(7_000_000)}, inputs={})
    assert [] == list((store.root / "making").iterdir())
    make("cc" * 32, 2_000_000, durable=False)
    with pytest.raises(HarnessError, match="No space left"):
        make("dd" * 32, 1000, durable=True)
    assert ["aa" * 32, "bb" * 32, "cc" * 32] == began
    assert [("agent", "aa" * 32), ("agent", "cc" * 32)] == list(store.entries())
    assert all(store.open(*name) for name in store.entries())
    store.remove("agent", "cc" * 32)
    make("dd" * 32, 1000, durable=True)
    assert store.open("agent", "dd" * 32)


@pytest.mark.parametrize("step", ["seal", "_sync_all", "_renamed", "_sync"])
def test_no_room_at_the_last_moment(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error while an entry gets its place is told; there is a whole entry, or none, and nothing beside it."""
    store = Store(tmp_path / "store")

    def fail(*args: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(store_module, step, fail)
        with pytest.raises(HarnessError, match="No space left"), store.making("agent", KEY) as folder:
            (folder / "file").write_text("x")
    assert [] == list((tmp_path / "store/making").iterdir())
    assert store.has("agent", KEY) == (store.open("agent", KEY) is not None)


def test_a_store_that_is_read_only(plain_user: Path) -> None:
    """Entries can be opened; making one is refused before any work, and nothing is lost."""
    store = Store(plain_user)
    with store.making("agent", KEY) as folder:
        (folder / "file").write_text("x")
    for folder in (plain_user, plain_user / "making", plain_user / "agent"):
        folder.chmod(0o555)
    assert store.path("agent", KEY) == Store(plain_user).open("agent", KEY)
    with pytest.raises(HarnessError, match=r"cannot write to the store .*: Permission denied"), \
            store.making("agent", "cd" * 32):
        raise AssertionError
    with pytest.raises(HarnessError, match=r"cannot write to the store .*: Permission denied"), \
            store.claim("agent", "cd" * 32):
        raise AssertionError


# ---- the disk itself ----
@pytest.mark.parametrize("durable", [True, False])
def test_what_is_brought_to_the_disk(durable: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what cannot be made again for nothing, every file and folder, each once; of everything else nothing."""
    store = Store(tmp_path / "store")
    store.root.mkdir()
    synced: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(
        os.path.relpath(Path(f"/proc/self/fd/{descriptor}").readlink(), store.root)))
    for key in (KEY, "ab" + "1" * 62):
        synced.clear()
        with store.making("agent", key, durable=durable) as folder:
            (folder / "sub").mkdir()
            (folder / "sub/a").touch()
    making = [f"making/{folder.name}{name}" for name in ("", "/entry.json", "/sub", "/sub/a")]
    assert ([*making, "agent/ab"] if durable else []) == [*sorted(synced[:-1]), *synced[-1:]]


def test_how_much_room_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is some room left, but not enough to begin something that costs money, it is said how much is."""
    store = Store(tmp_path / "store")
    little = os.statvfs_result((4096, 4096, 100_000, 1000, 1000, 1000, 1000, 1000, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: little)
    with pytest.raises(HarnessError) as told, store.making("agent", "a" * 64, durable=True, inputs={}):
        pass
    assert f"cannot write to the store {store.root}: No space left on device" == told.value.message
    assert "is the disk full? 4 MB must be free before something begins that costs money" == told.value.hint
