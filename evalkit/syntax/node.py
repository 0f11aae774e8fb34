"""What makes a class of nodes of its annotations.

There are ninety of them, and every run after an edit waits until they are made: attrs takes 0.4 ms for each, most of it
to write and compile methods. A node needs few: it is frozen, has slots, is made from its fields, by position or by
name, and is equal to itself alone. Classes whose fields have the same names share the code of `__init__`.
"""

from __future__ import annotations

from functools import cache
from types import CodeType
from typing import Any, NoReturn, TypeVar, dataclass_transform

__all__ = ["fields_of", "node"]

T = TypeVar("T")
_FIELDS: dict[type, tuple[str, ...]] = {}


@dataclass_transform(eq_default=False, frozen_default=True)
def node(kind: type[T]) -> type[T]:
    """The class with its annotations as fields; a value in the class is a field's default."""
    names = tuple(kind.__annotations__)
    defaults = {name: vars(kind)[name] for name in names if name in vars(kind)}
    content = {name: value for name, value in vars(kind).items()
               if name not in defaults and name not in ("__dict__", "__weakref__")}
    made = type(kind.__name__, kind.__bases__, {
        **content, "__slots__": names, "__match_args__": names, "__repr__": _shown, "__setattr__": _refuse,
        "__delattr__": _refuse})
    space = {f"set_{name}": vars(made)[name].__set__ for name in names}
    space |= {f"default_{name}": value for name, value in defaults.items()}
    exec(_maker(names, frozenset(defaults)), space)
    made.__init__ = space["__init__"]  # type: ignore[misc]
    _FIELDS[made] = names
    return made


@cache
def _maker(names: tuple[str, ...], optional: frozenset[str]) -> CodeType:
    """The code of an `__init__`."""
    arguments = ", ".join(f"{name}=default_{name}" if name in optional else name for name in names)
    body = "".join(f"    set_{name}(self, {name})\n" for name in names)
    return compile(f"def __init__(self, {arguments}):\n{body}", "<node>", "exec")


def fields_of(kind: type) -> tuple[str, ...]:
    """The names of a class's fields; none where it is no class of nodes."""
    return _FIELDS.get(kind, ())


def _shown(value: Any) -> str:
    return f"{type(value).__name__}({', '.join(f'{name}={getattr(value, name)!r}' for name in fields_of(type(value)))})"


def _refuse(value: object, name: str, *_: object) -> NoReturn:
    raise AttributeError(f"a node is frozen: {type(value).__name__}.{name}")
