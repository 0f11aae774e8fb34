"""Arms side by side: which trials count, what ablated parts are worth."""

from __future__ import annotations

from typing import Any

from evalkit.report.arms import PAGE, Arms
from evalkit.report.arms_text import arms_text


def trial(case: str, arm: str, score: float, *, model: str | None = "google/g", status: str = "pass", page: bool = True,
          **more: Any) -> dict[str, Any]:
    return {"suite": "s", "case": case, "unit": f"{case}+{arm}", "agent": "api", "model": model, "status": status,
            "self_check": False, "dry": False, "played": "", "scores": {},
            "checks": {"code": "pass", "smoke": "pass" if page else "fail", "snap": "skipped"},
            "measures": {"code": {"composite": score, "api_match": score}}, **more}


def test_which_trials_count() -> None:
    """Those of a model that were graded: passed or failed, no known answers, none of another suite."""
    arms = Arms([trial("a", "with", 1.0), trial("a", "with", 0.5, status="fail"),
                 trial("a", "with", 0.0, status="error"), trial("a", "with", 0.0, status="contaminated"),
                 trial("a", "with", 0.0, model=None), trial("a", "with", 0.0, self_check=True),
                 trial("a", "with", 0.0, dry=True), trial("a", "with", 0.0, suite="t")], "s")
    assert ["api google/g"] == arms.subjects
    assert [1.0, 0.5] == arms.values("api google/g", "a", "with")


def test_measures() -> None:
    """The composite first; checks without numbers are told by how many passed; judges stand apart."""
    arms = Arms([trial("a", "with", 1.0, scores={"fit": 8.0}, page=False),
                 trial("a", "with", 1.0, scores={"fit": 6.0}, page=True)], "s")
    assert ["composite", "api_match", PAGE, "judge: fit"] == arms.measures
    assert ["judge: fit"] == arms.judged
    assert [0.0, 1.0] == arms.values("api google/g", "a", "with", PAGE)
    assert [8.0, 6.0] == arms.values("api google/g", "a", "with", "judge: fit")


def test_arms_are_compared_over_the_cases_that_are_on_both() -> None:
    """Of each case the difference of its medians."""
    arms = Arms([trial("a", "with", 1.0), trial("a", "with", 0.8), trial("a", "with", 1.0), trial("a", "without", 0.5),
                 trial("b", "with", 0.6), trial("b", "without", 0.4), trial("c", "with", 0.1)], "s", "with")
    assert ["with", "without"] == arms.arms
    gain = arms.gain("api google/g", "without")
    assert gain is not None
    assert (0.35, 2) == (round(gain.value, 6), gain.count)
    assert 0.19 < gain.low <= gain.high < 0.51
    assert arms.cell("api google/g", "c", "without") is None


def test_the_base_is_the_first_arm_unless_one_is_named() -> None:
    """An ablation is no arm to compare with."""
    trials = [trial("a", "m.cut", 1.0), trial("a", "m", 1.0), trial("a", "l", 1.0)]
    assert ("l", ["l", "m"]) == (Arms(trials, "s").base, Arms(trials, "s").arms)
    assert ["m", "l"] == Arms(trials, "s", "m").arms


def test_what_parts_are_worth() -> None:
    """Those that are worth most first; one that is told from nothing is settled."""
    trials = [*(trial("a", "with", 1.0) for _ in range(3)), *(trial("a", "cut.key", 0.4) for _ in range(3)),
              *(trial("a", "cut.none", 1.0) for _ in range(3)),
              *(trial("a", "cut.maybe", score) for score in (1.0, 1.0, 0.7))]
    (parts,) = Arms(trials, "s", "with").ablations("api google/g").values()
    assert [("key", 0.6, True), ("maybe", 0.1, False), ("none", 0.0, False)] == [
        (part.part, round(part.worth.value, 6), part.settled) for part in parts]


def test_parts_of_several_arms() -> None:
    """A section and a document may have one name: then the arm is told."""
    trials = [trial("a", arm, 1.0) for arm in ("with", "cut.key", "files.key")]
    (parts,) = Arms(trials, "s", "with").ablations("api google/g").values()
    assert ["cut.key", "files.key"] == [part.part for part in parts]


def test_the_text() -> None:
    """A table of measures, one of cases, one of each ablation; names cannot break a table."""
    arms = Arms([trial("a", "with", 1.0, model="x|y"), trial("a", "with", 0.5, model="x|y"),
                 trial("a", "without", 0.25, model="x|y"), trial("a", "cut.key", 0.25, model="x|y")], "s", "with")
    text = arms_text("latest", [arms], ["plots/s-models.png"])
    assert "### api x\\|y\n" in text
    assert "| composite | 0.75 | 0.25 | +0.50 |" in text
    assert "| a | 2/1 | 0.75 [0.50, 1.00] | 0.25 | 1.00 | 1.00 |" in text
    assert "| key | 1 | 0.25 | +0.50 (one trial: no interval) | not told from 0 |" in text
    assert text.endswith("## Plots\n\n![s models](plots/s-models.png)\n")


def test_subjects_side_by_side() -> None:
    """A row for each model, with all arms; of one model alone there is no such table."""
    trials = [trial("a", arm, score, model=model, scores={"fit": 7.0})
              for model, scores in (("m/one", (1.0, 0.5)), ("m/two", (0.8, 0.6)))
              for arm, score in zip(("with", "without"), scores, strict=True)]
    text = arms_text("latest", [Arms(trials, "s", "with")])
    assert "| means over cases | composite, with | composite, without | composite, with − without |" in text  # noqa: RUF001
    assert "| api m/one | 1.00 | 0.50 | +0.50 | 7.00 | 7.00 | +0.00 |" in text
    assert "| api m/two | 0.80 | 0.60 | +0.20 | 7.00 | 7.00 | +0.00 |" in text
    assert "Side by side" not in arms_text("latest", [Arms(trials[:2], "s", "with")])
