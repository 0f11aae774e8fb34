"""`evalkit` asked about a project within this process, with no key and no choice of the person who runs the tests."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from evalkit.cli import main
from tests.feature.project import MiniProject

__all__ = ["Asked"]


class Asked:
    """What `evalkit` answers: its output, or what it says on standard error where a status is expected."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._patch = monkeypatch

    def __call__(self, project: MiniProject, *words: str, status: int = 0) -> str:
        self._capsys.readouterr()
        with self._patch.context() as patch:
            for name in [*os.environ]:
                if name.startswith(("EVALKIT_", "ANTHROPIC_", "CLAUDE_", "AI_GATEWAY_", "VERCEL_", "OPENAI_",
                                    "GEMINI_")):
                    patch.delenv(name)
            for name, value in {"EVALKIT_CACHE": str(project.root.parent / "cache"),
                                "EVALKIT_WORK": str(project.root.parent / "work"), **project.env}.items():
                patch.setenv(name, value)
            patch.chdir(project.root)
            assert status == main([*words])
        out, err = self._capsys.readouterr()
        return str(err if status else out)

    def tasks(self, project: MiniProject, *words: str) -> dict[str, dict[str, Any]]:
        """What `evalkit why` says of each task, by its name."""
        return {found["task"]: found for found in json.loads(self(project, "why", "--json", *words))["tasks"]}
