"""The format `native-evals`: folders `cases/NAME/eval.json`, with starters and harnesses beside them.

Every case becomes a folder with its assets. `frontend` chooses a profile; the two tracks of a case are `track` blocks.
"""

from __future__ import annotations

import math
from pathlib import Path

from attrs import frozen

from evalkit.authoring.importers.fields import Fields, kind_of
from evalkit.authoring.importers.job import Job
from evalkit.authoring.importers.native_checks import Checks, Needs
from evalkit.authoring.importers.native_suite import suite_text
from evalkit.authoring.importers.report import Section
from evalkit.authoring.importers.source import Source, SourceError, read_json, read_text
from evalkit.authoring.importers.writer import Lines, duration, quoted, text

__all__ = ["MARKERS", "convert"]

MARKERS = ("eval.json",)
_TRACKS = {"ts": "ts-app", "zig": "app"}
_PROFILES = {"native": "app", "ts-core": "ts-core", "app-dual": "none"}


@frozen
class _Read:
    """A case whose eval.json was read."""

    source: Source
    folder: Path
    fields: Fields
    section: Section


def convert(job: Job) -> None:
    """Convert every case of the sources, and write the suite that they share."""
    cases = [case for source in job.sources for folder in source.find(*MARKERS)
             if (case := _read(job, source, folder)) is not None]
    limits = {_limits(case.fields, quiet=True) for case in cases}
    shared = limits.pop() if len(limits) == 1 and len(cases) > 1 else ""
    needs = Needs()
    for case in cases:
        _Case(job, needs, shared, case).convert()
    library: list[str] = []
    if "ts-harness" in needs.checks:
        library = _library(job, [case.folder for case in cases])
    job.target.add("suite.eval", suite_text(job.suite, needs, shared, library))
    job.report.shared.look("suite.eval", "toolchain, agent, profiles and checks say what the source's runner is known "
                           "to do; compare them with it")
    if needs.absent:
        job.report.shared.look("file_grep with expect: false", "it passes where no file matches; `grep … lacks` fails")


def _read(job: Job, source: Source, folder: Path) -> _Read | None:
    path = folder / "eval.json"
    section = job.report.case(folder.name, source.shown(path))
    try:
        data, twice = read_json(read_text(source, path))
        if not isinstance(data, dict):
            raise SourceError(f"it holds {kind_of(data)}, not an object")
    except SourceError as error:
        section.lost("eval.json", str(error))
        return None
    for key in twice:
        section.lost(key, "it stands twice in one object; the last one was taken")
    return _Read(source, folder, Fields(data, section), section)


def _limits(fields: Fields, *, quiet: bool = False) -> str:
    """The `limits` statement of a case; empty where it sets none. `quiet`: without a report."""
    fields = Fields(fields.data, Section("", "")) if quiet else fields
    parts = []
    turns, milliseconds = fields.number("maxTurns"), fields.number("timeoutMs")
    if turns is not None:
        if turns == math.floor(turns) and 1 <= turns <= 1_000_000:
            parts.append(f"turns {int(turns)}")
        else:
            fields.lost("maxTurns", f"{turns} is not a whole number of turns")
    if milliseconds is not None:
        seconds = math.ceil(milliseconds / 1000)
        if 1 <= seconds <= 7 * 24 * 3600:
            parts.append(f"time {duration(seconds)}")
            if seconds * 1000 != milliseconds:
                fields.section.changed("timeoutMs", f"{milliseconds} ms became {duration(seconds)}")
        else:
            fields.lost("timeoutMs", f"{milliseconds} ms is not a time from a second to a week")
    return f"limits {{ {'; '.join(parts)} }}" if parts else ""


def _library(job: Job, folders: list[Path]) -> list[str]:
    """The files that the source's runner puts beside every harness: harness-lib/ beside cases/."""
    for source in job.sources:
        for place in dict.fromkeys([source.root / "harness-lib", *(folder.parent.parent / "harness-lib"
                                                                  for folder in folders)]):
            if place.is_relative_to(source.root) and place.is_dir():
                files = {name: path for name, path in source.tree(place, job.report.shared).items()
                         if name.endswith(".zig") and "/" not in name}
                job.target.add_tree("harness-lib", files)
                return sorted(files)
    job.report.shared.look("harness-lib", "there is none beside the cases; a harness that imports it will not compile")
    return []


