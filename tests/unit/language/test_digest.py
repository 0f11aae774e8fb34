"""Digests of data and of files."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import field, frozen

from evalkit.digest import GROWN, canonical, digest, digest_bytes, digest_file, digest_path


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
