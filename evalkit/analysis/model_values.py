"""Values that stand in many places of compiled cases: plain, frozen data."""

from __future__ import annotations

from attrs import frozen

from evalkit.by_value import by_value

__all__ = ["Command", "Pattern"]


@by_value
@frozen(eq=False, repr=False)
class Command:
    """A command as words with placeholders. Never a shell: what replaces a placeholder stays within its word."""

    words: tuple[str, ...]
    limit: int
    """Seconds of wall clock."""


@by_value
@frozen(eq=False, repr=False)
class Pattern:
    """A literal text or a regex (the `regex` package's dialect, multi-line; `flags` from i, s, x)."""

    text: str
    regex: bool = False
    flags: str = ""
