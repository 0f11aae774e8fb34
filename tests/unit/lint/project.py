"""A small project for tests of the rules: a case that nothing is to be said about, until a test changes it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from evalkit.authoring.check import check_project
from evalkit.diagnostics import Diagnostic, render_all

__all__ = ["CASE", "FILES", "findings", "places", "rendered", "write"]

CASE = """\
case it {
  use app
  prompt "PROMPT.md"
  check run "make test" as tests
  solution "solution"
  wrong "wrong/one" fails tests
}
"""
FILES = {
    "suite.eval": 'suite s {\n  profile app { scaffold copy "skeleton" }\n}\n',
    "skeleton/main.txt": "A note.\n",
    "it/it.eval": CASE,
    "it/PROMPT.md": "Write a board.\nCards move between columns.\n",
    "it/solution/board.txt": "A board.\n",
    "it/wrong/one/board.txt": "Nothing.\n",
}


def write(root: Path, files: Mapping[str, str], *, case: str = "", suite: str = "") -> None:
    """Write the project: `case` and `suite` are put at the start of these blocks, `files` (relative to the suite's
    folder; to the root with a leading `/`) are added or replace others."""
    all_files = {**FILES, **files}
    all_files["it/it.eval"] = all_files["it/it.eval"].replace("case it {\n", f"case it {{\n{case}", 1)
    all_files["suite.eval"] = all_files["suite.eval"].replace("suite s {\n", f"suite s {{\n{suite}", 1)
    for name, text in all_files.items():
        path = root / name[1:] if name.startswith("/") else root / "cases" / "s" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def findings(root: Path) -> list[Diagnostic]:
    return [finding.diagnostic for finding in check_project(root, "cases").findings]


def rendered(root: Path) -> str:
    return render_all(findings(root))


def places(root: Path) -> list[str]:
    """A line a finding: where, code, message."""
    return [f"{item.span}: {item.code}: {item.message}" for item in findings(root)]