class _Case:
    def __init__(self, job: Job, needs: Needs, shared: str, case: _Read) -> None:
        self.job = job
        self.needs = needs
        self.shared = shared
        self.source, self.folder, self.fields, self.section = case.source, case.folder, case.fields, case.section

    def convert(self) -> None:
        fields, section = self.fields, self.section
        name = self.job.case_name(fields.text("name") or self.folder.name, section)
        prompt = fields.prompt()
        about = fields.text("description")
        frontend = fields.text("frontend")
        limits = _limits(fields)
        files = self.source.tree(self.folder, section, without=("eval.json",))
        checks = Checks(self.job, section, self.needs, set(files))
        common = checks.convert(fields.objects("checks"), 1)
        tracks = self._tracks(checks, files, frontend)
        fields.finish()
        if prompt is None or name is None or not (common.lines or any(track.lines for track in tracks.values())):
            if prompt is not None and name is not None:
                section.lost("checks", "no check is left, and a case without one measures nothing")
            return
        section.title = name
        lines = Lines()
        with lines.block(f"case {name}"):
            if about:
                lines.add(f"about {text(about, 1)}")
            lines.add(f"use {self._profile(frontend, tracks)}")
            if any(path.startswith("starter/") for path in files):
                lines.add('starter "starter"')
            self.job.prompt(lines, name, prompt, files)
            if limits != self.shared:
                lines.add(limits or "")
            lines.blank()
            lines.lines += common.lines
            for track, statements in tracks.items():
                lines.blank()
                with lines.block(f"track {track}"):
                    lines.lines += statements.lines
        if not self.job.add_case(name, lines, section):
            return
        self.job.target.add_tree(name, files)
        self._remarks(files, checks.used, bool(tracks))
        counts = [sum(line.lstrip().startswith(word) for line in lines.lines) for word in ("check ", "judge ")]
        section.carried(f"prompt; checks: {counts[0]}, judges: {counts[1]}, files beside it: {len(files)}")

    def _profile(self, frontend: str | None, tracks: dict[str, Lines]) -> str:
        if tracks:
            return "none"
        profile = _PROFILES.get(frontend or "native", "app")
        if frontend is None:
            self.section.look("frontend", "it is missing; taken as `native`")
        elif frontend not in _PROFILES:
            self.section.lost("frontend", f"there is no `{frontend}` in this format; taken as `native`")
        self.needs.profiles.add(profile)
        return profile

    def _tracks(self, checks: Checks, files: dict[str, Path], frontend: str | None) -> dict[str, Lines]:
        data = self.fields.take("tracks")
        if data is None and frontend != "app-dual":
            return {}
        if data is not None and not isinstance(data, dict):
            self.fields.lost("tracks", f"it is {kind_of(data)}, not an object")
        elif data is not None and frontend != "app-dual":
            self.section.look("tracks", f"the frontend is `{frontend}`, but there are tracks; taken as `app-dual`")
        given = data if isinstance(data, dict) else {}
        for track in given:
            if track not in _TRACKS:
                self.fields.lost(f"tracks.{track}", "the format has the tracks ts and zig")
        found = {}
        for track, profile in _TRACKS.items():
            lines = Lines(depth=2)
            lines.add(f"use {profile}")
            self.needs.profiles.add(profile)
            if any(path.startswith(f"starter-{track}/") for path in files):
                lines.add(f"starter {quoted(f'starter-{track}')}")
            own = given.get(track, {})
            if isinstance(own, dict):
                fields = Fields(own, self.section, f"tracks.{track}")
                lines.lines += checks.convert(fields.objects("checks"), 2).lines
                fields.finish()
            else:
                self.fields.lost(f"tracks.{track}", f"it is {kind_of(own)}, not an object")
            found[track] = lines
        return found

    def _remarks(self, files: dict[str, Path], used: set[str], tracked: bool) -> None:
        if self.folder.name != self.section.title:
            self.section.look("name", f"the source's folder is named `{self.folder.name}`")
        starters = ("starter/", "starter-ts/", "starter-zig/") if tracked else ("starter/",)
        spare = [path for path in files if path not in used and not path.startswith(starters)]
        for path in spare[:10]:
            self.section.look(path, "copied beside the case, but nothing in it names this file")
        if len(spare) > 10:
            self.section.look("…", f"and {len(spare) - 10} more such files")
