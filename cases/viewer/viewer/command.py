"""A command: what it is called, what it takes, and what it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from viewer.schema import text

__all__ = ["Command", "Commands", "Rejected"]

_Run = TypeVar("_Run", bound=Callable[..., Any])


class Rejected(Exception):
    """A call that was not done. Its message is for who called: what is wrong, and what would be right."""


@dataclass(frozen=True)
class Command:
    """run: does it, with the session and the arguments, and returns what is told. asks: for what needs a confirmation;
    says what would be done, or raises Rejected. reads: it changes nothing."""

    name: str
    title: str
    description: str
    properties: Mapping[str, Any]
    required: tuple[str, ...]
    run: Callable[..., Any]
    reads: bool = False
    asks: Callable[..., str] | None = None

    @property
    def schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": dict(self.properties), "required": list(self.required),
                "additionalProperties": False}

    def definition(self) -> dict[str, Any]:
        return {"name": self.name, "title": self.title, "description": self.description, "input_schema": self.schema,
                "annotations": {"readOnlyHint": self.reads, "destructiveHint": self.asks is not None}}


class Commands(Mapping[str, Command]):
    """Commands by their names, in the order in which they were added."""

    def __init__(self, *others: Mapping[str, Command]) -> None:
        self._all: dict[str, Command] = {}
        for other in others:
            self._all.update(other)

    def __getitem__(self, name: str) -> Command:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def add(self, name: str, title: str, description: str, *, takes: Mapping[str, Any] | None = None,
            optional: Mapping[str, Any] | None = None, reads: bool = False,
            asks: Callable[..., str] | None = None) -> Callable[[_Run], _Run]:
        """Add what is decorated. takes, optional: schemas of its arguments. asks, reads: see Command."""
        def keep(run: _Run) -> _Run:
            properties = {**(takes or {}), **(optional or {})}
            words = description
            if asks is not None:
                properties["confirm"] = text("The token that the first call was answered with.", 64)
                words += (" Takes two calls: the first, without `confirm`, does nothing and is answered with a token; "
                          "the second, with the same arguments and that token as `confirm`, does it.")
            self._all[name] = Command(name, title, words, properties, tuple(takes or ()), run, reads, asks)
            return run
        return keep
