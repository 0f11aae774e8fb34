"""Transcripts by hand, in the format of Claude Code's stream, for the metrics that are read off them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attrs import define, field

from evalkit.analysis.findings import Findings
from evalkit.analysis.metrics import resolve_metrics
from evalkit.analysis.model import Metrics
from evalkit.execute.transcripts import read_events
from evalkit.report.metrics_work import Work, work_of
from evalkit.syntax import nodes, parse, read_source

__all__ = ["Written", "native_metrics", "suite_metrics"]

ROOT = "/home/dev/app"


@define
class Written:
    """A transcript. Each message took 10 tokens in and 5 out; its usage stands in each of its lines."""

    lines: list[dict[str, Any]] = field(factory=list)
    usage: bool = True
    _calls: int = 0
    _messages: int = 0
    _aside: str | None = None

    def __attrs_post_init__(self) -> None:
        self.lines.append({"type": "system", "subtype": "init", "cwd": ROOT, "tools": []})

    def turn(self, *steps: tuple[str, dict[str, Any], str, str], aside: str | None = None) -> Written:
        """A reply with these calls, each a line with the message's id and usage, and then what they returned.

        A step: the tool, its input, `ok`, `error` or `denied`, and what came back.
        """
        self._messages += 1
        results = []
        for name, given, status, said in steps:
            self._calls += 1
            call = f"toolu_{self._calls:02}"
            self._say({"type": "tool_use", "id": call, "name": name, "input": given}, aside)
            results.append({"type": "user", "parent_tool_use_id": aside, **(
                {"toolDenialKind": "rule"} if status == "denied" else {}), "message": {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": call, "content": said, "is_error": status != "ok"}]}})
        self.lines += results
        return self

    def end(self, text: str = "Done.") -> Written:
        self._messages += 1
        self._say({"type": "text", "text": text}, None)
        return self

    def _say(self, block: dict[str, Any], aside: str | None) -> None:
        usage = {"usage": {"input_tokens": 10, "output_tokens": 5}} if self.usage else {}
        self.lines.append({"type": "assistant", "parent_tool_use_id": aside, "message": {
            "id": f"msg_{self._messages:02}", "role": "assistant", "model": "acme/small", "content": [block], **usage}})

    def work(self, folder: Path, declared: Metrics) -> Work:
        """What it comes to, read from a file."""
        path = folder / "transcript.jsonl"
        self.write(path)
        return work_of(read_events(path), declared)

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines))


def bash(command: str, status: str = "ok", said: str = "", **more: Any) -> tuple[str, dict[str, Any], str, str]:
    return "Bash", {"command": command, **more}, status, f"Exit code 1\n{said}" if status == "error" else said


def write(name: str, content: str, status: str = "ok") -> tuple[str, dict[str, Any], str, str]:
    return "Write", {"file_path": f"{ROOT}/{name}", "content": content}, status, ""


def edit(name: str, new: str, status: str = "ok") -> tuple[str, dict[str, Any], str, str]:
    return "Edit", {"file_path": f"{ROOT}/{name}", "old_string": "x", "new_string": new}, status, ""


def suite_metrics(path: Path) -> dict[str, Metrics]:
    """What a suite's file declares, by name."""
    file, found = parse(read_source(path, path.name))
    assert not found
    body = file.suites[0].body
    findings = Findings()
    profiles = {item.name.value for item in body if isinstance(item, nodes.Profile)}
    metrics = resolve_metrics(findings, (item for item in body if isinstance(item, nodes.Metrics)), profiles)
    assert not findings.diagnostics
    return {group.name: group for group in metrics}


def native_metrics() -> dict[str, Metrics]:
    """Those of the native suite: the transcripts are held to what it really declares."""
    return suite_metrics(Path(__file__).parents[3] / "cases/native/suite.eval")
