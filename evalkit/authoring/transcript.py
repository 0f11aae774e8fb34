"""`evalkit transcript`: what an agent did, as a conversation or as plain data, whatever format its transcript has."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import fields

from evalkit.analysis.index import case_of
from evalkit.authoring.columns import count
from evalkit.authoring.project import project_of
from evalkit.errors import Exit, UserError
from evalkit.execute.secrets import Redactor
from evalkit.execute.transcripts import (
    Compacted,
    Ended,
    Event,
    Folder,
    Gap,
    Limit,
    Message,
    MessageUsage,
    SubAgent,
    ToolCall,
    ToolResult,
    read_events,
)
from evalkit.execute.transcripts.totals import Totals
from evalkit.grade.evidence import plain
from evalkit.plan.choices import secret_names
from evalkit.values import evolve

__all__ = ["ABOUT", "arguments", "main"]

ABOUT = "what an agent did: its transcript as a conversation"
_EPILOG = """\
examples:
  evalkit transcript greeting                                      the one trial of a case in the run `latest`
  evalkit transcript latest/claude/m/greeting/trial-2              a trial, as results/ has it
  evalkit transcript old/session.jsonl                             a file: Claude Code's stream or session, or our own
  evalkit transcript greeting --json | jq -r 'select(.type == "tool_call") | .command'

The number is the line in the file, as checks' evidence has it. What a call returned is cut after its first lines.
"""
_NAME = "transcript.jsonl"
_TRIALS = 8
"""Trials that are named where several are meant."""
_LINES, _WIDE = 3, 160
"""Lines of a result that are shown, and characters of a line of a result or a call."""
_TYPES: dict[type[Any], str] = {
    Folder: "folder", Message: "message", ToolCall: "tool_call", ToolResult: "tool_result", MessageUsage: "usage",
    Limit: "limit", SubAgent: "sub_agent", Compacted: "compacted", Gap: "gap", Ended: "end",
}
_TOKENS = {"input_tokens": "in", "output_tokens": "out", "cache_read_tokens": "from a cache",
           "cache_write_tokens": "into a cache"}
_ROLES = {"assistant": "agent", "thinking": "thinks", "user": "user", "system": "system"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("what", metavar="PATH|TRIAL", help="a transcript, a trial (its folder or its id), or a case")
    parser.add_argument("--json", action="store_true", help="the events, one JSON object a line")


def main(options: argparse.Namespace) -> int:
    """Print a transcript. Raises UserError where there is none, HarnessError where it cannot be read."""
    path = _find(options.what)
    told = False
    for line in _data(path) if options.json else _page(path):
        told = True
        print(line)
    if not told:
        raise UserError(f"{plain(str(path))} tells nothing of an agent",
                        hint="known are Claude Code's stream and session files, and what evalkit's own agents leave")
    return Exit.OK


# ---- which file ----
def _find(what: str) -> Path:
    """The transcript that is meant. Raises UserError where there is none, or several."""
    given = Path(what).expanduser()
    root = project_of(Path.cwd())
    results = root / "results" if root is not None else None
    places = [given, results / what] if results is not None else [given]
    for place in places:
        if place.is_file():
            return place
        if (place / _NAME).is_file():
            return place / _NAME
        if place.is_dir() and (found := sorted(place.rglob(f"trial-*/{_NAME}"))):
            return _only(what, found, results)
    if results is None:
        raise UserError(f"there is no file or folder `{plain(what)}`",
                        hint="cases and trials are known in the folder of a project")
    found = [path for path in sorted((results / "latest").rglob(f"trial-*/{_NAME}"))
             if what in (unit := path.parent.parent.name, case_of(unit))]
    if not found:
        raise UserError(f"there is no transcript `{plain(what)}`",
                        hint="it takes a file, a trial's folder, or a case with a trial in results/latest; known "
                             "answers leave none")
    return _only(what, found, results)


def _only(what: str, found: list[Path], results: Path | None) -> Path:
    if len(found) == 1:
        return found[0]
    named = [path.parent.relative_to(results).as_posix() if results is not None and path.is_relative_to(results)
             else path.parent.as_posix() for path in found]
    more = f"\nand {len(named) - _TRIALS} more" if len(named) > _TRIALS else ""
    raise UserError(f"`{plain(what)}` has {len(found)} trials with a transcript",
                    hint="name one of them:\n" + "\n".join(plain(name) for name in named[:_TRIALS]) + more)


def _events(path: Path) -> Iterator[Event]:
    """The events of a transcript without keys: it may be somebody else's, that nobody cleaned."""
    root = project_of(Path.cwd())
    redactor = Redactor.of(os.environ, secret_names(root) if root is not None else ())
    for event in read_events(path):
        yield _clean(event, redactor)


def _clean(event: Event, redactor: Redactor) -> Event:
    given = {part.name: getattr(event, part.name) for part in fields(type(event))}
    told = {name: redactor.plain_data(value) for name, value in given.items() if isinstance(value, str | Mapping)}
    if isinstance(event, ToolResult):
        told["call"] = _clean(event.call, redactor)
    return evolve(event, **told)


