"""A trial as the report opens it: its result, its conversation, what it changed, its screenshots, as plain data.

The data is put together from what lies beside result.json. Every text in it is cleaned of keys once more: a folder of
results may be somebody else's, or older than a key that is known by now.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from evalkit.errors import HarnessError
from evalkit.execute.outcome import TRANSCRIPT
from evalkit.execute.secrets import Redactor
from evalkit.records import read_plain
from evalkit.report.html.changes import Changes, inputs_of
from evalkit.report.html.texts import cleaned
from evalkit.report.update import REGRADED
from evalkit.values import Value

__all__ = ["Prompt", "Reader"]

_PNG = b"\x89PNG\r\n\x1a\n"
_LARGEST_PICTURE, _MOST_PICTURES = 4_000_000, 20
"""Bytes of a screenshot, and how many of one trial, that are shown."""
_USAGE = ("turns", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cost", "cost_source")


Prompt: TypeAlias = Callable[[str, str, Mapping[str, str]], str]
"""A case, a unit of it, and the inputs of an agent run -> what the agent was asked; "" where that is not known."""


class Reader(Value):
    """Makes the data of trials. prompt: tells what agents were asked, which most transcripts leave out."""

    redactor: Redactor
    changes: Changes
    prompt: Prompt

    def read(self, folder: Path, place: str, result: Mapping[str, Any]) -> dict[str, Any]:
        """The data of a trial with a result. folder: the trial's; place: its path below the run's."""
        checks = [_check(check, result.get("must_fail") or ()) for check in result["checks"]]
        told = cleaned({
            "place": place, **{name: result.get(name) for name in _OWN},
            "ending": {name: result["ending"].get(name) for name in ("status", "detail", "retries", "notes")},
            "usage": {name: result["ending"]["usage"].get(name) for name in _USAGE},
            "failed": len(result.get("failed") or ()), "audit": _audit(result.get("audit")), "checks": checks,
            "regraded": _regraded(folder, result), "spans": _spans(result), "facts": _facts(result),
            "left_out": result.get("left_out") or [],
        }, self.redactor)
        data: dict[str, Any] = told
        inputs = inputs_of(self.changes.store, str(result.get("agent_key") or ""))
        data["changes"] = self.changes.of(folder, inputs.get("workspace", ""))
        data["talk"] = self._talk(folder, self.prompt(str(result["case"]), str(result["unit"]), inputs))
        data["pictures"] = _pictures(folder)
        return data

    def _talk(self, folder: Path, prompt: str) -> dict[str, Any]:
        path = folder / TRANSCRIPT
        if not path.is_file():
            return {"events": [], "note": "it left no transcript"}
        from evalkit.execute.transcripts import read_events
        from evalkit.report.html.conversation import conversation

        try:
            return conversation(read_events(path), self.redactor, prompt) | {"bytes": path.stat().st_size}
        except HarnessError as error:
            return {"events": [], "note": self.redactor.text(error.message)}


_OWN = ("case", "unit", "suite", "run", "trial", "lane", "agent", "model", "status", "reason", "note", "self_check",
        "dry", "seconds", "prewarm_seconds", "finished_at", "played", "tier")


def _check(check: Mapping[str, Any], must_fail: object) -> dict[str, Any]:
    verdict = check["verdict"]
    judging = verdict.get("judging") or {}
    told = {name: check.get(name) for name in ("id", "kind", "description", "advisory", "seconds", "key")}
    told |= {name: verdict.get(name) for name in ("status", "summary", "evidence", "score", "alpha", "measures",
                                                  "tests")}
    told["must_fail"] = isinstance(must_fail, list) and check["id"] in must_fail
    told["judged"] = {"model": judging.get("model"), "retries": judging.get("retries"),
                      "notes": judging.get("notes") or [],
                      "cost": (judging.get("usage") or {}).get("cost")} if judging else None
    told["votes"] = [{name: vote.get(name) for name in ("model", "number", "scores", "error")}
                     for vote in verdict.get("votes") or ()]
    return told


def _regraded(folder: Path, result: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the trial comes to by the checks as they stood when it was graded again; None where it never was.

    changes: the checks that came to something else, with the old and the new status, or score, and the new summary.
    """
    try:
        regraded = read_plain(folder / REGRADED)
        now = {grade["check"]: grade["verdict"] for grade in regraded["grades"]}
    except (FileNotFoundError, HarnessError, KeyError, TypeError):
        return None
    old = {check["id"]: check["verdict"] for check in result["checks"]}
    changes = [[check, _came(old.get(check), verdict), _came(verdict, verdict), verdict.get("summary")]
               for check, verdict in now.items() if _came(old.get(check), verdict) != _came(verdict, verdict)]
    changes += [[check, _came(verdict, verdict), "", ""] for check, verdict in old.items() if check not in now]
    return {"status": regraded.get("status"), "reason": regraded.get("reason"), "evalkit": regraded.get("evalkit"),
            "notes": regraded.get("notes") or [], "changes": changes}


def _came(verdict: Mapping[str, Any] | None, like: Mapping[str, Any]) -> str:
    """A verdict in a word. like: the new one of the check, which has a judge's score before its threshold."""
    if verdict is None:
        return ""
    score = verdict.get("score")
    return str(verdict.get("status")) if score is None or like.get("score") is None else f"{score:g}"


def _audit(audit: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if not audit:
        return None
    return {name: audit.get(name) for name in ("contaminated", "findings", "tries", "more", "gaps", "note", "blind")}


def _spans(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """How long what took, each from the earliest time at which it could begin: seconds from the first one's begin."""
    prewarm, agent = float(result.get("prewarm_seconds") or 0), float(result.get("seconds") or 0)
    spans = [{"what": "prewarm", "name": "prewarm", "start": 0.0, "seconds": prewarm}] if prewarm else []
    spans.append({"what": "agent", "name": "agent", "start": prewarm, "seconds": agent})
    for check in result["checks"]:
        kind = "judge" if check.get("kind") == "judge" else "check"
        spans.append({"what": kind, "name": check["id"], "start": prewarm + agent,
                      "seconds": float(check.get("seconds") or 0)})
    return spans


def _facts(result: Mapping[str, Any]) -> list[list[str]]:
    """Keys and versions, as pairs."""
    told = [["finished", result.get("finished_at")], ["lane", result.get("lane")], ["evalkit", result.get("evalkit")],
            ["agent's version", result.get("agent_version")],
            *([name, version] for name, version in sorted((result.get("versions") or {}).items())),
            ["key of the agent run", result.get("agent_key")], ["digest of the final tree", result.get("tree_digest")],
            ["played from", result.get("played")]]
    return [[str(name), str(value)] for name, value in told if value]


def _pictures(folder: Path) -> list[dict[str, Any]]:
    """The screenshots, within the data: the page may load nothing else."""
    found: list[dict[str, Any]] = []
    try:
        paths = sorted(path for path in (folder / "screenshots").iterdir() if path.suffix == ".png")
    except OSError:
        return []
    for path in paths[:_MOST_PICTURES]:
        try:
            size = path.stat().st_size
            data = path.read_bytes() if size <= _LARGEST_PICTURE else b""
        except OSError:
            continue
        if data.startswith(_PNG):
            found.append({"check": path.stem, "data": base64.b64encode(data).decode(), "note": ""})
        else:
            note = f"screenshots/{path.name} is not shown: " + ("no PNG" if data else f"it has {size:,} bytes")
            found.append({"check": path.stem, "data": "", "note": note})
    return found
