"""The agent `replay:PATH`: what an older transcript tells that an agent wrote, laid over this case's workspace.

PATH is a transcript, the folder of a trial of ours, or a folder above it that holds one trial of the unit alone. No
model is called. A file that the transcript does not tell for certain (execute/rebuild.py) is an error, and no file of
the agent's: a verdict on it would be a guess. It is the person's mistake, who may name another transcript.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from evalkit.analysis.model import Case, Toolchain
from evalkit.errors import HarnessError, UserError
from evalkit.execute.agents.base import Job
from evalkit.execute.folders import remove_tree
from evalkit.execute.outcome import Ending, Usage
from evalkit.execute.own_commands import own_commands
from evalkit.execute.pack import pack
from evalkit.execute.rebuild import rebuild
from evalkit.execute.rebuilt import base_tree
from evalkit.execute.transcripts import Limit, MessageUsage, read_events
from evalkit.execute.transcripts.totals import Totals
from evalkit.plan.trials import AgentTraits, Subject
from evalkit.records import structure
from evalkit.values import evolve

if TYPE_CHECKING:
    from evalkit.execute.agents.registry import Wanted

__all__ = ["Replay", "make"]

TRANSCRIPT = "transcript.jsonl"
_OWN = Subject("replay:").path
"""How the folder of a replay's results begins."""
_TRAITS = AgentTraits("1", frozenset(), sampled=False, builds=False)
_SHOWN = 3
_CAPS = ("turns", "cost", "tokens")


@frozen
class Replay:
    """Plays what lies at a path. said: the path as it was given."""

    root: Path
    said: str
    traits: AgentTraits = _TRAITS
    toolchain: Toolchain | None = None

    def cannot(self, unit: Case) -> list[str]:
        return []  # it reads nothing that a case could configure

    def given(self, unit: Case) -> tuple[tuple[str, str], ...]:
        """The transcript that it plays. Raises UserError where there is none of the unit, or more than one."""
        return (("transcript", self._transcript(unit)),)

    def describe(self, job: Job) -> str:
        return f"lays what {self._transcript(job.trial.case)} tells over the workspace; starts no program"

    def run(self, job: Job) -> Ending:
        unit, shown = job.trial.case, self._transcript(job.trial.case)
        transcript = self.root / shown
        archive = job.home / "workspace.tar.zst"
        pack(job.workspace, archive, exclude=unit.setup.caches)
        base = base_tree(archive)
        try:
            rebuilt = rebuild(base, transcript, caches=unit.setup.caches, harmless=own_commands(unit))
            ending = _ending(transcript)
        except HarnessError as error:
            raise UserError(f"{shown} cannot be replayed: {error.message}", hint=error.hint) from error
        if doubt := rebuilt.doubt(None):
            raise UserError(f"{shown} cannot be replayed: {doubt}",
                            hint="regrade:RUN grades what is known of a stored trial, check by check")
        remove_tree(job.workspace)
        rebuilt.write(job.workspace)
        with transcript.open("rb") as source, job.transcript.open("wb") as copy:
            if job.redactor.replacements:
                copy.writelines(job.redactor.clean(line) for line in source)
            else:
                shutil.copyfileobj(source, copy)
        return evolve(ending, notes=(*ending.notes, *rebuilt.notes))

    # ---- which transcript ----
    def _transcript(self, unit: Case) -> str:
        """Its path, relative to the project where it is in it."""
        place = self.root / Path(self.said).expanduser()
        try:
            found = self._found(place, unit)
        except OSError as error:
            raise UserError(f"agent=replay:{self.said}: cannot be read: {error.strerror or error}") from error
        return found.relative_to(self.root).as_posix() if found.is_relative_to(self.root) else str(found)

    def _found(self, place: Path, unit: Case) -> Path:
        if place.is_file():
            return place
        if not place.is_dir():
            raise UserError(f"agent=replay:{self.said}: there is no such file or folder",
                            hint="it takes a transcript, or the folder of a trial: results/RUN/AGENT/…/CASE/trial-1")
        if (place / TRANSCRIPT).is_file():
            return place / TRANSCRIPT
        trials = sorted(path for path in place.absolute().rglob(f"trial-*/{TRANSCRIPT}")
                        if path.parent.parent.name == unit.unit and not _is_replay(path.relative_to(place.absolute())))
        if not trials:
            raise UserError(f"agent=replay:{self.said} holds no transcript of `{unit.unit}`")
        if len(trials) > 1:
            named = [path.parent.relative_to(place.absolute()).as_posix() for path in trials]
            more = f" and {len(named) - _SHOWN} more" if len(named) > _SHOWN else ""
            raise UserError(f"agent=replay:{self.said} holds {len(trials)} trials of `{unit.unit}`",
                            hint=f"name one of them: {', '.join(named[:_SHOWN])}{more}")
        return trials[0]


def _is_replay(path: Path) -> bool:
    """Whether a trial is a replay itself: it would stand beside the one that it played."""
    return any(part.startswith(_OWN) for part in path.parts)


def make(wanted: Wanted) -> Replay:
    return Replay(wanted.root, wanted.argument)


# ---- how the run ended ----
_FREE = Usage(turns=0, cost=0.0, cost_source="replayed")


def _ending(transcript: Path) -> Ending:
    """How the run ended that is replayed: by its result, where it is beside it, else by what the transcript tells."""
    kept = _kept(transcript.with_name("result.json"))
    if kept is not None:
        return Ending(kept.status, f"replayed: {kept.detail}", _free(kept.usage), kept.notes)
    totals, limit = Totals(), ""
    for event in read_events(transcript):
        totals.add(event)
        if isinstance(event, Limit) and event.what in (*_CAPS, "time"):
            limit = event.what
        elif isinstance(event, MessageUsage):
            limit = ""
    ended = totals.ended
    usage = _free(Usage(totals.replies, totals.input_tokens, totals.output_tokens, totals.cache_read_tokens,
                        totals.cache_write_tokens))
    if limit in _CAPS or (ended is not None and ended.how == "error_max_turns"):
        return Ending("capped", "replayed: it reached a limit", usage)
    if limit == "time":
        return Ending("timeout", "replayed: it reached its time limit", usage)
    return Ending("completed", f"replayed: {ended.how if ended is not None else 'its transcript tells no end'}", usage)


def _free(usage: Usage) -> Usage:
    return evolve(usage, cost=0.0, cost_source="replayed")


def _kept(path: Path) -> Ending | None:
    try:
        record: Any = json.loads(path.read_bytes())
        return structure(record["ending"], Ending)
    except Exception:  # noqa: BLE001 - no result, or one that is damaged: the transcript tells
        return None
