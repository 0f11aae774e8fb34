"""Sets of cases in other formats, small ones, in words of their own; and an import of one in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from evalkit.authoring.import_ import FORMATS
from evalkit.authoring.importers.job import Job
from evalkit.authoring.importers.report import Report
from evalkit.authoring.importers.source import Source
from evalkit.authoring.importers.target import Target

__all__ = ["GUIDANCE", "NATIVE", "SKILLS", "files_of", "import_set", "lost", "native_case", "put"]


def put(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder, and return it."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    return root


def import_set(form: str, *paths: Path, exact: bool = False) -> Job:
    """Convert a set; nothing is written."""
    job = Job("s", [Source.open(path) for path in paths], Target(Path("none")), Report(form), exact=exact)
    convert: Callable[[Job], None] = import_module(f"evalkit.authoring.importers.{FORMATS[form][0]}").convert
    convert(job)
    return job


def files_of(job: Job) -> dict[str, str]:
    """The texts of all files that an import makes."""
    return {name: content if isinstance(content, str) else content.read_text(encoding="utf-8")
            for name, content in job.target.files.items()}


def lost(job: Job) -> list[str]:
    """What the report says was not carried over."""
    return [f"{section.title}: {entry.what}: {entry.reason}" for section in (job.report.shared, *job.report.cases)
            for entry in section.entries if entry.kind == "lost"]


def native_case(*checks: Any, **fields: Any) -> str:
    """An eval.json with one check more than those given (so that a case is left whatever becomes of them)."""
    case = {"name": "shelf", "description": "A shelf.", "prompt": "Build a shelf.", "frontend": "native",
            "checks": [{"type": "markup_check"}, *checks], **fields}
    return json.dumps({key: value for key, value in case.items() if value is not ...})


NATIVE: dict[str, str] = {
    "evals/cases/book-shelf/eval.json": json.dumps({
        "name": "book-shelf", "description": "Books on a shelf: they can be lent.",
        "prompt": "Build a shelf of books.\n\nEach has a title.\n", "frontend": "native", "timeoutMs": 90_000,
        "maxTurns": 40, "checks": [
            {"type": "build_test", "args": ["-Dplatform=null"]},
            {"type": "markup_check"},
            {"type": "file_grep", "files": "src/*.native", "pattern": "<for\\s+\\w+", "expect": True,
             "description": "books come from a loop"},
            {"type": "file_grep", "files": "./src/*.{zig,native}", "pattern": "TODO", "expect": False,
             "description": "nothing is left to do"},
            {"type": "snapshot_grep", "patterns": ["role=list", "name=\"(Lend|Give)\""], "lanes": ["macos-local"],
             "description": "the shelf is shown"},
            {"type": "llm_judge", "criteria": ["Lending is one message.", "Says \"why\"."], "files": ["src/main.zig"],
             "minScore": 7, "advisory": False, "description": "craft"},
        ]}),
    "evals/cases/clock-core/eval.json": json.dumps({
        "name": "clock-core", "description": "A clock.", "prompt": "Write a clock.", "frontend": "ts-core",
        "timeoutMs": 1_200_000, "maxTurns": 80, "checks": [
            {"type": "ts_transpile"}, {"type": "ts_harness", "description": "it ticks"}]}),
    "evals/cases/clock-core/harness.zig": "// ticks\n",
    "evals/cases/clock-core/starter/src/core.ts": "export {}\n",
    "evals/cases/two-ways/eval.json": json.dumps({
        "name": "two-ways", "description": "One task, two languages.", "prompt": "Fix the list.\nIt is wrong.",
        "frontend": "app-dual", "timeoutMs": 1_200_000, "maxTurns": 80,
        "checks": [{"type": "build_test", "args": ["-Dplatform=null"]}],
        "tracks": {
            "ts": {"checks": [{"type": "ts_harness", "harness": "harness-ts.zig", "entry": "src/list.ts",
                               "description": "the list is right"}]},
            "zig": {"checks": [{"type": "zig_harness", "harness": "harness-zig.zig", "args": ["-Dplatform=null"],
                                "description": "the list is right"}]}}}),
    "evals/cases/two-ways/harness-ts.zig": "// ts\n",
    "evals/cases/two-ways/harness-zig.zig": "// zig\n",
    "evals/cases/two-ways/starter-ts/src/list.ts": "export {}\n",
    "evals/cases/two-ways/starter-zig/src/main.zig": "// main\n",
    "evals/harness-lib/wire.zig": "// wire\n",
}

SKILLS: dict[str, str] = {
    "evals/add-table/PROMPT.md": "Add a table.\nKeep the others.\n",
    "evals/add-table/EVAL.ts": "import { test } from 'vitest'\ntest('it is there', () => {})\n",
    "evals/add-table/package.json": '{"devDependencies": {"vitest": "^3.1.4"}}\n',
    "evals/add-table/db/config.toml": "port = 1\n",
    "skills/tables/SKILL.md": "---\nname: tables\ndescription: How to make tables.\n---\nWith care.\n",
    "skills/tables/references/keys.md": "Keys.\n",
}

GUIDANCE: dict[str, str] = {
    "evals/tasks/throw-ball/prompt.md": "Build a ball that can be thrown.\n",
    "evals/tasks/throw-ball/spec.json": json.dumps({
        "skill": "build-app", "reference_files": ["docs/physics.md"], "template": "templates/00_plain",
        "edit_file": "main.js", "expected_imports": ["toy", "toy/physics"], "expected_apis": ["toy.init", "throwBall("],
        "forbidden_patterns": ["from ['\"]https?:", "^eval"]}),
    "skills/build-app/SKILL.md": "---\nname: build-app\ndescription: How to build.\n---\nSlowly.\n",
    "docs/physics.md": "Things fall.\n",
    "templates/00_plain/index.html": "<script src=main.js></script>\n",
    "templates/00_plain/main.js": "// start\n",
}
