"""Tars as tarfile writes them are read as tarfile reads them; what is no tar of ours is refused."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.execute.tar import BadTar, Member, TarReader

KINDS = {tarfile.REGTYPE: b"file", tarfile.DIRTYPE: b"folder", tarfile.SYMTYPE: b"link"}
names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=120)


def tar_of(*members: tuple[str, bytes, bytes | str], **options: int) -> bytes:
    """Of each its name and type, and what a file holds or a link names. options: of all."""
    plain = io.BytesIO()
    with tarfile.TarFile(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, kind, what in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            for option, value in options.items():
                setattr(member, option, value)
            if isinstance(what, str):
                member.linkname = what
                tar.addfile(member)
            else:
                member.size = len(what)
                tar.addfile(member, io.BytesIO(what))
    return plain.getvalue()


def read(data: bytes) -> list[tuple[Member, bytes]]:
    reader = TarReader(io.BytesIO(data))
    return [(member, reader.data()) for member in reader]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(
    st.tuples(names, st.just(tarfile.REGTYPE), st.binary(max_size=1200)),
    st.tuples(names, st.just(tarfile.DIRTYPE), st.just(b"")),
    st.tuples(names, st.just(tarfile.SYMTYPE), names)), max_size=5))
def test_it_reads_what_tarfile_writes(members: list[tuple[str, bytes, bytes | str]]) -> None:
    """Names of all of Unicode and of any length, and files that end within a block or with one."""
    expected = [(Member(name, KINDS[kind], len(what) if isinstance(what, bytes) else 0,
                        what if isinstance(what, str) else ""), what if isinstance(what, bytes) else b"")
                for name, kind, what in members]
    assert expected == read(tar_of(*members))


def test_a_program_is_told_from_a_file() -> None:
    """By its owner's permission."""
    kinds = [[member.kind for member, _ in read(tar_of(("a", tarfile.REGTYPE, b"x"), mode=mode))]
             for mode in (0o644, 0o755, 0o655)]
    assert [[b"file"], [b"program"], [b"file"]] == kinds


def test_data_are_read_in_parts_or_not_at_all() -> None:
    """The next member is found either way."""
    data = tar_of(("a", tarfile.REGTYPE, b"a" * 700), ("b", tarfile.REGTYPE, b"bcd"))
    reader = TarReader(io.BytesIO(data))
    members = iter(reader)
    assert "a" == next(members).name
    assert (b"a" * 600, b"a" * 50) == (reader.data(600), reader.data(50))
    assert "b" == next(members).name
    assert (b"bc", b"d", b"") == (reader.data(2), reader.data(9), reader.data(9))
    assert [] == list(members)


def changed(place: int, to: bytes) -> Callable[[bytes], bytes]:
    return lambda data: data[:place] + to + data[place + len(to) :]


@pytest.mark.parametrize(("damage", "said"), [
    (lambda data: data[:512], "too early"),
    (lambda data: data[:700], "too early"),
    (lambda data: data[:1024], "too early"),
    (lambda data: data[:1536], "too early"),
    (lambda data: data[:2048], "too early"),
    (lambda data: b"", "too early"),
    (changed(0, b"b"), "damaged"),
    (changed(124, b"x"), "damaged"),
    (changed(148, b"-1"), "damaged"),
    (changed(1536, b"x"), "behind its end"),
], ids=["no data", "cut data", "no end", "half an end", "no record", "nothing", "name", "size", "sum", "more"])
def test_a_damaged_tar_is_refused(damage: Callable[[bytes], bytes], said: str) -> None:
    """A part that is missing, and a header that is not as it was written."""
    with pytest.raises(BadTar, match=said):
        read(damage(tar_of(("a", tarfile.REGTYPE, b"data"))))


@pytest.mark.parametrize("kind", [tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.GNUTYPE_LONGNAME])
def test_other_kinds_are_refused(kind: bytes) -> None:
    """Packing makes none of them."""
    with pytest.raises(BadTar, match="neither file, folder nor link"):
        read(tar_of(("a", kind, "b")))


@pytest.mark.parametrize("record", [b"14 size=123456\n", b"12 path=abcd\n", b"99 path=a\n", b"path=a\n", b"7 path\n",
                                    b"10 path=aX"])
def test_a_header_that_tells_more_than_names_is_refused(record: bytes) -> None:
    """Or one that is damaged."""
    with pytest.raises(BadTar, match="tells more than a name"):
        read(tar_of(("a", tarfile.XHDTYPE, record), ("a", tarfile.REGTYPE, b"data")))
