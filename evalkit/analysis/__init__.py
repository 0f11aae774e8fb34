"""Nodes -> compiled cases: names resolved, levels merged, files found, regexes and placeholders checked."""

from evalkit.analysis.project import Project, load_project

__all__ = ["Project", "load_project"]
