"""Draws a diagnostic: path:line:column, the source line, the span underlined, what would be right."""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len

from evalkit.diagnostics.colour import Paint, Tone
from evalkit.diagnostics.diagnostic import Diagnostic, Span

__all__ = ["in_order", "render", "render_all", "visible"]

_TAB = 4
_WIDEST = 160
"""A longer source line is cut around the span, so that a minified line does not fill the screen."""


def render_all(diagnostics: Iterable[Diagnostic], *, colour: bool = False) -> str:
    """All diagnostics in the order of the places they point at, each drawn, a blank line between."""
    return "\n\n".join(render(item, colour=colour) for item in in_order(diagnostics))


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """By file, place and code."""
    return sorted(diagnostics, key=lambda item: (item.span.source.shown, item.span.start, item.code))


def render(diagnostic: Diagnostic, *, colour: bool = False) -> str:
    """One diagnostic as text, without a final newline; `colour` for a terminal (colour.py)."""
    paint = Paint(colour)
    tone: Tone = "red" if diagnostic.severity == "error" else "yellow"
    title = paint(f"{diagnostic.severity}[{diagnostic.code}]", tone, bold=True)
    parts = [title + paint(f": {visible(diagnostic.message)}", bold=True),
             *_excerpt(diagnostic.span, diagnostic.label, paint, tone)]
    for message, span in diagnostic.notes:
        parts += [paint("note", "cyan", bold=True) + f": {visible(message)}", *_excerpt(span, "", paint, "cyan")]
    for index, line in enumerate(diagnostic.help.split("\n") if diagnostic.help else []):
        parts.append(f"  {paint('=', 'blue') if index == 0 else ' '} {visible(line)}")
    return "\n".join(parts)


def _excerpt(span: Span, label: str, paint: Paint, tone: Tone) -> list[str]:
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

    before, marked, after = (visible(piece) for piece in (before, marked, after))
    number = str(span.line)
    gutter = " " * len(number)
    underline = "^" * max(1, cell_len(marked))
    bar = paint("|", "blue")
    return [
        f"{gutter}{paint('-->', 'blue')} {visible(str(span))}",
        f"{gutter} {bar}",
        f"{paint(number, 'blue')} {bar} {before}{marked}{after}".rstrip(),
        f"{gutter} {bar} {' ' * cell_len(before)}{paint(underline + (' ' + label if label else ''), tone)}",
    ]


def visible(piece: str) -> str:
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
