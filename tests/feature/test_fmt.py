"""`evalkit fmt` as a person or a hook uses it."""

from __future__ import annotations

import argparse
import io
import os
import sys
from pathlib import Path

import pytest
from attrs import frozen

from evalkit.authoring import fmt
from evalkit.authoring.printer_write import replace_file
from evalkit.errors import HarnessError, UserError

UGLY = 'case it {\n    about   "a";use app   # why\n}'
PRETTY = 'case it {\n  about "a"\n  use app  # why\n}\n'
BROKEN = "case it {\n    abuot   2\n}\n"
DIFF = """\
--- cases/ugly.eval
+++ cases/ugly.eval (formatted)
@@ -1,3 +1,4 @@
 case it {
-    about   "a";use app   # why
-}
\\ No newline at end of file
+  about "a"
+  use app  # why
+}
"""


@frozen
class Done:
    status: int
    out: str
    err: str


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a file that is in its canonical form and one that is not; the current folder."""
    cases = tmp_path / "cases"
    cases.mkdir()
    (cases / "pretty.eval").write_text(PRETTY)
    (cases / "ugly.eval").write_text(UGLY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_fmt(capsys: pytest.CaptureFixture[str], *args: str) -> Done:
    """Run the subcommand with its own arguments."""
    parser = argparse.ArgumentParser()
    fmt.arguments(parser)
    status = fmt.main(parser.parse_args(args))
    out, err = capsys.readouterr()
    return Done(status, out, err)


def test_files_are_formatted_in_place(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a path all case files of the project are formatted; those that changed are listed."""
    assert Done(0, "cases/ugly.eval\n", "1 of 2 files changed\n") == run_fmt(capsys)
    assert PRETTY == (home / "cases/ugly.eval").read_text()
    assert Done(0, "", "0 of 2 files changed\n") == run_fmt(capsys)


def test_the_project_says_where_its_cases_are(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The cases folder is that of pyproject.toml."""
    (home / "cases").rename(home / "evals")
    with pytest.raises(UserError, match="there is no folder `cases` here"):
        run_fmt(capsys)
    (home / "pyproject.toml").write_text('[tool.evalkit]\ncases = "evals"\n')
    assert Done(0, "evals/ugly.eval\n", "1 of 2 files changed\n") == run_fmt(capsys)


def test_check_changes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--check` lists the files that would change, and fails where there are any."""
    assert Done(1, "cases/ugly.eval\n", "1 of 2 files would change\n") == run_fmt(capsys, "--check")
    assert UGLY == (home / "cases/ugly.eval").read_text()
    assert Done(0, "", "0 of 1 file would change\n") == run_fmt(capsys, "--check", "cases/pretty.eval")


def test_diff_changes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--diff` prints what would change; the status says so only with `--check`."""
    assert Done(0, DIFF, "1 of 2 files would change\n") == run_fmt(capsys, "--diff")
    assert Done(1, DIFF, "1 of 2 files would change\n") == run_fmt(capsys, "--diff", "--check")
    assert UGLY == (home / "cases/ugly.eval").read_text()


def test_standard_input(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` is for editors: standard input is printed in its canonical form, byte order mark and CRLF gone."""
    def given(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    given(b"\xef\xbb\xbf" + UGLY.replace("\n", "\r\n").encode())
    assert Done(0, PRETTY, "") == run_fmt(capsys, "-")
    given(UGLY.encode())
    assert Done(1, "<standard input>\n", "") == run_fmt(capsys, "--check", "-")
    given(b"\xff")
    with pytest.raises(UserError, match="standard input is not UTF-8"):
        run_fmt(capsys, "-")
    with pytest.raises(UserError, match="standard input is formatted alone"):
        run_fmt(capsys, "-", "cases")


def test_a_file_with_errors_is_left_alone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is wrong is told with its place, status 2; the other files are formatted."""
    (home / "cases/broken.eval").write_text(BROKEN)
    (home / "cases/binary.eval").write_bytes(b"\xff")
    done = run_fmt(capsys)
    assert (2, "cases/ugly.eval\n") == (done.status, done.out)
    assert "--> cases/broken.eval:2:5" in done.err
    assert "--> cases/binary.eval:1:1" in done.err
    assert done.err.endswith("1 of 4 files changed\n")
    assert BROKEN == (home / "cases/broken.eval").read_text()


def test_what_is_named_must_be_there(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A path that is neither a file nor a folder is an error; a named pipe would be waited for."""
    os.mkfifo(home / "cases/pipe.eval")
    for path in ("cases/none.eval", "cases/pipe.eval"):
        with pytest.raises(UserError, match=f"there is no file or folder `{path}`"):
            run_fmt(capsys, path)
    assert "1 of 2 files would change\n" == run_fmt(capsys, "--check", "cases").err


def test_each_file_once(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is named twice, by a link too, is formatted once; hidden and linked folders are not entered."""
    (home / "cases/linked.eval").symlink_to("ugly.eval")
    (home / "cases/round").symlink_to(".")
    (home / "cases/.hidden").mkdir()
    (home / "cases/.hidden/ugly.eval").write_text(UGLY)
    assert "1 of 2 files would change\n" == run_fmt(capsys, "--check", "cases", "cases/ugly.eval", "cases").err


def test_a_link_stays_a_link_and_a_mode_a_mode(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file that a link leads to is written, with its permissions, and nothing is left beside it."""
    (home / "real.txt").write_text(UGLY)
    (home / "real.txt").chmod(0o640)
    (home / "cases/linked.eval").symlink_to("../real.txt")
    assert 0 == run_fmt(capsys, "cases/linked.eval").status
    assert (home / "cases/linked.eval").is_symlink()
    assert PRETTY == (home / "real.txt").read_text()
    assert 0o640 == (home / "real.txt").stat().st_mode & 0o7777
    assert ["cases", "real.txt"] == sorted(path.name for path in home.iterdir())


def test_a_byte_order_mark_goes(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A byte order mark alone is something to format."""
    (home / "cases/pretty.eval").write_bytes(b"\xef\xbb\xbf" + PRETTY.encode())
    assert 1 == run_fmt(capsys, "--check", "cases/pretty.eval").status
    assert 0 == run_fmt(capsys, "cases/pretty.eval").status
    assert PRETTY.encode() == (home / "cases/pretty.eval").read_bytes()


def test_a_file_that_cannot_be_written(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed write is a harness error; the old file is still there, and nothing beside it."""
    path = home / "cases/ugly.eval"
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(HarnessError, match="No space left on device"):
        replace_file(path, b"new")
    assert UGLY == path.read_text()
    assert ["pretty.eval", "ugly.eval"] == sorted(found.name for found in path.parent.iterdir())
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(HarnessError, match="read-only"):
        replace_file(path, b"new")


def test_a_wrong_print_is_never_written(home: Path, capsys: pytest.CaptureFixture[str],
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug that would change what a file means ends the command before anything is written."""
    monkeypatch.setattr(fmt, "format_text", lambda text: text.replace("app", "none"))
    with pytest.raises(RuntimeError, match=r"would change what it means"):
        run_fmt(capsys, "cases/ugly.eval")
    assert UGLY == (home / "cases/ugly.eval").read_text()
