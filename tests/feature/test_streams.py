"""`evalkit` on streams that are closed, cut, or take other characters."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.feature.project import MiniProject

BAD = "case é {\n  prompt \"a.md\"\n"


def shell(project: MiniProject, line: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "E": f'"{sys.executable}" -m evalkit.cli', **more}
    return subprocess.run(["bash", "-c", line.replace("EVALKIT", f'"{sys.executable}" -m evalkit.cli')],
                          cwd=project.root, env=env, capture_output=True, check=False, timeout=60)


def test_formatted_text_is_utf_8_whatever_the_terminal_takes(project: MiniProject) -> None:
    """An editor reads it back as UTF-8."""
    project.write("cases/mini/u.eval", 'case u {\n  about "é"\n}\n')
    done = shell(project, "EVALKIT fmt - < cases/mini/u.eval", PYTHONIOENCODING="latin-1")
    assert (0, 'case u {\n  about "é"\n}\n'.encode()) == (done.returncode, done.stdout)


@pytest.mark.parametrize("command", ["check", "show greeting", "list", "explain E012"])
def test_an_encoding_that_lacks_a_character(project: MiniProject, command: str) -> None:
    """Question marks instead of a traceback."""
    project.edit("cases/mini/greeting/greeting.eval", "Writes a greeting.", "Écrit.")
    done = shell(project, f"EVALKIT {command}", PYTHONIOENCODING="ascii")
    assert b"Traceback" not in done.stderr
    assert 0 == done.returncode


def test_a_bad_case_in_an_encoding_that_lacks_a_character(project: MiniProject) -> None:
    """The diagnostics are shown all the same."""
    project.write("cases/mini/u.eval", BAD)
    done = shell(project, "EVALKIT check", PYTHONIOENCODING="ascii")
    assert (1, b"") == (done.returncode, done.stderr)
    assert b"error[" in done.stdout


@pytest.mark.parametrize("line", ["EVALKIT fmt - < /dev/null >&-", "EVALKIT list >&-", "EVALKIT list | true",
                                  "EVALKIT check 2>&- >&-"])
def test_closed_streams(project: MiniProject, line: str) -> None:
    """Output that nobody reads is no error."""
    done = shell(project, line)
    assert (0, b"") == (done.returncode, done.stderr)
