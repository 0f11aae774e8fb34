"""The agent `command`: any program, started with the prompt, in the workspace.

The command line is the case's (`agent command { command "…" }`), or was given for the run (`agent=command:…`). In its
words stand `{workspace}`, `{prompt_file}`, `{model}`, `{home}` (the agent's own, empty HOME) and `{project}`. The
prompt is the program's standard input, or in the file where `{prompt_file}` is named. What it prints on standard output
is what it said: it becomes the transcript's messages. What it logs on standard error becomes messages of the system.
Both streams are kept as they came, up to a size, beside the transcript.

How it ended, by its exit status:

* 0: completed. Any other: completed too, with a note: the agent may have given up or crashed, which is its own doing;
  what it left is graded.
* 69 and 75 (EX_UNAVAILABLE and EX_TEMPFAIL of sysexits.h): it says itself that its model failed it: nothing is kept or
  graded; after 75 it is tried again.
* 126 and 127 (what a shell gives for a program that it cannot start), or killed by SIGKILL, which is not ours: the
  machine failed it.
* over its time limit: a timeout, its whole process group ended.
"""

from __future__ import annotations

import shlex
import signal
from collections import deque
from pathlib import Path
from typing import IO, TYPE_CHECKING

from attrs import field, frozen

from evalkit.analysis.model import Case, Command, Toolchain
from evalkit.analysis.placeholders import expand_all, placeholders, project_files
from evalkit.errors import HarnessError, UserError
from evalkit.execute.agents.asking import asking, hidden, model_name
from evalkit.execute.agents.base import Job
from evalkit.execute.models.provider import Endpoint
from evalkit.execute.outcome import AgentError, Ending, Usage
from evalkit.execute.process import STREAM_LIMIT, Finished, ProgramMissing
from evalkit.execute.secrets import Redactor
from evalkit.execute.transcripts import Ended, Limit, Message, Role, Writer
from evalkit.plan.trials import AgentTraits

if TYPE_CHECKING:
    from evalkit.execute.agents.registry import Wanted

__all__ = ["ProgramAgent", "make"]

KEPT = 4 * 1024 * 1024
"""Bytes of each output stream that are kept."""
_PIECE = 32 * 1024
"""Characters of output that make a message, where more follow."""
_UNAVAILABLE, _AGAIN = 69, 75
_NOT_STARTED = (126, 127)
_SAID = 300
_ENOUGH = 4096
"""Bytes of whole lines from which the last words are taken, once they are cleaned: that may make them shorter."""
_KNOWN = ("home", "model", "project", "prompt_file", "workspace")
_TRAITS = AgentTraits("1", frozenset({"prompt", "model", "tools", "time", "spending"}), sampled=True, builds=True)


