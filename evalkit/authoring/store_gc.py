"""`evalkit store gc`: removes what is made again for nothing and is not needed, and what is left of broken things.

An entry goes where it costs nothing to make again (or `--paid` is given), no result names it or what was made from it,
and nobody made or used it within the time of `--older`. What results name is looked up in every JSON file below
results/; a store that several checkouts share is used by results of which this one knows nothing, so there what was
paid for goes only when those checkouts are named too.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from attrs import frozen

from evalkit.authoring.columns import columns, count
from evalkit.authoring.project import project_of
from evalkit.authoring.store_facts import Fact, ago, closure, facts, megabytes, naming, size_of
from evalkit.dag.lock import alone
from evalkit.errors import HarnessError, UserError
from evalkit.execute.folders import remove_tree
from evalkit.execute.places import Places
from evalkit.execute.store import Store

__all__ = ["clear", "seconds"]

_SPAN = re.compile(r"([0-9]{1,5})([mhdw])")
_UNITS = {"m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400}
_COSTLY = ("agent", "judge")
"""Kinds of damaged entries of which something may still be worth its price: a transcript, an answer."""


def seconds(text: str) -> float:
    """A span such as `30d`. Raises ValueError."""
    found = _SPAN.fullmatch(text)
    if found is None:
        raise ValueError("a number with m, h, d or w: 30d, 12h")
    return float(int(found[1]) * _UNITS[found[2]])


@frozen
class _Found:
    """What can go: entries, damaged entries that were set aside, and what killed processes were making."""

    entries: tuple[Fact, ...]
    damaged: tuple[Path, ...]
    left: tuple[Path, ...]
    kept_damaged: int


def clear(places: Places, store: Store, others: Sequence[Path], *, older: float, paid: bool, dry: bool) -> None:
    """Remove, or with `dry` list, what can go. Waits for a run of this project. Raises UserError and HarnessError."""
    folders = [places.results, *(_results_of(other) for other in others)]
    if paid and places.shared_store is not None and not others:
        raise UserError(f"other checkouts use the store {store.root} too, and their results may name what was paid for",
                        hint="name them: --with ../other --with ../third")
    with ExitStack() as stack:
        if not dry:
            stack.enter_context(alone(places.state))
        found = _find(store, folders, older=older, paid=paid)
        if dry:
            _list(found)
            size = sum(_sizes(found))
        else:
            size = _remove(store, found)
    _conclude(found, size, dry=dry)


def _results_of(folder: Path) -> Path:
    """The results of another project. Raises UserError where there is none."""
    root = project_of(folder.absolute())
    if root is None:
        raise UserError(f"there is no project in `{folder}`")
    return root / "results"


def _find(store: Store, folders: Iterable[Path], *, older: float, paid: bool) -> _Found:
    named = naming(folders)
    known = {fact.name: fact for fact in facts(store, store.entries(), named.units)}
    needed = closure(known, named.digests)
    limit = time.time() - older
    entries = [fact for fact in known.values() if fact.name not in needed and (paid or not fact.paid)
               and max(fact.made, fact.used) <= limit]
    damaged = store.damaged()
    going = [path for path in damaged if paid or not path.name.startswith(tuple(f"{kind}-" for kind in _COSTLY))]
    return _Found(tuple(entries), tuple(going), tuple(store.leftovers()), len(damaged) - len(going))


def _sizes(found: _Found) -> Iterable[int]:
    yield from (fact.bytes for fact in found.entries)
    yield from (size_of(path) for path in (*found.damaged, *found.left))


def _remove(store: Store, found: _Found) -> int:
    """Remove what was found; what is in the hands of another process stays. Returns the bytes."""
    size = 0
    for fact in found.entries:
        with store.try_claim(fact.kind, fact.key) as mine:
            if mine:
                store.remove(fact.kind, fact.key)
                size += fact.bytes
    for path in (*found.damaged, *found.left):
        size += size_of(path)
        remove_tree(path)
        if path.is_dir():
            raise HarnessError(f"cannot remove {path}", hint="look at its permissions")
    store.sweep()
    return size


# ---- what is said ----
def _list(found: _Found) -> None:
    now = time.time()
    rows = [(fact.kind, fact.key[:12], megabytes(fact.bytes), f"unused for {ago(now - max(fact.made, fact.used))}",
             fact.what) for fact in found.entries]
    rows += [("damaged", path.name[:30], megabytes(size_of(path)), "", "") for path in found.damaged]
    rows += [("left over", path.name[:30], megabytes(size_of(path)), "", "") for path in found.left]
    for line in columns(rows):
        print(line)


def _conclude(found: _Found, size: int, *, dry: bool) -> None:
    kinds: dict[str, int] = {}
    for fact in found.entries:
        kinds[fact.kind] = kinds.get(fact.kind, 0) + 1
    parts = [count(number, kind) for kind, number in sorted(kinds.items())]
    if found.damaged:
        parts.append(f"{len(found.damaged)} damaged")
    if found.left:
        parts.append(count(len(found.left), "leftover"))
    what = ", ".join(parts) or "nothing"
    freed = f": {megabytes(size)}" if parts else ""
    print(f"{'would remove' if dry else 'removed'} {what}{freed}")
    if found.kept_damaged:
        kept = "1 damaged entry that was paid for stays" if found.kept_damaged == 1 else \
            f"{found.kept_damaged} damaged entries that were paid for stay"
        print(f"{kept}; `--paid` removes damaged ones too", file=sys.stderr)
