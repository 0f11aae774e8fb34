"""Entries in a file: whole or nothing on the way out, and no trust on the way in."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import tarfile
from pathlib import Path
from typing import Any

import orjson
import pytest
import zstandard

from evalkit.errors import HarnessError, UserError
from evalkit.execute import store_archive
from evalkit.execute.store import Store
from evalkit.execute.store_archive import Imported, export_entries, import_entries

RUN = ("agent", "ab" + "0" * 62)
TREE = ("workspace", "cd" + "1" * 62)
Member = tuple[str, bytes]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "store")
    with store.making(*RUN, inputs={"workspace": TREE[1]}) as folder:
        (folder / "agent.json").write_text("{}")
        (folder / "transcript.jsonl").write_bytes(bytes(range(256)) * 20)
    with store.making(*TREE, durable=False) as folder:
        (folder / "sub").mkdir()
        (folder / "sub/empty").touch()
    return store


@pytest.fixture
def other(tmp_path: Path) -> Store:
    return Store(tmp_path / "other")


def contents(store: Store) -> dict[str, bytes]:
    return {path.relative_to(store.root).as_posix(): path.read_bytes() for path in sorted(store.root.rglob("*"))
            if path.is_file()}


# ---- there and back ----
def test_there_and_back(store: Store, other: Store, tmp_path: Path) -> None:
    """The other store has the same bytes then; what it had before stays, also a second time."""
    file = tmp_path / "runs.tar.zst"
    assert 5122 == export_entries(store, [TREE, RUN, RUN], file)
    assert Imported((RUN, TREE), (), 5122) == import_entries(other, file)
    assert contents(store) == contents(other)
    assert other.open(*RUN)
    assert other.open(*TREE)
    assert Imported((), (RUN, TREE), 5122) == import_entries(other, file)
    assert [] == [*(other.root / "making").iterdir(), *(other.root / "locks").iterdir()]


def test_equal_entries_give_equal_bytes(store: Store, tmp_path: Path) -> None:
    """In whatever order they are named, and whenever the files were written."""
    export_entries(store, [RUN, TREE], tmp_path / "one")
    os.utime(store.path(*RUN) / "agent.json", (1, 1))
    export_entries(store, [TREE, RUN], tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_ordinary_tools_can_read_it(store: Store, tmp_path: Path) -> None:
    """It is a tar in zstd."""
    export_entries(store, [RUN], tmp_path / "file")
    with tarfile.open(fileobj=io.BytesIO(plain(tmp_path / "file"))) as tar:
        names = ["evalkit-store.json", *(f"agent/{RUN[1]}/{name}" for name in
                                         ("entry.json", "agent.json", "transcript.jsonl"))]
        assert names == tar.getnames()


def test_an_entry_without_a_manifest(store: Store, other: Store, tmp_path: Path) -> None:
    """It is no sound one, and what was cut gets no digests on the way."""
    (store.path(*RUN) / "entry.json").unlink()
    with pytest.raises(HarnessError, match="is damaged or gone"):
        export_entries(store, [RUN], tmp_path / "file")
    assert not (tmp_path / "file").exists()


def test_a_link_stays(store: Store, other: Store, tmp_path: Path) -> None:
    """What it names is written."""
    (tmp_path / "link").symlink_to("file")
    for _ in range(2):
        export_entries(store, [RUN], tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
    assert (RUN,) == import_entries(other, tmp_path / "file").new


def test_existing_entries_stay(store: Store, other: Store, tmp_path: Path) -> None:
    """Nothing that is there is written over, unless it is damaged."""
    export_entries(store, [RUN, TREE], tmp_path / "file")
    with other.making(*RUN) as folder:
        (folder / "agent.json").write_text("mine")
    assert Imported((TREE,), (RUN,), 5122) == import_entries(other, tmp_path / "file")
    assert "mine" == (other.path(*RUN) / "agent.json").read_text()
    (other.path(*RUN) / "agent.json").write_text("cut")
    assert Imported((RUN,), (TREE,), 5122) == import_entries(Store(other.root), tmp_path / "file")
    assert "{}" == (other.path(*RUN) / "agent.json").read_text()


# ---- whole or nothing ----
def test_a_damaged_entry_is_not_exported(store: Store, tmp_path: Path) -> None:
    """The file that was there stays as it was."""
    (tmp_path / "file").write_text("before")
    (store.path(*TREE) / "sub/empty").write_text("x")
    with pytest.raises(HarnessError, match="the workspace cd1111111111 is damaged or gone"):
        export_entries(store, [RUN, TREE], tmp_path / "file")
    assert ["file", "store"] == sorted(path.name for path in tmp_path.iterdir())
    assert "before" == (tmp_path / "file").read_text()


def test_a_file_that_cannot_be_written(store: Store, tmp_path: Path) -> None:
    """A harness error, and nothing is left."""
    with pytest.raises(HarnessError, match="cannot write"):
        export_entries(store, [RUN], tmp_path / "none/file")
    with pytest.raises(HarnessError, match="cannot write"):
        export_entries(store, [RUN], tmp_path / "store")
    assert ["store"] == [path.name for path in tmp_path.iterdir()]


def test_a_disk_that_fills_up_on_import(store: Store, other: Store, tmp_path: Path,
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told, nothing was imported and nothing is left."""
    export_entries(store, [RUN, TREE], tmp_path / "file")

    def fail(*args: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(store_archive._Members, "unpack", fail)
        with pytest.raises(HarnessError, match="No space left"):
            import_entries(other, tmp_path / "file")
    monkeypatch.setattr(store_archive, "_SPARE", 1 << 60)
    with pytest.raises(HarnessError, match="the disk has no room for 5122 bytes more"):
        import_entries(other, tmp_path / "file")
    assert {} == contents(other)


# ---- files that are no export ----
def plain(file: Path) -> bytes:
    return zstandard.ZstdDecompressor().decompressobj().decompress(file.read_bytes())


def packed(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


def tar(*members: tarfile.TarInfo | Member, form: int = tarfile.USTAR_FORMAT) -> bytes:
    """An archive of plain files, and of whatever else is given as a header."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as file:
        for member in members:
            info = tarfile.TarInfo(member[0]) if isinstance(member, tuple) else member
            data = member[1] if isinstance(member, tuple) else b""
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))
        end = file.offset
    return out.getvalue()[:end] + bytes(1024)


def head(*names: Any, schema: int = 1) -> Member:
    return "evalkit-store.json", orjson.dumps({"schema": schema, "entries": names or [RUN]})


def manifest(files: dict[str, bytes], **changes: Any) -> Member:
    """The manifest of the agent run, with these files in it."""
    listed = {name: {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)} for name, data in files.items()}
    return f"agent/{RUN[1]}/entry.json", orjson.dumps(
        {"schema": 1, "kind": "agent", "key": RUN[1], "made_at": "", "durable": True, "inputs": {}, "files": listed,
         **changes})


def inside(name: str, data: bytes = b"x") -> Member:
    return f"agent/{RUN[1]}/{name}", data


def special(kind: bytes, name: str = "a", target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(f"agent/{RUN[1]}/{name}")
    info.type, info.linkname = kind, target
    return info


def huge(size: int) -> bytes:
    name, data = manifest({"a": b"x"})
    return tar(head(), (name, data.replace(b'"size":1}', b'"size":%d}' % size)), inside("a"))


HOSTILE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "it is empty"),
    "text": (b"not an archive", "Unknown frame descriptor"),
    "no tar": (packed(b"x" * 5000), "invalid header|bad checksum"),
    "an empty frame": (packed(b""), "it ends too early"),
    "another tar": (packed(tar(("README", b"hello"))), "'README' is where the plain file evalkit-store.json"),
    "no list": (packed(tar(("evalkit-store.json", b"{"))), "its list of entries cannot be read"),
    "a newer list": (packed(tar(head(schema=9))), "another version of evalkit"),
    "a kind that leads out": (packed(tar(head(["..", RUN[1]]))), "it names what is no entry"),
    "a kind of the store's own": (packed(tar(head(["damaged", RUN[1]]))), "it names what is no entry"),
    "a key that leads out": (packed(tar(head(["agent", "../../x"]))), "it names what is no entry"),
    "a key that is no text": (packed(tar(head(["agent", 7]))), "it names what is no entry"),
    "an entry twice": (packed(tar(head(RUN, RUN))), "too long, or not in order"),
    "an entry that does not come": (packed(tar(head())), "it ends before agent/"),
    "a file that does not come": (packed(tar(head(), manifest({"a": b"x"}))), "it ends before agent/"),
    "a file too many": (packed(tar(head(), manifest({"a": b"x"}), inside("a"), inside("b"))), "there is more in it"),
    "another file": (packed(tar(head(), manifest({"a": b"x"}), inside("b"))), "is where the plain file"),
    "other bytes": (packed(tar(head(), manifest({"a": b"x"}), inside("a", b"y"))), "does not have the digest"),
    "a larger file": (packed(tar(head(), manifest({"a": b"x"}), inside("a", b"xx"))), "not as large as"),
    "another entry's manifest": (packed(tar(head(), manifest({}, kind="judge"))), "that of another entry"),
    "no manifest": (packed(tar(head(), inside("entry.json", b"{"))), "its entry.json cannot be read"),
    "a path up": (packed(tar(head(), manifest({"../../../x": b"x"}), inside("../../../x"))), "cannot be read"),
    "an absolute path": (packed(tar(head(), manifest({"/tmp/x": b"x"}))), "its entry.json cannot be read"),
    "a path with a backslash": (packed(tar(head(), manifest({"..\\x": b"x"}))), "its entry.json cannot be read"),
    "a path with a line end": (packed(tar(head(), manifest({"a\nb": b"x"}))), "its entry.json cannot be read"),
    "a second manifest": (packed(tar(head(), manifest({"entry.json": b"x"}))), "its entry.json cannot be read"),
    "a file that is a folder": (packed(tar(head(), manifest({"a": b"x", "a/b": b"x"}))), "a file that is a folder"),
    "a link": (packed(tar(head(), manifest({"a": b""}), special(tarfile.SYMTYPE, target="/etc/passwd"))),
               "is where the plain file"),
    "a hard link": (packed(tar(head(), manifest({"a": b""}), special(tarfile.LNKTYPE, target="/etc/passwd"))),
                    "is where the plain file"),
    "a device": (packed(tar(head(), manifest({"a": b""}), special(tarfile.CHRTYPE))), "is where the plain file"),
    "a folder": (packed(tar(head(), manifest({"a": b""}), special(tarfile.DIRTYPE))), "is where the plain file"),
    "a long name": (packed(tar(head(), manifest({"a": b""}), inside("a" * 300, b""), form=tarfile.GNU_FORMAT)),
                    "is where the plain file"),
    "an extended header": (packed(tar(head(), manifest({"a": b""}), inside("ä" * 100, b""), form=tarfile.PAX_FORMAT)),
                           "is where the plain file"),
    "a huge file": (packed(huge(2 * 1024**3)), "is too large"),
    "something after its end": (packed(tar(head(), manifest({})) + b"more"), "there is more in it"),
    "a bomb": (packed(tar(("evalkit-store.json", b" " * 64 * 1024**2))), "evalkit-store.json is too large"),
}


@pytest.mark.parametrize(("data", "what"), HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_export(data: bytes, what: str, other: Store, tmp_path: Path) -> None:
    """It is refused with what is wrong with it, nothing is imported, and nothing is written anywhere else."""
    file = tmp_path / "file"
    file.write_bytes(data)
    with pytest.raises(UserError, match=what) as raised:
        import_entries(other, file)
    assert raised.value.message.startswith(f"{file} cannot be imported: ")
    assert {} == contents(other)
    assert ["file", "other"] == sorted(path.name for path in tmp_path.iterdir())


def test_a_good_one_of_the_same_making(other: Store, tmp_path: Path) -> None:
    """What the hostile ones are made by makes a good one too: they fail for what is wrong with them."""
    (tmp_path / "file").write_bytes(packed(tar(head(), manifest({"a": b"x"}), inside("a"))))
    assert (RUN,) == import_entries(other, tmp_path / "file").new


@pytest.mark.parametrize("cut", [1, 20, 300, 500, -300, -30, -10])
def test_a_file_that_was_cut(cut: int, store: Store, other: Store, tmp_path: Path) -> None:
    """Wherever it ends too early, nothing is imported."""
    file = tmp_path / "file"
    export_entries(store, [RUN, TREE], file)
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(UserError, match="cannot be imported"):
        import_entries(other, file)
    assert {} == contents(other)


def test_a_bit_that_flipped(store: Store, other: Store, tmp_path: Path) -> None:
    """Wherever it is, what is imported is what was exported, or nothing."""
    file = tmp_path / "file"
    export_entries(store, [RUN, TREE], file)
    data = file.read_bytes()
    for place in range(0, len(data), 7):
        file.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        try:
            import_entries(other, file)
        except UserError:
            assert {} == contents(other)
        else:
            assert contents(store) == contents(other)
            for name in (RUN, TREE):
                other.remove(*name)


def test_a_file_that_is_not_there(other: Store, tmp_path: Path) -> None:
    """That is the person's mistake."""
    with pytest.raises(UserError, match=r"cannot read .*: No such file"):
        import_entries(other, tmp_path / "none")
    os.mkfifo(tmp_path / "pipe")
    for name in ("", "pipe"):
        with pytest.raises(UserError, match=r"cannot read .*: it is no file"):
            import_entries(other, tmp_path / name)
