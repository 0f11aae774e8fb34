"""`doit run regrade:RUN`: regrades, prints what changed, and says how it went by the exit status."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from evalkit.dag.engine import pools_of
from evalkit.dag.invocation import Invocation
from evalkit.dag.regrade import regrade
from evalkit.errors import Exit
from evalkit.execute.process import begin
from evalkit.report.changes import print_changes

__all__ = ["regrade_run"]

_BEAT = 10.0
"""Seconds."""


def regrade_run(look: Invocation, run: str) -> Exit:
    """Regrade a run's stored trials by the choices `case`, `check` and `jobs`; print the table.

    Raises UserError where there is nothing that could be meant.
    """
    plan, choices = look.plan, look.choices
    session, pools = plan.session, pools_of(choices)
    begin()
    session.places.sweep()
    session.store.sweep()
    found = regrade(look.project, session, plan.graph.judge, run, cases=choices.case, checks=choices.check,
                    jobs=pools["build"], asking=pools["judge"], done=_beat(look))
    try:
        print_changes(found.changes, sys.stdout)
        sys.stdout.flush()
    except OSError:  # nobody reads it, or there is no room for it: the verdicts stand
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return found.status


def _beat(look: Invocation) -> Callable[[int], None]:
    """Says now and then how many trials are done, where that takes so long that a person would begin to wonder."""
    said = time.monotonic()

    def done(trials: int) -> None:
        nonlocal said
        if time.monotonic() - said >= _BEAT:
            said = time.monotonic()
            look.progress.note(f"… {trials} trials are regraded")

    return done
