"""Attrs classes as plain data, and back, by their annotations.

It knows what records are made of: attrs classes (nested, recursive), `str`, `int`, `float`, `bool`, `None`, `Any`,
literals, tuples, lists, sets and dicts of these, and unions: of several classes the one whose `type` the data names. A
key that a class has no field for is left out, a field that has a default may miss: so records can grow.

Types are exact: nothing is converted but a whole number to a float. (cattrs did this before. It converts what it is
given, writes code for each class, and took 25 ms of the 100 ms of a run after an edit.)
"""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

from evalkit.values import fields_of, has_fields

__all__ = ["Misfit", "plain_fields", "reader_of", "structure", "unstructure"]

T = TypeVar("T")
Reader: TypeAlias = Callable[[Any], Any]
_ATOMS = (str, int, bool, types.NoneType)
_NAMES = {str: "a text", int: "a whole number", bool: "true or false", types.NoneType: "null"}
_SHOWN = 60
"""Characters of a value that is shown."""


class Misfit(ValueError):
    """Data that is not what an annotation says. where: the path to it, such as `checks.0.verdict.status`."""

    def __init__(self, said: str, where: str = "") -> None:
        super().__init__(f"{where}: {said}" if where else said)
        self.said, self.where = said, where

    def within(self, name: object) -> Misfit:
        """The same, told from one level above."""
        return Misfit(self.said, f"{name}.{self.where}" if self.where else str(name))


def structure(data: Any, kind: type[T]) -> T:
    """Plain data as an attrs class, or as whatever an annotation says. Raises Misfit where it does not fit."""
    hint: Any = kind
    made: T = reader_of(hint)(data)
    return made


def unstructure(value: Any) -> Any:
    """attrs classes as plain data; tuples and sets become lists."""
    if has_fields(type(value)):
        return {name: unstructure(item) for name, item in plain_fields(value).items()}
    if isinstance(value, dict):
        return {name: unstructure(item) for name, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(unstructure, value))
    return [unstructure(item) for item in value] if isinstance(value, list | tuple) else value


def plain_fields(value: Any) -> dict[str, Any]:
    """The first level of `unstructure`, of an attrs class. Raises TypeError for anything else."""
    kind: Any = type(value)
    if not has_fields(kind):
        raise TypeError(f"{kind.__name__} is no data")
    return {name: getattr(value, name) for name in _names(kind)}


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields_of(kind) if field.init)


@cache
def reader_of(hint: Any) -> Reader:
    """What reads data of an annotation. Raises TypeError for one that it does not know: that is a bug."""
    if hint is Any:
        return _anything
    if hint in _ATOMS:
        return _atom(hint)
    if hint is float:
        return _float
    if isinstance(hint, type) and has_fields(hint):
        return _class(hint)
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return _literal(args)
    if origin in (Union, types.UnionType):
        return _union(args)
    if origin is tuple and not (len(args) == 2 and args[1] is ...):
        return _fixed(tuple(map(reader_of, args)))
    if origin in (tuple, Sequence):
        return _many(tuple, reader_of(args[0]))
    if origin in (list, set, frozenset):
        return _many(origin, reader_of(args[0]))
    if origin in (dict, Mapping):
        return _dict(reader_of(args[0]), reader_of(args[1]))
    raise TypeError(f"records hold no {hint!r}")


# ---- readers ----
def _anything(data: Any) -> Any:
    return data


def _atom(kind: type) -> Reader:
    def read(data: Any) -> Any:
        if type(data) is not kind:
            raise Misfit(f"{_shown(data)} is not {_NAMES[kind]}")
        return data

    return read


def _float(data: Any) -> float:
    if type(data) not in (float, int):
        raise Misfit(f"{_shown(data)} is not a number")
    return float(data)


def _literal(values: tuple[Any, ...]) -> Reader:
    def read(data: Any) -> Any:
        if not any(data == value and type(data) is type(value) for value in values):
            raise Misfit(f"{_shown(data)} is not one of {', '.join(map(repr, values))}")
        return data

    return read


