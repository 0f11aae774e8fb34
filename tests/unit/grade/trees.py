"""Final trees for tests: packed and kept in a store, as an agent's run leaves them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from evalkit.analysis.model import (
    AgentConfig,
    Case,
    Judge,
    Limits,
    ModelChoice,
    Scaffold,
    Setup,
    SuiteInfo,
)
from evalkit.execute.pack import pack
from evalkit.execute.places import Places
from evalkit.execute.session import Session
from evalkit.execute.stages import TREE
from evalkit.grade.final_tree import FinalTree

__all__ = ["KEY", "SECRET", "a_case", "a_judge", "final_tree"]

KEY = "a0" * 32
SECRET = "vck_a-key-that-must-stay-secret"


def final_tree(root: Path, files: Mapping[str, str | bytes], *, links: Mapping[str, str] | None = None,
               exclude: Iterable[str] = (), programs: Iterable[str] = ()) -> FinalTree:
    """A tree of these files and links (name -> target) in a project below `root`; `programs` can be executed."""
    places = Places(root / "project", root / "cache", root / "work")
    session = Session(places, {"PATH": os.environ["PATH"], "AI_GATEWAY_API_KEY": SECRET}, say=lambda _: None)
    places.root.mkdir()
    tree = root / "tree"
    tree.mkdir()
    for name, content in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for name in programs:
        (tree / name).chmod(0o755)
    for name, target in (links or {}).items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).symlink_to(target)
    with session.store.making("agent", KEY) as entry:
        manifest = pack(tree, entry / TREE, exclude=exclude)
    return FinalTree(session, KEY, manifest)


def a_case(*, prompt: str = "Write a program.") -> Case:
    """A case without checks of its own."""
    scaffold = Scaffold(command=None, folder="skeleton", origin="x.eval:1:1")
    choice = ModelChoice(None, "anthropic/claude-opus-4.8")
    return Case(
        name="sample", suite=SuiteInfo("suite", "", "cases", "x.eval:1:1"), about="", folder="cases",
        origin="x.eval:1:1", prompt=prompt, profile="",
        setup=Setup(toolchains=(), scaffold=scaffold, starter=None, skills=(), prewarm=(), caches=()),
        limits=Limits(), agent=AgentConfig("claude"), model=choice, judge_model=choice, checks=(), judges=(),
        solution=None, wrongs=(),
    )


def a_judge(*criteria: str, files: tuple[str, ...] = ("**",), context: tuple[str, ...] = (),
            threshold: int | None = None, advisory: bool = False) -> Judge:
    return Judge("quality", "quality beyond compliance", files, threshold, advisory,
                 criteria or ("It is simple.", "It is tested."), context, "x.eval:1:1")
