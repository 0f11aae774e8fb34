"""JSON Schemas of the records on disk and of what commands print, made from their classes, and of scripts.

    python -m evalkit.report.schemas [FOLDER]      writes them, by default into docs/schemas

A schema says what a record of its number holds. What a reader can do without is not required, and keys that a schema
does not name are allowed: a later evalkit may add some without raising the number (records.py).
"""

from __future__ import annotations

import inspect
import sys
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from evalkit.execute.outcome import AgentRecord
from evalkit.gateway.script_keys import script_schema
from evalkit.grade.verdict import Grade
from evalkit.records import SCHEMA, write_json
from evalkit.report.aggregate import Aggregate
from evalkit.report.data import CompareData, HistoryData, ReportData
from evalkit.report.metrics_data import MetricsData, RunMetrics
from evalkit.report.regraded import RegradedTrial
from evalkit.report.result import TrialResult
from evalkit.report.summary import RunSummary
from evalkit.values import fields_of, has_fields

__all__ = ["PRINTED", "RECORDS", "schema", "write_schemas"]

RECORDS: dict[str, type] = {"agent": AgentRecord, "aggregate": Aggregate, "authoring-metrics": RunMetrics,
                           "grade": Grade, "regrade": RegradedTrial, "result": TrialResult, "summary": RunSummary}
"""The records by the names of their schema files."""
PRINTED: dict[str, type] = {"compare": CompareData, "history": HistoryData, "metrics": MetricsData,
                           "report": ReportData}
"""What commands of these names print with --json."""
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null"}


def schema(record: type) -> dict[str, Any]:
    """The JSON Schema of a record. Raises TypeError for a field that no record should have."""
    shared: dict[str, dict[str, Any]] = {}
    top = _object(record, shared)
    top["properties"] = {"schema": {"const": SCHEMA}, **top["properties"]}
    top["required"] = ["schema", *top["required"]]
    return {"$schema": _DIALECT, "title": record.__name__, **top, "$defs": dict(sorted(shared.items()))}


def write_schemas(folder: Path) -> None:
    for name, record in {**RECORDS, **PRINTED}.items():
        write_json(folder / f"{name}.schema.json", schema(record))
    write_json(folder / "script.schema.json", script_schema())


def _object(kind: type, shared: dict[str, dict[str, Any]]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    fields = fields_of(kind)
    return {
        "type": "object",
        "description": inspect.cleandoc(kind.__doc__ or ""),
        "properties": {field.name: _of(hints[field.name], shared) for field in fields},
        "required": [field.name for field in fields if field.required],
    }


def _of(hint: Any, shared: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The schema of a type; classes are collected in `shared` and referred to."""
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, types.UnionType):
        if all(arg in _PLAIN for arg in args):
            return {"type": [_PLAIN[arg] for arg in args]}
        return {"anyOf": [_of(arg, shared) for arg in args]}
    if origin is tuple and args[1:] == (...,):
        return {"type": "array", "items": _of(args[0], shared)}
    if origin is dict:
        keys = {} if args[0] is str else {"propertyNames": _of(args[0], shared)}
        return {"type": "object", "additionalProperties": _of(args[1], shared), **keys}
    if isinstance(hint, type) and has_fields(hint):
        if hint.__name__ not in shared:
            shared[hint.__name__] = {}  # a placeholder, should the class hold itself
            shared[hint.__name__] = _object(hint, shared)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    raise TypeError(f"no record holds a {hint}")


if __name__ == "__main__":
    write_schemas(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs/schemas"))
