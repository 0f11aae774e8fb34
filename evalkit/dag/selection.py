"""Which tasks a person means: whole names, wildcards, and a hint for a name that is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from evalkit.errors import UserError

__all__ = ["cases_meant", "expand", "names_a_case"]


def names_a_case(name: str) -> bool:
    """Whether a name is that of a case or a suite, or tries to be: inner tasks have another kind before the colon."""
    kind, colon, _ = name.partition(":")
    return (not colon and "/" not in name) or kind in ("case", "suite")


def expand(asked: Sequence[str], known: Iterable[str], targets: Iterable[str] = ()) -> list[str]:
    """The tasks asked for, in order, each once. Raises UserError for a name or a wildcard that meets nothing."""
    names = list(known)
    lookup, files = set(names), set(targets)
    found: dict[str, None] = {}
    for name in asked:
        if name in lookup or name in files:
            found[name] = None
            continue
        if "*" in name:
            hits = [candidate for candidate in names if fnmatchcase(candidate, name)]
            if not hits:
                raise UserError(f"no task matches `{name}`", hint="`doit list` shows cases and suites")
            found |= dict.fromkeys(hits)
            continue
        raise UserError(f"there is no task `{name}`", hint=_hint(name, names))
    return list(found)


def _hint(name: str, names: Sequence[str]) -> str:
    from evalkit.diagnostics import did_you_mean

    bare = {known.partition(":")[2]: known for known in names if known.startswith(("case:", "suite:"))}
    if name in bare:
        return f"did you mean `{bare[name]}`?"
    kind = name.partition(":")[0]
    same_kind = [known for known in names if known.startswith(kind + ":")]
    shown = same_kind or [known for known in names if known.startswith(("case:", "suite:"))]
    return did_you_mean(name, shown) + "   (`doit list` shows cases and suites)"


def cases_meant(asked: Sequence[str], cases: Mapping[str, str], suites: Mapping[str, list[str]]) -> list[str] | None:
    """The cases whose tasks a selection can name; None means all (a wildcard, or an inner task of no case).

    `cases` maps the names of cases and of their units to the names of the cases.
    """
    meant: dict[str, None] = {}
    for name in asked:
        kind, _, rest = name.partition(":")
        if kind == "suite" and rest in suites:
            meant |= dict.fromkeys(suites[rest])
            continue
        # A case is named as such, and an inner task has its unit's name as a part of its path.
        named = [cases[part] for part in name.replace(":", "/").split("/") if part in cases]
        if not named:
            return None
        meant |= dict.fromkeys(named)
    return list(meant)
