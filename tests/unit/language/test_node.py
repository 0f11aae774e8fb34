"""What all classes of nodes have."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.syntax import Source
from evalkit.syntax import nodes as n


def test_a_node_is_frozen_and_equal_to_itself_alone() -> None:
    """Two statements that read alike are two; each is shown with all that it says."""
    span = Source(Path("it.eval"), "it.eval", "a").span(0, 1)
    first, second = n.Name("a", span), n.Name("a", span)
    assert first != second
    assert 2 == len({first, second, first})
    assert f"Name(value='a', span={span!r})" == repr(first)
    with pytest.raises(AttributeError, match="Name is frozen: value"):
        first.value = "b"  # type: ignore[misc]
