"""`doit run`: runs what is not up to date, prints the table (also where nothing ran), and exits by the verdicts."""

from __future__ import annotations

import contextlib
import errno
import gc
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from doit.cmd_run import Run as DoitRun
from doit.cmd_run import opt_always, opt_single, opt_verbosity
from doit.cmdparse import CmdParseError
from doit.dependency import DatabaseException
from doit.exceptions import InvalidCommand, InvalidDodoFile, InvalidTask
from doit.task import Stream

from evalkit.dag import interrupts
from evalkit.dag.failure import Failure
from evalkit.dag.invocation import Invocation
from evalkit.dag.loader import Loader
from evalkit.dag.summing_up import declared_units, drawn, sum_up, told_units
from evalkit.diagnostics.streams import drop_output
from evalkit.errors import EvalkitError, Exit
from evalkit.report.row import Row, failed_row
from evalkit.report.table import print_table

if TYPE_CHECKING:
    from evalkit.dag.plan import Plan
    from evalkit.dag.progress import Reporter
    from evalkit.dag.trial_tasks import TrialTasks
    from evalkit.execute.outcome import Usage

__all__ = ["Run"]

_SHORT_HELP = """\
doit run case:NAME        run a case and print its table   (suite:NAME, all)
doit run ablate:NAME      a case with each section of its guidance left out in turn   (then: evalkit arms)
doit list                 cases and suites                 (--all: every task, --status: what would run)
evalkit why TASK          why a task would run, or not     (doit run … why=1: of all tasks, while they run)
evalkit plan case:NAME    what would run, and what it is expected to cost
choices: name=value, for instance  doit run case:NAME agent=nop   (all of them: evalkit choices)
"""


