"""Markdown that holds what came from an agent, and what summary.md tells of one trial.

Such texts stand in code spans and fenced blocks that they cannot close, or with their markup escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from evalkit.report.findings import MARKS
from evalkit.report.row import CheckRow
from evalkit.report.summary import TrialSummary

__all__ = ["code", "escaped", "trial_block"]

_ESCAPED = str.maketrans({sign: f"\\{sign}" for sign in r"\`*_[]<>|#~&"} | {"\n": " "})


def trial_block(line: TrialSummary, checks: Sequence[CheckRow], detail: str) -> str:
    """What is told of a trial; "" of one that passed or did not run.

    detail: how a limit ended the agent's run, or "".
    """
    if line.status in ("pass", "not run"):
        return ""
    from evalkit.report.rates import subject_of

    subject = subject_of({"agent": line.agent, "model": line.model, "played": line.played})
    text = [f"### {code(line.unit)}, trial {line.trial} of {escaped(subject)}: {line.status}", "",
            escaped(line.reason)]
    if detail:
        text.append(f"\nThe agent's run: {line.ended}: {escaped(detail)}")
    amiss = [check for check in checks if check.amiss]
    for number, check in enumerate(amiss):
        said = f"{check.said}: {check.why}" if check.why else check.said
        text += [""] if number == 0 or text[-1].startswith("  `") else []
        text.append(f"- {MARKS[check.status]} {code(check.id)}{' (advisory)' if check.advisory else ''} "
                    f"{escaped(said)}")
        if check.evidence:
            more = [f"… {check.more} more lines"] if check.more else []
            text += ["", *(f"  {part}" for part in _fenced([*check.evidence, *more]))]
    if amiss:
        text += ["", f"All evidence: {code(f'{line.place}/result.json')}"]
    return "\n".join(text) + "\n"


def code(text: str) -> str:
    """A text as a code span, also in a table: no backtick and no bar of its own ends it."""
    text = text.replace("\n", " ")
    if "`" not in text and "|" not in text:
        return f"`{text}`"
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}".replace("|", "\\|")


def escaped(text: str) -> str:
    """A text in a line whose markup is shown, not followed."""
    return text.translate(_ESCAPED)


def _fenced(lines: Sequence[str]) -> list[str]:
    """A block of code: its fence is longer than any that it holds."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}text", *lines, fence]
