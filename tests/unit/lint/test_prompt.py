"""W001: a prompt that contains what a grep looks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.lint.prompt import literal_parts
from tests.unit.lint.project import CASE, places, rendered, write


def test_a_string_of_a_grep_stands_in_the_prompt(tmp_path: Path) -> None:
    """It is shown where the check looks for it, and where the prompt, here a file, says it."""
    write(tmp_path, {}, case='check grep "*.txt" has "move between" as moves\n')

    assert """\
warning[W001]: the prompt of `it` contains `move between`, which this check looks for
 --> cases/s/it/it.eval:2:24
  |
2 | check grep "*.txt" has "move between" as moves
  |                        ^^^^^^^^^^^^^^
note: the prompt says it here
 --> cases/s/it/PROMPT.md:2:7
  |
2 | Cards move between columns.
  |       ^^^^^^^^^^^^
  = ask for the behaviour and look for it another way; where the name is part of the task: allow W001 "the task pins \
this name\"""" == rendered(tmp_path)


def test_a_prompt_in_the_case(tmp_path: Path) -> None:
    """The place within a text block is shown."""
    case = CASE.replace('"PROMPT.md"', '"""\n    Name it moveCard.\n    """')
    write(tmp_path, {"it/it.eval": case.replace("check run", 'check grep "*.txt" has "moveCard"\n  check run')})

    assert "note: the prompt says it here\n --> cases/s/it/it.eval:4:13" in rendered(tmp_path)


@pytest.mark.parametrize(("check", "found"), [
    ('has "moves"', False), ('has "Car"', False), ('has "card"', False), ('lacks "Cards"', False),
    ('has /Cards\\s+move/', True), ('has /cards/i', True), ('has /Cards|Rows/', False), ('has /Cards\\s+jump/', False),
    ('has /(Cards)/', False), ('has "nothing", "Write a"', True),
])
def test_what_counts(check: str, found: bool, tmp_path: Path) -> None:
    """Strings of four characters and more that `has` looks for; of a regex all parts that are certain."""
    write(tmp_path, {}, case=f'check grep "*.txt" {check}\n')

    assert found == any("W001" in place for place in places(tmp_path))


def test_a_grep_of_the_suite(tmp_path: Path) -> None:
    """It is shown in the suite, with the name of the case; `allow` in the case silences it for that case."""
    write(tmp_path, {}, suite='check grep "*.txt" has "Cards" as cards\n')
    assert ["cases/s/suite.eval:2:24: W001: the prompt of `it` contains `Cards`, which this check looks for"] == \
        places(tmp_path)

    write(tmp_path, {}, suite='check grep "*.txt" has "Cards" as cards\n', case='allow W001 "they are the task"\n')
    assert [] == places(tmp_path)


@pytest.mark.parametrize(("pattern", "flags", "parts"), [
    ("plain", "", ["plain"]), (r"a\.b\/c", "", ["a.b/c"]), (r"<for\s+[^>]*each=", "", ["<for", "each="]),
    ("colou?r", "", ["colo", "r"]), ("ab+c", "", ["ab", "c"]), ("ab*?c", "", ["a", "c"]), ("ab{2,3}c", "", ["a", "c"]),
    ("a|b", "", []), ("x(a|b)y", "", ["x", "y"]), ("x((a)[)](b))y", "", ["x", "y"]), ("[]a]b", "", ["b"]),
    ("[^]a]b", "", ["b"]), (r"[\]a]b", "", ["b"]), ("a b", "x", []), ("(?i)ab", "", []), ("(?:ab){e<=1}c", "", []),
    (r"\p{Lu}ab", "", []), (r"\bword\b", "", ["word"]), (r"a\nb", "", ["a\nb"]), ("^a.b$", "", ["a", "b"]),
    ("(", "", []), ("[", "", []), ("\\", "", []), ("", "", []),
])
def test_literal_parts(pattern: str, flags: str, parts: list[str]) -> None:
    """What every match contains, and nothing where that is not certain; what is no regex does no harm."""
    assert parts == literal_parts(pattern, flags)
