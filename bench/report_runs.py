"""Runs of made-up trials, on the disk as a real run leaves them: results, transcripts, trees, screenshots, a store.

What writes them is evalkit's own: records, archives, the summary and the page. Only the figures and the texts are made
up, always the same for the same numbers.
"""

from __future__ import annotations

import json
import random
import struct
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attrs import frozen

from evalkit.digest import digest
from evalkit.execute.outcome import AgentRecord, Ending, Usage
from evalkit.execute.pack import pack
from evalkit.execute.secrets import Redactor
from evalkit.execute.store import Store
from evalkit.execute.tree import Manifest
from evalkit.grade.audit_record import Audit, Finding
from evalkit.grade.verdict import HiddenTest, Judging, Measure, Verdict, Vote
from evalkit.records import write_record
from evalkit.report.html import PageState, update_page
from evalkit.report.result import CheckResult, TrialResult, trial_status
from evalkit.report.update import update_report
from evalkit.values import evolve

__all__ = ["Made", "make_page", "make_run", "make_summary"]

_CASES = ("kanban-board", "auth-rls-new-project", "dual-feed-table", "invoice-export", "offline-notes",
          "search-as-you-type", "role-permissions", "webhook-retries", "csv-import", "calendar-drag", "audit-log",
          "rate-limits")
_SUITES = ("native", "supabase", "xrblocks")
_SUBJECTS = (("claude", "anthropic/claude-sonnet-5"), ("claude", "anthropic/claude-opus-4.8"),
             ("api", "openai/gpt-6-mini"), ("tools", "google/gemini-3-flash"))
_AT = "/var/tmp/work/1f2e/app"
_BOARD = "".join(f"export const row{number} = (n: number) => n * {number}\n" for number in range(40))
_BASE = {"README.md": "# Board\n\nA small board.\n", "src/board.ts": _BOARD,
         "package.json": '{\n  "name": "board"\n}\n', "src/old.ts": "export const old = true\n"}


@frozen
class Made:
    """A project with a run. folder: results/<run>."""

    root: Path
    run: str

    @property
    def folder(self) -> Path:
        return self.root / "results" / self.run

    @property
    def store(self) -> Path:
        return self.root / ".evalkit/store"


def make_summary(made: Made) -> None:
    """Bring the run's summary up to date."""
    update_report(made.folder, made.root / ".evalkit/cache/report" / made.run, full=True)


def make_page(made: Made, redactor: Redactor | None = None, *, forced: bool = False, summed: bool = False) -> PageState:
    """Bring the run's summary and its page up to date, as the end of a run does. summed: the summary is, already."""
    if not summed:
        make_summary(made)
    return update_page(made.folder, made.root / ".evalkit/cache/page" / made.run, made.store,
                       redactor or Redactor.of({}), forced=forced)


def make_run(root: Path, trials: int, *, run: str = "latest", cases: int = 50, turns: int = 8) -> Made:
    """A run of so many trials: of three or less, one case by as many subjects; else of so many cases.

    turns: of an agent, about.
    """
    made, rng = Made(root, run), random.Random(trials)
    base = _workspace(made)
    for place, fields in _places(trials, cases):
        _trial(made, place, fields, base, rng, turns)
    return made


