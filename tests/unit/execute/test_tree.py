"""Trees as archives: what an agent may leave, and what an archive may try."""

from __future__ import annotations

import io
import os
import socket
import stat
import tarfile
import time
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalkit.errors import HarnessError
from evalkit.execute import pack as pack_module
from evalkit.execute.pack import pack
from evalkit.execute.tree import Manifest, read_files, unpack
from evalkit.values import evolve


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree."""
    root = tmp_path / "app"
    (root / "src/deep").mkdir(parents=True)
    (root / "src/main.py").write_text("print('á')\n")
    (root / "src/deep/empty").touch()
    (root / "run").write_text("#!/bin/sh\n")
    (root / "run").chmod(0o755)
    (root / "nothing").mkdir()
    return root


def contents(root: Path) -> dict[str, object]:
    """Every entry: a file's bytes and whether it can be executed, a link's target, a folder as None."""
    found: dict[str, object] = {}
    for path in root.rglob("*"):
        name = str(path.relative_to(root))
        if path.is_symlink():
            found[name] = str(path.readlink())
        elif path.is_dir():
            found[name] = None
        else:
            found[name] = (path.read_bytes(), bool(path.stat().st_mode & stat.S_IXUSR))
    return found


def there_and_back(root: Path, **options: object) -> tuple[Manifest, dict[str, object]]:
    archive = root.parent / "tree.tar.zst"
    manifest = pack(root, archive, **options)  # type: ignore[arg-type]
    target = root.parent / "copy"
    unpack(archive, target)
    return manifest, contents(target)


def archive_of(path: Path, members: list[tuple[str, bytes, str | bytes]]) -> Path:
    """An archive made by hand: (name, type, what a link names or a file holds)."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for name, kind, what in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            if isinstance(what, bytes):
                member.size = len(what)
                tar.addfile(member, io.BytesIO(what))
            else:
                member.linkname = what
                tar.addfile(member)
    path.write_bytes(zstandard.ZstdCompressor().compress(plain.getvalue()))
    return path


# ---- what is kept ----
def test_a_tree_comes_back_as_it_was(tree: Path) -> None:
    """Files, empty folders, and which files can be executed; nothing is left out."""
    manifest, copy = there_and_back(tree)
    assert contents(tree) == copy
    assert ({"run", "src/main.py", "src/deep/empty"}, ()) == (set(manifest.files), manifest.left_out)
    assert sum(path.stat().st_size for path in tree.rglob("*") if path.is_file()) == manifest.bytes
    assert not manifest.cut


names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=8).filter(
    lambda name: name not in (".", ".."))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.lists(names, min_size=1, max_size=3).map("/".join), st.binary(max_size=40), max_size=6))
def test_any_names_and_bytes_come_back(tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]) -> None:
    """Whatever names files have (line ends, quotes, all of Unicode) and whatever they hold."""
    root = tmp_path_factory.mktemp("any") / "app"
    root.mkdir()
    for name, data in files.items():
        path = root / name
        if not path.exists() and not any(parent.is_file() for parent in path.parents):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    manifest, copy = there_and_back(root)
    assert contents(root) == copy
    assert () == manifest.left_out


