"""What a person wants to know of the store's entries: what each is, what it costs to make again, who names it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from attrs import field, frozen

from evalkit.authoring.columns import one_line
from evalkit.errors import HarnessError
from evalkit.execute.store import Store
from evalkit.execute.store_entry import Damaged, is_key

__all__ = ["Fact", "Naming", "ago", "closure", "facts", "megabytes", "naming", "size_of"]

_DIGEST = re.compile(rb'"([0-9a-f]{64})"')
_TRANSCRIPT = "transcript.jsonl"
_CHEAP = ("template", "workspace")
"""Kinds that are made again for nothing, where no manifest says it."""
_RECORDS = {"agent": ("agent.json",), "judge": ("judging.json", "response.json")}
"""By kind, the files that tell what an entry is; the first that is there does."""
_SMALL = 16 * 1024 * 1024
"""Bytes of a record that is read to tell what an entry is."""


@frozen
class Fact:
    """An entry. made, used: seconds since 1970. paid: it cost money. damage: why it could not be looked into."""

    kind: str
    key: str
    made: float
    used: float
    bytes: int
    paid: bool
    what: str
    cost: float | None
    ending: str
    inputs: Mapping[str, str] = field(repr=False)
    damage: str = ""

    @property
    def name(self) -> tuple[str, str]:
        return self.kind, self.key


@frozen
class Naming:
    """What results name. digests: of any kind, store keys among them. units: those whose result names an agent run."""

    digests: frozenset[str]
    units: Mapping[str, tuple[str, ...]]


# ---- entries ----
def facts(store: Store, names: Iterable[tuple[str, str]], units: Mapping[str, tuple[str, ...]]) -> Iterator[Fact]:
    """What is known of these entries, but for those that vanish meanwhile. No digest is taken."""
    for kind, key in names:
        with contextlib.suppress(FileNotFoundError):
            yield _fact(store, kind, key, units.get(key, ()))


def _fact(store: Store, kind: str, key: str, units: tuple[str, ...]) -> Fact:
    folder = store.path(kind, key)
    used = folder.lstat().st_mtime
    damage = ""
    try:
        manifest = store.manifest(kind, key)
    except Damaged as error:
        manifest, damage = None, str(error)
    record = _record(folder, *_RECORDS.get(kind, ()))
    inputs = manifest.inputs if manifest is not None else _texts(record.get("inputs"))
    made = _seconds(manifest.made_at) if manifest is not None else None
    paid = manifest.durable if manifest is not None else kind not in _CHEAP and not _free_run(kind, record)
    what, cost, ending = _told(kind, record, inputs)
    if units:
        what = f"{what}: {', '.join(units)}"
    return Fact(kind, key, used if made is None else made, used,
                manifest.bytes if manifest is not None else size_of(folder), paid, one_line(what), cost, ending,
                inputs, damage)


def _told(kind: str, record: Mapping[str, Any], inputs: Mapping[str, str]) -> tuple[str, float | None, str]:
    """What an entry is, what it cost in dollars, and how it ended."""
    if kind == "agent":
        ending = _table(record.get("ending"))
        who = " ".join(str(part) for part in (record.get("agent"), record.get("model")) if part)
        return who + (" (dry)" if "dry" in inputs else ""), _cost(ending), str(ending.get("status") or "")
    if kind == "judge":
        return str(record.get("model") or inputs.get("model") or ""), _cost(record), ""
    return ", ".join(name for name in inputs if name not in ("layout", "template")), None, ""


def _cost(record: Mapping[str, Any]) -> float | None:
    cost = _table(record.get("usage")).get("cost")
    return float(cost) if isinstance(cost, int | float) else None


def _free_run(kind: str, record: Mapping[str, Any]) -> bool:
    """Whether an agent run of an earlier evalkit called no model."""
    return kind == "agent" and bool(record) and (record.get("model") is None or "dry" in _texts(record.get("inputs")))


def _record(folder: Path, *names: str) -> Mapping[str, Any]:
    """The fields of the first of these records that can be read."""
    for name in names:
        path = folder / name
        with contextlib.suppress(OSError, orjson.JSONDecodeError):
            if path.is_file() and path.stat().st_size <= _SMALL:
                return _table(orjson.loads(path.read_bytes()))
    return {}


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> dict[str, str]:
    return {name: text for name, text in _table(value).items() if isinstance(text, str)}


def _seconds(text: str) -> float | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def size_of(folder: Path) -> int:
    """Bytes of the files below a folder."""
    size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                size += Path(place, name).lstat().st_size
    return size


# ---- results ----
def naming(folders: Iterable[Path], case: str = "") -> Naming:
    """What the records below folders of results name; with a case, only those of its trials.

    Every digest in any JSON file counts: whoever asks wants to keep what may be needed. Raises HarnessError where a
    record cannot be read, since what it names would be lost.
    """
    digests: set[str] = set()
    units: dict[str, set[str]] = {}
    for folder in folders:
        for path in _records(folder, case):
            try:
                data = path.read_bytes()
            except OSError as error:
                raise HarnessError(f"cannot read {path}: {error.strerror or error}") from error
            digests.update(found.decode() for found in _DIGEST.findall(data))
            if path.name == "result.json":
                result = _result(data)
                if isinstance(result.get("agent_key"), str):
                    units.setdefault(result["agent_key"], set()).add(str(result.get("unit") or result.get("case")))
    return Naming(frozenset(digests), {key: tuple(sorted(names)) for key, names in units.items()})


def _records(folder: Path, case: str) -> Iterator[Path]:
    if not case:
        yield from _json_below(folder)
        return
    for path in sorted(folder.rglob("result.json")):
        with contextlib.suppress(OSError):
            result = _result(path.read_bytes())
            if case in (result.get("case"), result.get("unit")):
                yield from _json_below(path.parent)


def _json_below(folder: Path) -> Iterator[Path]:
    for place, _, names in os.walk(folder):
        yield from (Path(place, name) for name in sorted(names)
                    if name.endswith((".json", ".jsonl")) and name != _TRANSCRIPT)


def _result(data: bytes) -> Mapping[str, Any]:
    try:
        return _table(orjson.loads(data))
    except orjson.JSONDecodeError:
        return {}


def closure(known: Mapping[tuple[str, str], Fact], digests: Iterable[str]) -> set[tuple[str, str]]:
    """The entries that are named, and those that they were made from: an agent run's workspace, its template."""
    by_key: dict[str, list[Fact]] = {}
    for fact in known.values():
        by_key.setdefault(fact.key, []).append(fact)
    found: set[tuple[str, str]] = set()
    waiting = [fact for digest in digests for fact in by_key.get(digest, ())]
    while waiting:
        fact = waiting.pop()
        if fact.name not in found:
            found.add(fact.name)
            waiting += [made_from for value in fact.inputs.values() if is_key(value)
                        for made_from in by_key.get(value, ())]
    return found


# ---- figures ----
def ago(seconds: float) -> str:
    """A span of time, to its largest unit: `3d`."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(0, int(seconds))}s"


def megabytes(size: int) -> str:
    """`812 B`, `3.4 kB`, `18 MB`."""
    if size < 1000:
        return f"{size} B"
    value = float(size)
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1000
        if value < 999.5 or unit == "TB":
            break
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:.0f} {unit}"
