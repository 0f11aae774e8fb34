"""The format `commands`: JSON or YAML lists of {id, prompt, tier, expect: [{name, args}], never}.

A case is one line; the cases of a tier share a file. Arguments are matched as in the source: only those that are
listed. A `check` is a function of the source's language and cannot be carried over.
"""

from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path
from typing import Any

from attrs import define, field

from evalkit.authoring.importers.fields import Fields, kind_of, unusable
from evalkit.authoring.importers.job import Job
from evalkit.authoring.importers.source import SKIPPED, Source, SourceError, read_json, read_text
from evalkit.authoring.importers.writer import Lines, is_name, quoted, slug
from evalkit.syntax.lower_values import MAX_ARGUMENT, MAX_DIGITS

__all__ = ["convert", "value_text"]

_SUFFIXES = (".json", ".yaml", ".yml")
_LARGEST = 5_000_000
_FULL = 40_000
"""Characters of one file: below what a file may hold, however short its words are."""
_LONGEST_CASE = 20_000
_WIDTH = 100
_MOST_VALUES = 200
"""Values of one argument, those within lists counted."""
_DEEPEST = 8


class _NoValue(Exception):
    """A value that the language has no literal for, and why."""


@define
class _Files:
    """The files to be, by tier: the cases of each."""

    texts: dict[str, Lines] = field(factory=dict)
    sizes: dict[str, int] = field(factory=dict)
    tiers: list[str] = field(factory=list)

    def add(self, stem: str, statement: list[str]) -> str:
        """Add a case. Returns the name of its file: a full one is followed by another."""
        size = sum(map(len, statement))
        name, number = f"{stem}.eval", 1
        while self.sizes.get(name, 0) + size > _FULL:
            number += 1
            name = f"{stem}-{number}.eval"
        self.sizes[name] = self.sizes.get(name, 0) + size
        lines = self.texts.setdefault(name, Lines())
        if len(statement) > 1:
            lines.blank()
        lines.add(*statement)
        return name


def convert(job: Job) -> None:
    """Convert every list of the sources, and write the suite that they share."""
    files = _Files()
    for source, path in _lists(job):
        _convert_list(job, source, path, files)
    for name, lines in files.texts.items():
        job.target.add(name, lines.text())
    job.target.add("suite.eval", _suite(job.suite, files.tiers))
    job.report.shared.look("suite.eval", "registry, system prompt and state are programs of the source: name them in "
                           "the agent's block")
    if files.tiers:
        job.report.shared.look("tiers", "say what each covers, and what it requires")


def _lists(job: Job) -> list[tuple[Source, Path]]:
    """The files to read: those that were named, or those with a known ending in a folder that was."""
    found = []
    for index, source in enumerate(job.sources):
        if source.root.is_dir():
            paths = sorted(path for path in source.root.rglob("*") if path.suffix in _SUFFIXES
                           and not SKIPPED & set(path.relative_to(source.root).parts))
            found += [(source, path) for path in paths]
        else:
            job.sources[index] = Source(source.root.parent, source.root)
            found.append((job.sources[index], source.root))
    return found


def _convert_list(job: Job, source: Source, path: Path, files: _Files) -> None:
    shown = source.shown(path)
    try:
        data, twice = _load(read_text(source, path, largest=_LARGEST), path.suffix)
        if not isinstance(data, list) and path != source.named:
            job.report.case(path.name, shown).look(path.name, f"passed over: it holds {kind_of(data)}, not a list")
            return
        if not isinstance(data, list):
            raise SourceError(f"it holds {kind_of(data)}, not a list of cases")
    except SourceError as error:
        job.report.case(path.name, shown).lost(path.name, str(error))
        return
    for key in twice:
        job.report.shared.lost(f"{shown}: {key}", "it stands twice in one object; the last one was taken")
    if not data:
        job.report.case(path.name, shown).look(path.name, "the list is empty")
    for index, item in enumerate(data):
        section = job.report.case(f"item {index + 1}", f"{shown}[{index}]")
        if isinstance(item, dict):
            _Case(job, files, Fields(item, section), path.stem).convert()
        else:
            section.lost("", f"it is {kind_of(item)}, not an object")


def _load(text: str, suffix: str) -> tuple[Any, list[str]]:
    if suffix not in (".yaml", ".yml"):
        return read_json(text)
    from evalkit.authoring.importers.plainyaml import read_yaml  # takes a while to import

    return read_yaml(text), []


