"""Stages are folders, and imports flow one way."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "evalkit"
BASE = ("errors", "digest", "records", "structure", "kept", "plugins", "values")
"""Modules that any stage may use."""
STAGES = ("diagnostics", "syntax", "analysis", "lint", "plan", "execute", "gateway", "grade", "report", "dag",
          "authoring", "cli", "extend")
"""From text to doit: a stage may use those before it."""
ONLY_IN = {"doit": {"dag"}, "lark": {"syntax"}, "httpx": {"execute", "gateway"},
           "rich": {"diagnostics", "report", "dag"}}


def imports(path: Path) -> set[str]:
    """All modules that a file imports, also within functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_stage_imports_only_earlier_stages(path: Path) -> None:
    """Each dependency has its one place, too."""
    stage = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    allowed = {*BASE, *(STAGES[: STAGES.index(stage) + 1] if stage in STAGES else ())}
    for module in imports(path):
        top, _, rest = module.partition(".")
        if top == "evalkit" and rest:
            assert rest.partition(".")[0] in allowed, f"{stage} imports {module}"
        if top in ONLY_IN:
            assert stage in ONLY_IN[top], f"{stage} imports {module}"