class Run(DoitRun):  # type: ignore[misc]
    """Replaces doit's `run` in projects that ask for it in pyproject.toml."""

    doc_purpose = "run cases: what is not up to date runs, and the table is printed"
    doc_usage = "[TASK ...] [name=value ...]"
    doc_description = _SHORT_HELP
    # Those of doit's options that mean something here: work is split up by evalkit, and the report is its table.
    cmd_options = (opt_always, opt_single, opt_verbosity)

    def parse_execute(self, in_args: list[str]) -> int:
        """Parse the command line and run. Returns the exit status."""
        try:
            try:
                interrupts.begin()
                status = self._parse_execute(in_args)
                interrupts.ending()
                return status
            except KeyboardInterrupt:
                return _interrupted()
        except KeyboardInterrupt:  # another one, before the first one was seen to
            return _interrupted()
        finally:
            interrupts.ignore()
            _print(lambda: None)
            gc.freeze()  # the process ends: looking through all that it holds once more took 6 ms of a no-op

    def _parse_execute(self, in_args: list[str]) -> int:
        assert isinstance(self.loader, Loader)
        if {"-h", "--help"} & set(in_args):
            _print(lambda: print(self.help()))
            return Exit.OK
        try:
            params, args = self.cmdparser.parse(_options_first(in_args, self.cmdparser))
            self.pdb = params.get("pdb", False)
            params.update(self.opt_vals)
            self.loader.quick = not (params["always"] or params["single"])
            return int(self.execute(params, args))
        except CmdParseError as error:
            # doit adds a dump of all its options.
            said = re.sub(r"^Error parsing \w+: (.*?) \(parsing options.*", r"\1", str(error), flags=re.DOTALL)
            print(f"error: {said}\n  `doit help run` shows the options", file=sys.stderr)
            return Exit.USAGE
        except (InvalidDodoFile, InvalidCommand, InvalidTask, DatabaseException) as error:
            print(f"error: {error}", file=sys.stderr)
            return Exit.HARNESS if isinstance(error, DatabaseException) else Exit.USAGE
        finally:
            self.loader.resources.close()

    def _execute(self, verbosity: int | None = None, always: bool = False, single: bool = False,
                 force_verbosity: bool = False) -> int:
        assert isinstance(self.loader, Loader)
        look = self.loader.invocation
        assert look is not None
        if self.loader.regrade:
            self.dep_manager.close()
            return _regrade(look, self.loader.regrade)
        if not self.loader.asked:
            self.dep_manager.close()
            return _help(look)
        if look.planned is None:
            rows = _each_once(look.rows[name] for name in self.loader.asked)
            errors: list[EvalkitError] = []
            if not look.summed_up:
                errors += sum_up(look.root, look.run, rows, look.progress, new=False,
                                 declared=_declared(look))
                errors += drawn(look.root, look.run, look.environ, look.choices)
            if not errors and not look.summed_up:
                with contextlib.suppress(DatabaseException):
                    look.keep({}, summed_up=True)
            self.dep_manager.close()
            return _tell(look, rows, errors)
        return self._run(look, look.planned, always=always, single=single, stream=Stream(verbosity, force_verbosity))

    def _run(self, look: Invocation, plan: Plan, **options: Any) -> int:
        """Run what is not settled, and print all."""
        from evalkit.dag.engine import pools_of, run_tasks

        assert isinstance(self.loader, Loader)
        asked, graph, progress = self.loader.asked, plan.graph, look.progress
        trials = {name: graph.trials_of(name) for name in asked if name not in look.rows}
        each = [one for of_name in trials.values() for one in of_name]
        if any(one.trial.subject.model for one in each):
            from evalkit.dag.announce import announcement

            print(announcement(plan, each), end="", file=sys.stderr)
        rows = dict(look.rows)
        errors: list[EvalkitError] = []

        def settle(reporter: Reporter) -> None:
            """Once all has run, and while the state is open."""
            rows.update({name: [_row(plan, one) for one in of_name] for name, of_name in trials.items()})
            held = {*map(attrgetter("place"), chain.from_iterable(look.rows.values()))} if look.summed_up else set()
            found = _each_once(rows[name] for name in (trials if held else asked))
            if found or held:
                errors.extend(sum_up(look.root, look.run, found, progress, new=reporter.made_results, held=held,
                                     declared=_declared(look)))
                errors.extend(drawn(look.root, look.run, look.environ, look.choices, held=held))
            if not reporter.ignored:
                with contextlib.suppress(EvalkitError, DatabaseException):  # only the next run's quickness hangs on it
                    look.keep({name: list(zip(of_name, rows[name], strict=True)) for name, of_name in trials.items()
                               if of_name and name.startswith("case:") and all(map(_is_settled, rows[name]))},
                              summed_up=not errors if found or held else None)

        progress.units([one.trial.id for one in each])
        progress.spent(0.0, plan.choices.budget)
        try:
            reporter = run_tasks(plan.session, self.task_list, list(self.sel_tasks), self.dep_manager, progress,
                                 pools_of(plan.choices), at_end=settle, tell_all=plan.choices.why, **options)
        finally:
            told = plan.close()
            progress.close()
            for line in told:
                print(line, file=sys.stderr)
        return _tell(look, _each_once(rows.get(name, ()) for name in asked), errors, reporter)


def _declared(look: Invocation) -> dict[str, int]:
    """The order of units in reports. Those of cases that are left out stand as they stood."""
    declared = declared_units(look.index)
    return declared | told_units(look.root, look.run, besides=look.index.cases) if look.left_out else declared


def _interrupted() -> int:
    """End what was begun, and say so; the exit status."""
    interrupts.ending()
    from evalkit.execute.running import end_all

    end_all()
    print(f"\n{interrupts.SAID}", file=sys.stderr)
    return Exit.INTERRUPTED


def _options_first(args: Sequence[str], parser: Any) -> list[str]:
    """Options before task names: getopt stops at the first name, and people write `doit run case:x -a`."""
    options, names, rest = [], [], list(args)
    while rest:
        arg = rest.pop(0)
        if arg == "--":
            names += rest
            break
        if not arg.startswith("-") or arg == "-":
            names.append(arg)
            continue
        options.append(arg)
        option, _ = parser.get_option(arg)
        if option is not None and option.type is not bool and rest:
            options.append(rest.pop(0))
    return [*options, "--", *names]