class _Case:
    def __init__(self, job: Job, files: _Files, fields: Fields, stem: str) -> None:
        self.job = job
        self.files = files
        self.fields = fields
        self.section = fields.section
        self.stem = slug(stem, default="cases")
        self.comments: list[str] = []

    def convert(self) -> None:
        fields, section = self.fields, self.section
        wanted = fields.text("id", required=True)
        if wanted is not None:
            section.title = wanted
        prompt = fields.text("prompt", required=True)
        tier = self._tier()
        calls = [call for expected in fields.objects("expect") if (call := self._call(expected)) is not None]
        never = self._never()
        fields.finish()
        if wanted is None or prompt is None:
            return
        name = self.job.case_name(wanted, section)
        if name is None:
            return
        if not calls and not never:
            section.lost("expect", "no call is expected or forbidden, and a case without a check measures nothing")
            return
        body = [f"expect {' then '.join(calls)}"] if calls else []
        body += [f"never {', '.join(never)}"] if never else []
        head = f"case {name}{f' {tier}' if tier else ''}"
        statement = self._statement(head, prompt, body)
        if sum(map(len, statement)) > _LONGEST_CASE:
            section.lost(name, f"it is longer than {_LONGEST_CASE:,} characters")
            return
        if tier and tier not in self.files.tiers:
            self.files.tiers.append(tier)
        section.target = self.files.add(tier or self.stem, statement)
        section.carried(f"prompt, {len(calls)} expected and {len(never)} forbidden calls")

    def _statement(self, head: str, prompt: str, body: list[str]) -> list[str]:
        line = f"{head} {quoted(prompt)} {{ {'; '.join(body)} }}"
        if len(line) <= _WIDTH and not self.comments:
            return [line]
        lines = Lines()
        with lines.block(f"{head} {quoted(prompt)}"):
            for comment in self.comments:
                lines.comment(comment)
            lines.add(*body)
        return lines.lines

    def _tier(self) -> str | None:
        tier = self.fields.text("tier")
        if tier is None or is_name(tier):
            return tier
        name = slug(tier, default="tier")
        self.section.changed("tier", f"`{tier}` is no name of the language; it became `{name}`")
        return name

    def _never(self) -> list[str]:
        found = []
        for index, name in enumerate(self.fields.texts("never", one=True)):
            if is_name(name):
                found.append(name)
            else:
                self.fields.lost(f"never[{index}]", f"`{name}` is no name of the language")
        return list(dict.fromkeys(found))

    def _call(self, expected: Fields) -> str | None:
        name = expected.text("name", required=True)
        if name is None or not is_name(name):
            if name is not None:
                expected.lost("name", f"`{name}` is no name of the language; the call was left out")
            return None
        arguments = self._arguments(expected, name)
        check = expected.take("check")
        if check is not None or "check" in expected.data:
            words = f": {check}" if isinstance(check, str) else ""
            expected.lost("check", f"it is code, which is not run{words}; write it as ranges or types: `px > 1`, "
                          "`at in 1..2`, `mode one of \"a\", \"b\"`")
            self.comments.append(f"look: the source also checks the arguments of {name} by code{words}"[:400])
        expected.finish()
        return f"{name}({', '.join(arguments)})" if arguments else name

    def _arguments(self, expected: Fields, call: str) -> list[str]:
        args = expected.take("args")
        if args is None:
            return []
        if not isinstance(args, dict):
            expected.lost("args", f"it is {kind_of(args)}, not an object")
            return []
        found = []
        for key, value in args.items():
            label = f"args.{key}"
            if not isinstance(key, str) or not is_name(key):
                reason = f"`{key}` is no name of the language"
            else:
                try:
                    found.append(f"{key}: {value_text(value)}")
                    continue
                except _NoValue as error:
                    reason = str(error)
            expected.lost(label, f"{reason}; any value is accepted")
            self.comments.append(f"look: the source also checks {key!r} of {call}: {reason}"[:400])
        return found


def value_text(value: object) -> str:
    """The literal of an argument's value. Raises `_NoValue` where the language has none."""
    return _value(value, [_MOST_VALUES], 0)


def _value(value: object, left: list[int], depth: int) -> str:
    left[0] -= 1
    if left[0] < 0 or depth > _DEEPEST:
        raise _NoValue("it is too large")
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        if reason := unusable(value):
            raise _NoValue(reason)
        return quoted(value)
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list):
        return f"[{', '.join(_value(item, left, depth + 1) for item in value)}]"
    raise _NoValue(f"it is {kind_of(value)}, which has no literal")


def _number(value: int | float) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        raise _NoValue(f"{value} is not a number that has a literal")
    if abs(value) > MAX_ARGUMENT:
        raise _NoValue(f"{_short(value)} is beyond ±{MAX_ARGUMENT:,}, up to which JSON holds whole numbers exactly")
    if isinstance(value, int):
        return str(value)
    text = repr(value)
    if "e" in text:
        text = f"{Decimal(text):f}"
    if len(text) > MAX_DIGITS:
        raise _NoValue(f"{value} has too many digits")
    return text


def _short(value: int | float) -> str:
    """Of a number, as much as a line of a report can hold."""
    return f"{Decimal(value):.6g}"


def _suite(name: str, tiers: list[str]) -> str:
    lines = Lines()
    with lines.block(f"suite {name}"):
        lines.comment("Written by `evalkit import commands`. Lines under `look:` are what the source says in its "
                      "program.")
        lines.blank()
        lines.comment('look: name the commands, the system prompt and the state: registry "package.module:name"; '
                      'system "package.module:name"; state "state.yaml"')
        lines.add("agent tools { }", "use agent tools")
        if tiers:
            lines.blank()
            lines.comment("look: what each covers, and what it requires: `schema flat`, `confirmation` or `read`.")
            lines.add(*(f'tier {tier} {quoted(f"cases of the tier {tier}")}' for tier in tiers))
    return lines.text()
