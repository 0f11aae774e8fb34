"""The agent `parrot`: writes the prompt into the file that the variable FILE names (answer.txt, where none does)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evalkit.extend import AgentTraits, Case, Ended, Ending, Job, Message, Toolchain, Usage, Wanted, Writer


@dataclass(frozen=True)
class Parrot:
    traits: AgentTraits
    toolchain: Toolchain | None = None

    def cannot(self, unit: Case) -> list[str]:
        return ["`mcp`"] if unit.agent.mcp else []

    def run(self, job: Job) -> Ending:
        text = job.trial.case.prompt
        with job.transcript.open("wb") as sink:
            writer = Writer(sink, job.redactor, job.trial.subject.agent, folder=str(job.workspace))
            writer.write(Message("user", text))
            place = job.workspace / self._file(job.trial.case)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
            writer.write(Message("assistant", f"I wrote {place.name}."))
            writer.write(Ended("done"))
        return Ending("completed", "wrote the prompt", Usage(turns=0, cost=0.0))

    def describe(self, job: Job) -> str:
        return f"writes the prompt into {self._file(job.trial.case)}; starts no program"

    def _file(self, unit: Case) -> Path:
        return Path(dict(unit.agent.env).get("FILE", "answer.txt"))


def make(wanted: Wanted) -> Parrot:
    """What the entry point names. It asks no model, and two runs of it are the same."""
    return Parrot(AgentTraits("1", frozenset({"prompt", "tools"}), sampled=False, builds=False))
