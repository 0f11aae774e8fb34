"""The values of literals."""

from __future__ import annotations

import pytest

from evalkit.syntax.text import BadEscape, ShallowLine, block_value, duration_seconds, string_value


@pytest.mark.parametrize(("literal", "expected"), [
    ('""', ""), (r'"a\"b"', 'a"b'), (r'"\\n"', r"\n"), (r'"\n\t\r\0"', "\n\t\r\0"), (r'"\u{1F600}"', "😀"),
    (r'"\u{0}\u{10FFFF}"', "\0\U0010ffff"), ('"{x} #"', "{x} #"),
])
def test_escapes(literal: str, expected: str) -> None:
    """A backslash escape stands for its character; everything else is itself."""
    assert expected == string_value(literal)


@pytest.mark.parametrize(("literal", "escape", "offset"), [
    (r'"a\d"', r"\d", 2), (r'"\u{110000}"', r"\u{110000}", 1), (r'"\u{D800}"', r"\u{D800}", 1), (r'"\u41"', r"\u", 1),
])
def test_unknown_escapes_are_refused_with_their_place(literal: str, escape: str, offset: int) -> None:
    """An escape that there is not names itself and its offset within the literal."""
    with pytest.raises(BadEscape) as caught:
        string_value(literal)
    assert (escape, offset) == (caught.value.escape, caught.value.offset)


@pytest.mark.parametrize(("literal", "expected"), [
    ('"""one"""', "one"),
    ('""""""', ""),
    ('"""\n  one\n    two\n  """', "one\n  two\n"),
    ('"""\none\n"""', "one\n"),
    ('"""\n  one\n\n \n  two\n  """', "one\n\n\ntwo\n"),
    ('"""\n\tone\n\t"""', "one\n"),
    ('"""\r\n  one\r\n\r\n  two\r\n  """', "one\n\ntwo\n"),
    ('"""one\n  two\n  """', "one\ntwo\n"),
    ('"""\n  one\n  two"""', "  one\n  two"),
    ('"""\n  a \\d {b} "" c\n  """', 'a \\d {b} "" c\n'),
    ('"""\n\n  one\n  """', "\none\n"),
])
def test_text_blocks_are_raw_and_dedented_by_their_closing_line(literal: str, expected: str) -> None:
    """The closing line's indentation goes from every line; line ends become line feeds; nothing else changes."""
    assert expected == block_value(literal)


@pytest.mark.parametrize(("literal", "place"), [
    ('"""\n    one\n  two  \n    """', "  two"), ('"""\n  one\n\ttwo\n  """', "\ttwo"),
])
def test_a_line_that_cannot_be_dedented_is_refused(literal: str, place: str) -> None:
    """Less indentation than the closing line has, or other blanks, is an error and no silent change of the text."""
    with pytest.raises(ShallowLine) as caught:
        block_value(literal)
    assert place == literal[caught.value.start : caught.value.end]


@pytest.mark.parametrize(("literal", "expected"), [
    ("90s", 90), ("20m", 1200), ("1h", 3600), ("1h30m", 5400), ("1h1m1s", 3661), ("2h5s", 7205), ("0s", 0),
])
def test_durations(literal: str, expected: int) -> None:
    """Hours, minutes and seconds add up."""
    assert expected == duration_seconds(literal)
