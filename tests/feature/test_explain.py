"""`evalkit explain` as a person uses it."""

from __future__ import annotations

import pytest

from evalkit import cli


def test_a_code_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """The code may be written in small letters; the output is plain in a pipe."""
    assert 0 == cli.main(["explain", "e051"])
    assert """\
error[E051]: a command that cannot be split into words, or names no program

Commands are split as a shell does it and run without one. To have a shell, name it: `sh -c '…'`.

wrong, in a case:

    check run "grep -q 'it is' README.md && test -f 'a"

right, in a case:

    check run "grep -q 'it is' README.md"
""" == capsys.readouterr().out


def test_an_unknown_code_has_a_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Status 2, and nothing on standard output."""
    for given, nearest in (("E099x", "codes look like E012 and W001; `evalkit explain` lists them"),
                           ("W000", "did you mean `W001`?"), ("12", "did you mean `E012`?")):
        assert 2 == cli.main(["explain", given])
        assert ("", f"error: there is no code `{given}`\n  {nearest}\n") == capsys.readouterr()


def test_without_a_code_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """A line each."""
    assert 0 == cli.main(["explain"])
    lines = capsys.readouterr().out.splitlines()
    assert "E010  an unknown keyword" in lines
    assert "W008  a case without a reference answer, or without a wrong one" in lines


def test_the_page_is_of_all_codes(capsys: pytest.CaptureFixture[str]) -> None:
    """`--markdown` prints docs/diagnostics.md, and takes no code."""
    assert 0 == cli.main(["explain", "--markdown"])
    assert capsys.readouterr().out.startswith("# Errors and warnings\n")
    assert 2 == cli.main(["explain", "--markdown", "E010"])
    assert "leave out the code, or `--markdown`" in capsys.readouterr().err