def _help(look: Invocation) -> int:
    """A bare `doit` never runs, or pays for, everything."""
    heads = {f"case:{case.name}": case.about for case in look.index.cases.values()}
    heads |= {f"suite:{suite.name}": suite.about for suite in look.index.suites.values() if suite.cases}
    wide = max(map(len, heads), default=0)
    lines = [f"{name:<{wide}}   {' '.join(about.split())}".rstrip() for name, about in sorted(heads.items())]
    _print(lambda: print("\n".join([_SHORT_HELP, *lines])))
    return Exit.OK


def _regrade(look: Invocation, run: str) -> int:
    """Grade a run's stored trials again, and print what changed."""
    from evalkit.dag.regrade import regrade
    from evalkit.diagnostics.show import show_error
    from evalkit.execute.running import begin
    from evalkit.report.changes import print_changes

    plan, choices, said = look.plan, look.choices, time.monotonic()

    def done(trials: int) -> None:
        """A sign of life, at times that a person would begin to wonder."""
        nonlocal said
        if (now := time.monotonic()) > said + 5:
            said = now
            look.progress.note(f"{trials} trials regraded")

    begin()
    try:
        plan.asking.check()
        found = regrade(plan.project, plan.session, plan.graph.judge, run, cases=choices.case, checks=choices.check,
                        jobs=choices.jobs, asking=choices.agents, done=done, skip_live=choices.skip_live)
    except EvalkitError as error:
        show_error(plan.session.redactor.error(error))
        return int(error.exit_status)
    finally:
        for line in plan.close():
            print(line, file=sys.stderr)
    _print(lambda: print_changes(found.changes, sys.stdout))
    statuses = [found.status]
    for trouble in drawn(look.root, run, look.environ, choices):
        show_error(plan.session.redactor.error(trouble))
        statuses.append(trouble.exit_status)
    return int(max(statuses, key=_WORSE.index))


def _print(what: Callable[[], None]) -> None:
    try:
        what()
        sys.stdout.flush()
    except OSError as error:  # nobody reads it, or there is no room for it: the verdicts stand
        drop_output()
        if error.errno != errno.EPIPE:
            print(f"the output cannot be written: {error.strerror}; what runs came to is in results/", file=sys.stderr)


# ---- what came of it ----
def _row(plan: Plan, one: TrialTasks) -> Row:
    """The line of a trial that was looked at."""
    from evalkit.execute.budget import BudgetReached

    failure = plan.graph.failure(one.trial)
    row = None if failure else one.row()
    if row is not None:
        return row
    if failure is not None and isinstance(failure.error, BudgetReached):
        return failed_row(one.trial, "budget", status="not run")
    attempts: Sequence[Usage] = getattr(failure.error, "attempts", ()) if failure else ()
    costs = [usage.cost for usage in attempts]
    return failed_row(one.trial, str(failure).splitlines()[0] if failure else "it did not run",
                      cost=sum(filter(None, costs)) if costs and None not in costs else None,
                      retries=max(0, len(attempts) - 1))


def _is_settled(row: Row) -> bool:
    """Whether another look at the trial's tasks would find them up to date: what ended in an error runs again."""
    return row.status in ("pass", "fail", "contaminated") and not any(check.status == "error" for check in row.checks)


def _each_once(parts: Iterable[Sequence[Row]]) -> list[Row]:
    return list({row.place: row for part in parts for row in part}.values())


