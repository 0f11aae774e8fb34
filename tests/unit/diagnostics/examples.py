"""Makes an example of the catalogue a project: what it leaves out, because it is not the point, is put around it."""

from __future__ import annotations

import re
from pathlib import Path

from evalkit.authoring.check import check_project
from evalkit.diagnostics import Diagnostic
from evalkit.diagnostics.catalogue import Example

__all__ = ["findings_of", "lay_out"]

SUITE = 'suite s {{\n  profile app {{ scaffold copy "skeleton"\n{} }}\n{}\n}}\n'
PLAIN_SUITE = SUITE.format("", "")
STATEMENTS = (
    ("use (?!agent)", "use app"),
    ("prompt", 'prompt """\n  Do it.\n  """'),
    ("check tests", 'check run "make test" as tests'),
    ("solution", 'solution "solution"'),
    ("wrong", 'wrong "wrong/one" fails tests'),
)
"""What a case needs: put where the example has no statement that begins so."""
ASSETS = {
    "skeleton/main.txt": "A note.\n", "starter/main.txt": "", "solution/board.txt": "A board.\n",
    "wrong/one/board.txt": "", "wrong/stale/board.txt": "", "wrong/empty/board.txt": "", "PROMPT.md": "Do it.\n",
}
"""Files beside a suite, made where the example names them."""


def findings_of(root: Path, example: Example) -> list[Diagnostic]:
    """What is found in a project that holds nothing but an example."""
    lay_out(root, example)
    return [finding.diagnostic for finding in check_project(root, "cases").findings]


def lay_out(root: Path, example: Example) -> None:
    """Write the project."""
    written = _files(example)
    for name, text in written.items():
        place = root / name[1:] if name.startswith("/") else root / "cases" / "s" / name
        _write(place, text.encode(example.encoding))
    text = "\n".join(written.values())
    for name, content in ASSETS.items():
        place = root / "cases" / "s" / name
        if f'"{name.rpartition("/")[0] or name}"' in text and not place.exists():
            _write(place, content.encode())


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _files(example: Example) -> dict[str, str]:
    text = "\n".join([example.text] * example.times)
    if example.kind == "case":
        return {"suite.eval": PLAIN_SUITE, "it.eval": _case(text)}
    if example.kind == "profile":
        return {"suite.eval": SUITE.format(text, ""), "it.eval": _case("")}
    if example.kind == "suite":
        own = "profile app" in text
        return {"suite.eval": f'suite s {{\nscaffold copy "skeleton"\n{text}\n}}\n' if own else SUITE.format("", text),
                "it.eval": _case("")}
    if example.kind == "file":
        return {"suite.eval": PLAIN_SUITE, "it.eval": text + "\n"}
    parts = re.split(r"^=== (\S+)\n", text, flags=re.MULTILINE)[1:]
    files = {name: content + "\n" for name, content in zip(parts[::2], parts[1::2], strict=True)}
    if any(name.startswith("/cases") for name in files):
        return files
    if "suite.eval" not in files and not any("suite " in content for content in files.values()):
        files["suite.eval"] = PLAIN_SUITE
    if not any("case " in content for content in files.values()) and "profile app" in files.get("suite.eval", ""):
        files["default.eval"] = _case("")
    return files


def _case(statements: str) -> str:
    lines = [line for start, line in STATEMENTS if not re.search(rf"^{start}", statements, re.MULTILINE)]
    return "case it {\n" + "\n".join([*lines, statements]) + "\n}\n"
