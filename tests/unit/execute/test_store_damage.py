"""What an entry's manifest tells when the entry is opened, and what becomes of a damaged one."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from evalkit.errors import HarnessError
from evalkit.execute import store_entry
from evalkit.execute.store import Store
from evalkit.execute.store_entry import Damaged

KEY = "ab" + "0" * 62
FILES = {"agent.json": "{}", "sub/tree.tar.zst": "tree" * 100, "transcript.jsonl": ""}


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def store(tmp_path: Path, said: list[str]) -> Store:
    return Store(tmp_path / "store", said.append)


def fill(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def make(store: Store, kind: str = "agent", key: str = KEY, **options: object) -> Path:
    with store.making(kind, key, **options) as folder:  # type: ignore[arg-type]
        fill(folder)
    return store.path(kind, key)


def edit(place: Path, change: Callable[[dict[str, object]], object]) -> None:
    fields = orjson.loads((place / "entry.json").read_bytes())
    change(fields)
    (place / "entry.json").write_bytes(orjson.dumps(fields))


# ---- the manifest ----
def test_a_manifest_names_what_is_there(store: Store) -> None:
    """Kind, key, time, what it was made from, whether it cost money, and every file's digest and size."""
    place = make(store, durable=False, inputs={"layout": "1"})
    manifest = store.manifest("agent", KEY)
    assert manifest is not None
    assert ("agent", KEY, False, {"layout": "1"}) == (manifest.kind, manifest.key, manifest.durable, manifest.inputs)
    assert {name: len(text) for name, text in FILES.items()} == {
        name: size for name, (_, size) in manifest.files.items()}
    assert "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" == manifest.files["agent.json"][0]
    assert 402 == manifest.bytes
    assert manifest.dump() == (place / "entry.json").read_bytes()


@pytest.mark.parametrize("odd", ["link", "fifo"])
def test_what_no_entry_may_hold(odd: str, store: Store) -> None:
    """A link, or what is no file, would not be what it was when it is opened."""

    def work() -> None:
        with store.making("agent", KEY) as folder:
            if odd == "link":
                (folder / odd).symlink_to("/etc/passwd")
            else:
                os.mkfifo(folder / odd)

    with pytest.raises(HarnessError, match="files and folders alone"):
        work()
    assert not store.has("agent", KEY)


# ---- whole entries ----
def test_a_whole_entry_is_opened(store: Store, said: list[str]) -> None:
    """Nothing is said; an entry that is not there is None; what nobody named is nobody's business."""
    place = make(store)
    (place / "note").write_text("mine")
    assert place == store.open("agent", KEY)
    assert store.open("agent", "cd" * 32) is None
    assert "" == store.damage("agent", KEY)
    assert [] == said


def test_an_entry_without_a_manifest(store: Store, said: list[str]) -> None:
    """Nothing tells what it should hold: it is set aside."""
    place = store.path("agent", KEY)
    place.mkdir(parents=True)
    fill(place)
    assert "its entry.json is missing" == store.damage("agent", KEY)
    with pytest.raises(Damaged, match="missing"):
        store.manifest("agent", KEY)
    assert store.open("agent", KEY) is None
    assert ["its entry.json is missing" in line for line in said] == [True]
    assert store.manifest("agent", KEY) is None


@pytest.mark.parametrize("kind", ["a file", "a link to itself", "a pipe for its manifest"])
def test_what_is_no_folder_of_files(store: Store, kind: str) -> None:
    """It is listed, told and set aside; nobody waits for it."""
    place = make(store)
    if kind == "a pipe for its manifest":
        (place / "entry.json").unlink()
        os.mkfifo(place / "entry.json")
    else:
        shutil.rmtree(place)
        place.write_text("x") if kind == "a file" else place.symlink_to(place)
    fresh = Store(store.root)
    assert [("agent", KEY)] == list(fresh.entries())
    assert "no f" in fresh.damage("agent", KEY)
    with pytest.raises(Damaged):
        fresh.manifest("agent", KEY)
    assert fresh.open("agent", KEY) is None
    assert not os.path.lexists(place)


def test_bytes_are_hashed_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """And only those of files that are asked for; again where a file is another one now."""
    hashed: list[str] = []
    digest = store_entry._digest

    def counted(path: Path) -> tuple[str, int]:
        hashed.append(path.name)
        return digest(path)

    place = make(store)
    monkeypatch.setattr(store_entry, "_digest", counted)
    for _ in range(3):
        assert place == store.open("agent", KEY, only=("agent.json",))
    assert ["agent.json"] == hashed
    for _ in range(3):
        assert place == store.open("agent", KEY)
    assert ["agent.json", "tree.tar.zst", "transcript.jsonl"] == hashed
    assert place == store.open("agent", KEY, only=("agent.json",))
    os.utime(place / "agent.json", (1, 1))
    assert place == store.open("agent", KEY)
    assert ["agent.json", "tree.tar.zst", "transcript.jsonl", "agent.json"] == hashed


def test_the_last_use_is_noted(store: Store) -> None:
    """An entry's folder has the time at which a process first opened it."""
    place = make(store)
    os.utime(place, (1, 1))
    Store(store.root).open("agent", KEY)
    assert place.stat().st_mtime > 1


# ---- damaged entries ----
def _cut(place: Path) -> None:
    os.truncate(place / "sub/tree.tar.zst", 17)


def _changed(place: Path) -> None:
    (place / "sub/tree.tar.zst").write_text("TREE" * 100)