def _places(trials: int, cases: int) -> Iterator[tuple[str, dict[str, Any]]]:
    few = trials <= len(_SUBJECTS)
    count = 1 if few else min(cases, -(-trials // len(_SUBJECTS)))
    samples = 1 if few else -(-trials // (count * len(_SUBJECTS)))
    left = trials
    for at in range(count):
        case = _CASES[at % len(_CASES)] + (f"-{at // len(_CASES) + 1}" if at >= len(_CASES) else "")
        for agent, model in _SUBJECTS:
            for number in range(1, samples + 1):
                if left <= 0:
                    return
                left -= 1
                yield (f"{agent}/{model.replace('/', '%2F')}/{case}/trial-{number}",
                       {"case": case, "unit": case, "suite": _SUITES[at * len(_SUITES) // count], "agent": agent,
                        "model": model, "trial": number})


def _workspace(made: Made) -> str:
    """The workspace that all agents began with, in the store; its key."""
    inputs = {"template": "made up"}
    folder = made.root / ".evalkit/making"
    _write_tree(folder, _BASE)
    pack(folder, archive := made.root / ".evalkit/base.tar.zst")
    Store(made.store).put("workspace", digest(inputs), {"tree.tar.zst": archive.read_bytes()}, inputs=inputs)
    return digest(inputs)


def _trial(made: Made, place: str, fields: Mapping[str, Any], base: str, rng: random.Random, turns: int) -> None:
    folder, good = made.folder / place, rng.random() < 0.72
    calls = max(2, turns + rng.randrange(-2, 3))
    archive, manifest = _tree(calls, rng.randrange(50, 60))
    (folder / "screenshots").mkdir(parents=True)
    (folder / "workspace.tar.zst").write_bytes(archive)
    (folder / "transcript.jsonl").write_bytes(_stream(calls, good=good))
    (folder / "screenshots/smoke.png").write_bytes(_png(320, 200, rng.randrange(8) * 32))
    key = digest([place])
    usage = Usage(calls + 1, 12_000 * calls, 700 * calls, 9_000 * calls, 3_000, round(0.04 * calls, 4), "gateway")
    ending = Ending("completed", "", usage)
    if rng.random() < 0.04:
        ending = Ending("capped", "40 turns", usage)
    record = AgentRecord(key, {"workspace": base}, fields["agent"], "2.1.332", fields["model"], ending, 14.0 * calls,
                         21.5, manifest, digest(manifest.files), {"nodejs": "24.19.0", "zig": "0.16.0"},
                         "2026-03-02T10:20:30+00:00")
    write_record(made.store / "agent" / key[:2] / key / "agent.json", record, sync=False)
    write_record(folder / "result.json", _result(made.run, fields, record, rng, good=good), sync=False)


def _result(run: str, fields: Mapping[str, Any], record: AgentRecord, rng: random.Random, *, good: bool) -> TrialResult:
    checks = _checks(good=good, unable=rng.random() < 0.03, score=round(rng.uniform(4, 9.5), 1))
    audit = Audit("a0" * 32, rng.random() < 0.03)
    if audit.contaminated:
        finding = Finding("the solution", "path", "read", "Read", "toolu_0", 3, "cases/native/solution/board.ts",
                          "/home/me/evals/cases/native/solution/board.ts")
        audit = evolve(audit, findings=(finding,))
    status, reason = trial_status(record.ending, checks, audit)
    return TrialResult(
        run=run, lane="local", agent_version=record.agent_version, self_check=False, note="", dry=False, status=status,
        reason=reason, ending=record.ending, seconds=record.seconds, prewarm_seconds=record.prewarm_seconds,
        checks=checks, agent_key=record.key, tree_digest=record.tree_digest, left_out=(), versions=record.versions,
        finished_at=record.finished_at, evalkit="0.1.0", audit=audit, **fields)


def _checks(*, good: bool, unable: bool, score: float) -> tuple[CheckResult, ...]:
    build = Verdict("pass", "`npm run build` exited with 0")
    if not good:
        build = Verdict("fail", "`npm run build` exited with 2",
                        "src/lanes.ts(12,7): error TS2339: Property 'cards' does not exist on type 'Lane'.\n"
                        "----- output -----\n> board@0.0.0 build\n> tsc --noEmit\n\n"
                        "src/lanes.ts(12,7): error TS2339: Property 'cards' does not exist on type 'Lane'.\n")
    hidden = Verdict("pass" if good else "fail", "12 tests passed" if good else "2 of 12 tests failed", tests=(
        HiddenTest("a card moves to the next lane", "passed"),
        HiddenTest("a card keeps its notes", "passed" if good else "failed",
                   "" if good else "expected 'milk' to equal ''\n  at board.test.ts:41")))
    smoke = Verdict("error", "the browser does not work (status 1)", "chromium: cannot open display") if unable else \
        Verdict("pass", "index.html loads without an error", "Chromium 140")
    notes = (f" {score:.1f}  The lanes are told apart at a glance.\n      Headings and spacing set the lanes apart; "
             "the counts could stand closer.\n 7.0  Names say what things are.\n      Mostly; `x2` does not.")
    usage = Usage(input_tokens=4100, output_tokens=320, cost=0.021)
    judged = Verdict("pass", f"{score:.1f} of 10", notes, score, Judging("anthropic/claude-opus-4.8", usage), (
        Vote("anthropic/claude-opus-4.8", 1, (score, 7.0)), Vote("openai/gpt-6", 1, (score - 1, 7.5))), 0.71)
    measured = Verdict("pass", "0.82", measures=(Measure("native", 0.82), Measure("completeness", 0.91)))
    told = (("builds", "run", "it builds", build, False, 8.3),
            ("hidden", "hidden", "the hidden tests pass", hidden, False, 3.1),
            ("smoke", "page", "the page loads", smoke, False, 4.4),
            ("native", "score", "calls the SDK", measured, True, 0.2),
            ("live", "run", "it opens a window", Verdict("skipped", "not for this lane: macos-local"), False, 0.0),
            ("quality", "judge", "quality", judged, True, 11.8))
    return tuple(CheckResult(name, kind, said, advisory, verdict, seconds, digest([name]))
                 for name, kind, said, verdict, advisory, seconds in told)


@cache
def _tree(calls: int, factor: int) -> tuple[bytes, Manifest]:
    """The archive of a final tree."""
    tree = _BASE | {"src/board.ts": _BOARD.replace("n * 7", f"n * {factor}"),
                    "src/lanes.ts": f"export const lanes = {calls}\n" * 20}
    del tree["src/old.ts"]
    with TemporaryDirectory() as folder:
        _write_tree(Path(folder, "tree"), tree)
        manifest = pack(Path(folder, "tree"), archive := Path(folder, "tree.tar.zst"))
        return archive.read_bytes(), manifest


@cache
def _stream(calls: int, *, good: bool) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in _transcript(calls, good=good)).encode()


def _transcript(calls: int, *, good: bool) -> Iterator[dict[str, Any]]:
    """Lines of Claude Code's stream."""
    yield {"type": "system", "subtype": "init", "cwd": _AT, "model": "m", "tools": ["Read", "Edit", "Write", "Bash"]}
    yield _said(0, {"type": "thinking", "thinking": "The lanes come from `board.ts`.\nI look there first."})
    yield _said(0, {"type": "text", "text": "I look at the board first, then add the lanes.\n\n```ts\nconst lanes = 3\n"
                                         "```\nAfter that `npm test` tells whether it holds."})
    for number in range(calls):
        name, given, result, amiss = _call(number, good=good or number < calls - 1)
        yield _said(number + 1, {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given})
        yield {"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": result, "is_error": amiss}]}}
    closing = "The lanes are in place and the tests pass." if good else "One test still fails; the build does, too."
    yield _said(calls + 1, {"type": "text", "text": closing})
    yield {"type": "result", "subtype": "success", "is_error": False, "num_turns": calls + 1, "result": closing,
           "total_cost_usd": 0.04 * calls, "usage": {"input_tokens": 9, "output_tokens": 9}, "permission_denials": []}


