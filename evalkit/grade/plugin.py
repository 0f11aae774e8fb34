"""`check plugin NAME`: a grader of another distribution, which sees the final tree's files and nothing else of it.

Its entry point (group `evalkit.graders`) names a module, or any object, with `VERSION`, a text that changes when equal
trees may get another verdict, and `grade(files, settings)`, which returns a `Verdict`. It runs in this process, in any
thread, as code that the person installed and trusts; what the agent wrote is given as bytes, never as a path. Whatever
goes wrong in it is an error of that distribution's, and no fail of the agent's.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from functools import cache
from typing import Any

from attrs import evolve, frozen

from evalkit.analysis.globs import matching
from evalkit.analysis.model import PluginSpec
from evalkit.errors import EvalkitError, HarnessError, UserError
from evalkit.grade.evidence import EVIDENCE_LIMIT, plain
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.verdict import Verdict
from evalkit.plugins import Plugin, find_plugin, load_plugin, own_failure
from evalkit.records import as_read

__all__ = ["Files", "grade_plugin", "plugin_version"]

_STATUSES = ("pass", "fail", "skipped", "error")
"""Of a verdict of a grader's."""
LARGEST = 10_000_000
"""Bytes of a file that a grader is given."""


class Files:
    """The files of a final tree that a grader may read, by their paths from its root, with `/`."""

    __slots__ = ("__names", "__tree")

    def __init__(self, tree: FinalTree, globs: tuple[str, ...]) -> None:
        self.__tree = tree
        self.__names = tuple(tree.matching(globs) if globs else sorted(tree.manifest.files))

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, in order."""
        return self.__names

    def matching(self, *globs: str) -> list[str]:
        """Those that globs match, as `check grep` understands them. Raises ValueError for a glob that is none."""
        return matching(self.__names, globs)

    def bytes(self, name: str, *, largest: int = LARGEST) -> bytes:
        """A file's contents. Raises KeyError for a file that is not there, or is no file, and ValueError for one that
        is larger.
        """
        if name not in self.__names:
            raise KeyError(name)
        read = self.__tree.read([name], largest=largest)
        if name not in read:
            raise KeyError(name)
        data = read[name]
        if data is None:
            raise ValueError(f"{name} is larger than {largest:,} bytes")
        return data

    def text(self, name: str, *, largest: int = LARGEST) -> str:
        """A file's contents as UTF-8; what is none stands as U+FFFD. Raises as `bytes` does."""
        return self.bytes(name, largest=largest).decode("utf-8", "replace")


@frozen
class _Grader:
    plugin: Plugin
    loaded: Any
    version: str


@cache
def _grader(name: str) -> _Grader:
    """Raises UserError where it is not there, cannot be loaded or is no grader."""
    plugin = find_plugin("graders", name)
    if plugin is None:
        raise UserError(f"no distribution that is installed has a grader `{name}`",
                        hint="install it again, or take its check out of the case")
    loaded = load_plugin(plugin)
    version = getattr(loaded, "VERSION", None)
    if not isinstance(version, str) or not callable(getattr(loaded, "grade", None)):
        raise UserError(f"{plugin.shown} is no grader: it needs a text VERSION and a function grade(files, settings)",
                        hint="docs/plugins.md tells what a grader has")
    return _Grader(plugin, loaded, f"{plugin.distribution} {plugin.version} {version}")


def plugin_version(name: str) -> str:
    """The version of a grader: its distribution's and its own. One that does not work has one, too: its errors."""
    try:
        return _grader(name).version
    except UserError as error:
        return f"broken: {error.message}"


def grade_plugin(spec: PluginSpec, tree: FinalTree) -> Verdict:
    """Raises HarnessError where the tree cannot be read, or the grader does not work."""
    try:
        found = _grader(spec.grader)
    except UserError as error:
        raise HarnessError(error.message, hint=error.hint) from error
    settings: Mapping[str, str] = dict(spec.settings)
    try:
        verdict = found.loaded.grade(Files(tree, spec.globs), settings)
    except EvalkitError:
        raise
    except BaseException as error:  # noqa: BLE001 - it is not our code: any failure of it is its own
        told = own_failure(error)
        said = "".join(traceback.format_exception(error)[-8:])
        return Verdict("error", plain(f"{found.plugin.shown} failed: {told}"), _clipped(said))
    if not isinstance(verdict, Verdict):
        return Verdict("error", f"{found.plugin.shown} returned no verdict but {type(verdict).__name__}")
    try:
        verdict = as_read(verdict)
        if verdict.status not in _STATUSES:
            raise ValueError(f"its status is {verdict.status}")
    except (TypeError, ValueError) as error:
        return Verdict("error", plain(f"{found.plugin.shown} returned a verdict that is none: {error}"))
    return evolve(verdict, summary=plain(str(verdict.summary)), evidence=_clipped(str(verdict.evidence)), judging=None)


def _clipped(text: str) -> str:
    return "\n".join(plain(line) for line in text[:EVIDENCE_LIMIT].splitlines())
