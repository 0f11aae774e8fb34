"""Two sides of trials, compared: pairs, tests, what flipped, and what it would take."""

from __future__ import annotations

import math
import random
from pathlib import Path
from statistics import mean, variance
from typing import Any

import orjson
import pytest

from evalkit.errors import UserError
from evalkit.report.compare import compare_lines, variances
from evalkit.report.schemas import schema
from evalkit.report.sides import Pair, pairs, read_side
from evalkit.report.summary import RunSummary
from evalkit.report.verdict_line import evidence, verdict_line


def line(case: str, status: str = "pass", number: int = 1, *, unit: str = "", model: str | None = "v/one",
         checks: dict[str, str] | None = None, scores: dict[str, float] | None = None, cost: float | None = 1.0,
         **more: Any) -> dict[str, Any]:
    return {"place": f"claude/{model}/{unit or case}/trial-{number}", "suite": "s", "case": case, "unit": unit or case,
            "agent": "claude", "model": model, "trial": number, "lane": "local", "status": status, "played": "",
            "note": "", "reason": status, "self_check": False, "dry": False, "ended": "completed", "tier": "",
            "retries": 0, "checks": {"own": status} if checks is None and status in ("pass", "fail") else checks or {},
            "scores": scores or {}, "measures": {}, "judge": list((scores or {}).values()), "turns": 10,
            "tokens": {"input": 100}, "cost": cost, "seconds": 5.0, **more}


def many(statuses: str, **more: Any) -> list[dict[str, Any]]:
    """A trial of each of several cases: `+` passes, `-` fails."""
    return [line(f"case-{number:02d}", "pass" if status == "+" else "fail", **more)
            for number, status in enumerate(statuses)]


def test_single_trials_are_tested_by_mcnemar() -> None:
    """Nine cases got better, one worse: 22/1024, whatever the others came to alike."""
    found = compare_lines(many("-" * 9 + "+" + "+" * 20), many("+" * 9 + "-" + "+" * 20))
    assert found.rate is not None
    assert found.rate.test is not None
    assert (22 / 1024, "McNemar's exact test") == found.rate.test
    assert (0.266667, 30) == (round(found.rate.apart.value, 6), found.rate.cases)
    assert 0 < found.rate.apart.low < 8 / 30 < found.rate.apart.high
    assert "B passes more often than A: +26.7 points [+7.2, +46.1] (p = 0.021" in verdict_line(found, 0.1)
    assert ([False] + [True] * 9) == [flip.better for flip in found.flips], "what got worse comes first"


def test_several_trials_are_tested_by_permutation() -> None:
    """Of three cases that all got better by one half, 2 of 8 signs are as far from 0: no 5 % can come of that."""
    ones = [line(case, "fail", number) for case in "abc" for number in (1, 2)]
    others = [line(case, "pass" if number == 1 else "fail", number) for case in "abc" for number in (1, 2)]
    found = compare_lines(ones, others)
    assert found.rate is not None
    assert found.rate.test is not None
    assert (0.25, "paired permutation test over cases") == found.rate.test
    assert not found.rate.apart.drawn, "no spread, no interval"


def test_each_case_counts_alike() -> None:
    """However many trials or units it has."""
    ones = [line("a", "fail", number) for number in range(1, 10)] + [line("b", "fail")]
    others = [line("a", "pass"), line("b", "fail", unit="b@x"), line("b", "pass", unit="b@y"), line("b", "fail")]
    found = compare_lines(ones, others)
    assert found.rate is not None
    assert (0.0, 0.5, 2) == (found.rate.one, found.rate.other, found.rate.cases)
    assert (("b@x", "not in A"), ("b@y", "not in A")) == found.apart


def test_a_single_case_is_compared_by_its_trials() -> None:
    """And that it says nothing of others is said."""
    ones = [line("a", "fail", number) for number in range(1, 7)]
    others = [line("a", "pass", number) for number in range(1, 7)]
    found = compare_lines(ones, others)
    assert found.rate is not None
    assert found.rate.test is not None
    assert 2 / math.comb(12, 6) == found.rate.test.p
    assert verdict_line(found, 0.1).endswith("; it is one case, and says nothing of others")


