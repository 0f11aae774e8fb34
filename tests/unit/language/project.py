"""Small projects for tests of the language: a suite with files beside it, and case files as the test gives them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evalkit.analysis import load_project
from evalkit.analysis.model import Case
from evalkit.diagnostics import CaseErrors, Diagnostic
from evalkit.syntax import Source, nodes, parse

__all__ = ["ASSETS", "CASE", "SUITE", "compile_case", "diagnose", "parse_text", "write"]

SUITE = """suite s {
  profile app { scaffold copy "skeleton" }
  define check plain { run "true" }
  define check holds(path) { run "test -f {path}" }
  define check harness(spec) { put "{case}/{spec}" as "spec.txt"; run "true" }
}
"""
CASE = 'case it {{ prompt "PROMPT.md"; scaffold copy "skeleton"; check run "echo default"\n{}\n}}\n'
"""A case that is whole, but for the statements that a test adds."""
ASSETS = {
    "PROMPT.md": b"Do it.\n", "empty.md": b" \n", "latin.md": b"caf\xe9\n", "folder.md/a": b"",
    "skeleton/note.txt": b"n\n", "solution/note.txt": b"s\n", "wrong/one/note.txt": b"1\n",
    "wrong/two/note.txt": b"2\n", "wrong/deep/one/note.txt": b"3\n", "skills/writing/SKILL.md": b"w\n",
    "skills/reading/SKILL.md": b"r\n", "one-skill/SKILL.md": b"o\n", "holds-link/note.txt": b"l\n",
}


def write(root: Path, files: Mapping[str, str | bytes], *, suite: str | None = SUITE) -> Path:
    """Make a project: cases/s/ with a suite and its assets, and the given files (paths relative to the root)."""
    home = root / "cases" / "s"
    for name, data in ASSETS.items():
        _put(home / name, data)
    for name, target in {"round": "round", "linked": "/etc", "holds-link/out": "/etc/hosts"}.items():
        if not (home / name).is_symlink():
            (home / name).symlink_to(target)
    (root / "cases" / "s2").mkdir(exist_ok=True)
    if suite is not None:
        _put(home / "suite.eval", suite)
    for name, text in files.items():
        _put(root / name, text)
    return root


def _put(path: Path, data: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)


def diagnose(root: Path) -> tuple[Diagnostic, ...]:
    """What is wrong in a project."""
    try:
        load_project(root)
    except CaseErrors as error:
        return error.diagnostics
    return ()



def compile_case(root: Path, statements: str = "", *, suite: str = SUITE) -> Case:
    """The case `it` with some more statements, in a project of its own."""
    return load_project(write(root, {"cases/s/it.eval": CASE.format(statements)}, suite=suite)).cases["it"]


def parse_text(text: str) -> tuple[nodes.File, list[Diagnostic]]:
    return parse(Source(Path("it.eval"), "it.eval", text))
