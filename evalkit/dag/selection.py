"""Which tasks a person means: whole names, wildcards, and a hint for a name that is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from evalkit.errors import UserError

__all__ = ["ABLATE", "ablation", "cases_meant", "expand", "names_a_case"]

ABLATE = "ablate:"
"""How the name of a case begins that is wanted on the arms which leave parts of its guidance out."""


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
    listed = [f"{kind}:{part.removeprefix(f'{kind}:')}" for part in name.removeprefix(f"{kind}:").split(",")]
    if len(listed) > 1 and set(listed) <= set(same_kind):
        return f"several are given with spaces: `{' '.join(listed)}`"
    if kind == "case" and (begun := sum(known.startswith(name) for known in same_kind)) > 1:
        return f"{begun} cases begin so: `{name}*`, or `case={name.removeprefix('case:')}` beside a suite"
    shown = same_kind or [known for known in names if known.startswith(("case:", "suite:"))]
    return did_you_mean(name, shown) + "   (`doit list` shows cases and suites)"


def ablation(asked: Sequence[str], units: Mapping[str, Sequence[str]],
             arm: str | None) -> tuple[list[str], str] | None:
    """What `ablate:CASE` stands for: `case:CASE`, and a list of arms; None where no name is of that kind.

    The arms: the first one, which the others are compared with, and the first that stands for one arm a part, or in its
    place those of the choice `arm`. units: of each case the names of its units. Raises UserError for a case that has
    no such arms, and where another task is asked for too: the arms are chosen for all of a run.
    """
    if not any(name.startswith(ABLATE) for name in asked):
        return None
    arms = {case: list(dict.fromkeys(unit.partition("+")[2] for unit in of_case)) for case, of_case in units.items()}
    names = [f"{ABLATE}{case}" for case, own in arms.items() if _ablating(own)]
    for name in asked:
        if not name.startswith(ABLATE):
            raise UserError(f"`{ABLATE}…` chooses the arms of all that runs: `{name}` cannot be asked for beside it",
                            hint=f"doit run {name}   by itself")
        case = name.removeprefix(ABLATE)
        if case in arms and name not in names:
            raise UserError(f"case `{case}` has no arm that leaves out parts of its guidance",
                            hint="a suite declares one: `arm ablate { ablate guidance by section }`")
    cases = [name.removeprefix(ABLATE) for name in expand(asked, names)]
    found: dict[str, None] = {}
    for case in cases:
        base = next((own for own in arms[case] if own not in _ablating(arms[case]) and "." not in own), None)
        if base is None:
            raise UserError(f"case `{case}` has no arm with all of its guidance to compare with",
                            hint="a suite declares one before the arm that ablates: `arm with-guidance { }`")
        found |= {base: None, **dict.fromkeys(arm.split(",") if arm else _ablating(arms[case])[:1])}
    return [f"case:{case}" for case in cases], ",".join(found)


def _ablating(arms: Sequence[str]) -> list[str]:
    """The arms that stand for one arm a part: `ablate` of `ablate.section`."""
    return list(dict.fromkeys(arm.partition(".")[0] for arm in arms if "." in arm))


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
