"""W002: a grep that says the same of every answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.lint.project import places, rendered, write

HAS = 'check grep "*.txt" has "note" as notes\n'


def result(status: str, summary: str = "found in *.txt", evidence: str = '"note": main.txt:1: A note.', *,
           case: str = "it") -> str:
    return json.dumps({"case": case, "checks": [
        {"id": "notes", "verdict": {"status": status, "summary": summary, "evidence": evidence}}]})


def path(run: str = "prove", unit: str = "it") -> str:
    return f"/results/{run}/nop/{unit}/trial-1/result.json"


def test_a_check_that_passes_on_the_untouched_scaffold(tmp_path: Path) -> None:
    """An agent that does nothing passes it."""
    write(tmp_path, {path(): result("pass")}, case=HAS)

    assert """\
warning[W002]: check `notes` passes on the untouched scaffold of `it`
 --> cases/s/it/it.eval:2:7
  |
2 | check grep "*.txt" has "note" as notes
  |       ^^^^^^^^^^^^^^^^^^^^^^^
  = an agent that does nothing passes it: look for what only an answer has""" == rendered(tmp_path)


def test_globs_that_match_no_file(tmp_path: Path) -> None:
    """They match none of the scaffold, as `nop` showed, and none of the solution."""
    nothing = result("fail", "no file matches *.md", "")
    write(tmp_path, {path(): nothing}, case='check grep "*.md" lacks "note" as notes\n')
    assert ["cases/s/it/it.eval:2:7: W002: no file of the scaffold or the solution of `it` matches the globs of check "
            "`notes`"] == places(tmp_path)

    write(tmp_path, {"it/solution/README.md": ""}, case='check grep "*.md" lacks "note" as notes\n')
    assert [] == places(tmp_path)


def test_a_check_of_one_track(tmp_path: Path) -> None:
    """The answer of that track is looked at, whatever the other's holds."""
    checks = """track ts { solution "ts" }
    track zig { solution "zig" }
    check grep "*.md" has "note" as notes for track ts
"""
    files = {path(unit="it@ts"): result("fail", "no file matches *.md", ""), "it/zig/main.zig": "", "it/ts/main.ts": ""}
    write(tmp_path, files, case=checks)
    assert [line for line in places(tmp_path) if "no file" in line]

    write(tmp_path, files | {"it/ts/README.md": ""}, case=checks)
    assert [] == [line for line in places(tmp_path) if "W002" in line]


@pytest.mark.parametrize("files", [
    {}, {path(): result("fail")}, {path(): result("skipped")}, {path(): result("pass", case="other")},
    {path(): result("pass", evidence='"older": main.txt:1: it')}, {path(): "{"}, {path(): "[1]"}, {path(): "[" * 99999},
    {path(): '{"case": "it", "checks": [1, {"id": "notes"}, {"id": 2, "verdict": {}}]}'},
    {path("other"): result("pass")},
    {path(): result("pass"), path(unit="it+arm"): result("fail")},
    {path(): result("fail"), path("latest"): result("pass")},
])
def test_what_does_not_count(files: dict[str, str], tmp_path: Path) -> None:
    """No results, those of an older form of the check or of other runs, damaged ones; one unit where it fails."""
    write(tmp_path, files, case=HAS)

    assert [] == places(tmp_path)


def test_a_lacks_that_passes_is_a_guard(tmp_path: Path) -> None:
    """That nothing bad is in the scaffold says nothing against a check."""
    passed: Any = result("pass", "absent in *.txt", '"note": not found in 1 file')
    write(tmp_path, {path(): passed}, case='check grep "*.txt" lacks "note" as notes\n')

    assert [] == places(tmp_path)


def test_an_idle_allow_is_not_told_where_results_decide(tmp_path: Path) -> None:
    """On a machine without the results `allow W002` silences nothing, which is no finding."""
    write(tmp_path, {}, case='check grep "*.txt" has "note" as notes allow W002 "the starter has it"\n')
    assert [] == places(tmp_path)
    write(tmp_path, {path(): result("pass")}, case='check grep "*.txt" has "note" as notes allow W002 "it has"\n')
    assert [] == places(tmp_path)
