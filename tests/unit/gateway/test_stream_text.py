"""Texts are taken out of bodies, however a stream has cut them."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.gateway.stream_text import replace_in_body
from evalkit.gateway.volatile import Roots

ROOTS = Roots((("workspace", "/tmp/a/ws"), ("above", "/tmp/a")))
W, ABOVE = "{{evalkit.workspace}}", "{{evalkit.above}}"


def same(text: str) -> str:
    return text


def events(pieces: list[str], key: str = "partial_json") -> list[bytes]:
    return [f"event: e\ndata: {json.dumps({'type': 'd', 'index': 1, 'delta': {key: piece}})}\n\n".encode()
            for piece in pieces]


def pieces_of(chunks: list[str] | None, key: str = "partial_json") -> list[str]:
    assert chunks is not None
    return [json.loads(chunk.split("data: ")[1])["delta"][key] for chunk in chunks]


def test_a_text_that_is_cut_stands_where_it_began() -> None:
    """Every event stays, and keeps its other characters."""
    got = replace_in_body(events(["x /tm", "p/", "a/w", "s/y /tmp", "/a/z"]), ROOTS, same, events=True)
    assert [f"x {W}", "", "", f"/y {ABOVE}", "/z"] == pieces_of(got)


def test_blocks_are_told_apart() -> None:
    """What two blocks say in turn is no text."""
    one = [b'data: {"index": 0, "t": "/tmp"}\n\n', b'data: {"index": 1, "t": "/a"}\n\n']
    assert [chunk.decode() for chunk in one] == replace_in_body(one, ROOTS, same, events=True)


def test_what_is_no_event_stays_as_it_is() -> None:
    """Comments, other lines, half events, JSON that is none."""
    chunks = [b": ping\n\n", b"data: [DONE]\n\n", b"data: {half\n\n", b"id: 1\r\n\r\n", b"data: {}"]
    assert [chunk.decode() for chunk in chunks] == replace_in_body(chunks, ROOTS, same, events=True)


def test_a_body_in_one_piece() -> None:
    """Replaced as a text; one that is no text is not touched."""
    assert ['{"a": "' + W + '/x"}'] == replace_in_body([b'{"a": "/tm', b'p/a/ws/x"}'], ROOTS, same, events=False)
    assert replace_in_body([b"\xff"], ROOTS, same, events=False) is None


def test_a_text_that_the_cleaner_takes_is_gone_from_all_pieces() -> None:
    """What only the joined text shows is taken from it as a whole."""
    got = replace_in_body(events(["a SEC", "RET b"]), Roots(()), lambda text: text.replace("SECRET", "[x]"),
                          events=True)
    assert ["a [x] b", ""] == pieces_of(got)


@given(st.text(st.sampled_from("/tmpaws x"), max_size=40), st.lists(st.integers(0, 40), max_size=8))
@settings(max_examples=300, deadline=None)
def test_any_cut_gives_the_text_that_the_whole_gives(text: str, cuts: list[int]) -> None:
    """Joined, the pieces are the replaced text; there are as many as before."""
    bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(bounds)]
    chunks = replace_in_body(events(pieces), ROOTS, same, events=True)
    assert ROOTS.hide(text) == "".join(pieces_of(chunks))
    assert len(pieces) == len(pieces_of(chunks))
