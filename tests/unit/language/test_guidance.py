"""The sections of a document: which there are, and the document without some of them."""

from __future__ import annotations

import pytest

from evalkit.analysis.guidance import _slug, section_headings, without_sections

TEXT = """\
# Title
Intro.

## First ##
One.
### Part
More.

## Second
```sh
## no heading
```
Two.

# Other
Outside.

## First
Again.
"""


def test_the_headings() -> None:
    """Each once, in order; a line in a fenced block is none."""
    assert ["First", "Second"] == section_headings(TEXT)


def test_a_document_without_a_section() -> None:
    """With its parts, up to the next section or title; all that have its heading."""
    assert "# Title\nIntro.\n\n## Second\n```sh\n## no heading\n```\nTwo.\n\n# Other\nOutside.\n\n" == without_sections(
        TEXT, ["First"])
    assert "# Title\nIntro.\n\n# Other\nOutside.\n\n" == without_sections(TEXT, ["First", "Second"])


@pytest.mark.parametrize("text", [TEXT, "", "## A", "## \nx\n", "a\r\n## B\r\nb\r\n", "```\n## A", "#A\n##B\n"])
def test_what_is_not_left_out_stays_as_it_is(text: str) -> None:
    """Byte for byte."""
    assert text == without_sections(text, ())
    assert text == without_sections(text, ["Third"])


def test_subsections() -> None:
    """Each goes by both headings; a section has its subsections in it."""
    text = "### None\n## A\na\n### X\nx\n### Y ##\ny\n## B\n### X\nb\n# C\n### X\n"
    assert ["A", "A > X", "A > Y", "B", "B > X"] == section_headings(text, nested=True)
    assert ["A", "B"] == section_headings(text)
    assert "### None\n## A\na\n### Y ##\ny\n## B\n### X\nb\n# C\n### X\n" == without_sections(text, ["A > X"])
    assert "### None\n## B\n### X\nb\n# C\n### X\n" == without_sections(text, ["A"])


def test_line_ends_of_another_system() -> None:
    """A heading is found, and its section ends, as elsewhere."""
    text = "a\r\n## B\r\nb\r\n```\r\n## C\r\n```\r\n## D\r\nd\r\n"
    assert ["B", "D"] == section_headings(text)
    assert "a\r\n## D\r\nd\r\n" == without_sections(text, ["B"])


def test_comments_have_no_headings() -> None:
    """What is commented out is in the section around it; one that nobody closes goes on to the end."""
    text = "## A\n<!--\n## no\n```\n-->\na\n<!-- x -->\n## B\nb <!-- not here\n## C\n<!--\n## no\n"
    assert ["A", "B", "C"] == section_headings(text)
    assert "## B\nb <!-- not here\n## C\n<!--\n## no\n" == without_sections(text, ["A"])


@pytest.mark.parametrize(("heading", "name"), [
    ("What not to do!", "what-not-to-do"), ("Größe: „Über“", "groe-uber"), ("日本語", "section"), ("../..", "section"),
])
def test_a_heading_as_a_name(heading: str, name: str) -> None:
    """Letters keep what is left of them without accents."""
    assert name == _slug(heading)
