"""Digests of data and of files."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from attrs import field, frozen

from evalkit.digest import GROWN, canonical, digest, digest_bytes, digest_file, digest_path, folder_record


@frozen
class Thing:
    name: str
    parts: tuple[int, ...] = ()
    about: str = ""
    origin: str = ""


@frozen
class Other:
    name: str
    parts: tuple[int, ...] = ()


def test_what_only_people_read_changes_nothing() -> None:
    """`about` and `origin` are left out; every other field counts."""
    assert digest(Thing("a", about="x", origin="f:1:1")) == digest(Thing("a"))
    assert digest(Thing("a")) != digest(Thing("b"))
    assert digest(Thing("a", (1,))) != digest(Thing("a", (2,)))


def test_the_class_counts_and_the_order_of_keys_does_not() -> None:
    """Two kinds with equal fields differ; a dict is equal however it was made; a list has an order."""
    assert digest(Thing("a")) != digest(Other("a"))
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest([1, 2]) != digest([2, 1])
    assert digest({1, 2}) == digest({2, 1})
    assert digest((1, 2)) == digest([1, 2])
    assert {"": "Other", "name": "a", "parts": []} == canonical(Other("a"))


def test_the_form_is_stable() -> None:
    """A digest is 64 hex digits of canonical JSON: stored results stay valid."""
    assert digest({"b": [1, "é"], "a": None}) == digest_bytes('{"a":null,"b":[1,"é"]}'.encode())


def test_names_that_are_not_utf_8_have_a_digest() -> None:
    """An agent can leave a file of any name; names that differ in such bytes differ."""
    assert digest({"\udcff": ""}) != digest({"\udcfe": ""})
    assert digest("\udcff") != digest("\\udcff")


def test_what_is_no_plain_data_is_refused() -> None:
    """Rather than a digest that changes from run to run."""
    with pytest.raises(TypeError):
        digest(object())


def test_a_file_and_a_folder(tmp_path: Path) -> None:
    """A folder's digest is that of its names, contents and executable bits; times and empty folders do not count."""
    file = tmp_path / "one/a/b.txt"
    file.parent.mkdir(parents=True)
    file.write_text("hello")
    first = digest_path(tmp_path / "one")

    assert digest_bytes(b"hello") == digest_file(file) == digest_path(file)
    (tmp_path / "one/empty").mkdir()
    file.touch()
    assert first == digest_path(tmp_path / "one")
    file.chmod(0o755)
    executable = digest_path(tmp_path / "one")
    file.write_text("hello!")
    changed = digest_path(tmp_path / "one")
    file.rename(file.with_name("c.txt"))
    assert 4 == len({first, executable, changed, digest_path(tmp_path / "one")})


@frozen
class Grown:
    name: str
    later: int = field(default=1, metadata=GROWN)


def test_a_class_may_grow() -> None:
    """A field that came later counts where it is not at its default; until then the keys are the old ones."""
    assert {"": "Grown", "name": "a"} == canonical(Grown("a"))
    assert {"": "Grown", "name": "a", "later": 2} == canonical(Grown("a", 2))


@pytest.mark.parametrize("value", [
    Thing("a", (1, 2)), {"b": Thing("a"), "a": [Thing("b"), (1, 2.5, None, True)]}, {"x": {3, 1, 2}, "y": Thing("c")},
    {"half \ud800": "a"}, [Thing("half \udcff")], {1: "a"}, [[Thing("deep")] for _ in range(3)], "text", 1.0, None,
])
def test_a_digest_is_that_of_the_canonical_form(value: object) -> None:
    """Whichever way the JSON is made, it is that of `canonical`: keys of what is stored stay."""
    assert digest_bytes(orjson.dumps(canonical(value), option=orjson.OPT_SORT_KEYS)) == digest(value)


def test_a_folders_record_names_its_files_in_the_order_of_their_paths(tmp_path: Path) -> None:
    """Sorted by the parts of the paths; links to files are files; links to folders, in circles or nowhere are none."""
    for name in ("b/x", "b.txt", "a", "b/.hidden", "empty/sub/z"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, "utf-8")
    (tmp_path / "a").chmod(0o755)
    for name, target in {"to-file": "a", "to-folder": "b", "circle": "circle", "nowhere": "gone"}.items():
        (tmp_path / name).symlink_to(target)
    expected = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert [[path.relative_to(tmp_path).as_posix(), path.name in ("a", "to-file"), digest_file(path)]
            for path in expected] == orjson.loads(folder_record(tmp_path))
    assert ["a", "b/.hidden", "b/x", "b.txt", "empty/sub/z", "to-file"] == [
        name for name, *_ in orjson.loads(folder_record(tmp_path))]
