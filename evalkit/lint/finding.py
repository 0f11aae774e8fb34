"""What a rule returns."""

from __future__ import annotations

from attrs import frozen

from evalkit.analysis import model as m
from evalkit.diagnostics import Diagnostic, Span

__all__ = ["Finding"]


@frozen
class Finding:
    """A diagnostic, and what it is about.

    unit: the unit of a case that it is about, where it is about one: `allow` in a block that the unit is made of
    (suite, profiles, case, track, arm) silences it. about: the statement, where the diagnostic points elsewhere (into
    a SKILL.md): `allow` in a block around it silences it too.
    """

    diagnostic: Diagnostic
    unit: m.Case | None = None
    about: Span | None = None
