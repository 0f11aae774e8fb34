"""`check plugin NAME`: a grader of another distribution, which sees the final tree's files and nothing else of it.

Its entry point (group `evalkit.graders`) names a module, or any object, with `VERSION`, a text that changes when equal
trees may get another verdict, and `grade(files, settings)`, which returns a `Verdict`. It is code that the person
installed and trusts, but what an agent wrote may hang it: so it works in a process of its own (plugin_child.py), within
a time limit, on a copy of the tree that it is given as bytes, never as a path. Whatever goes wrong in it is an error of
that distribution's, and no fail of the agent's.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen

from evalkit.analysis.globs import matching
from evalkit.analysis.model import PluginSpec
from evalkit.errors import EvalkitError, HarnessError, UserError
from evalkit.execute.process import Finished, run
from evalkit.grade.evidence import EVIDENCE_LIMIT, excerpt, plain
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.verdict import Verdict
from evalkit.plugins import Plugin, find_plugin, load_plugin, own_failure
from evalkit.records import as_read
from evalkit.structure import structure
from evalkit.values import evolve

__all__ = ["Files", "grade_files", "grade_plugin", "plugin_version"]

_STATUSES = ("pass", "fail", "skipped", "error")
"""Of a verdict of a grader's."""
LARGEST = 10_000_000
"""Bytes of a file that a grader is given."""
_SAID = 20_000
"""Characters of what it printed that are looked at where it came to nothing."""
_SUMMARY = 500
"""Characters of a summary, or of an error, that are kept."""
_MORE = 4
"""Times as much is taken of a text before keys are taken out of it: so none of them is cut, and half of it kept."""


class Files:
    """The files of a final tree that a grader may read, by their paths from its root, with `/`.

    read: the bytes of one of them; None for what is no file. Raises ValueError for one that is larger than so many.
    """

    __slots__ = ("__names", "__read")

    def __init__(self, names: Iterable[str], read: Callable[[str, int], bytes | None]) -> None:
        self.__names = tuple(names)
        self.__read = read

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
        data = self.__read(name, largest)
        if data is None:
            raise KeyError(name)
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
    names = tree.matching(spec.globs) if spec.globs else sorted(tree.manifest.files)
    with tree.copy(()) as copy:
        given, place, log = (copy.scratch / name for name in ("job.json", "verdict.json", "plugin.log"))
        environ = tree.session.environ
        job = {"grader": spec.grader, "settings": spec.settings, "names": names, "tree": str(copy.tree),
               "path": [os.path.abspath(place) for place in sys.path],  # noqa: PTH100 - "" is the working directory
               "environ": environ.get("PYTHONPATH")}
        given.write_text(json.dumps(job), encoding="utf-8")
        argv = [sys.executable, "-P", "-m", "evalkit.grade.plugin_child", str(given), str(place)]
        finished = run(argv, cwd=copy.scratch, env={**environ, "PYTHONPATH": str(Path(__file__).parents[2])},
                       limit=spec.limit, log=log, tick=tree.session.tick)
        clean = tree.session.redactor.text
        said = clean(log.read_bytes()[-_SAID * _MORE:].decode("utf-8", "replace"))[-_SAID:]
        try:
            verdict = _answered(found.plugin, finished, place, excerpt(said))
        except EvalkitError as error:
            raise type(error)(clean(error.message)[:_SUMMARY], hint=clean(error.hint)[:_SUMMARY]) from None
    return evolve(verdict, summary=clean(verdict.summary)[:_SUMMARY], evidence=clean(verdict.evidence)[:EVIDENCE_LIMIT])


def _answered(plugin: Plugin, finished: Finished, place: Path, said: str) -> Verdict:
    """What the grader's process left at a place. Raises what it raised of evalkit's own errors. said: its output."""
    if finished.ended_by:
        return Verdict("error", f"{plugin.shown} was ended by its {finished.ended_by}", said)
    try:
        answer = json.loads(place.read_bytes())
        if not isinstance(answer, dict):
            raise TypeError("no object")
        if (raised := answer.get("raised")) is None:
            return structure(answer, Verdict)
        kind, message, hint = [str(part)[:_SUMMARY * _MORE] for part in raised]
    except (OSError, ValueError, TypeError):
        return Verdict("error", f"{plugin.shown} ended without a verdict (exit status {finished.exit_code})", said)
    raise (UserError if kind == "UserError" else HarnessError)(message, hint=hint)


def grade_files(grader: str, files: Files, settings: Mapping[str, str]) -> Verdict:
    """The grader's verdict, made in this process. Raises UserError where it cannot be loaded, and what of evalkit's own
    errors it raises.
    """
    found = _grader(grader)
    try:
        verdict = found.loaded.grade(files, settings)
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
    return evolve(verdict, summary=plain(verdict.summary[:_SUMMARY * _MORE]), evidence=_clipped(verdict.evidence),
                  judging=None)


def _clipped(text: str) -> str:
    return "\n".join(plain(line) for line in text[:EVIDENCE_LIMIT * _MORE].splitlines())