def test_what_neither_passed_nor_failed_is_named() -> None:
    """Errors are no fails; a case without a verdict on a side, or that is not there, is told, not dropped."""
    ones = [line("a"), line("b", "error"), line("c", "contaminated"), line("d"), line("f", "not run"), line("g")]
    others = [line("a", "fail"), line("b"), line("c"), line("e"), line("f"), line("g", "error"), line("g", "fail", 2)]
    found = compare_lines(ones, others)
    assert (("b", "A has no verdict: 1 in error"), ("c", "A has no verdict: 1 contaminated"), ("d", "not in B"),
            ("f", "A has no verdict: 1 not run"), ("e", "not in A")) == found.apart
    assert {"pass": 3, "error": 1, "contaminated": 1, "not run": 1} == found.counts[0]
    assert found.rate is not None
    assert (2, 1.0, 0.0) == (found.rate.cases, found.rate.one, found.rate.other)


def test_nothing_to_compare() -> None:
    """No case with a verdict on both sides."""
    found = compare_lines([line("a", "error")], [line("a")])
    assert (None, ()) == (found.rate, found.checks)
    assert "nothing to compare: no case has a verdict on both sides" == verdict_line(found, 0.1)


def test_one_trial_each_of_one_case() -> None:
    """Nothing is tested, and no interval drawn."""
    found = compare_lines([line("a", "fail")], [line("a")])
    assert found.rate is not None
    assert (None, False) == (found.rate.test, found.rate.apart.drawn)
    assert "not enough evidence: one case, and of it a single trial on a side, show nothing (+100.0 points)" \
        == verdict_line(found, 0.1)


def test_checks_are_corrected_for_their_number() -> None:
    """Holm's: the smallest of the p values times their number. Skipped checks and errors are no fails."""
    ones = [line(f"c{n}", checks={"good": "fail", "same": "pass", "lane": "skipped", "alone": "fail"} if n == 0 else
                 {"good": "fail", "same": "pass", "lane": "error"}) for n in range(8)]
    others = [line(f"c{n}", checks={"good": "pass", "same": "pass", "lane": "pass", "alone": "pass"} if n == 0 else
                   {"good": "pass", "same": "pass", "lane": "pass"}) for n in range(8)]
    found = compare_lines(ones, others)
    assert [("good", 2 * 2 / 2**8), ("same", 1.0), ("alone", None)] == [
        (check.difference.name, check.holm) for check in found.checks]
    assert ["same"] == [check.difference.name for check in compare_lines(ones, others, checks=["same"]).checks]


def test_scores_cost_and_time() -> None:
    """Scores are tested, what trials take is not; what nobody knows is left out."""
    ones = [line(f"c{n}", scores={"tone": 4.0 + n % 2}, cost=None if n == 0 else 1.0) for n in range(6)]
    others = [line(f"c{n}", scores={"tone": 6.0 + n % 3}, cost=1.5 + n) for n in range(6)]
    found = {each.name: each for each in compare_lines(ones, others).measures}
    assert ["judge tone", "turns", "tokens", "cost", "seconds"] == list(found)
    assert (6, 5) == (found["judge tone"].cases, found["cost"].cases)
    assert (True, False) == (found["judge tone"].test is not None, found["cost"].test is not None)
    assert found["cost"].apart.value == pytest.approx(3.5)


def test_arms_are_paired_without_their_names() -> None:
    """Else each unit would be on one side alone."""
    ones = [line(case, unit=f"{case}+without") for case in "abc"]
    others = [line(case, unit=f"{case}+with") for case in "abc"]
    assert 6 == len(compare_lines(ones, others).apart)
    assert () == compare_lines(ones, others, arms=True).apart


