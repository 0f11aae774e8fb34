"""`check grep`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Literal

import pytest

from evalkit.analysis.model import GrepSpec, Pattern
from evalkit.grade import grep, search
from evalkit.grade.verdict import Verdict
from tests.unit.grade.trees import final_tree


def graded(root: Path, files: dict[str, str | bytes], expect: Literal["has", "lacks"], *patterns: str | Pattern,
           globs: tuple[str, ...] = ("**",), links: dict[str, str] | None = None) -> Verdict:
    made = tuple(pattern if isinstance(pattern, Pattern) else Pattern(pattern) for pattern in patterns)
    return grep.grade_grep(GrepSpec(globs, expect, made), final_tree(root, files, links=links))


def test_has_finds_a_literal(tmp_path: Path) -> None:
    """A literal is text, not a regex; the evidence is file, line number and the line."""
    files: dict[str, str | bytes] = {"src/a.native": "<a>\n\t<b key='x.*y'>  \n"}
    assert Verdict("pass", "found in src/*.native", "\"x.*y\": src/a.native:2: <b key='x.*y'>") == graded(
        tmp_path, files, "has", "x.*y", globs=("src/*.native",))


def test_has_needs_every_pattern_in_some_file(tmp_path: Path) -> None:
    """Patterns may be found in different files; those that miss are counted and lead the evidence."""
    got = graded(tmp_path, {"a": "one", "b": "two"}, "has", "one", "two", "three")
    assert Verdict("fail", "1 of 3 not found: **",
                   '"three": not found in 2 files\n"one": a:1: one\n"two": b:1: two') == got


def test_lacks_fails_on_any_pattern_in_any_file(tmp_path: Path) -> None:
    """One hit is enough, and it is shown."""
    got = graded(tmp_path, {"a": "one", "b": "x\ny two"}, "lacks", "zero", "two")
    assert Verdict("fail", "1 of 2 should not be there: **", '"two": b:2: y two\n"zero": not found in 2 files') == got


def test_lacks_passes_where_nothing_is_found(tmp_path: Path) -> None:
    """The evidence says how many files were searched."""
    assert Verdict("pass", "absent in **", '"x": not found in 1 file') == graded(tmp_path, {"a": "b"}, "lacks", "x")


@pytest.mark.parametrize("expect", ["has", "lacks"])
def test_no_matching_file_is_a_fail(tmp_path: Path, expect: Literal["has", "lacks"]) -> None:
    """What is not there cannot be said to lack anything."""
    assert Verdict("fail", "no file matches *.zig, x/**") == graded(
        tmp_path, {"a": "b"}, expect, "b", globs=("*.zig", "x/**"))


@pytest.mark.parametrize(("text", "flags", "found"), [
    ("^two$", "", True), ("TWO", "", False), ("TWO", "i", True), ("one.two", "", False), ("one.two", "s", True),
    (r"one \n two # both", "x", True), ("ONE . TWO", "isx", True), (r"\Aone", "", True), (r"(?<!one\n)two", "", False),
])
def test_flags(tmp_path: Path, text: str, flags: str, found: bool) -> None:
    """Regexes are multi-line always; i, s and x as the `regex` package has them."""
    got = graded(tmp_path, {"a": "one\ntwo\n"}, "has", Pattern(text, True, flags))
    assert ("pass" if found else "fail") == got.status


def test_windows_files_are_read_as_others(tmp_path: Path) -> None:
    """CRLF line ends and a byte order mark hide nothing from `^` and `$`."""
    got = graded(tmp_path, {"a": b"\xef\xbb\xbfimport x\r\ntwo\r\n"}, "has", Pattern("^import x$", True),
                 Pattern("^two$", True))
    assert Verdict("pass", "found in **", "/^import x$/: a:1: import x\n/^two$/: a:2: two") == got


def test_binary_files_are_searched(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are no reason to stop; control characters in evidence are made visible."""
    got = graded(tmp_path, {"a": b"\xff\xfe\x00\x1b[31mneedle\x07\xff"}, "has", "needle")
    assert Verdict("pass", "found in **", '"needle": a:1: ��\\x00needle\\x07�') == got