def _tell(look: Invocation, rows: Sequence[Row], errors: Sequence[EvalkitError],
          reporter: Reporter | None = None) -> int:
    """Print the table and what went wrong beside the verdicts; the exit status. reporter: of what ran, if anything."""
    if rows:
        _print(lambda: print_table(rows, sys.stdout, results=str(look.root / "results")))
        if len({(row.suite, row.unit.partition("+")[2]) for row in rows}) > len({row.suite for row in rows}):
            from evalkit.report.arms_table import arms_lines

            _print(lambda: print("".join(f"{line}\n" for line in arms_lines(rows)), end=""))
    if rows and look.environ.get("GITHUB_STEP_SUMMARY"):
        from evalkit.dag.step_summary import tell_github

        tell_github(look.environ, look.root / "results" / look.run)
    spent = look.planned.session.budget if look.planned else None
    if spent is not None and (spent.spent or spent.unknown):
        print(f"this run: {spent.told()}", file=sys.stderr)
    failures = list(look.planned.graph.failures.values()) if look.planned else []
    failures += [Failure(f"report:{look.run}", error) for error in errors]
    if not failures and look.ran == 0 and not (reporter and (reporter.errors or reporter.ignored)):
        print("everything was up to date: nothing ran", file=sys.stderr)
    statuses = [_status(rows, dry=look.choices.dry), *_show_failures(failures)]
    if look.planned is not None and _lacks_judge(look.planned, rows):
        statuses.append(Exit.HARNESS)
    if not failures and any(row.status == "error" and not row.ended for row in rows):
        statuses.append(Exit.HARNESS)
    for error in reporter.errors if reporter else ():
        print(f"error: {error}", file=sys.stderr)
        statuses.append(Exit.HARNESS)
    if rows and look.choices.upload:
        _upload(look)
    return max(statuses, key=_WORSE.index)


def _upload(look: Invocation) -> None:
    """Upload the run that was summed up, and say what came of it. The verdicts stand, and so does their exit status."""
    from evalkit.diagnostics.show import show_error
    from evalkit.execute.secrets import Redactor
    from evalkit.plan.choices import secret_names
    from evalkit.report.upload import upload_run

    try:
        secrets = secret_names(look.root)
        print(upload_run(look.root, look.run, look.environ, secrets=secrets), file=sys.stderr)
    except EvalkitError as error:
        show_error(Redactor.of(look.environ).error(error))


_WORSE = (Exit.OK, Exit.CASE_FAILED, Exit.BUDGET, Exit.USAGE, Exit.HARNESS)
"""Exit statuses, the worse the later."""


def _status(rows: Sequence[Row], *, dry: bool) -> Exit:
    """The exit status of the verdicts. A dry run grades what nobody worked on: it is to fail.

    What kept a trial from having any has its own: that of its failure.
    """
    verdicts = {row.status for row in rows}
    if any(row.status == "error" and row.ended for row in rows):
        return Exit.HARNESS
    if "not run" in verdicts:
        return Exit.BUDGET
    return Exit.CASE_FAILED if verdicts & {"fail", "contaminated"} and not dry else Exit.OK


def _lacks_judge(plan: Plan, rows: Sequence[Row]) -> bool:
    """Whether a judge that the person asked for could not judge, also one that decides nothing."""
    if not plan.graph.judge.asked or not any(check.status == "error" for row in rows for check in row.checks):
        return False
    judges = {one.trial.id: {judge.id for judge in one.case.judges}
              for of_unit in plan.graph.trials.values() for one in of_unit}
    return any(check.status == "error" and check.id in judges.get(row.place, ())
               for row in rows for check in row.checks)


def _show_failures(failures: Sequence[Failure]) -> list[Exit]:
    """Print failures, those that say the same once; their exit statuses."""
    if not failures:
        return []
    from evalkit.diagnostics.show import show_error
    from evalkit.execute.budget import BudgetReached

    statuses: list[Exit] = []
    alike: dict[str, list[Failure]] = {}
    for failure in failures:
        error = failure.error
        said = failure.bug if error is None else "budget" if isinstance(error, BudgetReached) else error.message
        alike.setdefault(said, []).append(failure)
    for failure, *others in alike.values():
        print(file=sys.stderr)
        if failure.error is not None:
            show_error(failure.error)
            statuses.append(failure.error.exit_status)
        else:
            print(f"this is a bug in evalkit (in {failure.task}); please report it with these lines:\n{failure.bug}",
                  file=sys.stderr)
            statuses.append(Exit.HARNESS)
        if others and not isinstance(failure.error, BudgetReached):
            print(f"  (the same in {len(others)} other task{'s' if len(others) > 1 else ''})", file=sys.stderr)
    return statuses
