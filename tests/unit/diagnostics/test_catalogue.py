"""The catalogue is true: it has the codes of the sources, and its examples give what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalkit.diagnostics import render_all
from evalkit.diagnostics.catalogue import CATALOGUE, WARNINGS, Entry
from evalkit.diagnostics.pages import as_list, as_markdown, as_text
from evalkit.lint.rules import RULES
from tests.unit.diagnostics.examples import findings_of

ROOT = Path(__file__).resolve().parents[3]
ENTRIES = [pytest.param(entry, id=entry.code) for entry in CATALOGUE.values()]


def test_the_codes_are_those_of_the_sources() -> None:
    """Each code that a stage can report has an entry, and each entry is of a code that one reports."""
    stages = [path for stage in ("syntax", "analysis", "lint") for path in (ROOT / "evalkit" / stage).rglob("*.py")]
    used = set(re.findall(r'"([EW]\d{3})"', "\n".join(path.read_text(encoding="utf-8") for path in stages)))

    assert sorted(used) == sorted(CATALOGUE)


def test_codes_are_in_order() -> None:
    """Errors first, each kind by its numbers; warnings are what `allow` takes."""
    assert sorted(CATALOGUE) == list(CATALOGUE)
    assert {code for code in CATALOGUE if code[0] == "W"} == WARNINGS
    assert {code for rule in RULES for code in rule.codes} <= set(CATALOGUE)


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_wrong_example_is_wrong(entry: Entry, tmp_path: Path) -> None:
    """It gives this code and no other."""
    found = findings_of(tmp_path, entry.wrong)

    assert {entry.code} == {item.code for item in found}, render_all(found)


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_right_example_is_right(entry: Entry, tmp_path: Path) -> None:
    """It gives no error and no warning."""
    assert "" == render_all(findings_of(tmp_path, entry.right))


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_is_text_for_people(entry: Entry) -> None:
    """A title in small letters without a full stop; reasons in whole sentences; two examples that differ."""
    assert entry.title[0] in "`" or entry.title[0].islower()
    assert not entry.title.endswith(".")
    assert entry.why.endswith((".", "`."))
    assert entry.wrong != entry.right


def test_the_page_is_current() -> None:
    """docs/diagnostics.md is what `evalkit explain --markdown` prints."""
    page = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")

    assert as_markdown(CATALOGUE.values()) == page


def test_an_entry_on_a_terminal() -> None:
    """Title, reason, both examples; in colour where it is asked for."""
    entry = CATALOGUE["E012"]

    assert """\
error[E012]: something that cannot stand there, or a file that ends too early

The statement was understood up to the marked place; the help lists what could follow. At the end of
a file a `}` is missing, and the note shows the brace that is open.

wrong, in a case:

    check run make

right, in a case:

    check run "make"
""" == as_text(entry)
    assert as_text(entry, colour=True).startswith("\x1b[1;31merror[E012]\x1b[0m\x1b[1m: something")


def test_the_list_has_a_line_a_code() -> None:
    """Codes and titles."""
    lines = as_list(CATALOGUE.values()).splitlines()

    assert "E001  the file cannot be read, or has a name that cannot be shown" == lines[0]
    assert len(CATALOGUE) == len(lines)
