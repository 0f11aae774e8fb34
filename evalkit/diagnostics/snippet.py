"""Draws a diagnostic: path:line:column, the source line, the span underlined, what would be right."""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len

from evalkit.diagnostics.diagnostic import Diagnostic, Span

__all__ = ["render", "render_all"]

_TAB = 4
_WIDEST = 160
"""A longer source line is cut around the span, so that a minified line does not fill the screen."""


def render_all(diagnostics: Iterable[Diagnostic]) -> str:
    """All diagnostics in the order of the places they point at, each drawn, a blank line between."""
    ordered = sorted(diagnostics, key=lambda item: (item.span.source.shown, item.span.start, item.code))
    return "\n\n".join(render(item) for item in ordered)


def render(diagnostic: Diagnostic) -> str:
    """One diagnostic as plain text, without a final newline."""
    parts = [f"error[{diagnostic.code}]: {_visible(diagnostic.message)}", *_excerpt(diagnostic.span, diagnostic.label)]
    for message, span in diagnostic.notes:
        parts += [f"note: {_visible(message)}", *_excerpt(span, "")]
    for index, line in enumerate(diagnostic.help.split("\n") if diagnostic.help else []):
        parts.append(f"  {'=' if index == 0 else ' '} {_visible(line)}")
    return "\n".join(parts)


def _excerpt(span: Span, label: str) -> list[str]:
    text = span.source.text
    line_start = text.rfind("\n", 0, span.start) + 1
    line_end = text.find("\n", span.start)
    line_end = len(text) if line_end < 0 else line_end
    if text.endswith("\r", line_start, line_end):
        line_end -= 1
    before = text[line_start : span.start]
    marked = text[span.start : min(max(span.end, span.start + 1), line_end)]
    after = text[line_start + len(before) + len(marked) : line_end]
    if len(before) > _WIDEST // 2:
        before = "…" + before[-_WIDEST // 2 :]
    if len(marked) > _WIDEST // 2:
        marked, after = marked[: _WIDEST // 2] + "…", ""
    if len(after) > _WIDEST // 2:
        after = after[: _WIDEST // 2] + "…"

    before, marked, after = (_visible(piece) for piece in (before, marked, after))
    number = str(span.line)
    gutter = " " * len(number)
    underline = " " * cell_len(before) + "^" * max(1, cell_len(marked))
    return [
        f"{gutter}--> {_visible(str(span))}",
        f"{gutter} |",
        f"{number} | {before}{marked}{after}".rstrip(),
        f"{gutter} | {underline}{' ' + label if label else ''}",
    ]


def _visible(piece: str) -> str:
    """Tabs as spaces; control and direction-changing characters as escapes, so that nobody is misled."""
    shown = []
    for char in piece:
        if char == "\t":
            shown.append(" " * _TAB)
        elif char.isprintable():
            shown.append(char)
        else:
            shown.append(f"\\u{{{ord(char):x}}}")
    return "".join(shown)
