"""Literals that the importers write: read back, they are the value that went in."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.authoring.importers import writer
from evalkit.authoring.importers.job import Job
from evalkit.authoring.importers.jsregex import Translation
from evalkit.authoring.importers.report import Report
from evalkit.authoring.importers.target import Target
from evalkit.syntax.text import block_value, duration_seconds, string_value
from tests.unit.authoring.importers.sets import files_of

TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from('"\\\n\t {}#/'), max_size=60)
PROMPTS = st.text(st.sampled_from(' \t\nab"\\{#'), max_size=40)


@given(TEXTS)
def test_quoted_string_reads_back(value: str) -> None:
    """Any text can be quoted, on one line."""
    literal = writer.quoted(value)
    assert value == string_value(literal)
    assert "\n" not in literal


@given(PROMPTS.map("{}\n".format).filter(writer.holds_as_block), st.integers(0, 3))
def test_text_block_reads_back(value: str, depth: int) -> None:
    """Lines with any indentation come back from a block in a block; short texts are quoted."""
    literal = writer.text(value, depth)
    assert value == (block_value(literal) if literal.startswith('"""') else string_value(literal))


@pytest.mark.parametrize("value", ["no end", 'a """ b\n', "cr\r\n", "nul\0\n"])
def test_text_that_no_block_can_hold_is_known(value: str) -> None:
    """A text without a line end, with quotes that would end it, or with signs that a block changes."""
    assert not writer.holds_as_block(value)


@given(PROMPTS.filter(str.strip))
def test_prompt_reads_back(value: str) -> None:
    """A prompt is in the case file or in a file beside it, exactly as it was."""
    job = Job("s", [], Target(Path("none")), Report("f"))
    lines = writer.Lines(depth=1)
    job.prompt(lines, "it", value)
    statement = lines.text().strip().removeprefix("prompt ")
    assert value == (files_of(job)["it/prompt.md"] if statement == '"prompt.md"' else block_value(statement))


@pytest.mark.parametrize(("found", "literal"), [
    (Translation("a/b", ""), r"/a\/b/"), (Translation("a", "is"), "/a/is"), (Translation("a", "", "a"), '"a"'),
    (Translation(r"\\/", ""), r"/\\\//")])
def test_pattern_is_written(found: Translation, literal: str) -> None:
    """A slash within a regex is escaped; plain text is a quoted string."""
    assert literal == writer.pattern(found)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1, max_size=4))
def test_command_reads_back(words: list[str]) -> None:
    """A command's words are the same after quoting, and hold no placeholder."""
    assert words == [word.replace("{{", "{") for word in shlex.split(string_value(writer.command(words)))]


@pytest.mark.parametrize(("seconds", "literal"), [
    (1, "1s"), (90, "1m30s"), (1200, "20m"), (3600, "1h"), (5401, "1h30m1s")])
def test_duration_is_written(seconds: int, literal: str) -> None:
    """Durations are in the largest units, and read back."""
    assert (literal, seconds) == (writer.duration(seconds), duration_seconds(literal))


@pytest.mark.parametrize(("value", "name"), [
    ("Books & Shelves", "books-shelves"), ("42 things", "things"), ("été", "t"), ("!!", "case"), ("a" * 90, "a" * 80)])
def test_name_is_made(value: str, name: str) -> None:
    """A name of the language is made of a text's letters and digits."""
    assert name == writer.slug(value)
    assert writer.is_name(name)


def test_lines_of_blocks() -> None:
    """Blocks are indented, an empty one is on one line, blank lines stand between statements alone."""
    lines = writer.Lines()
    with lines.block("suite s"):
        lines.blank()
        lines.add("a", "b")
        lines.blank()
        lines.blank()
        with lines.block("agent x"):
            pass
        lines.blank()
    assert "suite s {\n  a\n  b\n\n  agent x { }\n}\n" == lines.text()
