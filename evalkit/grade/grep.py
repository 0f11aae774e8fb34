"""`check grep`: patterns over the files that globs match. Reads bytes; runs nothing, and no file can hang it.

A file that cannot be searched (a link, one that is larger than any source) is never a reason to pass: it holds nothing
that `has` could find, and `lacks` cannot be said of it.
"""

from __future__ import annotations

import codecs
import time

from evalkit.analysis.model import GrepSpec
from evalkit.grade.evidence import plain
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.search import TOTAL_LIMIT, Finding, search
from evalkit.grade.verdict import Verdict

__all__ = ["VERSION", "grade_grep"]

VERSION = "grep 2"
LARGEST = 8_000_000
"""Bytes of a file that is searched; a larger one is no source."""
_LISTED = 5
"""Files that could not be searched and are named."""


def grade_grep(spec: GrepSpec, tree: FinalTree) -> Verdict:
    """`has`: every pattern is in some matching file. `lacks`: none is in any. No matching file is a fail for both."""
    names = tree.matching(spec.globs)
    where = ", ".join(spec.globs)
    if not names:
        return Verdict("fail", f"no file matches {where}")
    texts, unread = _texts(tree, names)
    deadline = time.monotonic() + TOTAL_LIMIT
    findings = [search(pattern, texts, deadline) for pattern in spec.patterns]
    wanted = "found" if spec.expect == "has" else "not found"
    amiss = [finding for finding in findings if finding.outcome != wanted]
    fine = [finding for finding in findings if finding.outcome == wanted]
    if unread and not amiss and spec.expect == "has":
        unread = []  # all was found in the others
    evidence = "\n".join([*(finding.told for finding in amiss), *unread, *(finding.told for finding in fine)])
    if not amiss and not unread:
        return Verdict("pass", f"{'found' if spec.expect == 'has' else 'absent'} in {where}", evidence)
    return Verdict("fail", f"{_count(spec, amiss) or 'not every file could be searched'}: {where}", evidence)


def _count(spec: GrepSpec, amiss: list[Finding]) -> str:
    words = {"found": "should not be there"}
    outcomes = [finding.outcome for finding in amiss]
    return ", ".join(f"{outcomes.count(outcome)} of {len(spec.patterns)} {words.get(outcome, outcome)}"
                     for outcome in dict.fromkeys(outcomes))


def _texts(tree: FinalTree, names: list[str]) -> tuple[dict[str, str], list[str]]:
    """The files' texts, and a line for each file that has none. Line ends and marks of Windows are taken out."""
    read = tree.read(names, largest=LARGEST)
    texts, unread = {}, []
    for name in names:
        data = read.get(name)
        if data is not None:
            texts[name] = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace").replace("\r\n", "\n")
        else:
            why = f"larger than {LARGEST // 1_000_000} MB" if name in read else "a link, and links are not followed"
            unread.append(f"{plain(name)}: not searched: {why}")
    if len(unread) > _LISTED:
        unread = [*unread[:_LISTED], f"and {len(unread) - _LISTED} more files that were not searched"]
    return texts, unread
