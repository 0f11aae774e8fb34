"""W001: a prompt that contains what one of the case's greps looks for.

Of a regex only those of its literal parts count that every match must contain; all of them must be in the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalkit.analysis import model as m
from evalkit.diagnostics import Diagnostic, Span
from evalkit.lint.finding import Finding
from evalkit.lint.subject import CaseView, Subject
from evalkit.syntax import Source
from evalkit.syntax import nodes as n

__all__ = ["CODE", "find", "literal_parts"]

CODE = "W001"
SHORTEST = 4
"""Characters; shorter texts are in every prompt."""


def find(subject: Subject) -> Iterator[Finding]:
    for view, case in subject.compiled():
        for check in case.checks:
            if isinstance(check.spec, m.GrepSpec) and check.spec.expect == "has" and not case.skips(check):
                yield from _check(subject, view, case, check, check.spec)


def _check(subject: Subject, view: CaseView, case: m.Case, check: m.Check, spec: m.GrepSpec) -> Iterator[Finding]:
    node = subject.node(check.origin, n.Check)
    if node is None or not isinstance(node.kind, n.CheckGrep):
        return
    for pattern, place in zip(spec.patterns, node.kind.patterns, strict=True):
        texts = [pattern.text] if not pattern.regex else literal_parts(pattern.text, pattern.flags)
        texts = [text for text in texts if len(text) >= SHORTEST]
        folded = "i" in pattern.flags
        if not texts or not all(_holds(case.prompt, text, folded) for text in texts):
            continue
        shown = " and ".join(f"`{text}`" for text in texts)
        yield Finding(Diagnostic(
            CODE, f"the prompt of `{case.name}` contains {shown}, which this check looks for", place.span,
            notes=_notes(view, texts[0], folded),
            help="ask for the behaviour and look for it another way; where the name is part of the task: "
            'allow W001 "the task pins this name"'), case)


def _holds(prompt: str, text: str, folded: bool) -> bool:
    return text.lower() in prompt.lower() if folded else text in prompt


def _notes(view: CaseView, text: str, folded: bool) -> tuple[tuple[str, Span], ...]:
    """Where the prompt says it."""
    given = next((node.text for node in view.node.body if isinstance(node, n.Prompt)), None)
    inside = given.span if given else view.node.prompt.span if view.node.prompt else view.node.span
    source = inside.source
    if given and not given.block:
        path = view.path.parent / given.value
        try:
            words = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError):
            return ()
        source = Source(path, f"{source.shown.rpartition('/')[0]}/{given.value}".lstrip("/"), words)
        inside = Span(source, 0, len(words))
    words = source.text[inside.start : inside.end]
    at = (words.lower().find(text.lower()) if folded else words.find(text)) if text else -1
    return (("the prompt says it here", Span(source, inside.start + at, inside.start + at + len(text))),) if at >= 0 \
        else ()


# ---- what a regex always matches ----
_QUANTIFIER = re.compile(r"[*?+]|\{\d*,?\d*\}")
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


def literal_parts(pattern: str, flags: str) -> list[str]:
    """The texts that every match of a regex contains, as far as that is certain at a glance.

    Nothing is certain with the flag `x`, with alternatives, with flags within the regex and with fuzzy matching.
    Groups and sets are passed over.
    """
    if "x" in flags or "(?" in pattern or re.search(r"\{[^\d,}]", pattern):
        return []
    parts: list[str] = [""]
    index = 0
    while index < len(pattern):
        char = pattern[index]
        literal = ""
        if char == "|":
            return []
        if char == "(":
            index = _group_end(pattern, index)
        elif char == "[":
            index = _set_end(pattern, index)
        elif char == "\\":
            following = pattern[index + 1 : index + 2]
            literal = _CONTROL.get(following, "" if following.isalnum() else following)
            if not literal and following in "pPNxuUgkL":
                return []  # longer escapes
            index += 2
        else:
            literal = "" if char in ".^$" else char
            index += 1
        if quantifier := _QUANTIFIER.match(pattern, index):
            index = quantifier.end()
            if quantifier.group() == "+":
                parts[-1] += literal
            if pattern[index : index + 1] in ("?", "+"):
                index += 1
            literal = ""
        if literal:
            parts[-1] += literal
        else:
            parts.append("")
    return [part for part in parts if part]


def _group_end(pattern: str, start: int) -> int:
    depth, index = 0, start
    while index < len(pattern):
        char = pattern[index]
        if char == "\\":
            index += 1
        elif char == "[":
            index = _set_end(pattern, index) - 1
        elif char in "()":
            depth += 1 if char == "(" else -1
            if depth == 0:
                return index + 1
        index += 1
    return index


def _set_end(pattern: str, start: int) -> int:
    """The place behind the set; its first character is one of it even if it is a `]`."""
    index = start + (2 if pattern.startswith("[^", start) else 1)
    index += pattern.startswith("]", index)
    while index < len(pattern) and pattern[index] != "]":
        index += 2 if pattern[index] == "\\" else 1
    return index + 1
