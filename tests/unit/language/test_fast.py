"""Both parsers read alike: the fast one gives Lark's tree, or leaves the text to Lark where it has errors."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.syntax.fast import MAX_DEPTH, MAX_TOKENS, _parser
from evalkit.syntax.grammar import lark_table, lark_tree
from evalkit.syntax.table import Table, load_table
from evalkit.syntax.tree import Tree
from tests.unit.authoring.test_printer import SAMPLE, corpus, laid_out
from tests.unit.language.test_chunks import chunks as chunk_files
from tests.unit.language.test_robust import LARGE, words


def plain(node: Any) -> Any:
    if isinstance(node, Tree):
        return (node.data, node.start, node.end, [plain(child) for child in node.children])
    return node if node is None else (node.type, str(node), node.start_pos)


def check(text: str) -> None:
    tree, problems = lark_tree(text, 25)
    assert (None if problems else plain(tree)) == plain(_parser()(text))


def test_every_case_file() -> None:
    """All case files of the project, its documents and its tests, and the broken ones among them."""
    chunks = [text for _, files in chunk_files() for text in files.values()]
    for text in [*corpus(), SAMPLE, *chunks]:
        check(text)


@pytest.mark.parametrize("name", LARGE)
def test_large_files(name: str) -> None:
    """Much of one thing."""
    check(LARGE[name])


def test_every_case_file_is_read_without_lark() -> None:
    """Else nobody would notice that it became slow."""
    assert all(_parser()(text) is not None for text in corpus() if not lark_tree(text, 25)[1])


@settings(max_examples=300, deadline=None)
@given(st.data(), st.integers(0, 2**32))
def test_any_layout(data: st.DataObject, seed: int) -> None:
    """However a text is laid out."""
    check(laid_out(data.draw(st.sampled_from([*corpus(), SAMPLE])), Random(seed)))


@settings(max_examples=300, deadline=None)
@given(st.lists(words, max_size=60).map(" ".join))
def test_any_words(text: str) -> None:
    """Words of the language in any order."""
    check(text)


@pytest.mark.parametrize(("text", "good"), [
    ("case a {" + ";" * (MAX_TOKENS - 4) + "}", True), ("case a {" + "; " * (MAX_TOKENS - 3) + "}", False),
    ("case a { expect b(c: " + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1) + ") }", True),
    ("case a { expect b(c: " + "[" * MAX_DEPTH + "]" * MAX_DEPTH + ") }", False),
], ids=["long", "too long", "deep", "too deep"])
def test_limits(text: str, good: bool) -> None:
    """Both have the same ones."""
    check(text)
    assert good == (_parser()(text) is not None)


@settings(max_examples=1000, deadline=None)
@given(st.data())
def test_damaged_files(data: st.DataObject) -> None:
    """Also where something was cut out or put in."""
    text = data.draw(st.sampled_from([text for text in corpus() if len(text) < 2000]))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    put = data.draw(st.sampled_from(["", " ", "\n", ";", "{", "}", "(", ")", "[", ",", '"', '"""', "/", "case", "none",
                                     "-1", "1..2", "20m", "#", "\r\n", "name"]))
    check(text[:start] + put + text[end:])


def test_the_table_is_data() -> None:
    """A table comes back from the disk as it went there."""
    table = lark_table()
    assert table == Table.of(orjson.loads(orjson.dumps(table.plain())))


@pytest.mark.parametrize("damage", [b"", b"x", b"{}\n{}"])
def test_the_table_is_made_again(tmp_path: Path, damage: bytes) -> None:
    """Where the cache holds something else, or cannot be written to."""
    table = load_table(tmp_path)
    [kept] = (tmp_path / "grammar").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(damage)
    assert table == load_table(tmp_path)
    assert whole == kept.read_bytes()
    (tmp_path / "file").write_bytes(damage)
    assert table == load_table(tmp_path / "file")
