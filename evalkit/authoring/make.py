"""Starts files from the templates of this package: all of them or none, and never over what is there.

A template is a text file in `templates/`, named as what it makes with `.txt` behind it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

from evalkit.analysis.findings import LONGEST_NAME
from evalkit.authoring.columns import one_line
from evalkit.errors import UserError
from evalkit.syntax import Source, parse

__all__ = ["check_name", "make_files", "template", "template_tree"]

_TEMPLATES = Path(__file__).parent / "templates"


def template(name: str) -> str:
    """The text of one template."""
    return (_TEMPLATES / f"{name}.txt").read_text(encoding="utf-8")


def template_tree(name: str) -> dict[str, str]:
    """The texts of a folder of templates by the paths of what they make, sorted."""
    folder = _TEMPLATES / name
    return {path.relative_to(folder).as_posix().removesuffix(".txt"): path.read_text(encoding="utf-8")
            for path in sorted(folder.rglob("*.txt"))}


def make_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Make the files, and the folders that they need. Raises `UserError` where one is there already, or cannot be made;
    then nothing has been made.
    """
    taken = [name for name in texts if os.path.lexists(folder / name)]
    if taken:
        verb = "is" if len(taken) == 1 else "are"
        raise UserError(f"{', '.join(taken)} {verb} there already in {folder}; nothing was written",
                        hint="nothing is ever overwritten: choose another folder or name, or move what is there")
    made: list[Path] = []
    try:
        for name, text in texts.items():
            path = folder / name
            for place in reversed([place for place in path.parents if not place.exists()]):
                place.mkdir()
                made.append(place)
            with path.open("x", encoding="utf-8", newline="\n") as file:
                made.append(path)
                file.write(text)
    except OSError as error:
        for path in reversed(made):
            with contextlib.suppress(OSError):  # what others put there meanwhile stays
                path.rmdir() if path.is_dir() else path.unlink()
        raise UserError(f"cannot write {error.filename or folder}: {error.strerror or error}",
                        hint="nothing was made; choose a folder that you can write in") from error


def check_name(kind: str, name: str) -> None:
    """Raise `UserError` for a name that the language does not take. The parser of the language is asked."""
    file, errors = parse(Source(Path("name"), "name", f"{kind} {name} {{\n}}\n"))
    named = [case.name.value for case in file.cases] + [suite.name.value for suite in file.suites]
    if errors or named != [name]:
        raise UserError(f"`{one_line(name)}` is no name for a {kind}",
                        hint="a name starts with a letter and goes on with letters, digits and `_`, in words that a "
                        "single `-` or `.` joins: kanban-board, gpt-5.1")
    if len(name) > LONGEST_NAME:
        raise UserError(f"this name is longer than {LONGEST_NAME} characters: {name[:40]}…")
