"""Compiled units as bytes, and back.

They are pickled as calls of the constructors of model.py, and unpickled by a reader that calls nothing else.
"""

from __future__ import annotations

import io
import pickle
import sys
from typing import Any, ClassVar

from evalkit.analysis import model
from evalkit.values import fields_of, has_fields

__all__ = ["dump", "load"]

_MODELS = tuple(name for name in sys.modules if name.startswith(model.__name__))
"""The modules of compiled cases: model.py and those beside it that it imports."""


def dump(value: object) -> bytes:
    made = io.BytesIO()
    _Writer(made, 5).dump(value)
    return made.getvalue()


def load(data: bytes) -> Any:
    """What was dumped. Raises whatever unpickling can where it was not."""
    return _Reader(io.BytesIO(data)).load()


class _Writer(pickle.Pickler):
    """Writes classes of model.py as calls of their constructors."""

    _fields: ClassVar[dict[type, tuple[str, ...]]] = {}

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        if kind not in self._fields:
            self._fields[kind] = tuple(field.name for field in fields_of(kind)) if has_fields(kind) else ()
        names = self._fields[kind]
        return (kind, tuple([getattr(value, name) for name in names])) if names else NotImplemented


class _Reader(pickle.Unpickler):
    """Calls nothing but the constructors of model.py."""

    _known: ClassVar[dict[tuple[str, str], type]] = {}

    def find_class(self, module: str, name: str) -> Any:
        known = self._known.get((module, name))
        if known is not None:
            return known
        found = getattr(sys.modules[module], name, None) if module in _MODELS else None
        if not isinstance(found, type) or not has_fields(found):
            raise pickle.UnpicklingError(f"{module}.{name} is not of a compiled case")
        self._known[module, name] = found
        return found