def _said(number: int, content: Mapping[str, Any]) -> dict[str, Any]:
    message = {"id": f"msg_{number}", "role": "assistant", "model": "m", "content": [content],
               "usage": {"input_tokens": 12, "output_tokens": 40}}
    return {"type": "assistant", "message": message}


def _call(number: int, *, good: bool) -> tuple[str, dict[str, Any], str, bool]:
    if number % 4 == 0:
        listing = "".join(f"{at:6}\t{line}\n" for at, line in enumerate(_BOARD.splitlines(), 1))
        return "Read", {"file_path": f"{_AT}/src/board.ts"}, listing, False
    if number % 4 == 1:
        before = "export const row7 = (n: number) => n * 7"
        return "Edit", {"file_path": f"{_AT}/src/board.ts", "old_string": before,
                        "new_string": before.replace("n * 7", f"n * {number + 60}")}, "The file was updated.", False
    if number % 4 == 2:
        content = "export const lanes = 8\n" * 20
        return "Write", {"file_path": f"{_AT}/src/lanes.ts", "content": content}, "Created.", False
    output = "\n".join(["> vitest run", *(f"  ok {at} a card moves" for at in range(12)),
                        "12 passed" if good else "1 failed"])
    return "Bash", {"command": "npm test -- --run src/board.test.ts", "description": "Run the tests"}, output, not good


def _write_tree(folder: Path, tree: Mapping[str, str]) -> None:
    for name, text in tree.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


@cache
def _png(width: int, height: int, shade: int) -> bytes:
    """A picture of one shade that gets lighter."""
    rows = b"".join(b"\0" + bytes((shade, (y * 255 // height), 160)) * width for y in range(height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
