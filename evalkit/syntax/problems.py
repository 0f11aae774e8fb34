"""What the parsers say of a text that is no case file, as data."""

from __future__ import annotations

from typing import Literal

from evalkit.values import Value

__all__ = ["Expected", "SyntaxProblem"]


class Expected(Value):
    """What could have stood somewhere: a keyword, or (where that is None) something else, in words for a person."""

    keyword: str | None
    words: str


class SyntaxProblem(Value):
    """A place where a text stops being a case file.

    kind: `token`, something that cannot stand there; `text`, characters that begin nothing; `end`, the file ends
    too early; `long`, more tokens than MAX_TOKENS; `deep`, more open brackets than MAX_DEPTH. `open_brace`: the
    place of the innermost `{` that is not closed, where the file ends within a block. `keyword`: what was found is a
    word of the language, which can stand elsewhere.
    """

    kind: Literal["token", "text", "end", "long", "deep"]
    start: int
    end: int
    found: str = ""
    expected: tuple[Expected, ...] = ()
    open_brace: int | None = None
    keyword: bool = False
