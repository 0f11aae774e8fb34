"""What the rules look at: nodes, which know where everything stands, and compiled cases, which know what it means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from attrs import frozen

from evalkit.analysis import model as m
from evalkit.lint.registry import Loader, ServerLoader, load_registry, load_server
from evalkit.lint.walk import walk
from evalkit.syntax import nodes as n
from evalkit.syntax.nodes_calls import Call

__all__ = ["CaseView", "Subject", "SuiteView"]

T = TypeVar("T")


@frozen
class CaseView:
    """A case: the file that it stands in, its node, and its units (none where it has errors)."""

    path: Path
    node: n.Case
    units: tuple[m.Case, ...]


@frozen
class SuiteView:
    """A suite: its file, its node and its cases."""

    path: Path
    node: n.Suite
    cases: tuple[CaseView, ...]

    @property
    def known(self) -> bool:
        """Whether there are cases, and it is known what all of them use."""
        return bool(self.cases) and all(view.units for view in self.cases)

    @property
    def profiles(self) -> dict[str, n.Profile]:
        return {item.name.value: item for item in self.node.body if isinstance(item, n.Profile)}

    def chain(self, profile: str) -> list[n.Profile]:
        """A profile and those that it extends."""
        found: list[n.Profile] = []
        known = self.profiles
        while (node := known.get(profile)) is not None and node not in found:
            found.append(node)
            profile = node.extends.value if node.extends else ""
        return found


@frozen
class Subject:
    """A project whose files all parse.

    units: of the cases, by their names; cases with errors are left out. whole: nothing is left out. broken: the files
    of suites with errors of their own. load, load_server: read registries of commands.
    """

    root: Path
    files: tuple[tuple[Path, n.File], ...]
    units: Mapping[str, tuple[m.Case, ...]]
    whole: bool = True
    broken: frozenset[Path] = frozenset()
    load: Loader = load_registry
    load_server: ServerLoader = load_server

    def compiled(self) -> Iterator[tuple[CaseView, m.Case]]:
        """The units of the cases without errors."""
        for view in self.views.values():
            for unit in view.units:
                yield view, unit

    @cached_property
    def views(self) -> dict[str, CaseView]:
        """The cases by name."""
        return {node.name.value: CaseView(path, node, self.units.get(node.name.value, ()))
                for path, file in self.files for node in file.cases}

    @cached_property
    def suites(self) -> tuple[SuiteView, ...]:
        """The suites whose own files have no errors."""
        suites = {path.parent: (path, file.suites[0]) for path, file in self.files
                  if path.name == "suite.eval" and file.suites and path not in self.broken}
        members: dict[Path, list[CaseView]] = {folder: [] for folder in suites}
        for view in self.views.values():
            home = next((folder for folder in view.path.parents if folder in suites), None)
            if home is not None:
                members[home].append(view)
        return tuple(SuiteView(path, node, tuple(members[folder])) for folder, (path, node) in suites.items())

    @cached_property
    def suite_of(self) -> dict[str, SuiteView]:
        """The suites by the names of their cases."""
        return {view.node.name.value: suite for suite in self.suites for view in suite.cases}

    @cached_property
    def _places(self) -> dict[str, Any]:
        """The nodes that compiled things come from, by their origin."""
        found: dict[str, Any] = {}
        for _, file in self.files:
            for node, _ in walk(file):
                if isinstance(node, n.Check | n.Judge | Call | n.Registry | n.RegistryMcp | n.Tier):
                    found[str(node.span)] = node
                elif isinstance(node, n.Skills):
                    found |= {str(name.span): name for name in node.names}
        return found

    def node(self, origin: str, kind: type[T]) -> T | None:
        """The node of that kind that a compiled thing came from."""
        node = self._places.get(origin)
        return node if isinstance(node, kind) else None
