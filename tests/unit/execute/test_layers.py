"""Workspaces put together in memory are those that are put together on the disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalkit.digest import digest_path
from evalkit.execute import layers as layers_module
from evalkit.execute.layers import layered
from evalkit.execute.overlay import lay_over
from evalkit.execute.pack import pack
from evalkit.execute.tree import Manifest, unpack

Files = dict[str, "bytes | None"]
_NAMES = st.sampled_from(["a", "b", "a.txt", "é x", ".c"])
_PATHS = st.lists(_NAMES, min_size=1, max_size=3).map("/".join)
_FILES = st.dictionaries(_PATHS, st.one_of(st.none(), st.binary(max_size=40)), max_size=6)
"""Files, and folders (None); a later name may take the place of an earlier one."""


def write(root: Path, files: Files) -> Path:
    """Write what can be written: a file is no folder. Files whose bytes are of an odd number can be executed."""
    root.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        path = root / name
        if any(parent.is_file() for parent in path.parents) or path.exists():
            continue
        (path if data is None else path.parent).mkdir(parents=True, exist_ok=True)
        if data is not None:
            path.write_bytes(data)
            path.chmod(0o755 if len(data) % 2 else 0o640)
    return root


def on_disk(archive: Path, layers: list[tuple[Path, str]], exclude: tuple[str, ...],
            work: Path) -> tuple[bytes, Manifest]:
    tree = work / "app"
    unpack(archive, tree)
    for source, place in layers:
        lay_over(source, tree / place)
    manifest = pack(tree, work / "made.tar.zst", exclude=exclude)
    return (work / "made.tar.zst").read_bytes(), manifest


def packed_template(root: Path, files: Files) -> Path:
    pack(write(root / "template", files), root / "template.tar.zst")
    return root / "template.tar.zst"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(template=_FILES, starter=_FILES, skill=_FILES, exclude=st.lists(_PATHS, max_size=2).map(tuple))
def test_in_memory_is_as_on_the_disk(tmp_path_factory: pytest.TempPathFactory, template: Files, starter: Files,
                                     skill: Files, exclude: tuple[str, ...]) -> None:
    """Byte for byte: files over folders and folders over files, programs, empty folders, what is left out."""
    root = tmp_path_factory.mktemp("layers")
    archive = packed_template(root, template)
    layers = [(write(root / "starter", starter), ""), (write(root / "skill", skill), ".claude/skills/s")]
    assert on_disk(archive, layers, exclude, root) == layered(archive, layers, exclude=exclude)


def test_one_template_is_the_base_of_many(tmp_path: Path) -> None:
    """What is laid over it for one workspace is not in the next one."""
    archive = packed_template(tmp_path, {"a": b"1", "d/x": b"2"})
    first = layered(archive, [(write(tmp_path / "one", {"a": b"one", "d/new": b""}), "")], exclude=())
    second = layered(archive, [], exclude=())
    assert first is not None
    assert second is not None
    assert (["a", "d/new", "d/x"], ["a", "d/x"]) == (list(first[1].files), list(second[1].files))
    assert archive.read_bytes() == second[0]


def link(folder: Path) -> None:
    (folder / "link").symlink_to("file")


def fifo(folder: Path) -> None:
    os.mkfifo(folder / "fifo")


def no_text(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff")).write_bytes(b"")


def large(folder: Path) -> None:
    (folder / "large").write_bytes(b"x" * 2_000_000)


def many(folder: Path) -> None:
    for number in range(600):
        (folder / str(number)).write_bytes(b"")


def deep(folder: Path) -> None:
    folder.joinpath(*"x" * 40).mkdir(parents=True)


@pytest.mark.parametrize("special", [link, fifo, no_text, large, many, deep])
@pytest.mark.parametrize("where", ["template", "starter"])
def test_what_is_out_of_the_ordinary_is_left_to_the_disk(special: object, where: str, tmp_path: Path) -> None:
    """Links, other kinds of files, names that are no text, much: no answer, wherever they are."""
    folders = {"template": write(tmp_path / "template", {"file": b"1"}),
               "starter": write(tmp_path / "starter", {"file": b"2"})}
    assert callable(special)
    special(folders[where])
    archive = tmp_path / "template.tar.zst"
    packed = pack(folders["template"], archive)
    made = layered(archive, [(folders["starter"], "")], exclude=())
    if packed.left_out and where == "template":  # it did not come into the archive
        assert made is not None
    else:
        assert made is None


def test_a_large_template_is_left_to_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be read and compressed while nothing else goes on."""
    archive = packed_template(tmp_path, {"a": b"1"})
    monkeypatch.setattr(layers_module, "LIGHT", 10)
    assert None is layered(archive, [], exclude=())


def test_a_source_that_is_gone_is_left_to_the_disk(tmp_path: Path) -> None:
    """There it is told."""
    archive = packed_template(tmp_path, {"a": b"1"})
    assert None is layered(archive, [(tmp_path / "nowhere", "")], exclude=())
    archive.write_bytes(archive.read_bytes()[:-30])
    assert None is layered(archive, [], exclude=())


def test_what_python_left_is_no_part_of_a_folder(tmp_path: Path) -> None:
    """Neither on the way through memory, nor on the disk, nor in the folder's digest: tests of it may have run."""
    archive = packed_template(tmp_path, {"a": b"1"})
    bare = write(tmp_path / "bare", {"code/mod.py": b"x = 1\n"})
    ran = write(tmp_path / "ran", {"code/mod.py": b"x = 1\n", "code/__pycache__/mod.pyc": b"\0",
                                   "__pycache__/top.pyc": b"\0"})
    assert layered(archive, [(bare, "in")], exclude=()) == layered(archive, [(ran, "in")], exclude=())
    assert on_disk(archive, [(ran, "in")], (), tmp_path) == layered(archive, [(bare, "in")], exclude=())
    assert digest_path(bare) == digest_path(ran)
