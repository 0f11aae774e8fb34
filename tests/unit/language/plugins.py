"""A distribution for tests, that offers the agent `parrot` and the grader `words` without being installed."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from evalkit import plugins
from evalkit.plugins import Group, Plugin

__all__ = ["offer"]


def offer(monkeypatch: pytest.MonkeyPatch, *, value: str = "evalkit_wordy") -> None:
    """Have the distribution offer both. value: the module that the entry points name."""
    names: dict[Group, str] = {"agents": "parrot", "graders": "words"}
    found = {group: (Plugin(group, name, "evalkit-wordy", "0.1.0", EntryPoint(name, value, f"evalkit.{group}")),)
             for group, name in names.items()}

    def offered(group: Group) -> tuple[Plugin, ...]:
        return found[group]

    monkeypatch.setattr(plugins, "_all", offered)
