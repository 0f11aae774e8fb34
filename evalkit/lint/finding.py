"""What a rule returns."""

from __future__ import annotations

from attrs import frozen

from evalkit.diagnostics import Diagnostic, Span

__all__ = ["Finding"]


@frozen
class Finding:
    """A diagnostic, and what it is about.

    case: the name of the case that it is about, where it is about one: `allow` in that case, in its profiles or its
    suite silences it. about: the statement, where the diagnostic points elsewhere (into a SKILL.md): `allow` in a block
    around it silences it too.
    """

    diagnostic: Diagnostic
    case: str | None = None
    about: Span | None = None