@pytest.mark.parametrize("text", ["(a+)+$", "(x+x+)+y", "(a|aa)+$"])
@pytest.mark.parametrize("expect", ["has", "lacks"])
def test_a_catastrophic_match_is_a_fail(tmp_path: Path, text: str, expect: Literal["has", "lacks"],
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is made to hang a pattern ends within the limit, as a fail for both kinds."""
    monkeypatch.setattr(search, "MATCH_LIMIT", 0.2)
    began = time.monotonic()
    got = graded(tmp_path, {"a": "x" * 5_000 + "a" * 5_000 + "!"}, expect, Pattern(text, True), "x")
    assert time.monotonic() - began < 30
    assert got.status == "fail"
    assert got.summary.startswith("1 of 2 took too long")
    assert f"/{text}/: matching a took longer than 0.2 s" in got.evidence


def test_many_slow_files_end_at_the_total_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many files and patterns there are, a check ends."""
    monkeypatch.setattr(grep, "TOTAL_LIMIT", 0.5)
    monkeypatch.setattr(search, "TOTAL_LIMIT", 0.5)
    slow = "a" * 5_000 + "!"
    began = time.monotonic()
    got = graded(tmp_path, {f"f{number}": slow for number in range(50)}, "lacks",
                 *[Pattern(f"({char}+)+$", True) for char in "abc"], Pattern("(a+)+b", True))
    assert time.monotonic() - began < 30
    assert got.status == "fail"
    assert "the check took longer than 0.5 s" in got.evidence


def test_a_huge_file_lacks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file over the limit is not searched: `has` goes by the others, `lacks` fails."""
    monkeypatch.setattr(grep, "LARGEST", 2_000_000)
    files: dict[str, str | bytes] = {"big": b"n" * 2_000_001, "small": "yes"}
    (tmp_path / "has").mkdir()
    (tmp_path / "lacks").mkdir()
    assert Verdict("pass", "found in **", '"yes": small:1: yes') == graded(tmp_path / "has", files, "has", "yes")
    assert Verdict("fail", "not every file could be searched: **",
                   'big: not searched: larger than 2 MB\n"no": not found in 1 file') == graded(
        tmp_path / "lacks", files, "lacks", "no")


def test_links_are_no_way_around(tmp_path: Path) -> None:
    """A link is not followed: text behind it is neither found by `has` nor out of the sight of `lacks`."""
    files: dict[str, str | bytes] = {"notes.txt": "<dialog"}
    for expect in ("has", "lacks"):
        (tmp_path / expect).mkdir()
    found = graded(tmp_path / "has", files, "has", "<dialog", globs=("*.native",), links={"a.native": "notes.txt"})
    lacks = graded(tmp_path / "lacks", files, "lacks", "<dialog", globs=("*.native",), links={"a.native": "notes.txt"})
    assert Verdict("fail", "1 of 1 not found: *.native", '"<dialog": not found in 0 files\n'
                   "a.native: not searched: a link, and links are not followed") == found
    assert Verdict("fail", "not every file could be searched: *.native",
                   "a.native: not searched: a link, and links are not followed\n"
                   '"<dialog": not found in 0 files') == lacks


def test_many_unsearched_files_are_counted(tmp_path: Path) -> None:
    """Evidence names a few files, not twenty thousand."""
    got = graded(tmp_path, {"x": "y"}, "lacks", "z", links={f"l{number:03}": "x" for number in range(100)})
    assert len(got.evidence.splitlines()) == 7
    assert "and 95 more files that were not searched" in got.evidence


def test_a_name_with_a_line_end_stays_on_its_line(tmp_path: Path) -> None:
    """A file's name cannot write a line of evidence of its own."""
    got = graded(tmp_path, {"a\npass: b": "x"}, "has", "x")
    assert Verdict("pass", "found in **", '"x": a\\npass: b:1: x') == got


def test_a_long_line_is_shown_around_its_match(tmp_path: Path) -> None:
    """In a line of a megabyte the match itself is shown."""
    got = graded(tmp_path, {"a": "first\n" + "b" * 500_000 + "needle" + "c" * 500_000}, "has", "needle")
    assert f'"needle": a:2: …{"b" * 80}needle{"c" * 114}…' == got.evidence
