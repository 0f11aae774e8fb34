"""Classes of plain data whose methods nobody writes or compiles: what a run imports, it has at once.

attrs makes the project's other classes. It compiles methods for each of them in every process: 0.1 to 0.4 ms a class,
and a run after an edit imports 250. Here all classes share their methods, and `__init__` is compiled for those only of
which many instances are made. Fields are annotations, in their order, with the defaults that the class body gives them:

    class Point(Value):
        x: int
        tags: tuple[str, ...] = ()
        seen: dict[str, int] = field(factory=dict, eq=False)

`Value` is frozen and equal where its fields are; `Node` is frozen and equal to itself alone; `State` may change, and is
equal to itself alone. All have slots. A class may have a `__post_init__`, which is called when its fields are set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, cached_property
from itertools import count
from operator import attrgetter
from types import MappingProxyType
from typing import Any, ClassVar, NoReturn, TypeVar, dataclass_transform, get_origin

__all__ = ["Field", "Node", "State", "Value", "evolve", "field", "fields_of", "has_fields"]

T = TypeVar("T")
_MANY = 60
"""Instances after which an `__init__` is compiled: to compile it costs what it saves in so many calls."""
_NOTHING: Any = type("_Nothing", (), {"__repr__": lambda _: "NOTHING"})()
_set = object.__setattr__


class Field:
    """What is known of a field. argument: the name of its value where one is made."""

    name = argument = ""
    default: Any = _NOTHING
    factory: Callable[[], Any] | None = None
    init = True
    repr: bool | Callable[[Any], str] = True
    eq = True
    hash = True
    kw_only = False
    metadata: Mapping[str, Any] = MappingProxyType({})

    @property
    def required(self) -> bool:
        """Whether a value has to be given."""
        return self.init and self.default is _NOTHING and self.factory is None


def field(*, default: Any = _NOTHING, factory: Callable[[], Any] | None = None, init: bool = True,
          repr: bool | Callable[[Any], str] = True, eq: bool = True, hash: bool = True, kw_only: bool = False,
          metadata: Mapping[str, Any] = Field.metadata) -> Any:
    """Says of a field what a plain default does not. The names mean what they mean to `attrs.field`.

    factory: makes the default anew for each instance. init: whether it is an argument. repr: whether it is shown, or
    what shows it. eq, hash: whether it counts there.
    """
    part = Field()
    part.default, part.factory, part.init, part.kw_only = default, factory, init, kw_only
    part.repr, part.eq, part.hash, part.metadata = repr, eq, hash, metadata
    return part


class _Kind(type):
    """Makes a class's slots of its annotations."""

    __fields__: tuple[Field, ...]
    __uses__: count[int]

    def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> _Kind:
        own: dict[str, Field] = {}
        for named, hint in space.get("__annotations__", {}).items():
            if hint[:8] == "ClassVar" if type(hint) is str else get_origin(hint) is ClassVar:
                continue
            part = Field()
            if named in space:
                given = space.pop(named)
                if type(given) is Field:
                    part = given
                else:
                    part.default = given
            part.name = part.argument = named
            own[named] = part
        known = bases[0].__fields__ if bases and type(bases[0]) is _Kind else ()
        inherited = [part for part in known if part.name not in own] if known else ()
        space["__slots__"] = (*own, "__dict__") if cached_property in map(type, space.values()) else (*own,)
        space["__fields__"] = parts = (*inherited, *own.values())
        space["__match_args__"] = tuple([part.name for part in parts if part.init and not part.kw_only])
        space["__uses__"] = count()
        if bases and bases[0] not in (State, Node, Value):
            space["__init__"] = _init  # not that of the base, which may be compiled
        return super().__new__(cls, name, bases, space)


# ---- what they share ----
def _init(self: Any, *args: Any, **named: Any) -> None:
    kind = type(self)
    names = kind.__match_args__
    if len(args) > len(names):
        raise TypeError(f"{kind.__name__} takes {len(names)} values, not {len(args)}")
    for name, value in zip(names, args):  # noqa: B905 - the others are named, or have defaults
        if name in named:
            raise TypeError(f"{kind.__name__}: {name} is given twice")
        _set(self, name, value)
    if len(args) < len(kind.__fields__):
        _set_others(self, kind.__fields__, set(names[:len(args)]), named)
    if named:
        raise TypeError(f"{kind.__name__} has no {', '.join(named)}")
    self.__post_init__()
    if next(kind.__uses__) == _MANY:
        kind.__init__ = _compiled(kind)


def _set_others(self: Any, parts: tuple[Field, ...], given: set[str], named: dict[str, Any]) -> None:
    for part in parts:
        if part.name in given:
            continue
        if part.init and part.name in named:
            _set(self, part.name, named.pop(part.name))
        elif part.factory is not None:
            _set(self, part.name, part.factory())
        elif part.default is not _NOTHING:
            _set(self, part.name, part.default)
        elif part.init:
            raise TypeError(f"{type(self).__name__} needs {part.name}")


