"""Keeps report.html and the data beside it up to date: what did not change is not made again.

The data of a trial is a file, `report-data/<place>.js`. It is made anew where the trial's result.json, or its
regrade.json, has another stamp than when it was made: whatever else it shows (the transcript, the final tree,
screenshots) is named by the result, or comes with it. The page is made anew where summary.json, or the page's own
program, is another. Both where somebody deleted them. What the last update knew is kept in a cache, which can be
deleted at any time. What makes data and pages is imported where there is some to be made.

Texts of trials are in these files alone, and each passed the redactor.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from operator import methodcaller
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import orjson

from evalkit import __version__
from evalkit.analysis.survey import stamps_of
from evalkit.errors import HarnessError
from evalkit.execute.secrets import Redactor
from evalkit.kept import Kept, keep_step, read_parts
from evalkit.records import BadRecord, read_plain, write_bytes
from evalkit.report.html.program import program_files
from evalkit.report.update import DATA, PAGE, REGRADED, SUMMARY
from evalkit.values import Value

if TYPE_CHECKING:
    from evalkit.report.html.trial import Prompt, Reader

__all__ = ["DATA", "PAGE", "PageState", "update_page"]

_FORM = 5
"""To be raised with every change of what the data of a trial holds."""


def _unknown(case: str, unit: str, inputs: Mapping[str, str]) -> str:
    return ""


class PageState(Value):
    """What an update did. written: files, by path below the run's folder. errors: of trials that cannot be shown."""

    written: tuple[str, ...] = ()
    errors: tuple[HarnessError, ...] = ()


def update_page(folder: Path, cache: Path, store: Path, redactor: Redactor, *, prompt: Prompt = _unknown,
                forced: bool = False, held: Iterable[str] = ()) -> PageState:
    """Bring report.html of a run up to date with its summary.json. It does nothing where there is none.

    folder: results/<run>. cache: the file that keeps what is known. store: the store's folder, for the workspaces that
    agents began with. prompt: tells what agents were asked. forced: make all of it anew. held: ids of trials whose
    results the caller has just found as they were when the page was last made: they are not looked at again, as long as
    there is a folder of data. Raises HarnessError where it cannot write or the summary is damaged, and UserError where
    Jinja2 is not installed.
    """
    summary, page, *program = _stamps([f"{folder}/{SUMMARY}", f"{folder}/{PAGE}", *program_files()])
    if summary is None:
        return PageState()
    key = _key(redactor)
    known, kept = (_NOTHING, None) if forced else _known(cache, key)
    still = {*map(methodcaller("removeprefix", f"{folder.name}/"), held)} if (folder / DATA).is_dir() else set()
    still &= known.trials.keys()
    stands = known.page == [summary, page, program]
    trials = [] if stands and still else read_plain(folder / SUMMARY)["trials"]
    data = _Data(folder, partial(_reader, redactor, store, prompt), known.trials)
    data.keep(known.trials.keys() if stands and still else {*_places(trials)}, still)
    data.drop(everything=known is _NOTHING)
    if not stands:
        from evalkit.report.html.page import render
        from evalkit.report.html.texts import cleaned

        text = render(folder.name, cleaned(trials, redactor), DATA)
        write_bytes(folder / PAGE, text.encode(), sync=False)
        data.written.append(PAGE)
        [page] = _stamps([f"{folder}/{PAGE}"])
    page_now, changed = [summary, page, program], data.changed
    if changed or page_now != known.page:
        keep_step(cache, key, kept, orjson.dumps([page_now, changed]), lambda: orjson.dumps([page_now, data.stamps]))
    return PageState(tuple(data.written), tuple(data.errors))


class _Known(Value):
    """What an update leaves to the next one.

    page: stamps of the summary, of the page, and of its program. trials: by place, the stamps of the result, of its
    regrading, and of the data made of both.
    """

    page: list[Any]
    trials: dict[str, list[Any]]


_NOTHING = _Known([], {})


