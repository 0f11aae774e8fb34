"""How large a regex becomes is known before it is compiled, and never said to be less."""

from __future__ import annotations

import pytest

from evalkit.analysis.repeats import written_out

MOST = 100_000
PIECES = [
    ("abc", "", 3),
    (r"\d{4}-\d{2}", "", 7),
    ("[a-f0-9]{8}(?:-[a-f0-9]{4}){3}", "", 29),
    ("(a{10}){10}", "", 110),
    ("(ab|c){5}d", "", 26),
    ("a{0,9}b{,9}c*", "", 7),
    ("a{3}?b{3}+", "", 6),
    ("[]a{9}]{2}", "", 2),
    (r"\(a{9}\){2}", "", 12),
    ("a{99999}b", "", 100_000),
    ("a{99999}bc", "", MOST + 1),
    ("a{99999999999999999999}", "", MOST + 1),
    ("((((a{99}){99}){99}){99}){99}", "", MOST + 1),
    ("a{9 9}", "", 6),
    ("a { 9 9 } # (", "x", 99),
    ("(a{100} # (\n){100}", "x", 10_100),
    ("(a{100} # (\n)(?x){1000}", "", MOST + 1),
    ("(a{1000})(?i){1000}", "", MOST + 1),
    ("(a{1000})(?#b){1000}", "", MOST + 1),
    ("(?V1)([[a](]{1000}){1000}", "", MOST + 1),
]


@pytest.mark.parametrize(("pattern", "flags", "pieces"), PIECES, ids=[pattern for pattern, _, _ in PIECES])
def test_pieces(pattern: str, flags: str, pieces: int) -> None:
    """A group counts for itself too; what stands behind flags or a comment repeats what stands before them."""
    assert pieces == written_out(pattern, flags, MOST)
