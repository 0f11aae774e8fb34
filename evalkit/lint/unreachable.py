"""E080: a profile, and W006: a `define check`, that no case of the suite comes to.

A suite without cases is one that is being begun: nothing is said of it, nor of one with errors in its cases, since what
they mean to use is not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from evalkit.diagnostics import Diagnostic
from evalkit.lint.finding import Finding
from evalkit.lint.subject import Subject, SuiteView
from evalkit.lint.walk import walk
from evalkit.syntax import nodes as n

__all__ = ["DEFINE", "PROFILE", "defines", "profiles"]

PROFILE = "E080"
DEFINE = "W006"


def profiles(subject: Subject) -> Iterator[Finding]:
    for suite in subject.suites:
        used = _used(suite)
        for profile in suite.profiles.values():
            if suite.known and profile.name.value not in used:
                yield Finding(Diagnostic(
                    PROFILE, f"no case uses profile `{profile.name.value}`", profile.name.span,
                    help="use it in a case of this suite, extend it, or delete it"))


def defines(subject: Subject) -> Iterator[Finding]:
    for suite in subject.suites:
        if not suite.known:
            continue
        names = _used(suite)
        outer = [item for item in suite.node.body if not isinstance(item, n.Profile)]
        blocks = [*outer, *(profile for name, profile in suite.profiles.items() if name in names),
                  *(view.node for view in suite.cases)]
        called = {node.name.value for block in blocks for node, _ in walk(block) if isinstance(node, n.CheckDefined)}
        for define in (item for item in outer if isinstance(item, n.Define)):
            if define.name.value not in called:
                yield Finding(Diagnostic(
                    DEFINE, f"no case asks for check `{define.name.value}`", define.name.span,
                    help=f"ask for it, `check {define.name.value}`, or delete it"))


def _used(suite: SuiteView) -> set[str]:
    """The profiles that the suite's cases use, in whatever block, with those that these extend."""
    blocks = [*(view.node for view in suite.cases),
              *(item for item in suite.node.body if not isinstance(item, n.Profile))]
    named = {node.name.value for block in blocks for node, _ in walk(block) if isinstance(node, n.UseProfile)}
    return {profile.name.value for name in named for profile in suite.chain(name)}
