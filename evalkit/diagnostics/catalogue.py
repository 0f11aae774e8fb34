"""Every code that evalkit reports: what it means, why it matters, a wrong example and the right one.

`evalkit explain` shows it, docs/diagnostics.md is made from it. The tests hold it against the sources, and compile its
examples. The entries stand in entries/.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evalkit.diagnostics.entries import lint, names, syntax, values
from evalkit.diagnostics.entries.entry import Entry, Example

__all__ = ["CATALOGUE", "WARNINGS", "Entry", "Example"]

CATALOGUE: Mapping[str, Entry] = MappingProxyType({
    entry.code: entry for entry in (*syntax.ENTRIES, *names.ENTRIES, *values.ENTRIES, *lint.ENTRIES)})
"""By code, errors first, each kind in the order of its numbers."""

WARNINGS: frozenset[str] = frozenset(code for code in CATALOGUE if code.startswith("W"))
"""The codes that `allow` can silence."""
