"""Which sample of an agent run is current: `fresh=1` asks for a new one, and the old ones stay in the store.

The store keeps every agent run under the key of its inputs. A further sample of equal inputs has its number among them.
`.evalkit/samples/<key of the first sample>` holds the number that is current; it is written when a new sample's agent
starts, so that a run which is killed goes on with the new sample, and one that never came to it shows the old one.
Where it is lost, the first sample is current again: nothing is paid for, unless that one was cleared away. It travels
with no export: the entries that an import brings tell it (`note_imported`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from pathlib import Path

from evalkit.digest import digest
from evalkit.execute.store import Store
from evalkit.plan.keys import SAMPLE, agent_inputs
from evalkit.plan.trials import Trial
from evalkit.records import write_bytes
from evalkit.values import evolve

__all__ = ["Samples", "note_imported"]


class Samples:
    """The current samples of a project. fresh: a new one of each trial is asked for."""

    def __init__(self, state: Path, store: Store, *, fresh: bool = False) -> None:
        self._folder = state / "samples"
        self._store = store
        self._fresh = fresh
        self._any = fresh or self._folder.is_dir()

    def current(self, trial: Trial, contents: Callable[[str], str]) -> Trial:
        """The trial with the number of its sample."""
        if not self._any or not trial.traits.sampled:
            return trial
        number = self._number(self.place(trial, contents))
        if self._fresh:
            while self._store.has("agent", digest(agent_inputs(evolve(trial, sample=number), contents))):
                number += 1
        return evolve(trial, sample=number)

    def begin(self, trial: Trial, contents: Callable[[str], str]) -> None:
        """The agent of a trial starts: its sample is current from now on. Raises HarnessError (a full disk)."""
        if self._any and trial.traits.sampled and trial.sample:
            write_bytes(self.place(trial, contents), str(trial.sample).encode())

    def place(self, trial: Trial, contents: Callable[[str], str]) -> Path:
        """The file that tells which sample of a trial is current; where there is none, it is the first."""
        return self._folder / digest(agent_inputs(evolve(trial, sample=0), contents))

    def _number(self, place: Path) -> int:
        try:
            return int(place.read_text())
        except (OSError, ValueError):
            return 0


def note_imported(state: Path, store: Store, keys: Collection[str]) -> None:
    """The last sample of those agent runs that were just imported is current, where there was no sample before.

    keys: of the new agent runs. What an entry says of its inputs counts where they come to its key.
    Raises HarnessError.
    """
    latest: dict[str, int] = {}
    for key in keys:
        manifest = store.manifest("agent", key)
        inputs = {} if manifest is None else dict(manifest.inputs)
        number = inputs.pop(SAMPLE, "")
        if re.fullmatch("[1-9][0-9]{0,8}", number) and digest({**inputs, SAMPLE: number}) == key:
            first = digest(inputs)
            latest[first] = max(int(number), latest.get(first, 0))
    for first, last in latest.items():
        place = state / "samples" / first
        if not place.exists() and (first in keys or not store.has("agent", first)):
            write_bytes(place, str(last).encode())
