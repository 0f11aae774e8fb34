"""The project that a command is about: finds its folder, loads it, and reads what its files declare.

Only the root of a project is worked in, as doit reads pyproject.toml from the current folder only.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalkit.analysis.files import relative
from evalkit.analysis.model import Case
from evalkit.analysis.project import Project, load_project
from evalkit.diagnostics import CaseErrors
from evalkit.errors import UserError
from evalkit.plan.choices import read_choices
from evalkit.syntax import nodes, parse, read_source

__all__ = ["cases_folder", "find_root", "open_project", "parsed_files", "project_of", "units_of"]


def open_project() -> Project:
    """The compiled project of the current folder. Raises `UserError`, or `CaseErrors` where it does not compile."""
    root = find_root()
    return load_project(root, cases_folder(root))


def find_root() -> Path:
    """The current folder, where it is a project. Raises `UserError` that says where one is, or how to make one."""
    here = Path.cwd()
    root = project_of(here)
    if root is None:
        raise UserError("there is no project in this folder",
                        hint="`evalkit init` starts one here, `evalkit init DIR` elsewhere")
    if root != here:
        raise UserError("this folder lies in a project, but is not its root", hint=f"run this in {root}")
    return root


def project_of(folder: Path) -> Path | None:
    """The root of the project that an absolute path is of or lies in. Raises `UserError` for bad choices."""
    if (folder / cases_folder(folder)).is_dir() or _declares(folder):
        return folder
    return next((parent for parent in folder.parents if _declares(parent)), None)


def cases_folder(root: Path) -> str:
    """The folder of the case files, as the project or the environment names it. Raises `UserError` for bad choices."""
    return read_choices({}, os.environ, root).cases


def parsed_files(root: Path) -> Iterator[tuple[Path, nodes.File]]:
    """The case files of a project as far as they can be read: one that does not compile still takes its names."""
    for place, folders, names in os.walk(root / cases_folder(root)):
        folders.sort()
        for path in sorted(Path(place, name) for name in names if name.endswith(".eval")):
            try:
                yield path, parse(read_source(path, relative(path, root)))[0]
            except CaseErrors:
                continue


def _declares(folder: Path) -> bool:
    """Whether a folder says that it is a project: by pyproject.toml, or by a dodo.py beside a folder of cases."""
    try:
        tool: Any = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8")).get("tool", {})
        return "evalkit" in tool or tool.get("doit", {}).get("loader") == "evalkit"
    except (OSError, ValueError, AttributeError, TypeError):
        return (folder / "dodo.py").is_file() and (folder / "cases").is_dir()


def units_of(project: Project, case: Case) -> dict[str, Case]:
    """The compiled units of a case, one for each track and arm, by their names."""
    return {unit.unit: unit for unit in project.units[case.name]}
