"""Placeholders of command lines and paths."""

from __future__ import annotations

import pytest

from evalkit.analysis.placeholders import escape, expand, expand_all, placeholders, substitute


@pytest.mark.parametrize(("text", "names"), [
    ("", []), ("a {b} {c-d}", ["b", "c-d"]), ("{{a}", []), ("{{{a}", ["a"]), ("{", [""]), ("{a", [""]), ("{}", [""]),
    ("a } b", []), ("{a{b}", ["", "b"]),
])
def test_names_are_listed_in_order(text: str, names: list[str]) -> None:
    """`{{` is a brace; a brace that opens no name counts as the empty name."""
    assert names == placeholders(text)


def test_expand_puts_values_in_once() -> None:
    """A value is never looked at again: braces in it are braces."""
    assert "{b} {x} }" == expand("{a} {{x} }", {"a": "{b}", "b": "no"})
    assert ["-o", "a b", "{"] == expand_all(["-o", "{x}", "{{"], {"x": "a b"})
    with pytest.raises(KeyError):
        expand("{unknown}", {})


def test_substitute_leaves_the_rest_for_later() -> None:
    """Only the given names are put in; what is put in survives the later expansion as it is."""
    half = substitute("{a} {b} {{c}", {"a": "{b}"})

    assert "{{b} {b} {{c}" == half
    assert "{b} 2 {c}" == expand(half, {"b": "2"})


@pytest.mark.parametrize("text", ["", "{", "{{", "a {b} }", "{{}}"])
def test_escape_is_undone_by_expand(text: str) -> None:
    """Any text can stand literally."""
    assert text == expand(escape(text), {})
