"""Reads YAML as today's JavaScript readers do: the core schema of YAML 1.2.

PyYAML's own rules are those of YAML 1.1, where `on`, `yes` and `no` are truth values, `1:30` is a number and a date is
a date. Sets of cases are full of such words; here they are texts.

Input: a text. Output: the value. Raises `SourceError`.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from evalkit.authoring.importers.source import SourceError

__all__ = ["read_yaml"]


class _Loader(yaml.SafeLoader):
    """No tag makes an object; plain words are read by the rules below alone."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - PyYAML's own way


def _number(loader: yaml.SafeLoader, node: yaml.Node) -> int:
    text = str(node.value)
    return int(text, 0) if text[:2] in ("0x", "0o") else int(text)


_Loader.add_constructor("tag:yaml.org,2002:int", _number)
for _tag, _words, _starts in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"null|Null|NULL|~|", ["n", "N", "~", ""]),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+|[-+]?\.(?:inf|Inf|INF)"
              r"|\.(?:nan|NaN|NAN)", "-+.0123456789"),
    ("merge", r"<<", "<"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_words})$"), list(_starts))


def read_yaml(text: str) -> Any:
    """The value of a YAML text of one document. Raises `SourceError`."""
    try:
        return yaml.load(text, _Loader)
    except (yaml.YAMLError, RecursionError, ValueError, TypeError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        reason = getattr(error, "problem", None) or "it cannot be read"
        raise SourceError(f"it is not plain YAML: {place}{reason}") from error