# ---- for programs ----
def _data(path: Path) -> Iterator[str]:
    """JSON in ASCII: what a terminal could take for a command is escaped."""
    for event in _events(path):
        given = {part.name: getattr(event, part.name) for part in fields(type(event))}
        if isinstance(event, ToolResult):
            given["call"] = event.call.id
            given |= {"name": event.call.name, "tool": event.call.tool}
        yield json.dumps({"type": _TYPES[type(event)], **given}).replace("\x7f", "\\u007f")


# ---- for people ----
def _page(path: Path) -> Iterator[str]:
    totals = Totals()
    for event in _events(path):
        totals.add(event)
        yield from _shown(event)
    if totals.calls or totals.replies or totals.ended or totals.gaps:
        yield ""
        yield from _sum(totals)


def _shown(event: Event) -> Iterator[str]:
    match event:
        case Folder():
            yield from _row(event.line, "folder", event.path)
        case Message():
            yield from _row(event.line, _ROLES[event.role], event.text.strip("\n"), event.sub_agent)
        case ToolCall():
            yield from _row(event.line, event.tool, _cut(_call(event)), event.sub_agent)
        case ToolResult():
            lines = event.text.strip("\n").split("\n") if event.text.strip() else []
            more = [f"… {count(len(lines) - _LINES, 'more line')}"] if len(lines) > _LINES + 1 else lines[_LINES:]
            of = f" of line {event.call.line}" if event.line != event.call.line + 1 else ""
            status = "no result" if event.status == "missing" else event.status
            head = f"{status}{of}{'' if event.ran else ', not carried out'}"
            said = "\n".join(_cut(line) for line in [*lines[:_LINES], *more])
            yield from _row(event.line, "", f"{head}: {said}" if said else head, event.call.sub_agent)
        case MessageUsage():
            cost = f", ${event.cost:.4f}" if event.cost is not None else ""
            yield from _row(event.line, "usage", _tokens(event) + cost, event.sub_agent)
        case Limit():
            yield from _row(event.line, "limit", ": ".join(part for part in (event.what, event.detail) if part))
        case SubAgent():
            yield from _row(event.line, "task", f"a sub-agent works ({event.id})")
        case Compacted():
            yield from _row(event.line, "system", "what was said so far became a summary"
                            + (f" ({event.detail})" if event.detail else ""))
        case Gap():
            yield from _row(event.line, "gap", event.why)
        case Ended():
            told = [f"error: {event.how}" if event.is_error else event.how]
            told += [count(event.turns, "turn")] if event.turns is not None else []
            told += [f"${event.cost:.4f}"] if event.cost is not None else []
            yield from _row(event.line, "end", ", ".join(told))


def _row(line: int, kind: str, text: str, sub_agent: str = "") -> Iterator[str]:
    """A line with its number, and those that go on below it."""
    first, *rest = text.split("\n")
    aside = "  │ " if sub_agent else ""
    yield f"{line:6}  {kind:8}{aside}{plain(first)}".rstrip()
    for part in rest:
        yield f"{'':6}  {'':8}{aside}{plain(part)}".rstrip()


def _call(call: ToolCall) -> str:
    """A call on one line: the command or the path that it names, and the rest of its input."""
    named = call.command or call.path
    rest = {key: value for key, value in call.input.items() if value not in (call.command, call.path) or value == ""}
    said = ", ".join(f"{key}: {_value(value)}" for key, value in rest.items())
    given = f"({said})" if said else ""
    own = call.name if call.tool in ("other", "mcp", "web", "task", "search") else ""
    return "  ".join(part for part in (own, named, given) if part) or call.name


def _value(value: object) -> str:
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return said if len(said) <= 40 and "\n" not in said else f"{len(said):,} characters"


def _cut(text: str) -> str:
    text = text.replace("\n", "⏎")
    return text if len(text) <= _WIDE else text[: _WIDE - 1] + "…"


def _tokens(of: MessageUsage | Totals | Mapping[str, int]) -> str:
    found = of if isinstance(of, Mapping) else {name: getattr(of, name) for name in _TOKENS}
    said = ", ".join(f"{found.get(name, 0):,} {what}" for name, what in _TOKENS.items()
                     if found.get(name) or what in ("in", "out"))
    return f"tokens: {said}"


def _sum(totals: Totals) -> Iterator[str]:
    calls = sum(totals.calls.values())
    kinds = f" ({', '.join(f'{number} {tool}' for tool, number in totals.calls.most_common())})" if calls else ""
    replies = "1 reply" if totals.replies == 1 else f"{totals.replies} replies"
    yield f"{count(calls, 'call')}{kinds}, {replies}; {_tokens(totals)}"
    amiss = [f"{number} {status}" for status, number in totals.results.items() if status != "ok"]
    amiss += [count(totals.gaps, "gap")] if totals.gaps else []
    if amiss:
        yield f"amiss: {', '.join(amiss)}"
    if totals.ended is not None and totals.ended.tokens:
        yield f"by its own count {_tokens(totals.ended.tokens)}"
    yield f"in the end: {plain(totals.state)}"