def _fixed(readers: tuple[Reader, ...]) -> Reader:
    def read(data: Any) -> tuple[Any, ...]:
        items = _items(data)
        if len(items) != len(readers):
            raise Misfit(f"there are {len(items)} values, not {len(readers)}")
        return tuple([_within(index, reader, item)
                      for index, (reader, item) in enumerate(zip(readers, items, strict=True))])

    return read


def _many(kind: Callable[[list[Any]], Any], reader: Reader) -> Reader:
    def read(data: Any) -> Any:
        items = _items(data)
        try:
            return kind([reader(item) for item in items])
        except Misfit:  # once more, to tell where
            return kind([_within(index, reader, item) for index, item in enumerate(items)])

    return read


def _dict(key: Reader, reader: Reader) -> Reader:
    def read(data: Any) -> dict[Any, Any]:
        if not isinstance(data, dict):
            raise Misfit(f"{_shown(data)} is no object")
        try:
            return {key(name): reader(item) for name, item in data.items()}
        except Misfit:
            return {_within(name, key, name): _within(name, reader, item) for name, item in data.items()}

    return read


def _class(kind: type[Any]) -> Reader:
    """Its fields' readers are made at the first reading: a class may be within itself."""
    known: list[tuple[str, str, Reader, bool]] = []

    def read(data: Any) -> Any:
        if not known:
            hints = _hints(kind)
            known.extend([(field.name, field.argument, reader_of(hints[field.name]), field.required)
                          for field in fields_of(kind) if field.init])
        if not isinstance(data, dict):
            raise Misfit(f"{_shown(data)} is no {kind.__name__}")
        given = {}
        for name, alias, reader, required in known:
            if name in data:
                given[alias] = _within(name, reader, data[name])
            elif required:
                raise Misfit("it is missing", name)
        return kind(**given)

    return read


def _hints(kind: type) -> dict[str, Any]:
    """What `typing.get_type_hints` gives. That compiles each annotation; most are a name, which is looked up here."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        space = vars(sys.modules[base.__module__])
        for name, hint in vars(base).get("__annotations__", {}).items():
            if isinstance(hint, str):
                hint = space.get(hint) or vars(builtins).get(hint) or eval(hint, space)
            found[name] = types.NoneType if hint is None else hint
    return found


def _union(members: tuple[Any, ...]) -> Reader:
    """Of several classes, `type` tells which one; of anything else, what fits first is taken."""
    classes: list[Any] = [member for member in members if isinstance(member, type) and has_fields(member)]
    others = [reader_of(member) for member in members if member not in classes]
    if len(classes) > 1:
        others.append(_by_type(classes))
    else:
        others += map(reader_of, classes)

    def read(data: Any) -> Any:
        for reader in others[:-1]:
            try:
                return reader(data)
            except Misfit:
                continue
        return others[-1](data)

    return read


def _by_type(classes: list[Any]) -> Reader:
    known: dict[Any, Reader] = {}
    implied = None  # the class that was there alone before others: its data named no `type`
    for kind in classes:
        hint = _hints(kind).get("type")
        names = get_args(hint) if get_origin(hint) is Literal else ()
        if not names or not known.keys().isdisjoint(names):
            raise TypeError(f"{kind.__name__} has no `type` of its own that tells it from the others")
        known |= dict.fromkeys(names, reader_of(kind))
        if any("evalkit.implied" in field.metadata for field in fields_of(kind)):
            implied = names[0]

    def read(data: Any) -> Any:
        name = data.get("type", implied) if isinstance(data, dict) else None
        if not isinstance(name, str) or name not in known:
            raise Misfit(f"{_shown(name)} is not one of {', '.join(map(repr, known))}", "type")
        return known[name](data)

    return read


def _within(name: object, reader: Reader, data: Any) -> Any:
    try:
        return reader(data)
    except Misfit as error:
        raise error.within(name) from None


def _items(data: Any) -> Sequence[Any]:
    if not isinstance(data, list | tuple):
        raise Misfit(f"{_shown(data)} is no list")
    return data


def _shown(data: Any) -> str:
    said = repr(data)
    return said if len(said) <= _SHOWN else f"{said[:_SHOWN]}…"
