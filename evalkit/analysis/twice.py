"""Statements that may stand once in a block."""

from __future__ import annotations

from collections.abc import Iterable

from evalkit.analysis.findings import Findings
from evalkit.analysis.levels import Statement
from evalkit.diagnostics import Span
from evalkit.syntax import nodes as n

__all__ = ["report_twice"]

_SCAFFOLD = "scaffold"
_ONCE: dict[type, object] = {
    kind: group for group, kinds in {
        "about": (n.About,), "prompt": (n.Prompt,), "starter": (n.Starter,), "solution": (n.Solution,),
        "use agent": (n.UseAgent,), "use": (n.UseProfile, n.UseNone), "limits": (n.Limits,), "live": (n.Live,),
        _SCAFFOLD: (n.ScaffoldRun, n.ScaffoldCopy, n.ScaffoldTemplate), "contract": (n.Contract, n.ContractNone),
        "temperature": (n.Temperature,), "trials": (n.Trials,), "answer": (n.Answer,), "ablate": (n.Ablate,),
        "suffix": (n.Suffix,), "permissions": (n.Permissions,), "mcp": (n.Mcp, n.McpNone),
        "registry": (n.Registry, n.RegistryMcp), "system": (n.System,), "state": (n.State,),
        "command": (n.Command,), "seed": (n.Seed,), "checkout": (n.Checkout, n.CheckoutInstead),
        "build": (n.Build,),
    }.items() for kind in kinds}
"""Kinds of statements, and what they may say once; those of one group stand for each other."""
_NONE: tuple[tuple[str, type, type], ...] = (
    ("skills", n.SkillsNone, n.Skills), ("guidance", n.GuidanceNone, n.Guidance),
    ("prewarm", n.PrewarmNone, n.Prewarm), ("caches", n.CachesNone, n.Caches),
    ("network", n.NetworkNone, n.Network),
    ("npm", n.NpmNone, n.Npm), ("pip", n.PipNone, n.Pip))


def report_twice(findings: Findings, body: Iterable[Statement]) -> None:
    """Report statements that may stand once in a block and stand twice, and `none` beside what it empties."""
    first: dict[object, Span] = {}
    kinds: dict[type, Span] = {}
    for statement in body:
        kind = type(statement)
        kinds.setdefault(kind, statement.span)
        keys = [statement.role if isinstance(statement, n.Model) else _ONCE.get(kind)]
        if isinstance(statement, n.Answer) and statement.template is not None:
            keys.append(_SCAFFOLD)
        for key in keys:
            if key is not None and first.setdefault(key, statement.span) is not statement.span:
                findings.report("E031", "this statement stands twice in one block", statement.span,
                                help="keep one of them", notes=(("the first is here", first[key]),))
        if isinstance(statement, n.Agent | n.CheckoutInstead):
            report_twice(findings, statement.body)
    for word, nothing, some in _NONE:
        if nothing in kinds and some in kinds:
            findings.report("E031", f"`{word} none` stands beside other {word}", kinds[nothing],
                            help="keep one of them", notes=(("the others are here", kinds[some]),))
