"""Which folders the notes of finished agent runs speak for (finished.py). Mostly there is no note."""

from __future__ import annotations

from pathlib import Path

from evalkit.execute.folders import remove_half_written

__all__ = ["spoken_for"]


def spoken_for(store: Path, work: Path | None = None) -> set[str]:
    """The lasting names of folders that sweeps leave alone. Notes that serve nobody any more are removed.

    work: of the project that sweeps. Of the notes of other projects that share the store nothing is known but their
    age.
    """
    folder = store / "finished"
    remove_half_written(folder)
    notes = list(folder.iterdir()) if folder.is_dir() else []
    if not notes:
        return set()
    from evalkit.execute.finished import kept_by

    return kept_by(notes, store, work)
