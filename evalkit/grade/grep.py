"""`check grep`: patterns over the files that globs match. Reads bytes; runs nothing, and no file can hang it."""

from __future__ import annotations

import time

import regex

from evalkit.analysis.model import GrepSpec, Pattern
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.verdict import Verdict

__all__ = ["VERSION", "grade_grep", "search"]

VERSION = "grep 1"
LARGEST = 8_000_000
"""Bytes of a file that is searched; a larger one is no source."""
MATCH_LIMIT = 2.0
"""Seconds for one pattern on one file."""
TOTAL_LIMIT = 60.0
"""Seconds for a check."""
_FLAGS = {"i": regex.IGNORECASE, "s": regex.DOTALL, "x": regex.VERBOSE}


def search(pattern: Pattern, text: str, limit: float) -> tuple[int, int] | None:
    """The first match as offsets. Raises TimeoutError after `limit` seconds."""
    if not pattern.regex:
        at = text.find(pattern.text)
        return None if at < 0 else (at, at + len(pattern.text))
    flags = regex.MULTILINE
    for flag in pattern.flags:
        flags |= _FLAGS[flag]
    found = regex.compile(pattern.text, flags).search(text, timeout=limit)
    return found.span() if found else None


def grade_grep(spec: GrepSpec, tree: FinalTree) -> Verdict:
    """`has`: every pattern is in some matching file. `lacks`: none is in any. No matching file is a fail for both."""
    names = tree.matching(spec.globs)
    where = ", ".join(spec.globs)
    if not names:
        return Verdict("fail", f"no file matches {where}")
    read = tree.read(names, largest=LARGEST)
    texts = {name: data.decode("utf-8", "replace") for name, data in sorted(read.items()) if data is not None}
    too_large = [name for name, data in read.items() if data is None]
    deadline = time.monotonic() + TOTAL_LIMIT
    lines: list[str] = []
    failed = 0
    for pattern in spec.patterns:
        said = f"/{pattern.text}/{pattern.flags}" if pattern.regex else f'"{pattern.text}"'
        try:
            hit = _first_hit(pattern, texts, deadline)
        except TimeoutError as error:
            failed += 1
            lines.append(f"{said}: {error}: counted as a fail, since the file decides how long it takes")
            continue
        if hit is None:
            lines.append(f"{said}: not found in {len(texts)} file{'' if len(texts) == 1 else 's'}")
        else:
            lines.append(f"{said}: {hit}")
        if (hit is None) is (spec.expect == "has"):
            failed += 1
    if too_large and spec.expect == "lacks":
        failed += 1
        lines += [f"{name}: larger than {LARGEST // 1_000_000} MB, so it cannot be said to lack anything"
                  for name in too_large]
    total = len(spec.patterns)
    summary = (f"{'found' if spec.expect == 'has' else 'absent'} in {where}" if not failed else
               f"{failed} of {total} {'not found' if spec.expect == 'has' else 'should not be there'}: {where}")
    return Verdict("fail" if failed else "pass", summary, "\n".join(lines))


def _first_hit(pattern: Pattern, texts: dict[str, str], deadline: float) -> str | None:
    for name, text in texts.items():
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"the check took longer than {TOTAL_LIMIT:g} s")
        try:
            span = search(pattern, text, min(MATCH_LIMIT, left))
        except TimeoutError:
            raise TimeoutError(f"matching {name} took longer than {MATCH_LIMIT:g} s") from None
        if span is not None:
            line = text.count("\n", 0, span[0]) + 1
            shown = text[text.rfind("\n", 0, span[0]) + 1 :].split("\n", 1)[0].strip()
            return f"{name}:{line}: {shown[:200]}"
    return None
