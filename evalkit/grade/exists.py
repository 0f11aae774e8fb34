"""`check exists` and `check absent`: whether files are there. Reads the list of the tree's files, and no file."""

from __future__ import annotations

from evalkit.analysis.model import ExistsSpec
from evalkit.grade.evidence import plain
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.verdict import Verdict

__all__ = ["VERSION", "grade_exists"]

VERSION = "exists 1"
_LISTED = 5


def grade_exists(spec: ExistsSpec, tree: FinalTree) -> Verdict:
    """`exists`: every glob matches a file. `absent`: none matches one."""
    told, amiss = [], []
    for glob in spec.globs:
        names = tree.matching((glob,))
        shown = ", ".join(plain(name) for name in names[:_LISTED])
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        told.append(f"{glob}: {shown + more if names else 'no file'}")
        if bool(names) is not (spec.expect == "exists"):
            amiss.append(glob)
    if amiss:
        words = "no file matches" if spec.expect == "exists" else "should not be there:"
        return Verdict("fail", f"{words} {', '.join(amiss)}", "\n".join(told))
    return Verdict("pass", f"{'there' if spec.expect == 'exists' else 'not there'}: {', '.join(spec.globs)}",
                   "\n".join(told))