def test_equal_trees_give_equal_bytes(tree: Path, tmp_path: Path) -> None:
    """Whoever made them, when, in what order, with what permissions for others."""
    other = tmp_path / "other"
    (other / "nothing").mkdir(parents=True)
    (other / "run").write_text("#!/bin/sh\n")
    (other / "run").chmod(0o700)
    (other / "src/deep").mkdir(parents=True)
    (other / "src/deep/empty").touch()
    (other / "src/main.py").write_text("print('á')\n")
    os.utime(other / "run", (1, 1))
    first = pack(tree, tmp_path / "first")
    assert first == pack(other, tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_a_digest_tells_apart_what_differs(tmp_path: Path) -> None:
    """A file, the same bytes as a program, and a link whose target reads like them."""
    digests = set()
    for kind in ("file", "program", "link"):
        path = tmp_path / kind / "a"
        path.parent.mkdir()
        if kind == "link":
            path.symlink_to("x")
        else:
            path.write_text("x")
            path.chmod(0o755 if kind == "program" else 0o644)
        digests.add(pack(path.parent, tmp_path / "archive").files["a"])
    assert 3 == len(digests)


@pytest.mark.parametrize("exclude", ["src", "src/", "./src"])
def test_excluded_folders_are_not_mentioned(tree: Path, exclude: str) -> None:
    """An excluded folder is no part of the tree, however its name is written."""
    manifest, copy = there_and_back(tree, exclude=[exclude])
    assert {"run", "nothing"} == set(copy)
    assert () == manifest.left_out


def test_excluded_files_and_nested_paths(tree: Path) -> None:
    """A file, or a folder further down; an equal name elsewhere stays."""
    (tree / "deep").mkdir()
    _, copy = there_and_back(tree, exclude=["run", "src/deep"])
    assert {"nothing", "deep", "src", "src/main.py"} == set(copy)


def test_clean_takes_secrets_out(tree: Path) -> None:
    """What is kept is what `clean` makes of a file."""
    (tree / "notes").write_text("key=sk-12345678\n")
    manifest, copy = there_and_back(tree, clean=lambda data: data.replace(b"sk-12345678", b"***"))
    assert (b"key=***\n", False) == copy["notes"]
    assert b"sk-12345678" not in (tree.parent / "tree.tar.zst").read_bytes()
    (tree / "notes").write_text("key=***\n")
    assert ("notes: a key in it was replaced",) == manifest.left_out
    assert evolve(manifest, left_out=()) == pack(tree, tree.parent / "again")


def test_an_unpacked_file_is_new(tree: Path) -> None:
    """Build tools compare times: what was just unpacked is not from 1970."""
    there_and_back(tree)
    assert time.time() - (tree.parent / "copy/run").stat().st_mtime < 60


# ---- what is left out ----
def test_what_is_no_file_is_left_out(tree: Path) -> None:
    """A fifo does not block, a socket does not break; both are said."""
    os.mkfifo(tree / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(tree)
        try:
            server.bind("socket")
        finally:
            os.chdir(here)
    manifest, copy = there_and_back(tree)
    assert ("fifo: neither a file nor a folder", "socket: neither a file nor a folder") == manifest.left_out
    assert not {"fifo", "socket"} & set(copy)


def test_the_reason_is_told_after_a_short_path(tree: Path) -> None:
    """A report cuts long lines: what is behind a long path would not be read."""
    deep = tree / "first" / "/".join(["folder"] * 110)
    deep.mkdir(parents=True)
    (deep / "last").write_text("x")
    said, = pack(tree, tree.parent / "archive").left_out
    assert said.startswith("first/folder/")
    assert said.endswith(": over 100 folders deep")
    assert len(said) < 150


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a device")
def test_devices_are_left_out(tree: Path) -> None:
    """Reading one could give bytes without end."""
    os.mknod(tree / "zero", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    assert ("zero: neither a file nor a folder",) == pack(tree, tree.parent / "archive").left_out


def test_links_that_stay_inside_are_kept(tree: Path) -> None:
    """To a file, to a folder, upwards, through another link, to nowhere."""
    links = {"to-file": "src/main.py", "to-folder": "src", "src/deep/up": "../../run", "through": "to-folder/deep/up",
             "dangling": "no/such", "src/here": "."}
    for name, target in links.items():
        (tree / name).symlink_to(target)
    manifest, copy = there_and_back(tree)
    assert links == {name: target for name, target in copy.items() if isinstance(target, str)}
    assert () == manifest.left_out


def test_links_that_lead_outside_are_left_out(tree: Path) -> None:
    """Absolute ones (also into the tree itself), upwards, through another link however it is named, and circles."""
    links = {"absolute": "/etc/passwd", "own": str(tree / "run"), "up": "../secret", "src/deep/far": "../../../x",
             "in-and-out": "src/../../app/run", "a-through": "z-down/../../../x", "z-down": "src/deep",
             "chained": "up", "below": "chained/x", "self": "self", "ping": "pong", "pong": "ping/x"}
    for name, target in links.items():
        (tree / name).symlink_to(target)
    manifest, copy = there_and_back(tree)
    kept = {"z-down"}
    assert kept == {name for name, target in copy.items() if isinstance(target, str)}
    assert {f"{name}: a link that leads outside or in a circle" for name in set(links) - kept} == set(manifest.left_out)


def test_a_link_that_only_stays_inside_through_one_that_goes(tree: Path) -> None:
    """Links are judged among those that remain: what unpacks must not depend on a link that was left out."""
    (tree / "a").symlink_to("/tmp")
    (tree / "b").symlink_to("a/../src")
    manifest, copy = there_and_back(tree)
    assert not {"a", "b"} & set(copy)
    assert 2 == len(manifest.left_out)


segments = st.sampled_from(["a", "b", "c", "..", ".", "d/e"])


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(["a", "b", "c", "d/a", "d/e/b"]),
                       st.lists(segments, min_size=1, max_size=5).map("/".join), min_size=1, max_size=5))
def test_no_links_lead_outside(tmp_path_factory: pytest.TempPathFactory, links: dict[str, str]) -> None:
    """Whatever links a tree has: what packing keeps unpacks, and the system itself follows every link to the inside."""
    root = tmp_path_factory.mktemp("links") / "app"
    (root / "d/e").mkdir(parents=True)
    for name, target in links.items():
        (root / name).symlink_to(target)
    there_and_back(root)
    copy = (root.parent / "copy").resolve()
    for path in copy.rglob("*"):
        assert Path(os.path.realpath(path)).is_relative_to(copy)


def test_names_that_are_not_text(tree: Path) -> None:
    """A name that is not UTF-8 is left out and said; so is a link to one."""
    with open(os.fsencode(tree) + b"/bad\xff", "wb"):  # noqa: PTH123 - a name in bytes
        pass
    os.symlink(b"bad\xff", os.fsencode(tree) + b"/link")  # noqa: PTH211
    manifest, _ = there_and_back(tree)
    assert ("bad\\udcff: its name is not UTF-8", "link: a link to a name that is not UTF-8") == manifest.left_out


def test_a_line_end_in_a_name_does_not_reach_the_message(tree: Path) -> None:
    """What is said of an entry is one line."""
    os.mkfifo(tree / "a\nb\x1b[31m")
    assert (r"a\nb\x1b[31m: neither a file nor a folder",) == pack(tree, tree.parent / "archive").left_out


def test_what_cannot_be_read_is_said(plain_user: Path) -> None:
    """A file or a folder without permissions is left out; the rest is kept."""
    root = plain_user / "app"
    (root / "closed").mkdir(parents=True)
    (root / "closed/inner").touch()
    (root / "listed").mkdir()
    (root / "listed/inner").touch()
    (root / "secret").write_text("x")
    (root / "open").write_text("x")
    (root / "secret").chmod(0)
    (root / "closed").chmod(0)
    (root / "listed").chmod(0o400)
    manifest = pack(root, plain_user / "archive")
    assert ("closed: cannot be read", "listed/inner: cannot be read", "secret: cannot be read") == manifest.left_out
    assert {"open"} == set(manifest.files)


@pytest.mark.parametrize("kind", ["gone", "a file", "a link"])
def test_a_root_that_the_agent_replaced(kind: str, tmp_path: Path) -> None:
    """A tree that is no folder any more is empty; a link in its place is not followed."""
    root = tmp_path / "app"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/secret").touch()
    if kind == "a file":
        root.touch()
    elif kind == "a link":
        root.symlink_to("elsewhere")
    manifest, copy = there_and_back(root)
    assert ({}, {}) == (manifest.files, copy)
    assert (".: it is no folder that can be read",) == manifest.left_out


# ---- caps ----
def test_the_cap_on_entries(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes after it is left out, once said; the manifest knows."""
    monkeypatch.setattr(pack_module, "MAX_ENTRIES", 3)
    manifest, copy = there_and_back(tree)
    assert {"nothing", "run", "src"} == set(copy)
    assert ("src/deep: this and what follows: the tree has over 3 entries",) == manifest.left_out
    assert manifest.cut


def test_a_file_over_the_cap_leaves_the_others(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A core dump that comes first by name must not cost the sources."""
    monkeypatch.setattr(pack_module, "MAX_BYTES", 1024)
    (tree / "a-core").write_bytes(b"x" * 2000)
    manifest, copy = there_and_back(tree)
    assert {"run", "src/main.py", "src/deep/empty"} == set(manifest.files)
    assert "a-core" not in copy
    assert manifest.cut
    assert manifest.left_out[0].startswith("a-core: its 0 MB are over")


def test_a_large_sparse_file_is_not_read(tree: Path) -> None:
    """Two gigabytes of nothing are too much, and nobody reads them to find out."""
    with (tree / "sparse").open("wb") as file:
        file.truncate(2 * 1024**3)
    manifest = pack(tree, tree.parent / "archive")
    assert ("sparse: its 2048 MB are over 128 MB for a file or 512 MB for the tree",) == manifest.left_out


def test_folders_nested_beyond_reason(tree: Path) -> None:
    """They are cut at a depth, before descriptors run out or a path is too long for the system."""
    here = Path.cwd()
    os.chdir(tree)
    try:
        for _ in range(150):
            Path("n").mkdir()
            os.chdir("n")
    finally:
        os.chdir(here)
    manifest, copy = there_and_back(tree)
    assert manifest.cut
    assert manifest.left_out[0].endswith("over 100 folders deep")
    assert "run" in copy


def test_paths_longer_than_the_system_takes(tree: Path) -> None:
    """A tree that was made step by step can hold paths that nobody can open; they are left out."""
    here = Path.cwd()
    os.chdir(tree)
    try:
        for _ in range(30):
            Path("n" * 200).mkdir()
            os.chdir("n" * 200)
        Path("file").touch()
    finally:
        os.chdir(here)
    manifest, _ = there_and_back(tree)
    assert manifest.cut
    assert manifest.left_out[0].endswith("its path is too long")


def test_a_long_list_of_what_was_left_out_is_counted(tree: Path) -> None:
    """Twenty are named, the rest is a number."""
    for number in range(25):
        os.mkfifo(tree / f"fifo{number:02}")
    left_out = pack(tree, tree.parent / "archive").left_out
    assert (21, "and 5 more") == (len(left_out), left_out[-1])


# ---- archives that are not ours ----
@pytest.mark.parametrize("members", [
    [("../x", tarfile.REGTYPE, b"")],
    [("/tmp/evalkit-x", tarfile.REGTYPE, b"")],
    [("a/../../x", tarfile.REGTYPE, b"")],
    [("a", tarfile.DIRTYPE, ""), ("a/..", tarfile.REGTYPE, b"")],
    [("..", tarfile.DIRTYPE, "")],
    [("link", tarfile.SYMTYPE, "/etc")],
    [("link", tarfile.SYMTYPE, "..")],
    [("link", tarfile.SYMTYPE, "../x"), ("link", tarfile.REGTYPE, b"")],
    [("a", tarfile.SYMTYPE, "."), ("a/b", tarfile.REGTYPE, b"")],
    [("a", tarfile.DIRTYPE, ""), ("a", tarfile.SYMTYPE, "b"), ("a/x", tarfile.REGTYPE, b"")],
    [("b", tarfile.SYMTYPE, "c"), ("b/x", tarfile.SYMTYPE, "y")],
    [("hard", tarfile.LNKTYPE, "/etc/passwd")],
    [("device", tarfile.CHRTYPE, "")],
    [("fifo", tarfile.FIFOTYPE, "")],
    [("file", tarfile.REGTYPE, b"1"), ("file", tarfile.REGTYPE, b"2")],
    [("missing/parent", tarfile.REGTYPE, b"")],
])
def test_a_hostile_archive_is_refused(members: list[tuple[str, bytes, str | bytes]], tmp_path: Path) -> None:
    """Nothing is written outside, no link is made that leads there, and a file never lands behind a link."""
    archive = archive_of(tmp_path / "bad.tar.zst", members)
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises(HarnessError, match="cannot unpack"):
        unpack(archive, tmp_path / "target")
    assert [*before, "target"] == sorted(path.name for path in tmp_path.iterdir())
    assert not Path("/tmp/evalkit-x").exists()


def test_a_damaged_archive_is_told(tree: Path) -> None:
    """Cut anywhere, or with a byte changed: never a smaller tree without a word."""
    archive = tree.parent / "archive"
    (tree / "random").write_bytes(os.urandom(3000))
    pack(tree, archive)
    whole = archive.read_bytes()
    for number, size in enumerate(range(0, len(whole), 97)):
        archive.write_bytes(whole[:size])
        with pytest.raises(HarnessError, match="delete its folder"):
            unpack(archive, tree.parent / f"cut{number}")
    for number, place in enumerate(range(0, len(whole), 211)):
        archive.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        try:
            unpack(archive, tree.parent / f"changed{number}")
        except HarnessError:
            continue
        assert contents(tree) == contents(tree.parent / f"changed{number}")
    with pytest.raises(HarnessError, match="cannot read"):
        read_files(tree.parent / "missing", ["run"], largest=10)


def test_an_archive_cut_between_two_members(tmp_path: Path) -> None:
    """A whole compressed file whose tar has no end."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("one"))
    (tmp_path / "archive").write_bytes(zstandard.ZstdCompressor().compress(plain.getvalue()[:512]))
    with pytest.raises(HarnessError, match="too early"):
        unpack(tmp_path / "archive", tmp_path / "target")


def test_an_archive_that_cannot_be_written(tree: Path) -> None:
    """A harness error with a hint."""
    with pytest.raises(HarnessError, match="cannot write") as raised:
        pack(tree, tree / "missing/archive")
    assert "disk full" in raised.value.hint


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_while_packing(tree: Path) -> None:
    """Told as the disk's, whatever was being packed."""
    (tree / "random").write_bytes(os.urandom(2_000_000))
    with pytest.raises(HarnessError, match="No space left"):
        pack(tree, Path("/dev/full"))


# ---- single files ----
def test_files_are_read_without_unpacking(tree: Path) -> None:
    """Those asked for and present; None for one that is too large; a link has no bytes."""
    (tree / "link").symlink_to("run")
    (tree / "large").write_bytes(b"x" * 11)
    (tree / "fits").write_bytes(b"x" * 10)
    pack(tree, tree.parent / "archive")
    found = read_files(tree.parent / "archive", ["fits", "large", "link", "src", "no-such"], largest=10)
    assert {"fits": b"x" * 10, "large": None} == found
    assert {} == read_files(tree.parent / "missing", [], largest=10)
