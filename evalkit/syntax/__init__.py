"""Text -> nodes. Knows what may stand where, and nothing of what it means."""

from evalkit.syntax.parse import parse
from evalkit.syntax.source import Source, read_source

__all__ = ["Source", "parse", "read_source"]
