"""Where a broken statement ends, and what the parser still finds behind it."""

from __future__ import annotations

import pytest

from evalkit.syntax.parse import MAX_ERRORS
from evalkit.syntax.recover import statement_end
from tests.unit.language.project import parse_text


@pytest.mark.parametrize(("text", "rest"), [
    ("bad here\nnext", "\nnext"),
    ("bad; next", "; next"),
    ("bad\r\nnext", "\r\nnext"),
    ("bad }", "}"),
    ("bad { a\n b; c } d\nnext", "\nnext"),
    ("bad { a { b } } }", "}"),
    ("bad , # goes on\n  here\nnext", "\nnext"),
    ('bad "}; {" }', "}"),
    ("bad /};{/ }", "}"),
    ('bad """ } ; \n { """ ; next', "; next"),
    ("bad # } ; {\nnext", "\nnext"),
    ('bad "never { closed\nnext', "\nnext"),
    ("bad /never { closed\nnext", "\nnext"),
    ('bad """ never } ; closed\nnext', ""),
    ("bad { never closed\nnext", ""),
])
def test_a_statement_ends_at_its_separator_or_its_blocks_brace(text: str, rest: str) -> None:
    """Separators and braces in strings, regexes, comments and inner blocks do not end it."""
    assert rest == text[statement_end(text, 0) :]


def test_what_stands_behind_an_error_is_still_parsed() -> None:
    """A broken statement is left out, alone; its neighbours keep their nodes and their places."""
    text = 'case a {\n  abuot "x"\n  use b\n  limits { turnz 3; time 5m }\n}\ncase c { use d }\n'
    file, errors = parse_text(text)

    assert ["unknown keyword `abuot`", "unknown keyword `turnz`"] == [error.message for error in errors]
    assert [["UseProfile", "Limits"], ["UseProfile"]] == [[type(node).__name__ for node in case.body]
                                                         for case in file.cases]
    assert [(3, 3), (6, 10)] == [(case.body[at].span.line, case.body[at].span.column)
                                 for case, at in zip(file.cases, (0, 0), strict=True)]


def test_an_error_behind_a_whole_block_drops_that_block_alone() -> None:
    """What stands behind a closing brace is not taken for a statement of the block."""
    file, errors = parse_text("case a { use b } case c { use d }\ncase e { use f }\n")

    assert ["`case` cannot stand here"] == [error.message for error in errors]
    assert ["e"] == [case.name.value for case in file.cases]


def test_parsing_stops_after_many_errors() -> None:
    """A file that is no case file gets a screenful of errors, not thousands."""
    _, errors = parse_text("bad\n" * 1000)

    assert MAX_ERRORS == len(errors)


def test_brackets_of_a_broken_head_are_balanced() -> None:
    """A block behind a broken head is skipped as a whole: its statements are no errors of their own."""
    file, errors = parse_text("case a b c {\n  use c\n  use { d }\n}\ncase e { use f }\n")

    assert [1] == [error.span.line for error in errors]
    assert ["e"] == [case.name.value for case in file.cases]
