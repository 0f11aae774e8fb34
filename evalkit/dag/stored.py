"""Stored trials: what a run left under results/, read with as little as can be, and each trial's final tree.

The tree is, in this order: that of the kept agent run, if it is the one that the result tells of, with the archive
beside the result or in the store; that archive alone; the tree that the transcript leaves over the unit's workspace
(execute/rebuild.py). What is damaged is told, and the next is tried.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import orjson
from attrs import define, field, frozen

from evalkit.analysis.model import Case, Toolchain
from evalkit.digest import digest
from evalkit.errors import HarnessError
from evalkit.execute.outcome import TRANSCRIPT, TREE, Ending, Usage
from evalkit.execute.own_commands import own_commands
from evalkit.execute.rebuild import rebuild
from evalkit.execute.rebuilt import Entry, base_tree
from evalkit.execute.session import Session
from evalkit.execute.stages import make_template, make_workspace
from evalkit.execute.toolchain import find_installed, install
from evalkit.execute.tree import Manifest
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.stored_tree import ArchivedTree, RebuiltTree
from evalkit.plan.keys import Contents, template_inputs, workspace_inputs
from evalkit.plan.trials import PLAYED, Subject
from evalkit.records import Misfit, of_schema, structure
from evalkit.report.regraded import REGRADED, TreeSource

if TYPE_CHECKING:
    from evalkit.execute.warm import Warm

__all__ = ["Found", "StoredTrial", "Trees", "stored_trials"]

ARCHIVE = "workspace.tar.zst"
_TRIAL = re.compile(r"trial-([1-9][0-9]*)")
_DEEPEST = 3
"""Folders between a run and its trials: agent, model, unit."""
_MANIFESTS = 64
"""Agent runs whose manifests are remembered: trials of a unit that never differ share one."""


@define
class StoredTrial:
    """A trial as it lies on the disk. result: its result.json; earlier: its regrade.json; both {} where there is none.

    written: the bytes of regrade.json.
    """

    folder: Path
    unit: str
    subject: Subject
    number: int
    result: Mapping[str, Any] = field(factory=dict)
    earlier: Mapping[str, Any] = field(factory=dict)
    written: bytes = b""

    def read(self) -> None:
        """Read its records. Raises HarnessError where result.json is damaged; a damaged regrade.json is made again."""
        self.result, _ = _record(self.folder / "result.json")
        try:
            self.earlier, self.written = _record(self.folder / REGRADED)
        except HarnessError:
            self.earlier = {}
        if self.result:
            agent, model = self.result.get("agent"), self.result.get("model")
            if not isinstance(agent, str) or not isinstance(model, str | None):
                raise HarnessError(f"{self.folder / 'result.json'} is damaged: it does not tell the agent")
            self.subject = Subject(agent, model, str(self.result.get("played") or ""))

    @property
    def lane(self) -> str:
        return str(self.result.get("lane") or "local")

    def ending(self, told: str) -> Ending:
        """How the agent's run ended: by the result, or by what its transcript tells."""
        if "ending" in self.result:
            try:
                return structure(self.result["ending"], Ending)
            except Misfit as error:
                raise HarnessError(f"{self.folder / 'result.json'} is damaged: its ending cannot be read") from error
        if told == "error_max_turns":
            return Ending("capped", "its transcript tells that it reached its turns", Usage())
        return Ending("completed", f"its transcript tells `{told}`" if told else "its transcript tells no end", Usage())


def stored_trials(run: Path, wanted: Callable[[str], bool]) -> Iterator[StoredTrial]:
    """The trials of a run whose units are wanted, not yet read, in the order of their names and numbers.

    Raises HarnessError where a folder cannot be listed.
    """
    try:
        yield from _below(run, [], wanted)
    except OSError as error:
        raise HarnessError(f"cannot list {error.filename or run}: {error.strerror or error}") from error


def _below(folder: Path, parts: list[str], wanted: Callable[[str], bool]) -> Iterator[StoredTrial]:
    with os.scandir(folder) as found:
        names = sorted(entry.name for entry in found if entry.is_dir())
    trials = sorted(int(match[1]) for name in names if (match := _TRIAL.fullmatch(name)))
    if trials and len(parts) > 1:
        if wanted(parts[-1]):
            played = "a script" if parts[-2].endswith(PLAYED) else ""
            agent, *model = [unquote(part.removesuffix(PLAYED)) for part in parts[:-1]]
            subject = Subject(agent, model[0] if model else None, played)
            for number in trials:
                yield StoredTrial(folder / f"trial-{number}", parts[-1], subject, number)
    elif len(parts) < _DEEPEST:
        for name in names:
            yield from _below(folder / name, [*parts, name], wanted)


