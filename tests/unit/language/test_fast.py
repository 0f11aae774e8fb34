"""Both parsers read alike: the fast one gives Lark's tree, or leaves the text to Lark where it has errors."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.syntax.fast import _parser
from evalkit.syntax.grammar import lark_table, lark_tree
from evalkit.syntax.table import Table
from evalkit.syntax.tree import Tree
from tests.unit.authoring.test_printer import SAMPLE, corpus


def plain(node: Any) -> Any:
    if isinstance(node, Tree):
        return (node.data, node.start, node.end, [plain(child) for child in node.children])
    return node if node is None else (node.type, str(node), node.start_pos)


def check(text: str) -> None:
    tree, problems = lark_tree(text, 25)
    assert (None if problems else plain(tree)) == plain(_parser()(text))


def test_every_case_file() -> None:
    """All case files of the project, its documents and its tests."""
    for text in [*corpus(), SAMPLE]:
        check(text)


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
    import orjson

    table = lark_table()
    assert table == Table.of(orjson.loads(orjson.dumps(table.plain())))
