"""report.html: the matrix of a run, and the program that opens trials, in one file that may do nothing else.

The page holds its style and its script, and the content-security policy names both by their digests. Nothing else runs
or draws: no script that a text of an agent's would bring, no handler in an attribute, no address. The data of a trial
is a script beside the page, since no browser lets a page from the disk read a file; `strict-dynamic` allows those, and
those alone, that the page's own script adds. `'self'` would not do: browsers do not agree on what it means for a file,
and where it means the disk, it means all of it. A nonce would do, but for a page that lies on a disk it is no secret,
and a digest need be none. Trusted Types keep the script itself from ever making markup from a text. Screenshots are
within the data, so that pictures need no address either.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from evalkit.errors import UserError
from evalkit.report.html.matrix import MARKS, matrix, parts_of
from evalkit.report.html.program import program, template
from evalkit.report.html.texts import embedded

__all__ = ["render"]

_POLICY = ("default-src 'none'; script-src 'sha256-{script}' 'strict-dynamic'; style-src 'sha256-{style}'; "
           "img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
           "trusted-types evalkit")


def render(run: str, trials: Sequence[Mapping[str, Any]], data: str) -> str:
    """The page of a run. trials: the lines of its summary. data: the folder of trials' data, as the page finds it.

    Raises UserError where Jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    except ImportError:
        raise UserError("report.html is made with Jinja2, which is not installed",
                        hint="pip install 'evalkit[report]' has it") from None
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page = environment.from_string(template())
    script, style = program()
    made = matrix(trials)
    return page.render(
        run=run, matrix=made, marks=MARKS, totals=_totals(trials), notes=_notes(trials),
        policy=Markup(_POLICY.format(script=_sha256(script), style=_sha256(style))),
        script=Markup(script), style=Markup(style),
        index=Markup(embedded({"run": run, "data": data, "trials": [_entry(line.data) for line in made.lines]})))


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _entry(data: Mapping[str, Any]) -> dict[str, Any]:
    """A trial as the page's script knows it before it is opened."""
    track, arm = parts_of(data)
    tokens = data.get("tokens") or {}
    return {"place": data["place"], "case": data["case"], "track": track, "arm": arm, "suite": data["suite"],
            "tier": data.get("tier") or "", "agent": data["agent"], "model": data["model"] or "",
            "played": data.get("played") or "", "trial": data["trial"], "status": data["status"],
            "reason": data["reason"], "checks": list((data.get("checks") or {}).items()),
            "judge": _mean(data.get("judge") or ()), "turns": data.get("turns"),
            "tokens": sum(tokens.values()) if tokens else None, "cost": data.get("cost"), "seconds": data["seconds"],
            "ended": data.get("ended") or ""}


def _mean(scores: Sequence[float]) -> float | None:
    return round(sum(scores) / len(scores), 2) if scores else None


def _totals(trials: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Sums over all trials, as far as they are known."""
    costs = [data[name] for data in trials for name in ("cost", "failed_cost", "judge_cost") if data.get(name)]
    return {"cost": sum(costs), "seconds": sum(data["seconds"] for data in trials),
            "tokens": sum(sum((data.get("tokens") or {}).values()) for data in trials)}


def _notes(trials: Sequence[Mapping[str, Any]]) -> list[str]:
    """What must be known of a run before anything is concluded from it."""
    said = {"self_check": "self-check: reference answer, no model was called",
            "dry": "dry: no model was called, fails are to be expected",
            "played": "played: a file played the model's part, and nothing was paid"}
    told = []
    for name, note in said.items():
        if count := sum(bool(data.get(name)) for data in trials):
            told.append(note if count == len(trials) else f"{note} ({count} of {len(trials)} trials)")
    return told
