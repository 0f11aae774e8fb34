"""The type of an entry of the catalogue."""

from __future__ import annotations

from textwrap import dedent
from typing import Literal, TypeAlias

from attrs import field, frozen

__all__ = ["Entry", "Example", "Kind", "case", "file", "files", "profile", "suite"]

Kind: TypeAlias = Literal["case", "profile", "suite", "file", "files"]


def _text(text: str) -> str:
    return dedent(text).strip("\n")


def _prose(text: str) -> str:
    return " ".join(text.split())


@frozen
class Example:
    """A piece of case files.

    kind: where it stands: statements of a `case`, a `profile` or a `suite`; a whole `file` of cases; or several
    `files`, each after a line `=== PATH` (relative to the suite's folder; to the project with a leading `/`).
    times: how often it is repeated. encoding: of its bytes, where that is the point.
    """

    kind: Kind
    text: str = field(converter=_text)
    times: int = 1
    encoding: str = "utf-8"


@frozen
class Entry:
    """A code. title: what is wrong, in a line; why: why that matters and what to do, for a person who meets it."""

    code: str
    title: str
    why: str = field(converter=_prose)
    wrong: Example
    right: Example


def case(text: str, *, times: int = 1, encoding: str = "utf-8") -> Example:
    return Example("case", text, times, encoding)


def profile(text: str) -> Example:
    return Example("profile", text)


def suite(text: str) -> Example:
    return Example("suite", text)


def file(text: str) -> Example:
    return Example("file", text)


def files(text: str) -> Example:
    return Example("files", text)
