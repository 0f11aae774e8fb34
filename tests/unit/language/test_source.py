"""Files are read with limits, and places are counted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalkit.diagnostics import CaseErrors
from evalkit.syntax.source import MAX_BYTES, Source, read_source


def read(tmp_path: Path, data: bytes) -> str:
    path = tmp_path / "a.eval"
    path.write_bytes(data)
    return read_source(path, "a.eval").text


def refused(tmp_path: Path, data: bytes) -> str:
    with pytest.raises(CaseErrors) as caught:
        read(tmp_path, data)
    [error] = caught.value.diagnostics
    return f"{error.code} {error.span} {error.message}"


def test_text_is_utf_8_with_or_without_a_mark(tmp_path: Path) -> None:
    """A byte order mark is no part of the text."""
    assert "é" == read(tmp_path, b"\xc3\xa9") == read(tmp_path, b"\xef\xbb\xbf\xc3\xa9")


def test_a_file_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    """One byte more is refused without reading on."""
    assert MAX_BYTES == len(read(tmp_path, b"#" * MAX_BYTES))
    assert "E002 a.eval:1:1 the file is larger than 1 MB" == refused(tmp_path, b"#" * (MAX_BYTES + 1))


def test_what_is_no_text_is_refused_with_its_place(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are told by byte and line, a NUL by its place."""
    assert "E003 a.eval:1:1 the file is not UTF-8 (byte 2, line 2)" == refused(tmp_path, b"a\n\xff")
    assert "E003 a.eval:2:2 the file holds a NUL character" == refused(tmp_path, b"a\nb\0")


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    """Nobody waits for the other end of a pipe."""
    os.mkfifo(tmp_path / "a.eval")
    with pytest.raises(CaseErrors) as caught:
        read_source(tmp_path / "a.eval", "a.eval")
    assert ["cannot read the file: it is no regular file"] == [error.message for error in caught.value.diagnostics]


def test_a_name_that_cannot_be_shown_is_refused(tmp_path: Path) -> None:
    """A file's name with control characters, or one that is not UTF-8, never reaches a terminal as it is."""
    for name, shown in {"\x1b[31m.eval": "\\x1b[31m.eval", "\udcff.eval": "\\udcff.eval"}.items():
        with pytest.raises(CaseErrors) as caught:
            read_source(tmp_path / name, name)
        assert ("E001", shown) == (caught.value.diagnostics[0].code, caught.value.diagnostics[0].span.source.shown)


@pytest.mark.parametrize(("offset", "place"), [
    (0, (1, 1)), (1, (1, 2)), (2, (2, 1)), (3, (3, 1)), (4, (3, 2)), (5, (3, 3)),
])
def test_places_are_lines_and_columns(offset: int, place: tuple[int, int]) -> None:
    """Both count from 1; a line feed belongs to the line that it ends."""
    assert place == Source(Path("a"), "a", "a\n\nbc").position(offset)
