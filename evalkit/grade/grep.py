"""`check grep`: patterns over the files that globs match. Reads bytes; runs nothing, and no file can hang it.

A file that cannot be searched (a link, one that is larger than any source) is never a reason to pass: it holds nothing
that `has` could find, and `lacks` cannot be said of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, TypeAlias

import regex
from attrs import frozen

from evalkit.analysis.model import GrepSpec, Pattern
from evalkit.grade.evidence import plain
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.verdict import Verdict

__all__ = ["VERSION", "grade_grep"]

VERSION = "grep 2"
LARGEST = 8_000_000
"""Bytes of a file that is searched; a larger one is no source."""
MATCH_LIMIT = 2.0
"""Seconds for one pattern on one file."""
TOTAL_LIMIT = 60.0
"""Seconds for a check."""
_FLAGS = {"i": regex.IGNORECASE, "s": regex.DOTALL, "x": regex.VERBOSE}
_SHOWN, _BEFORE = 200, 80
"""Characters of a line that holds a match, and how many of them at most stand before the match."""
_LISTED = 5
"""Files that could not be searched and are named."""

_Find: TypeAlias = Callable[[str, float], int | None]
"""(text, seconds) -> the offset of the first match. Raises TimeoutError."""


@frozen
class _Finding:
    """What one pattern came to, and where it was found or why it took too long."""

    outcome: Literal["found", "not found", "took too long"]
    told: str


def grade_grep(spec: GrepSpec, tree: FinalTree) -> Verdict:
    """`has`: every pattern is in some matching file. `lacks`: none is in any. No matching file is a fail for both."""
    names = tree.matching(spec.globs)
    where = ", ".join(spec.globs)
    if not names:
        return Verdict("fail", f"no file matches {where}")
    texts, unread = _texts(tree, names)
    deadline = time.monotonic() + TOTAL_LIMIT
    findings = [_find(pattern, texts, deadline) for pattern in spec.patterns]
    wanted = "found" if spec.expect == "has" else "not found"
    amiss = [finding for finding in findings if finding.outcome != wanted]
    fine = [finding for finding in findings if finding.outcome == wanted]
    if unread and not amiss and spec.expect == "has":
        unread = []  # all was found in the others
    evidence = "\n".join([*(finding.told for finding in amiss), *unread, *(finding.told for finding in fine)])
    if not amiss and not unread:
        return Verdict("pass", f"{'found' if spec.expect == 'has' else 'absent'} in {where}", evidence)
    return Verdict("fail", f"{_count(spec, amiss) or 'not every file could be searched'}: {where}", evidence)


def _count(spec: GrepSpec, amiss: list[_Finding]) -> str:
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
            texts[name] = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        else:
            why = f"larger than {LARGEST // 1_000_000} MB" if name in read else "a link, and links are not followed"
            unread.append(f"{plain(name)}: not searched: {why}")
    if len(unread) > _LISTED:
        unread = [*unread[:_LISTED], f"and {len(unread) - _LISTED} more files that were not searched"]
    return texts, unread


def _find(pattern: Pattern, texts: dict[str, str], deadline: float) -> _Finding:
    said = plain(f"/{pattern.text}/{pattern.flags}" if pattern.regex else f'"{pattern.text}"')
    find = _finder(pattern)
    for name, text in texts.items():
        left = deadline - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            at = find(text, min(MATCH_LIMIT, left))
        except TimeoutError:
            limit = f"matching {plain(name)} took longer than {MATCH_LIMIT:g} s" if left > MATCH_LIMIT else \
                f"the check took longer than {TOTAL_LIMIT:g} s"
            return _Finding("took too long",
                            f"{said}: {limit}: counted as a fail, since the file decides how long it takes")
        if at is not None:
            return _Finding("found", f"{said}: {plain(name)}:{text.count(chr(10), 0, at) + 1}: {_around(text, at)}")
    return _Finding("not found", f"{said}: not found in {len(texts)} file{'' if len(texts) == 1 else 's'}")


def _finder(pattern: Pattern) -> _Find:
    if not pattern.regex:
        return lambda text, _: None if (at := text.find(pattern.text)) < 0 else at
    flags = regex.MULTILINE
    for flag in pattern.flags:
        flags |= _FLAGS[flag]
    compiled = regex.compile(pattern.text, flags)

    def find(text: str, limit: float) -> int | None:
        match = compiled.search(text, timeout=limit)
        return None if match is None else match.start()

    return find


def _around(text: str, at: int) -> str:
    """The line of a match; of a long one, the part around the match."""
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    first = start if end - start <= _SHOWN else max(start, at - _BEFORE)
    shown = plain(text[first : min(end, first + _SHOWN)].strip())
    return f"{'…' if first > start else ''}{shown}{'…' if end > first + _SHOWN else ''}"
