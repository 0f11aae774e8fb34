"""Globs over the paths of a tree."""

from __future__ import annotations

import time

import pytest

from evalkit.analysis.globs import BadGlob, check_glob, matching

TREE = ["a.ts", "src/a.ts", "src/b/a.ts", "src/b/c/d.ts", "x/src/a.ts", "src/[x].ts", "src/b/.hidden", "src/a-b^c.md"]


@pytest.mark.parametrize(("glob", "expected"), [
    ("*.ts", ["a.ts"]),
    ("src/*", ["src/[x].ts", "src/a-b^c.md", "src/a.ts"]),
    ("src/*.ts", ["src/[x].ts", "src/a.ts"]),
    ("**/*.ts", ["a.ts", "src/[x].ts", "src/a.ts", "src/b/a.ts", "src/b/c/d.ts", "x/src/a.ts"]),
    ("src/**/*.ts", ["src/[x].ts", "src/a.ts", "src/b/a.ts", "src/b/c/d.ts"]),
    ("src/**", ["src/[x].ts", "src/a-b^c.md", "src/a.ts", "src/b/.hidden", "src/b/a.ts", "src/b/c/d.ts"]),
    ("**", sorted(TREE)),
    ("**/src/**/a.ts", ["src/a.ts", "src/b/a.ts", "x/src/a.ts"]),
    ("**/b/**/*.ts", ["src/b/a.ts", "src/b/c/d.ts"]),
    ("**/**/d.ts", ["src/b/c/d.ts"]),
    ("src/b/**/c/d.ts", ["src/b/c/d.ts"]),
    ("src/?.ts", ["src/a.ts"]),
    ("?/*/?.ts", ["x/src/a.ts"]),
    ("src/[a-c].ts", ["src/a.ts"]),
    ("src/[!b-z[].ts", ["src/a.ts"]),
    ("src/[[]x].ts", ["src/[x].ts"]),
    ("src/[x.ts", []),
    ("src/[]x[]x[]x].ts", ["src/[x].ts"]),
    ("src/a[-]b[^]c.m[!]]", ["src/a-b^c.md"]),
    ("s*c/*b*c*.*d", ["src/a-b^c.md"]),
    ("src/b", []),
    ("SRC/a.ts", []),
    ("src/b/*", ["src/b/.hidden", "src/b/a.ts"]),
])
def test_matching(glob: str, expected: list[str]) -> None:
    """`*`, `?` and sets match within a name, `**` any folders; case counts; hidden files are files."""
    assert expected == matching(TREE, [glob])


def test_any_of_several_globs_matches_and_the_result_is_sorted() -> None:
    """A path that two globs match comes once."""
    assert ["a.ts", "src/a.ts"] == matching(reversed(TREE), ["src/a.*", "a.ts", "*.ts"])
    assert [] == matching(TREE, [])


@pytest.mark.parametrize("glob", ["", "/a", "a/", "a//b", "./a", "../a", "a/..", "a\\b", "[z-a]", "a**", "**a/b"])
def test_a_glob_that_means_nothing_is_refused(glob: str) -> None:
    """Absolute and upward paths, empty ranges, and a `**` that is only a part of a name."""
    with pytest.raises(BadGlob):
        check_glob(glob)


def test_no_glob_is_slow() -> None:
    """Many stars against a long name, and many `**` against a deep path, come to an end in this life."""
    began = time.monotonic()
    assert [] == matching(["a" * 5000, "/".join("a" * 5000)], ["*a" * 100 + "b", "**/a/" * 100 + "b"])
    assert time.monotonic() - began < 30
