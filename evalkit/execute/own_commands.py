"""The commands of a case itself: an agent that runs them checks its work, and writes nothing of interest."""

from __future__ import annotations

import re

from evalkit.analysis.model import Case, Command, Each, HiddenTestsSpec, Run, RunSpec, StepsSpec

__all__ = ["own_commands"]


def own_commands(unit: Case) -> frozenset[tuple[str, ...]]:
    """How the case's own commands begin.

    Of a command with a sub-command (`tool test …`) what follows may differ; of any other every word counts.
    """
    found: set[tuple[str, ...]] = set()
    commands: list[Command] = list(unit.setup.prewarm)
    for check in unit.checks:
        if isinstance(check.spec, RunSpec | HiddenTestsSpec):
            commands.append(check.spec.command)
        elif isinstance(check.spec, StepsSpec):
            commands += [step.command for step in check.spec.steps if isinstance(step, Run | Each)]
    for command in commands:
        plain = []
        for word in command.words:
            if not re.fullmatch(r"[A-Za-z][\w:-]*", word):
                break
            plain.append(word)
        whole = len(plain) == len(command.words)
        found.add(tuple(plain) if whole or len(plain) > 1 else command.words)
    return frozenset(found)