def test_the_issue_s_verdict() -> None:
    """24 cases of which 6 differ either way: single trials with that spread want nine of each."""
    found = compare_lines(many("-" * 3 + "+" * 3 + "+" * 18), many("+" * 3 + "-" * 3 + "+" * 18))
    assert verdict_line(found, 0.1) == (
        "no difference is shown: +0.0 points [-21.6, +21.6] (p = 1, McNemar's exact test)\n"
        "not enough evidence: 24 cases would need about 10 trials each to see 10 points "
        "(or about 207 cases of 1 trial each)")


def test_a_difference_that_would_have_been_seen() -> None:
    """With cases enough that all come to the same, the absence of a difference says something."""
    found = compare_lines(many("+" * 300), many("+" * 300))
    assert verdict_line(found, 0.1).endswith("; one of 10 points would probably have been seen")
    assert "not enough evidence" in verdict_line(compare_lines(many("+" * 5), many("+" * 5)), 0.1)


def test_the_spread_of_trials_and_of_cases_are_told_apart() -> None:
    """By variances that are known by hand: of two trials that differ 1/2; differences of cases 1 and -1 spread 2."""
    ones = {"a": [0.0, 1.0], "b": [0.0, 1.0]}
    assert (1.0, 0.0) == variances(ones, {"a": [1.0, 0.0], "b": [1.0, 0.0]})
    # No trial differs from its fellows: by Laplace's rule 3 of 6 on each side, 1/4 and 1/4.
    assert (0.5, 2.0) == variances({"a": [0.0, 0.0], "b": [1.0, 1.0]},
                                   {"a": [1.0, 1.0], "b": [0.0, 0.0]})
    assert (1.0, 0.0) == variances({"a": [0.0], "b": [0.0], "c": [0.0]}, {"a": [1.0], "b": [-1.0], "c": [0.0]})


def test_the_spread_of_a_case_with_several_units() -> None:
    """What differs between its units is no spread of its trials: these are counted, not the units."""
    def side(*passes: str) -> list[dict[str, Any]]:
        return [line(case, status, number, unit=f"{case}@{track}") for case in ("a", "b")
                for track, of_unit in zip(("ts", "zig"), passes, strict=True)
                for number, status in enumerate(("pass" if one == "p" else "fail" for one in of_unit), 1)]

    found = compare_lines(side("pppf", "ffff"), side("pppf", "ffff"))
    for values in found.values:
        assert [8, 8] == [len(of_case) for of_case in values.values()]
        for of_case in values.values():
            assert 3 / 8 == pytest.approx(mean(of_case))
            assert (3 * (1 / 4) ** 2 + (3 / 4) ** 2) / (8 - 2) == pytest.approx(variance(of_case))