def _compiled(kind: Any) -> Callable[..., None]:
    """An `__init__` that does what the shared one does, three times as fast."""
    space: dict[str, Any] = {"NOTHING": _NOTHING}
    arguments: list[str] = []
    lines: list[str] = []
    parts: tuple[Field, ...] = kind.__fields__
    for part in sorted(parts, key=lambda part: part.kw_only):
        name, value = part.name, part.name
        space |= {f"set_{name}": getattr(kind, name).__set__, f"make_{name}": part.factory,
                  f"default_{name}": part.default}
        if part.kw_only and "*" not in arguments:
            arguments.append("*")
        if part.factory is not None:
            value = f"make_{name}() if {name} is NOTHING else {name}" if part.init else f"make_{name}()"
        elif not part.init:
            value = f"default_{name}"
        if part.init:
            default = f"=default_{name}" if part.default is not _NOTHING else "=NOTHING" if part.factory else ""
            arguments.append(f"{name}{default}")
        if part.init or part.factory or part.default is not _NOTHING:
            lines.append(f"    set_{name}(self, {value})\n")
    if kind.__post_init__ is not _post_init:
        lines.append("    self.__post_init__()\n")
    exec(f"def __init__(self, {', '.join(arguments)}):\n{''.join(lines) or '    pass'}", space)
    made: Callable[..., None] = space["__init__"]
    made.__qualname__ = f"{kind.__qualname__}.__init__"
    return made


def _post_init(self: Any) -> None:
    """Is called when all fields are set."""


def _shown(self: Any) -> str:
    told = (f"{part.name}={(part.repr if callable(part.repr) else repr)(getattr(self, part.name))}"
            for part in fields_of(type(self)) if part.repr)
    return f"{type(self).__name__}({', '.join(told)})"


def _refuse(self: object, name: str, *_: object) -> NoReturn:
    raise AttributeError(f"{type(self).__name__} is frozen: {name}")


def _reduced(self: Any) -> tuple[Any, ...]:
    return _again, (type(self), _given(self))


def _refuse_state(self: object, state: object) -> NoReturn:
    raise TypeError(f"{type(self).__name__} is made of its arguments alone")  # whatever a pickle asks for


# ---- the three kinds: none derives from another, as each class between costs all below it ----
@dataclass_transform(eq_default=False, field_specifiers=(field,))
class State(metaclass=_Kind):
    """Data that may change: equal to itself alone."""

    __init__ = _init
    __post_init__ = _post_init
    __repr__ = _shown


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
class Node(metaclass=_Kind):
    """Frozen data that is equal to itself alone."""

    __init__ = _init
    __post_init__ = _post_init
    __repr__ = _shown
    __setattr__ = __delattr__ = _refuse
    __reduce__ = _reduced
    __setstate__ = _refuse_state


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Value(metaclass=_Kind):
    """Frozen data that is equal where its fields are."""

    __init__ = _init
    __post_init__ = _post_init
    __repr__ = _shown
    __setattr__ = __delattr__ = _refuse
    __reduce__ = _reduced
    __setstate__ = _refuse_state

    def __eq__(self, other: object) -> bool:
        kind = type(self)
        return _compared(kind)(self) == _compared(kind)(other) if type(other) is kind else NotImplemented

    def __hash__(self) -> int:
        kind = type(self)
        return hash((kind.__name__, _hashed(kind)(self)))


@cache
def _compared(kind: type) -> Callable[[Any], Any]:
    return _state([part.name for part in fields_of(kind) if part.eq])


@cache
def _hashed(kind: type) -> Callable[[Any], Any]:
    return _state([part.name for part in fields_of(kind) if part.eq and part.hash])


def _state(names: list[str]) -> Callable[[Any], Any]:
    return attrgetter(*names) if names else lambda _: ()


# ---- these classes, and those of attrs ----
def has_fields(kind: object) -> bool:
    """Whether it is one of these classes, or of attrs."""
    return type(kind) is _Kind or hasattr(kind, "__attrs_attrs__")


def fields_of(kind: type) -> tuple[Field, ...]:
    """Its fields. Raises TypeError for a class that has none by declaration."""
    return kind.__fields__ if type(kind) is _Kind else _fields_of_attrs(kind)


@cache
def _fields_of_attrs(kind: Any) -> tuple[Field, ...]:
    if not has_fields(kind):
        raise TypeError(f"{kind.__name__} is no data")
    from attrs import NOTHING, fields

    made = []
    for known in fields(kind):
        factory = getattr(known.default, "factory", None)
        default = _NOTHING if factory is not None or known.default is NOTHING else known.default
        part: Field = field(default=default, factory=factory, init=known.init, repr=known.repr, eq=known.eq,
                            hash=known.hash is not False, kw_only=known.kw_only, metadata=known.metadata)
        part.name, part.argument = known.name, known.alias
        made.append(part)
    return tuple(made)


def evolve(value: T, **changes: Any) -> T:
    """A value with other values in some fields. Raises TypeError for a name that is no field."""
    return type(value)(**{**_given(value), **changes})


def _given(value: object) -> dict[str, Any]:
    """The arguments that make an equal one."""
    return {part.argument: getattr(value, part.name) for part in fields_of(type(value)) if part.init}


def _again(kind: type[T], given: dict[str, Any]) -> T:
    return kind(**given)
