"""Nodes -> compiled cases: names resolved, levels merged, files found, regexes and placeholders checked."""

from evalkit.analysis.project import Project, load_project
from evalkit.analysis.resolve import resolve

__all__ = ["Project", "load_project", "resolve"]
