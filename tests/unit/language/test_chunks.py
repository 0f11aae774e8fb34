"""Bad input, and what is said about it: tests/chunks/*.chunks.

A chunk file holds inputs, separated by lines `---`. An error that is expected stands as a comment on its line:
`# E021: a part of the message or of the help`. Every error that is not expected, and every expected one that does not
come, fails the test; a chunk without such comments compiles.

* statements.chunks: each input is statements of a case that is otherwise whole.
* cases.chunks: each input is a file of cases beside a suite.
* suites.chunks: each input is a suite.eval.
* files.chunks: each input is files, each after a line `=== PATH`. `<FF>` and `<00>` are such bytes, `<folder>` makes a
  folder of the file, `<1MB>`, `<10000>` and `<many>` stand for texts that long and for as many statements.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalkit.diagnostics import Diagnostic
from tests.unit.language.project import CASE, SUITE, diagnose, write

ROOT = Path(__file__).resolve().parents[3]
EXPECTED = re.compile(r"# (E\d{3}): ([^#\n]*)")
MARKS = {b"<FF>": b"\xff", b"<00>": b"\0", b"<1MB>": b"# " + b"x" * 1_000_000, b"<10000>": b"x" * 10_000,
         b"<many>": b'about "a";' * 10_001}


def chunks() -> list[tuple[str, dict[str, str]]]:
    """Every input: where it is from, and its files."""
    found = []
    for path in sorted((ROOT / "tests" / "chunks").glob("*.chunks")):
        line = 1
        for text in path.read_text(encoding="utf-8").split("---\n"):
            found.append((f"{path.stem}:{line}", files_of(path.stem, text)))
            line += text.count("\n") + 1
    return found


def files_of(kind: str, text: str) -> dict[str, str]:
    if kind == "statements":
        return {"cases/s/suite.eval": SUITE, "cases/s/it.eval": CASE.format(text)}
    if kind == "cases":
        return {"cases/s/suite.eval": SUITE, "cases/s/it.eval": text}
    if kind == "suites":
        return {"cases/s/suite.eval": text}
    parts = re.split(r"^=== (\S+)\n", text, flags=re.MULTILINE)[1:]
    return {"cases/s/suite.eval": SUITE, **dict(zip(parts[::2], parts[1::2], strict=True))}


def written(text: str) -> bytes:
    data = text.encode()
    for mark, replacement in MARKS.items():
        data = data.replace(mark, replacement)
    return data


def expected_errors(files: dict[str, str]) -> list[tuple[str, int, str, str]]:
    return [(name, number, code, part.strip()) for name, text in files.items()
            for number, line in enumerate(text.split("\n"), 1) for code, part in EXPECTED.findall(line)]


def fits(error: Diagnostic, expected: tuple[str, int, str, str]) -> bool:
    name, line, code, part = expected
    place = (error.span.source.shown, error.span.line, error.code)
    return place == (name, line, code) and (part in error.message or part in error.help)


@pytest.mark.parametrize("files", [pytest.param(files, id=where) for where, files in chunks()])
def test_a_chunk_has_the_errors_that_it_names(files: dict[str, str], tmp_path: Path) -> None:
    """Each expected error comes, on its line, with its code and wording; no other error comes."""
    write(tmp_path, {name: written(text) for name, text in files.items() if "<folder>" not in text}, suite=None)
    for name, text in files.items():
        if "<folder>" in text:
            (tmp_path / name).mkdir()

    missing = expected_errors(files)
    unexpected = []
    for error in diagnose(tmp_path):
        match = next((expected for expected in missing if fits(error, expected)), None)
        if match is None:
            unexpected.append(f"{error.span}: {error.code}: {error.message} ({error.help})")
        else:
            missing.remove(match)

    assert ([], []) == (missing, unexpected)


def test_every_error_code_has_a_chunk() -> None:
    """Each code that parsing and compiling can report is shown by at least one input."""
    sources = "\n".join(path.read_text(encoding="utf-8") for stage in ("syntax", "analysis")
                        for path in (ROOT / "evalkit" / stage).rglob("*.py"))
    covered = {code for _, files in chunks() for _, _, code, _ in expected_errors(files)}

    assert set(re.findall(r'"(E\d{3})"', sources)) == covered
