"""Cases, trials and sessions for the tests of this folder, with as little in them as may be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evalkit.analysis.model import (
    AgentConfig,
    Case,
    Command,
    Limits,
    ModelChoice,
    Scaffold,
    Setup,
    SuiteInfo,
    Toolchain,
)
from evalkit.execute.agents.base import Job
from evalkit.execute.lanes import LocalRoom
from evalkit.execute.places import Places
from evalkit.execute.session import Session
from evalkit.plan.trials import AgentTraits, Subject, Trial
from evalkit.values import evolve

ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
TRAITS = AgentTraits("1", frozenset({"prompt", "model", "tools", "limits"}), sampled=True, builds=True)


def sh(script: str, limit: int = 10) -> Command:
    """A shell script as a case's command; braces are written twice."""
    return Command(("sh", "-c", script), limit)


def setup(**changes: Any) -> Setup:
    """A set-up that makes a folder with one file."""
    plain = Setup(toolchains=(), scaffold=Scaffold(sh("mkdir app && echo made > app/file"), None, "suite.eval:1:1"),
                  starter=None, skills=(), prewarm=(), caches=())
    return evolve(plain, **changes)


def case(**changes: Any) -> Case:
    plain = Case(
        name="greeting", suite=SuiteInfo("mini", "", "cases/mini", "suite.eval:1:1"), about="", folder="cases/mini",
        origin="case.eval:1:1", prompt="Say hello.", profile="", setup=setup(), limits=Limits(),
        model=ModelChoice(None, "m"), agent=AgentConfig("claude"),
        judge_model=ModelChoice(None, "m"), checks=(), judges=(), solution=None, wrongs=())
    return evolve(plain, **changes)


def trial(of: Case | None = None, agent: str = "claude", model: str | None = "anthropic/claude-x-1.5",
          **changes: Any) -> Trial:
    plain = Trial(of or case(), Subject(agent, model), TRAITS, 1, "latest")
    return evolve(plain, **changes)


def a_job(**given: Any) -> Job:
    """What an agent is given, in the open where no room is."""
    plain: dict[str, Any] = {"off_limits": (), "toolchain": None, "readable": (), **given}
    home: Path = plain["home"]
    plain.setdefault("room", LocalRoom(plain["workspace"], home, home.parent, plain["env"]))
    return Job(**plain)


def session(folder: Path, said: list[str] | None = None, environ: dict[str, str] | None = None,
            **options: Any) -> Session:
    """A session of a project in `folder`/project."""
    places = Places(folder / "project", folder / "cache", folder / "work/project")
    places.root.mkdir(exist_ok=True)
    told = said if said is not None else []
    return Session(places, {**ENV, **(environ or {})}, told.append, **options)


def toolchain(**changes: Any) -> Toolchain:
    return evolve(Toolchain("tools", origin="suite.eval:2:3"), **changes)