def _changed_unseen(place: Path) -> None:
    """One bit, and the times as before."""
    path = place / "sub/tree.tar.zst"
    before = path.stat()
    path.write_text("uree" + "tree" * 99)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _link(place: Path) -> None:
    (place / "agent.json").rename(place.parent / "elsewhere")
    (place / "agent.json").symlink_to(place.parent / "elsewhere")


def _folder_for_a_file(place: Path) -> None:
    (place / "agent.json").unlink()
    (place / "agent.json").mkdir()


def _no_folder(place: Path) -> None:
    shutil.rmtree(place)
    place.write_text("x")


def _empty(place: Path) -> None:
    shutil.rmtree(place)
    place.mkdir()


def _manifest(text: str) -> Callable[[Path], object]:
    return lambda place: (place / "entry.json").write_text(text)


def _fields(**changes: object) -> Callable[[Path], object]:
    return lambda place: edit(place, lambda fields: fields.update(changes))


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut": (_cut, "sub/tree.tar.zst has 17 bytes, not 400"),
    "changed": (_changed, "sub/tree.tar.zst has other contents than when it was made"),
    "changed unseen": (_changed_unseen, "sub/tree.tar.zst has other contents than when it was made"),
    "lost": (lambda place: (place / "transcript.jsonl").unlink(), "transcript.jsonl is missing"),
    "lost folder": (lambda place: shutil.rmtree(place / "sub"), "sub/tree.tar.zst is missing"),
    "a link": (_link, "agent.json is no file"),
    "a folder": (_folder_for_a_file, "agent.json is no file"),
    "no folder": (_no_folder, "it is no folder"),
    "empty": (_empty, "it is empty"),
    "cut manifest": (lambda place: os.truncate(place / "entry.json", 30), "its entry.json cannot be read"),
    "empty manifest": (_manifest(""), "its entry.json cannot be read"),
    "no object": (_manifest("[]"), "its entry.json cannot be read"),
    "newer": (_fields(schema=99), "its entry.json has schema 99, this evalkit reads 1"),
    "another kind": (_fields(kind="judge"), "its entry.json is that of another entry"),
    "another key": (_fields(key="cd" * 32), "its entry.json is that of another entry"),
    "path out": (_fields(files={"../x": {"sha256": KEY, "size": 1}}), "its entry.json cannot be read"),
    "no digest": (_fields(files={"x": {"sha256": "", "size": 1}}), "its entry.json cannot be read"),
    "no size": (_fields(files={"x": {"sha256": KEY, "size": -1}}), "its entry.json cannot be read"),
}


@pytest.mark.parametrize(("damage", "what"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_entry_is_set_aside(damage: Callable[[Path], object], what: str, store: Store,
                                      said: list[str]) -> None:
    """It is said what is wrong and where it is now; then there is none, and it can be made again. Each goes to a place
    of its own.
    """
    for number in (1, 2):
        place = make(store)
        damage(place)
        assert what == store.damage("agent", KEY)
        assert store.open("agent", KEY) is None
        aside = store.root / f"damaged/agent-{KEY}-{number}"
        assert f"the agent {KEY[:12]} in the store is damaged ({what}): it was moved to {aside} and will be made " \
               "again" == said.pop()
        assert aside.exists()
        assert not store.has("agent", KEY)
    assert make(store) == store.open("agent", KEY)
    assert [] == said


@pytest.mark.parametrize("damage", [_changed, _cut])
def test_damage_after_it_was_opened(damage: Callable[[Path], object], store: Store) -> None:
    """What was compared once is compared again when its stamp is another."""
    place = make(store)
    assert place == store.open("agent", KEY)
    damage(place)
    assert store.open("agent", KEY) is None


def test_the_size_of_all_files_is_seen(store: Store) -> None:
    """Also of those of which no digest is taken."""
    _cut(make(store))
    assert store.open("agent", KEY, only=("agent.json",)) is None


def test_a_damaged_entry_gives_way_to_a_new_one(store: Store, said: list[str]) -> None:
    """Work that was done is not thrown away because something broken is in its place."""
    with store.making("agent", KEY) as folder:
        fill(folder)
        _cut(make(store))
    assert 1 == len(said)
    assert store.path("agent", KEY) == store.open("agent", KEY)


def test_damage_that_another_one_sees_to(store: Store, said: list[str]) -> None:
    """Who makes an entry sets it aside: others keep their hands off what may just be made anew."""
    _cut(make(store))
    def held() -> None:
        with store.claim("agent", KEY):
            ready.set()
            done.wait(10)

    ready, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=held)
    thread.start()
    ready.wait(10)
    try:
        assert store.open("agent", KEY) is None
        assert store.has("agent", KEY)
        assert [] == said
    finally:
        done.set()
        thread.join()
    with store.claim("agent", KEY):
        assert store.open("agent", KEY) is None
    assert not store.has("agent", KEY)


def test_an_entry_that_cannot_be_read(plain_user: Path) -> None:
    """That is no damage: nothing is moved."""
    store = Store(plain_user)
    place = make(store)
    (place / "agent.json").chmod(0)
    with pytest.raises(HarnessError, match="cannot read the store"):
        store.open("agent", KEY)
    assert store.has("agent", KEY)


def test_damage_in_a_folder_that_is_read_only(plain_user: Path) -> None:
    """It is said, and that it cannot be moved; nobody takes it for an entry."""
    said: list[str] = []
    store = Store(plain_user / "store", said.append)
    _cut(make(store))
    for folder in (store.root, store.path("agent", KEY).parent):
        folder.chmod(0o555)
    assert store.open("agent", KEY) is None
    assert [f"the agent {KEY[:12]} in the store is damaged (sub/tree.tar.zst has 17 bytes, not 400), and cannot be "
            "moved away: Permission denied"] == said
