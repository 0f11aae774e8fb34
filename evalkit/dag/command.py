"""`doit run`: runs what is not up to date, prints the table (also where nothing ran), and exits by the verdicts."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from typing import Any

from doit.cmd_run import Run as DoitRun
from doit.cmd_run import opt_always, opt_single, opt_verbosity
from doit.cmdparse import CmdParseError
from doit.dependency import DatabaseException
from doit.exceptions import InvalidCommand, InvalidDodoFile, InvalidTask
from doit.task import Stream

from evalkit.dag.announce import announcement
from evalkit.dag.engine import pools_of, run_tasks
from evalkit.dag.loader import Loader
from evalkit.dag.lock import alone
from evalkit.dag.plan import Plan
from evalkit.dag.progress import Reporter
from evalkit.dag.tasks import name_of
from evalkit.dag.trial_tasks import TrialTasks
from evalkit.diagnostics.show import show_error
from evalkit.errors import Exit
from evalkit.execute.budget import BudgetReached
from evalkit.execute.process import end_all
from evalkit.report.row import failed_row
from evalkit.report.table import print_table

__all__ = ["Run"]

_SHORT_HELP = """\
doit run case:NAME        run a case and print its table   (suite:NAME, all)
doit list                 cases and suites                 (--all: every task, --status: what would run)
doit info TASK            why a task is not up to date
choices: name=value, for instance  doit run case:NAME agent=nop   (all of them: README.md)
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
        if {"-h", "--help"} & set(in_args):
            print(self.help())
            return Exit.OK
        try:
            params, args = self.cmdparser.parse(_options_first(in_args, self.cmdparser))
            self.pdb = params.get("pdb", False)
            params.update(self.opt_vals)
            return int(self.execute(params, args))
        except CmdParseError as error:
            # doit adds a dump of all its options.
            said = re.sub(r"^Error parsing \w+: (.*?) \(parsing options.*", r"\1", str(error), flags=re.DOTALL)
            print(f"error: {said}\n  `doit help run` shows the options", file=sys.stderr)
            return Exit.USAGE
        except (InvalidDodoFile, InvalidCommand, InvalidTask, DatabaseException) as error:
            print(f"error: {error}", file=sys.stderr)
            return Exit.USAGE
        except KeyboardInterrupt:
            end_all()
            print("\ninterrupted: what finished is kept, the next run takes up from there", file=sys.stderr)
            return Exit.INTERRUPTED

    def _execute(self, verbosity: int | None = None, always: bool = False, single: bool = False,
                 force_verbosity: bool = False) -> int:
        assert isinstance(self.loader, Loader)
        assert self.loader.plan is not None
        plan = self.loader.plan
        if not self.sel_tasks:
            return self._help(plan)
        selected = list(self.sel_tasks)
        trials = _selected_trials(plan, selected)
        tasks = {task.name: task for task in self.task_list}
        if trials:
            selected.append(plan.report([tasks.trial for tasks in trials]))
            tasks[selected[-1]] = plan.graph.tasks[selected[-1]]
        progress = self.loader.progress
        with alone(plan.session.places.state):
            if told := announcement(plan, [tasks.trial for tasks in trials]):
                print(told, file=sys.stderr)
            progress.units([tasks.trial.id for tasks in trials])
            try:
                reporter = run_tasks(plan.session, list(tasks.values()), selected, self.dep_manager, progress,
                                     pools_of(plan.choices), always=always, single=single,
                                     stream=Stream(verbosity, force_verbosity))
            finally:
                progress.close()
            return _report(plan, trials, reporter)

    def _help(self, plan: Plan) -> int:
        """A bare `doit` never runs, or pays for, everything."""
        self.dep_manager.close()
        print(_SHORT_HELP)
        names = [name for name in plan.graph.tasks if name.startswith(("case:", "suite:"))]
        wide = max((len(name) for name in names), default=0)
        for name in sorted(names):
            print(f"{name:<{wide}}   {plan.graph.tasks[name].doc}".rstrip())
        return Exit.OK


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


def _selected_trials(plan: Plan, selected: Sequence[str]) -> list[TrialTasks]:
    """The trials whose results the selection asks for: those of cases, suites and `all`, and of `result:` tasks."""
    wanted: set[str] = set()
    waiting = list(selected)
    while waiting:
        name = waiting.pop()
        if name.startswith("result:"):
            wanted.add(name)
        elif name == "all" or name.startswith(("case:", "suite:")):
            waiting += plan.graph.tasks[name].task_dep
    return [tasks for trials in plan.graph.trials.values() for tasks in trials
            if name_of("result", tasks.trial) in wanted]


def _report(plan: Plan, trials: Sequence[TrialTasks], reporter: Reporter) -> int:
    """Print the table and what went wrong beside the verdicts; the exit status."""
    rows = []
    for tasks in trials:
        failure = plan.graph.failure(tasks.trial)
        row = None if failure else tasks.row()
        if row is None:
            budget = failure is not None and isinstance(failure.error, BudgetReached)
            why = "not run (budget)" if budget else str(failure).splitlines()[0] if failure else "it did not run"
            row = failed_row(tasks.trial, why, status="not run" if budget else "error")
        rows.append(row)
    if rows:
        try:
            print_table(rows, sys.stdout, results=str(plan.session.places.results))
            sys.stdout.flush()
        except OSError:  # nobody reads it, or there is no room for it: the verdicts stand
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if reporter.progress.ran == 0 and not plan.graph.failures:
        print("everything was up to date: nothing ran", file=sys.stderr)
    status = _show_failures(plan, reporter)
    if status is None:
        verdicts = [row.status for row in rows]
        if "error" in verdicts:
            return Exit.HARNESS
        status = Exit.CASE_FAILED if "fail" in verdicts and not plan.choices.dry else Exit.OK
    return status


def _show_failures(plan: Plan, reporter: Reporter) -> Exit | None:
    """Print each failure once; the worst exit status, or None where nothing failed."""
    statuses = []
    for failure in plan.graph.failures.values():
        print(file=sys.stderr)
        if failure.error is not None:
            show_error(failure.error)
            statuses.append(failure.error.exit_status)
        else:
            print(f"this is a bug in evalkit (in {failure.task}); please report it with these lines:\n{failure.bug}",
                  file=sys.stderr)
            statuses.append(Exit.HARNESS)
    for error in reporter.errors:
        print(f"error: {error}", file=sys.stderr)
        statuses.append(Exit.HARNESS)
    return max(statuses) if statuses else None
