"""The nearest known name, where one is close."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["did_you_mean", "nearest"]

_LONGEST = 200
"""A longer name is no slip of the pen, and comparing takes time."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`, or None where none is close (difflib's ratio under 0.6)."""
    if len(name) > _LONGEST:
        return None
    from difflib import get_close_matches  # only where a name is wrong

    by_folded = {candidate.lower(): candidate for candidate in known}
    close = get_close_matches(name.lower(), list(by_folded), n=1, cutoff=0.6)
    return by_folded[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str], *, limit: int = 12) -> str:
    """A line of help for an unknown name: the nearest one, else the list of what is known (cut at `limit`)."""
    names = sorted(set(known))
    close = nearest(name, names)
    if close is not None:
        return f"did you mean `{close}`?"
    if not names:
        return ""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return "known here: " + ", ".join(f"`{known_name}`" for known_name in names[:limit]) + more
