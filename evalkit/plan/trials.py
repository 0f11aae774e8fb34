"""Who is measured, and how often: subjects and trials."""

from __future__ import annotations

from typing import Literal
from urllib.parse import quote

from evalkit.analysis.model import CallsSpec, Case
from evalkit.digest import digest
from evalkit.values import Value

__all__ = ["PLAYED", "SHARED_SKILLS", "SKILLS_FOLDER", "AgentTraits", "Subject", "Trial", "has_answer", "played_calls"]

PLAYED = "+played"
"""What the path of a subject ends in whose model was played: percent-encoding leaves no `+`."""
SKILLS_FOLDER = ".claude/skills"
"""Where skills are put into a workspace for an agent that does not say where it looks for them."""
SHARED_SKILLS = ".agents/skills"
"""Where the files of a linked skill are; the agent's own folder has a link to them."""
_LONGEST = 120
"""Characters of an agent's name as the name of a folder."""


class AgentTraits(Value):
    """What planning must know of an agent, without knowing the agent.

    reads: the inputs that can change what it does: of prompt, model, tools, limits (time: the one of time alone,
    spending: those of cost and tokens alone), answer.
    sampled: two runs of it may differ, so every trial is a sample of its own.
    builds: it runs the program under test in its workspace, so a prewarm pays.
    idle: it leaves the workspace as it is.
    models: it is given a model, each of a comma list in trials of its own, and needs a key.
    protocol: the one in which it asks models, as `execute/models` names it; None where it takes any.
    skills_folder: where in its workspace it looks for skills.
    """

    version: str
    reads: frozenset[str]
    sampled: bool
    builds: bool
    idle: bool = False
    models: bool = False
    protocol: Literal["anthropic", "openai", "gemini"] | None = None
    skills_folder: str = SKILLS_FOLDER


class Subject(Value):
    """What is being measured: an agent with a model. played: the file that plays the model's part, "" for a model."""

    agent: str
    model: str | None = None
    played: str = ""

    @property
    def path(self) -> str:
        """The subject as a relative path and part of a task name: reversible percent-encoding (RFC 3986), but of an
        agent with a long argument, whose name is cut and ends in a digest.
        """
        agent = quote(self.agent, safe="")
        if len(agent) > _LONGEST:
            agent = f"{agent[:_LONGEST - 13]}~{digest(self.agent)[:12]}"
        path = agent if self.model is None else f"{agent}/{quote(self.model, safe='')}"
        return path + (PLAYED if self.played else "")

    @property
    def shown(self) -> str:
        name = self.agent if self.model is None else f"{self.agent} {self.model}"
        return name + (f" played from {self.played}" if self.played else "")

    @property
    def wrong(self) -> str | None:
        """The name of the known wrong answer that it plays, if it does that."""
        return self.agent.removeprefix("wrong:") if self.agent.startswith("wrong:") else None

    @property
    def self_check(self) -> bool:
        """It plays the case's own reference answer: it measures the case, not an agent."""
        return self.agent == "oracle"


class Trial(Value):
    """One independent sample of a case with a subject. sample: raised by `fresh=1`, for a further one of the same.

    given: files and folders that the agent itself reads, each as what it is and its path (relative to the project's
    root, or absolute): their contents are part of the key.
    """

    case: Case
    subject: Subject
    traits: AgentTraits
    number: int
    run: str
    lane: str = "local"
    dry: bool = False
    sample: int = 0
    given: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        """Its path under results/, and its name in tasks."""
        return f"{self.run}/{self.subject.path}/{self.case.unit}/trial-{self.number}"

    @property
    def plays(self) -> CallsSpec | None:
        """The expected calls that the subject makes, if it does that."""
        return played_calls(self.case) if self.subject.agent == "oracle" else None

    @property
    def answer(self) -> str | None:
        """The folder of the answer that the subject lays over the workspace, if it does that."""
        if self.subject.agent == "oracle":
            return self.case.solution
        return next((wrong.folder for wrong in self.case.wrongs if wrong.name == self.subject.wrong), None)


def has_answer(unit: Case) -> bool:
    """Whether it is known what passes: a reference answer, or calls that can be played."""
    return unit.solution is not None or played_calls(unit) is not None


def played_calls(unit: Case) -> CallsSpec | None:
    """The expected calls that are a unit's reference answer: where it has no other one."""
    if unit.solution is not None:
        return None
    found = (check.spec for check in unit.checks if isinstance(check.spec, CallsSpec) and not unit.skips(check))
    return next((spec for spec in found if spec.sequences), None)
