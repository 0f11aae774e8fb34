"""Scripted models that operate the viewer, for `gateway=`: each case's calls, one a turn, confirmations walked."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import orjson
import yaml
from viewer import registry
from viewer.command import Rejected

from tests.feature.project import PYPROJECT, MiniProject
from tests.feature.viewer_answers import Call

__all__ = ["ROOT", "SUITE", "viewer_project", "walked", "write_script"]

ROOT = Path(__file__).resolve().parents[2]
SUITE = ROOT / "cases/viewer"


def viewer_project(folder: Path) -> MiniProject:
    """A project with this suite alone, and with no key."""
    project = MiniProject(folder / "project")
    shutil.copytree(SUITE, project.path("cases/viewer"), ignore=shutil.ignore_patterns("__pycache__"))
    project.write("pyproject.toml", PYPROJECT)
    project.write("dodo.py", '"""A project with one suite."""\n')
    return project


def walked(calls: Sequence[Call]) -> Iterator[Call]:
    """The calls, and behind each that is answered with a token the one that brings it.

    The fixture has a key, so a session of the evaluation gives the tokens that this one gives.
    """
    session = registry.start(yaml.safe_load((SUITE / "state/kasado-bridge.yaml").read_text(encoding="utf-8")))
    for name, arguments in calls:
        yield name, arguments
        try:
            told = session.call(name, arguments)
        except Rejected:
            continue
        if isinstance(told, dict) and "confirmation" in told:
            again = {**arguments, "confirm": told["confirmation"]["token"]}
            session.call(name, again)
            yield name, again


def write_script(project: MiniProject, name: str, prompts: Mapping[str, str],
                 answers: Mapping[str, Sequence[Call]]) -> str:
    """Write a script in which each case's prompt gets its calls; returns the choice that plays it."""
    rules = []
    for case, calls in answers.items():
        prompt = "/^" + re.escape(prompts[case]).replace("/", r"\/") + "$/m"
        replies = [{"calls": [{"name": command, "input": arguments}]} for command, arguments in walked(calls)]
        rules += [{"when": {"any": prompt, "turn": turn}, "reply": reply}
                  for turn, reply in enumerate([*replies, {"text": "Done."}], 1)]
    project.write(f"scripts/{name}.yaml", orjson.dumps({"script": 1, "rules": rules}).decode())
    return f"gateway=scripts/{name}.yaml"
