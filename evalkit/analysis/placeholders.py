"""Placeholders of command lines and paths: `{name}`; `{{` is a literal brace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalkit.analysis.model import Command

__all__ = ["escape", "expand", "expand_all", "placeholders", "project_files", "substitute"]

_PLACEHOLDER = r"\{\{|\{([^{}]*)\}|\{"
"""Compiled by `re` itself where a text has a brace, which few have."""


def placeholders(text: str) -> list[str]:
    """The names in `text`, in order; a brace that opens nothing counts as the name ``""``."""
    if "{" not in text:
        return []
    return [match.group(1) or "" for match in re.finditer(_PLACEHOLDER, text) if match.group(0) != "{{"]


def expand(text: str, values: Mapping[str, str]) -> str:
    """`text` with every placeholder replaced. Raises KeyError for a name without a value (the compiler checked it)."""
    if "{" not in text:
        return text
    return re.sub(_PLACEHOLDER, lambda match: "{" if match.group(0) == "{{" else values[match.group(1)], text)


def substitute(text: str, values: Mapping[str, str]) -> str:
    """Replace only the names in `values`; other placeholders and escapes stay for a later `expand`."""

    def replace(match: re.Match[str]) -> str:
        name = match.group(1)
        return escape(values[name]) if name in values else match.group(0)

    return re.sub(_PLACEHOLDER, replace, text) if "{" in text else text


def escape(text: str) -> str:
    """A text that `expand` turns back into `text`."""
    return text.replace("{", "{{")


def expand_all(words: Iterable[str], values: Mapping[str, str]) -> list[str]:
    """`expand` over the words of a command: each word stays one word, whatever it is replaced by."""
    return [expand(word, values) for word in words]


def project_files(command: Command) -> tuple[str, ...]:
    """The files and folders that whole words name as `{project}/PATH`, relative to the project's root."""
    found = []
    for word in command.words:
        head, _, rest = word.partition("/")
        if head == "{project}" and rest and ".." not in PurePosixPath(rest).parts and "{" not in rest:
            found.append(PurePosixPath(rest).as_posix())
    return tuple(dict.fromkeys(found))
