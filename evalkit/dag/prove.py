"""Proves cases: a right answer passes, doing nothing fails, every wrong answer fails the checks that it names.

The proof is an ordinary run of known answers, kept under the run `prove`: nothing is graded twice, and no model is
called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from evalkit.analysis.model import Case, Wrong
from evalkit.dag.engine import open_state, pools_of, run_tasks
from evalkit.dag.lock import alone
from evalkit.dag.plan import PROOF, Plan
from evalkit.dag.progress import Progress
from evalkit.dag.summing_up import declared_units, sum_up
from evalkit.execute.outcome import NoAnswer
from evalkit.plan.trials import has_answer
from evalkit.report.result import TrialResult

__all__ = ["Proof", "prove"]


@frozen
class Proof:
    """What the known answers of a unit came to.

    statuses: by answer (oracle, nop, wrong:NAME), the status of each check. wrong: why the case is not proven, in
    words; empty where it is. remarks: what would make the proof stronger. broken: what could not be run.
    """

    case: Case
    statuses: dict[str, dict[str, str]]
    wrong: tuple[str, ...]
    remarks: tuple[str, ...]
    broken: tuple[str, ...]


def prove(root: Path, environ: Mapping[str, str], cases: Sequence[str] | None, progress: Progress, *,
          full: bool = False) -> list[Proof]:
    """Run the known answers of the cases (None: of all) where they are not up to date, and say what they prove.

    full: wrong answers are graded by all checks, not only by those that they name.
    """
    plan = Plan(root, environ, {"judge": "off"}, progress)
    names = [name for name in plan.project.units if cases is None or name in cases]
    plan.build_proof(names, full=full)
    trials = [tasks.trial for of_unit in plan.graph.trials.values() for tasks in of_unit]
    with alone(plan.session.places.state):
        progress.units([trial.id for trial in trials])
        try:
            reporter = run_tasks(plan.session, list(plan.graph.tasks.values()), [f"case:{name}" for name in names],
                                 open_state(plan.session), progress, pools_of(plan.choices))
            rows = [row for of_unit in plan.graph.trials.values() for tasks in of_unit if (row := tasks.row())]
            for error in sum_up(root, PROOF, rows, progress, new=reporter.made_results,
                                declared=declared_units(plan.project.index)):
                raise error
        finally:
            progress.close()
    return [_proof(plan, unit) for name in names for unit in plan.project.units[name] if unit.unit in plan.graph.trials]


def _proof(plan: Plan, case: Case) -> Proof:
    trials = plan.graph.trials[case.unit]
    broken: list[str] = []
    wrong: list[str] = []
    results: dict[str, TrialResult] = {}
    for tasks in trials:
        trial = tasks.trial
        failure, result = plan.graph.failure(trial), tasks.result()
        if failure is not None and isinstance(failure.error, NoAnswer):
            wrong.append(failure.error.message)
            continue
        if failure is not None or result is None:
            broken.append(str(failure).splitlines()[0] if failure else f"{trial.subject.agent} did not run")
            continue
        results[trial.subject.agent] = result
        if result.status == "error":
            broken.append(f"{trial.subject.agent}: {result.reason}")
    statuses: dict[str, dict[str, str]] = {
        agent: {check.id: check.verdict.status for check in result.checks} for agent, result in results.items()}
    return Proof(case, statuses, wrong=(*wrong, *_wrong(case, results, statuses)),
                 remarks=tuple(_remarks(case, results, statuses)), broken=tuple(dict.fromkeys(broken)))


def _wrong(case: Case, results: Mapping[str, TrialResult], statuses: Mapping[str, Mapping[str, str]]) -> list[str]:
    found = []
    right = results.get("oracle")
    if right is not None and right.status == "fail":
        found.append(f"the reference answer does not pass: {right.reason}")
    nothing = results.get("nop")
    if nothing is not None and nothing.status == "pass":
        found.append("doing nothing passes: no check needs the work to be done")
    for wrong in case.wrongs:
        missed = [name for name in wrong.fails if statuses.get(f"wrong:{wrong.name}", {}).get(name) == "pass"]
        found += [f"wrong answer `{wrong.name}` passes `{name}`, which must fail it" for name in missed]
        found += _other_tests(wrong, results.get(f"wrong:{wrong.name}"))
    return found


def _other_tests(wrong: Wrong, result: TrialResult | None) -> list[str]:
    """Where the hidden tests that a wrong answer fails are not those that it names."""
    found = []
    for check in result.checks if result is not None else ():
        named = {test for name, test in wrong.tests if name == check.id}
        failed = {test.name for test in check.verdict.tests if test.status == "failed"}
        if named and check.verdict.status != "error":
            found += [f"wrong answer `{wrong.name}` does not fail the test `{test}` of `{check.id}`"
                      for test in sorted(named - failed)]
            found += [f"wrong answer `{wrong.name}` fails the test `{test}` of `{check.id}` too"
                      for test in sorted(failed - named)]
    return found


def _remarks(case: Case, results: Mapping[str, TrialResult], statuses: Mapping[str, Mapping[str, str]]) -> list[str]:
    found = []
    if "oracle" not in results and not has_answer(case):
        found.append("there is no reference answer: nothing shows that the case can be passed")
    if not case.wrongs:
        found.append("there is no wrong answer: nothing shows what the checks reject")
    deciding = [check.id for check in case.checks if not check.advisory and not case.skips(check)]
    untested = [name for name in deciding
                if results and all(found_status.get(name, "pass") == "pass" for found_status in statuses.values())]
    found += [f"no known answer fails `{name}`: nothing shows that it rejects anything" for name in untested]
    skipped = [name for name in deciding if any(of.get(name) == "skipped" for of in statuses.values())]
    found += [f"`{name}` was not graded here" for name in skipped]
    return found