def _places(trials: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The places of trials with a result, by their lines of a summary."""
    for line in trials:
        place = PurePosixPath(str(line["place"]))
        if line["ended"] and not place.is_absolute() and ".." not in place.parts:
            yield str(place)


def _reader(redactor: Redactor, store: Path, prompt: Prompt) -> Reader:
    from evalkit.execute.store import Store
    from evalkit.report.html.changes import Changes
    from evalkit.report.html.trial import Reader

    return Reader(redactor, Changes(Store(store), redactor.text), prompt)


class _Data:
    """The data of a run's trials. before: stamps that are known. stamps: those of now."""

    def __init__(self, folder: Path, reader: Callable[[], Reader], before: Mapping[str, list[Any]]) -> None:
        self._folder, self._reader, self._before = folder, reader, before
        self._looked: list[str] = []
        self.stamps: dict[str, list[Any]] = {}
        self.written: list[str] = []
        self.errors: list[HarnessError] = []

    @property
    def changed(self) -> dict[str, list[Any] | None]:
        """The stamps that are others than before, None of what is gone."""
        asked = (*self._looked, *(self._before.keys() - self.stamps.keys()))
        return {place: self.stamps.get(place) for place in asked if self.stamps.get(place) != self._before.get(place)}

    def keep(self, places: AbstractSet[str], held: AbstractSet[str]) -> None:
        """Have the data of trials there, and right. held: those whose data is."""
        held = held & places
        self.stamps = dict(zip(held, map(self._before.__getitem__, held), strict=True))
        self._looked = sorted(places - held)
        changed: list[str] = []
        for place in self._looked:
            now = self._look(place)
            if now[0] is not None:
                self.stamps[place] = now
                if now != self._before.get(place):
                    changed.append(place)
        reader = self._reader() if changed else None
        for place in changed:
            assert reader is not None
            try:
                made = _made(reader, self._folder / place, place)
            except HarnessError as error:
                self.errors.append(error)
                del self.stamps[place]
                continue
            write_bytes(self._folder / DATA / f"{place}.js", made, sync=False)
            self.written.append(f"{DATA}/{place}.js")
            self.stamps[place][2:] = _stamps([f"{self._folder}/{DATA}/{place}.js"])

    def _look(self, place: str) -> list[Any]:
        folder = f"{self._folder}/{place}"
        return _stamps([f"{folder}/result.json", f"{folder}/{REGRADED}", f"{self._folder}/{DATA}/{place}.js"])

    def drop(self, *, everything: bool) -> None:
        """Remove the data of trials that are gone. everything: look for it, as nobody knows what there is."""
        root = self._folder / DATA
        gone = [root / f"{place}.js" for place in self._before.keys() - self.stamps.keys()]
        if everything:
            wanted = {root / f"{place}.js" for place in self.stamps}
            gone += [path for path in root.rglob("*.js") if path not in wanted]
        for path in gone:
            with contextlib.suppress(OSError):
                path.unlink()
                for parent in path.parents:
                    if parent in (root, self._folder):
                        break
                    parent.rmdir()


def _made(reader: Reader, folder: Path, place: str) -> bytes:
    """The script that brings a trial's data. Raises HarnessError where its result cannot be read."""
    from evalkit.report.html.texts import embedded

    result = folder / "result.json"
    try:
        data = reader.read(folder, place, read_plain(result))
    except FileNotFoundError as error:
        raise HarnessError(f"{result} is gone", hint="run again") from error
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise BadRecord(f"{result} is damaged: it is not a result: {error}",
                        hint="delete it; the next run makes it again") from error
    return f"evalkit({embedded(data)});\n".encode()


def _key(redactor: Redactor) -> str:
    """Of what all data is made with: where another key is known by now, all of it is made anew."""
    return f"page {_FORM} of evalkit {__version__} {redactor.fingerprint('report')[:16]}"


def _known(cache: Path, key: str) -> tuple[_Known, Kept | None]:
    """What the last update left: all, and what changed since."""
    kept = read_parts(cache, key)
    if kept is None:
        return _NOTHING, None
    page, trials = orjson.loads(kept.parts[0])
    for part in kept.parts[1:]:
        page, changed = orjson.loads(part)
        trials |= changed
        for place in [place for place, stamps in changed.items() if stamps is None]:
            del trials[place]
    return _Known(page, trials), kept


def _stamps(paths: Sequence[str]) -> list[list[int] | None]:
    """Stamps of files as JSON has them; None for one that is not there."""
    return [found and [*found] for found in stamps_of(paths)]
