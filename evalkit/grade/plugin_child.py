"""The process that a grader of another distribution works in: a job -> a verdict, or an error that it raised.

    python -m evalkit.grade.plugin_child JOB VERDICT

Modules are found where the process that asks finds them. What the grader prints goes where that one sends it.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import orjson

from evalkit.errors import EvalkitError
from evalkit.grade.plugin import Files, grade_files
from evalkit.structure import unstructure

__all__ = ["main"]


def main(given: str, place: str) -> None:
    """given, place: the paths of the two files."""
    job = json.loads(Path(given).read_bytes())
    sys.path[:] = job["path"]
    if job["environ"] is None:
        os.environ.pop("PYTHONPATH", None)
    else:
        os.environ["PYTHONPATH"] = job["environ"]
    tree = Path(job["tree"])

    def read(name: str, largest: int) -> bytes | None:
        return file_bytes(tree / name, largest)

    answer: object
    try:
        answer = unstructure(grade_files(job["grader"], Files(job["names"], read), dict(job["settings"])))
    except EvalkitError as error:
        answer = {"raised": [type(error).__name__, error.message, error.hint]}
    Path(place).write_bytes(orjson.dumps(answer))


def file_bytes(path: Path, largest: int) -> bytes | None:
    """The bytes of a file; None for what is none, such as a link. Raises ValueError for one that is larger."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            data = file.read(largest + 1)
    except OSError:
        return None
    if len(data) > largest:
        raise ValueError(f"{path.name} is larger than {largest:,} bytes")
    return data


if __name__ == "__main__":
    main(*sys.argv[1:])