def _record(path: Path) -> tuple[dict[str, Any], bytes]:
    """A record as plain data, and its bytes; empty where there is none. Raises HarnessError where it is damaged."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}, b""
    except OSError as error:
        raise HarnessError(f"cannot read {path}: {error.strerror or error}") from error
    try:
        record = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise HarnessError(f"{path} is damaged: {error}") from error
    return of_schema(path, record), data


# ---- final trees ----
@frozen
class Found:
    """A final tree: what it was taken from, how the transcript says that the run ended, and what to know of it."""

    tree: FinalTree
    source: TreeSource
    ended: str = ""
    notes: tuple[str, ...] = ()


@define
class Trees:
    """Finds final trees. contents: the digests of the project's files, as in keys."""

    session: Session
    contents: Contents
    _manifests: dict[str, tuple[Path, dict[str, str]]] = field(factory=dict)
    _bases: dict[str, dict[str, Entry]] = field(factory=dict)

    def of(self, trial: StoredTrial, unit: Case) -> Found:
        """The final tree of a trial. Raises HarnessError where none can be had, with all that was wrong."""
        archive, warm = trial.folder / ARCHIVE, self._warm(unit, trial.lane)
        key, tree_digest = str(trial.result.get("agent_key") or ""), trial.result.get("tree_digest")
        kept = self._kept(key, str(tree_digest)) if key else None
        if kept is not None:
            entry, files = kept
            place = archive if archive.is_file() else entry / TREE
            manifest = Manifest(files, (), 0)
            return Found(ArchivedTree(self.session, key, manifest, place, lane=trial.lane, warm=warm), "store")
        problem = ""
        if archive.is_file():
            try:
                tree = ArchivedTree.of(self.session, key, archive, lane=trial.lane, warm=warm)
                changed = tree_digest is not None and digest(tree.manifest.files) != tree_digest
                notes = ("its archive holds another tree than the one that was graded",) if changed else ()
                return Found(tree, "archive", notes=notes)
            except HarnessError as error:
                problem = error.message
        transcript = trial.folder / TRANSCRIPT
        if not transcript.is_file():
            raise HarnessError(problem or "it has neither a tree nor a transcript")
        rebuilt = rebuild(self._base(unit), transcript, caches=unit.setup.caches, harmless=own_commands(unit))
        doubts = [f"{name} cannot be rebuilt: {why}" for name, why in rebuilt.uncertain.items()]
        doubts = [f"only what was written last can be rebuilt: {rebuilt.whole}", *doubts] if rebuilt.whole else doubts
        notes = (*([problem] if problem else ()), *doubts, *rebuilt.notes)
        written = RebuiltTree(self.session, key, rebuilt.manifest, rebuilt, lane=trial.lane, warm=warm)
        return Found(written, "transcript", rebuilt.ended, notes)

    def _warm(self, unit: Case, lane: str) -> Warm | None:
        if lane == "local":
            return None
        from evalkit.execute.warm import warm_for

        return warm_for(self.session, unit.setup, lane, self.contents)

    def _kept(self, key: str, tree_digest: str) -> tuple[Path, dict[str, str]] | None:
        """The entry of a kept agent run, and its tree's digests, where that is the tree that was graded."""
        known = self._manifests.get(key)
        if known is None:
            entry = self.session.store.open("agent", key, only=("agent.json",)) if _is_key(key) else None
            if entry is None:
                return None
            try:
                record, _ = _record(entry / "agent.json")
                files = dict(record["tree"]["files"])
            except (HarnessError, KeyError, TypeError, ValueError):
                return None
            if record.get("tree_digest") != tree_digest:
                return None
            if len(self._manifests) >= _MANIFESTS:
                self._manifests.clear()
            known = self._manifests[key] = (entry, files)
        return known

    # ---- the workspace of a unit ----
    def _base(self, unit: Case) -> Mapping[str, Entry]:
        """The tree that an agent begins with; it is made where the store does not have it."""
        setup, session = unit.setup, self.session
        inputs = workspace_inputs(setup, self.contents)
        key = digest(inputs)
        if key not in self._bases:
            with session.store.claim("workspace", key):
                entry = session.store.open("workspace", key)
                if entry is None:
                    self._template(unit)
                    if any(skill.command for skill in setup.skills):
                        self.install(setup.toolchains)
                    make_workspace(session, setup, inputs=inputs)
                    entry = session.store.path("workspace", key)
            self._bases.clear()  # trials come unit by unit
            self._bases[key] = base_tree(entry / TREE, setup.caches)
        return self._bases[key]

    def _template(self, unit: Case) -> None:
        setup, session = unit.setup, self.session
        inputs = template_inputs(setup, self.contents)
        with session.store.claim("template", digest(inputs)):
            if session.store.open("template", digest(inputs)) is None:
                if setup.scaffold.command:
                    self.install(setup.toolchains)
                make_template(session, setup, inputs=inputs)

    def install(self, toolchains: Collection[Toolchain]) -> None:
        """Have toolchains ready, for commands that need them."""
        cache = self.session.places.cache
        for toolchain in toolchains:
            if find_installed(cache, toolchain) is None:
                install(cache, toolchain, self.session.environ, self.session.say)


def _is_key(key: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{64}", key) is not None
