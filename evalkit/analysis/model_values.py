"""Values that stand in many places of compiled cases: plain, frozen data."""

from __future__ import annotations

from evalkit.values import Value

__all__ = ["Command", "Pattern"]


class Command(Value):
    """A command as words with placeholders. Never a shell: what replaces a placeholder stays within its word."""

    words: tuple[str, ...]
    limit: int
    """Seconds of wall clock."""


class Pattern(Value):
    """A literal text or a regex (the `regex` package's dialect, multi-line; `flags` from i, s, x)."""

    text: str
    regex: bool = False
    flags: str = ""