def test_power_by_simulation() -> None:
    """With as many trials as are said to be needed, about 80 % of comparisons see the difference; half as many, less.

    24 cases, pass rates 0.5 and 0.6 in all of them: that is the sum which the formula makes.
    """
    from evalkit.report import stats

    within = 0.5 * 0.5 + 0.6 * 0.4
    needed = stats.trials_to_see(0.1, 24, within)
    assert needed == 18
    chance = random.Random(7)

    def seen(trials: int) -> float:
        def rate(share: float) -> float:
            return sum(chance.random() < share for _ in range(trials)) / trials

        settled = 0
        for _ in range(300):
            settled += stats.mean_t([rate(0.6) - rate(0.5) for _ in range(24)]).settled
        return settled / 300

    assert 0.73 <= seen(needed) <= 0.87
    assert seen(needed // 2) < 0.65


def test_evidence_of_several_trials() -> None:
    """More trials do not lessen how much cases differ: then it takes more cases."""
    values = ({f"c{n}": [0.0, 0.0, 1.0] for n in range(6)},
              {f"c{n}": [1.0, 1.0, 1.0] if n % 2 else [0.0, 0.0, 0.0] for n in range(6)})
    known = evidence(values, 0.1)
    assert (6, 3, None, False) == (known.cases, known.trials, known.needed, known.enough)
    assert known.more_cases is not None
    assert 200 < known.more_cases < 400


# ---- sides ----
@pytest.fixture
def results(tmp_path: Path) -> Path:
    runs = {"latest": [line("a", model="v/one"), line("a", model="v/two"), line("a", unit="a+with", model="v/two"),
                       line("a", agent="nop", model=None)], "before": [line("a", model="v/one")],
            "known": [line("a", agent="oracle", model=None, self_check=True)]}
    for run, lines in runs.items():
        (tmp_path / run).mkdir()
        (tmp_path / run / "summary.json").write_bytes(orjson.dumps({"trials": lines}))
    return tmp_path


@pytest.mark.parametrize(("text", "run", "subjects", "arm"), [
    ("latest", "latest", ["claude v/one", "claude v/two"], None), ("before", "before", ["claude v/one"], None),
    ("latest:v/one", "latest", ["claude v/one"], None), (":two", "latest", ["claude v/two"], None),
    ("+with", "latest", ["claude v/two"], "with"), ("latest:two+with", "latest", ["claude v/two"], "with"),
    ("with", "latest", ["claude v/two"], "with"), ("claude v/one", "latest", ["claude v/one"], None),
    ("latest+", "latest", ["claude v/one", "claude v/two"], "")])
def test_what_a_side_means(results: Path, text: str, run: str, subjects: list[str], arm: str | None) -> None:
    """A run, a subject in it, an arm in it; a word alone is whatever has that name."""
    found = read_side(text, results)
    assert (run, subjects, arm) == (found.run, found.subjects, found.arm)


@pytest.mark.parametrize(("text", "said", "hint"), [
    ("latset", "there is no run `latset`",
     "there are: before, known, latest; in `latest`: claude v/one, claude v/two, +with"),
    ("nop", "no run `nop` under results/, and as a subject it is a known answer", "claude v/one"),
    (":three", "no subject `three`", "it has: claude v/one, claude v/two"), (":claude", "several subjects", "v/one"),
    ("+other", "no trial on an arm `other`", "it has: with"), ("before+x", "no trial on an arm `x`", "have no arms"),
    ("known", "no trial of an agent", "with a model's key")])
def test_a_side_that_there_is_not(results: Path, text: str, said: str, hint: str) -> None:
    """It is the person's mistake, with what there is."""
    with pytest.raises(UserError, match=said) as caught:
        read_side(text, results)
    assert hint in (caught.value.hint or "")


def test_which_subjects_are_compared(results: Path) -> None:
    """Each with itself; what is on one side alone is said. Two single subjects are compared whatever they are."""
    whole, before = read_side("latest", results), read_side("before", results)
    assert ([Pair("claude v/one", "claude v/one", False)],
            ["claude v/two is in latest alone: not compared"]) == pairs(whole, before)
    assert ([Pair("claude v/one", "claude v/two", False)], []) == pairs(before, read_side(":two", results))
    with pytest.raises(UserError, match="no subject is on both sides"):
        pairs(whole, read_side_of(results, "claude v/three"))


def test_a_summary_of_an_earlier_evalkit(results: Path) -> None:
    """What the schema does not require may be missing; what is no summary is said."""
    required = schema(RunSummary)["$defs"]["TrialSummary"]["required"]
    lines = [{name: value for name, value in line("a", number=number).items() if name in required}
             | {"note": ""} for number in (1, 2)]
    (results / "before/summary.json").write_bytes(orjson.dumps({"trials": lines}))
    before = read_side("before", results)
    found = compare_lines(before.lines, read_side("latest:v/one", results).lines)
    assert found.rate is not None
    assert (0.0, ["turns", "cost", "seconds"]) == (found.rate.apart.value, [each.name for each in found.measures])
    (results / "before/summary.json").write_bytes(b'{"trials": [3]}')
    with pytest.raises(UserError, match="cannot be read"):
        read_side("before", results)


def read_side_of(results: Path, subject: str) -> Any:
    """A side with one subject more than there are."""
    from evalkit.report.sides import Side

    model = subject.removeprefix("claude ")
    return Side("x", "x", None, [line("a", model=model), line("a", model=f"{model}-more")])