@frozen
class ProgramAgent:
    """Starts a program. line: the command line that was given for the run, instead of the case's own."""

    endpoint: Endpoint | None = field(repr=False)
    line: Command | None = None
    traits: AgentTraits = _TRAITS
    toolchain: Toolchain | None = None

    def cannot(self, unit: Case) -> list[str]:
        agent, setup = unit.agent, unit.setup
        asked = {
            "allow": agent.allow, "deny": agent.deny, "mcp": agent.mcp, "system": agent.system or agent.system_function,
            "state": agent.state, "registry": agent.registry or agent.registry_command,
            "temperature": agent.temperature is not None, "seed": agent.seed is not None,
            "guidance": setup.guidance, "contract": setup.contract, "answer": setup.answer,
        }
        return [f"`{name}`" for name, given in asked.items() if given]

    def given(self, unit: Case) -> tuple[tuple[str, str], ...]:
        """The files of the project that its command line names: they are its version."""
        return tuple((f"program {path}", path) for path in project_files(self._command(unit)))

    def describe(self, job: Job) -> str:
        env = hidden(self._env(job), *self._endpoints(job))
        lines = [f"{name}={value}" for name, value in sorted(env.items())]
        where = f"prompt in {_prompt_file(job)}:" if self._in_file(job) else "prompt on standard input:"
        return "\n".join([*lines, shlex.join(self._argv(job)), "", where, _prompt(job.trial.case)])

    def run(self, job: Job) -> Ending:
        argv, limits = self._argv(job), job.trial.case.limits
        for path in project_files(self._command(job.trial.case)):
            job.room.show(job.root / path)
        prompt, in_file = _prompt(job.trial.case), self._in_file(job)
        if in_file:
            _prompt_file(job).write_text(prompt, encoding="utf-8")
        with (job.transcript.open("wb") as transcript,
              job.transcript.with_suffix(".stdout").open("wb") as out,
              job.transcript.with_suffix(".stderr").open("wb") as err):
            writer = Writer(transcript, job.redactor, job.trial.subject.agent, folder=str(job.room.seen(job.workspace)),
                            calls=False)
            writer.write(Message("user", prompt))
            said = _Said(writer, _Kept(out, job.redactor))
            logged = _Said(writer, _Kept(err, job.redactor), "system")
            try:
                finished = job.room.stream(argv, env=self._env(job), limit=limits.time,
                                           text="" if in_file else prompt, on_line=said.line,
                                           on_error_line=logged.line, tick=job.tick)
            except ProgramMissing as error:
                raise UserError(f"the agent's program: {error.message}",
                                hint="its command line stands in the case, or behind agent=command:") from error
            except HarnessError as error:
                raise AgentError(error.message, hint=error.hint) from error
            said.end()
            logged.end()
            ending = _ending(job, finished, logged.kept, said.kept)
            if ending.status == "timeout":
                writer.write(Limit("time", ending.detail))
            writer.write(Ended(ending.detail, is_error=not finished.ok, text=said.last))
        return ending

    # ---- the command line and the environment ----
    def _command(self, unit: Case) -> Command:
        command = self.line or unit.agent.command
        if command is None:
            raise UserError(f"case `{unit.name}` has no command line for agent=command",
                            hint='add `agent command { command "…" }` to its suite, or say agent=command:"PROGRAM …"')
        return command

    def _argv(self, job: Job) -> list[str]:
        model = job.trial.subject.model
        return expand_all(self._command(job.trial.case).words, {
            "workspace": str(job.room.seen(job.workspace)), "home": str(job.room.seen(job.home)),
            "project": str(job.root), "prompt_file": str(job.room.seen(_prompt_file(job))),
            "model": model_name(model, job.endpoint or self.endpoint) if model else "",
        })

    def _endpoints(self, job: Job) -> tuple[Endpoint | None, ...]:
        return job.endpoints or (job.endpoint or self.endpoint,)

    def _in_file(self, job: Job) -> bool:
        return any("prompt_file" in placeholders(word) for word in self._command(job.trial.case).words)

    def _env(self, job: Job) -> dict[str, str]:
        return {
            **job.env, **asking(*map(job.for_program, self._endpoints(job))), **dict(job.trial.case.agent.env),
            "HOME": str(job.room.seen(job.home)),
            # git must not find a repository above the workspace: that would be the person's own.
            "GIT_CEILING_DIRECTORIES": str(job.room.seen(job.workspace).parent),
        }


class _Kept:
    """A stream as it came, up to `KEPT` bytes."""

    def __init__(self, sink: IO[bytes], redactor: Redactor) -> None:
        self._sink, self._redactor = sink, redactor
        self.size = 0
        self._last = deque[bytes]()
        self._length = 0

    @property
    def end(self) -> bytes:
        """Its last bytes, without keys."""
        return b"\n".join(map(self._redactor.clean, self._last))[-_SAID:]

    def keep(self, raw: bytes) -> bytes | None:
        """Keep a line. It is returned without keys; None where that is enough of them, since cleaning costs time."""
        self._last.append(raw)
        self._length += len(raw) + 1
        while self._length - len(self._last[0]) - 1 >= _ENOUGH:
            self._length -= len(self._last.popleft()) + 1
        if self.size >= KEPT:
            self.size += len(raw) + 1
            return None
        clean = self._redactor.clean(raw)
        self._sink.write(clean[: KEPT - self.size] + b"\n")
        self._sink.flush()
        self.size += len(clean) + 1
        return clean


