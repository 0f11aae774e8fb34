"""Regexes that are nothing but a text are looked for without the package `regex`, and find the same."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.analysis.dialect import compile_regex, literal_of, regex_finder

SIGNS = "aB1_ -#/.,:\\\n\r\té→𝄞\0\u2028\u017fK^$*+?{}[]()|&~\"'<>"
TEXTS = st.text(st.sampled_from("aB1_ -#/.,:\\\n\ré→𝄞\0\u2028\u017fK(){}"), max_size=12)
PATTERNS = st.one_of(
    st.text(st.sampled_from(SIGNS), max_size=6),
    st.lists(st.sampled_from(SIGNS).map(lambda sign: f"\\{sign}" if sign in string.punctuation else sign),
             max_size=6).map("".join))


@given(PATTERNS, st.sampled_from(["", "s"]), TEXTS, TEXTS)
def test_a_literal_is_found_where_the_regex_is(pattern: str, flags: str, before: str, after: str) -> None:
    """At the same place in any text, also where there is none, or several that overlap."""
    literal = literal_of(pattern, flags)
    if literal is None:
        return
    compiled = compile_regex(pattern, flags)
    for text in (before, before + literal + after, literal * 2, (before + literal[:-1]) * 2 + literal):
        match = compiled.search(text, timeout=5)
        assert (None if match is None else match.start()) == regex_finder(pattern, flags)(text, 5)
        if match is not None:
            assert literal == match[0]


@pytest.mark.parametrize("sign", string.printable)
def test_an_escaped_sign_is_itself_or_no_literal(sign: str) -> None:
    """Every sign of ASCII, alone and behind a backslash; what a letter behind one means, `regex` knows."""
    for pattern in (sign, f"\\{sign}", f"a{sign}", f"a\\{sign}b"):
        literal = literal_of(pattern, "")
        if literal is not None:
            assert compile_regex(pattern, "").fullmatch(literal) is not None
            assert compile_regex(pattern, "").search("".join(set(string.printable) - set(literal))) is None


@pytest.mark.parametrize(("pattern", "flags", "expected"), [
    ("TODO", "", "TODO"), ("", "", ""), ("a # b", "s", "a # b"), (r"std\.debug\.print\(", "", "std.debug.print("),
    (r"a\\b", "", "a\\b"), ("a", "i", None), ("a # b", "x", None), ("a", "q", None), ("a.b", "", None),
    (r"a\d", "", None), (r"\1", "", None), ("a\\", "", None), ("(?i)a", "", None), ("a{2}", "", None),
    (r"a\ b", "", None)])
def test_what_a_literal_is(pattern: str, flags: str, expected: str | None) -> None:
    """Text, with signs that are escaped, and without flags that change what it finds."""
    assert expected == literal_of(pattern, flags)


def test_other_regexes_are_found_too() -> None:
    """Lines have beginnings and ends, and a flag counts."""
    assert 2 == regex_finder("^b$", "")("a\nb\nc", 1)
    assert 0 == regex_finder("todo", "i")("TODO", 1)
    assert regex_finder("todo", "")("TODO", 1) is None