class _Said:
    """What the program says on one of its streams, as messages. role: whose."""

    def __init__(self, writer: Writer, kept: _Kept, role: Role = "assistant") -> None:
        self._writer, self.kept, self._role = writer, kept, role
        self._lines: list[str] = []
        self._length = 0
        self.last = ""

    def line(self, raw: bytes) -> None:
        clean = self.kept.keep(raw)
        if clean is not None:
            text = clean.decode("utf-8", "replace")
            self._lines.append(text)
            self._length += len(text)
            if self._length > _PIECE:
                self.end()

    def end(self) -> None:
        """Tell what has not been told."""
        if text := "\n".join(self._lines):
            self._writer.write(Message(self._role, text))
            self.last = text[-_SAID:]
        self._lines, self._length = [], 0


def make(wanted: Wanted) -> ProgramAgent:
    """The agent `command`, or `command:LINE`. Raises UserError where the line is none."""
    return ProgramAgent(wanted.endpoint, _line(wanted.argument) if wanted.argument else None)


def _line(text: str) -> Command:
    from evalkit.diagnostics import did_you_mean

    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UserError(f"agent=command:{text} cannot be split into words: {error}",
                        hint="quote as in a shell") from None
    unknown = [name for word in words for name in placeholders(word) if name not in _KNOWN]
    if unknown:
        raise UserError(f"agent=command:{text} has no value for `{{{unknown[0]}}}`",
                        hint=did_you_mean(unknown[0], _KNOWN) + "; a literal brace is written `{{`")
    if not words or not words[0]:
        raise UserError("agent=command: names no program", hint="agent=command:'PROGRAM {prompt_file}'")
    return Command(tuple(words), 0)


def _prompt(case: Case) -> str:
    return "\n\n".join(part.strip() for part in (case.prompt, case.agent.suffix) if part.strip()) + "\n"


def _prompt_file(job: Job) -> Path:
    return job.home / "prompt.md"


def _ending(job: Job, finished: Finished, errors: _Kept, said: _Kept) -> Ending:
    """How the run ended. Raises AgentError where the program's model or the machine failed it."""
    usage, code, limits = Usage(), finished.exit_code, job.trial.case.limits
    notes = tuple(f"its standard {name} is {kept.size:,} bytes long: the first {KEPT:,} are kept"
                  for name, kept in (("output", said), ("error", errors)) if kept.size > KEPT)
    if finished.ended_by.startswith("time limit"):
        return Ending("timeout", f"ended after its {limits.time} s", usage, notes)
    if finished.ended_by and not finished.ended_by.startswith("output limit"):
        return Ending("capped", f"reached its {finished.ended_by}", usage, notes)
    if finished.ended_by:
        return Ending("capped", f"printed more than {STREAM_LIMIT // (1024 * 1024)} MB and was ended", usage, notes)
    last = errors.end.decode("utf-8", "replace").strip().rpartition("\n")[2]
    told = f": {last}" if last else ""
    if code in (_UNAVAILABLE, _AGAIN):
        raise AgentError(f"the agent's program says that it was failed (exit status {code}){told}",
                         hint="run again: nothing was kept", transient=code == _AGAIN, usage=usage)
    if code in _NOT_STARTED or code == -signal.SIGKILL:
        how = "was killed" if code < 0 else f"could not start something it needs (exit status {code})"
        raise AgentError(f"the agent's program {how}{told}", hint="run again: nothing was kept", usage=usage)
    if code:
        how = f"exit status {code}" if code > 0 else f"signal {-code}"
        return Ending("completed", f"its program ended with {how}", usage, (*notes, f"it ended with {how}{told}"))
    return Ending("completed", "its program ended with exit status 0", usage, notes)
