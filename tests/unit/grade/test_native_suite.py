"""What the native suite declares of its tools' output: the evidence of its checks, and what its metrics count."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from evalkit.analysis.model import Case, Metrics, StepsSpec
from evalkit.analysis.placeholders import expand
from evalkit.analysis.project import load_project
from evalkit.grade.search import blocks

NATIVE = Path(__file__).resolve().parents[3] / "cases/native"

VIOLATIONS = """\
src/core.ts:24:1 error NS1010 module state lives in the Model
  Module-level `let` makes mutable global state. Move the mutable value into the Model.
src/core.ts:23:63 TS2322 Type 'string' is not assignable to type 'number'.
"""
COMPILE = """\
test
+- run test
   +- compile test Debug native 1 errors
src/eval_behavior_spec.zig:4:42: error: root source file struct 'main' has no member named 'nothere'
test "bool" { try std.testing.expect(main.nothere); }
                                     ~~~~^~~~~~~~
src/main.zig:1:1: note: struct declared here
//! The app core in Zig
referenced by:
    test_1: src/main.zig:151:17
error: 1 compilation errors
failed command: zig test -fllvm -ODebug --dep native_sdk
Build Summary: 6/9 steps succeeded (1 failed)
"""
FAILED = """\
test
+- run test 6 pass, 2 fail (8 total)
error: 'eval_behavior_spec.test.adds a habit' failed:
       expected 3, found 2
       …/std/testing.zig:118:17: 0x12f64b8 in expectEqualInner__anon_170549 (test)
                       return error.TestExpectedEqual;
                       ^
       ./src/eval_behavior_spec.zig:3:23: 0x13043f6 in test.adds a habit (test)
       test "adds a habit" { try std.testing.expectEqual(@as(i64,3), @as(i64, 2)); }
error: 'eval_behavior_spec.test.is it true' failed:
       ./src/eval_behavior_spec.zig:4:15: 0x1255ed5 in test.is it true (test)
failed command: ./.native/build/.zig-cache/o/3123/test --listen=-

Build Summary: 7/9 steps succeeded (1 failed); 6/8 tests passed (2 failed)
"""
HARNESS = """\
1/3 harness.test.it starts idle...OK
2/3 harness.test.the last second ends the run...
====== expected this output: =========
done␃

======== instead found this: =========
running␃

FAIL (TestExpectedEqual)
./.evalkit/harness.zig:87:5: 0x1258b13 in test.the last second ends the run (harness.zig)
3/3 harness.test.a duration is an hour at most...expected 3600, found 5000
FAIL (TestExpectedEqual)
1 passed; 0 skipped; 2 failed.
error: the following test command failed with exit code 1:
.evalkit/zig-cache/o/7d89bfc0/test --seed=0x6749479d
"""


@pytest.fixture(scope="module")
def unit(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A core of the suite, compiled with what the suite declares."""
    root = tmp_path_factory.mktemp("project")
    (root / "cases/native").mkdir(parents=True)
    suite = (NATIVE / "suite.eval").read_text()
    # The checks of the other track are asked for by a case of its own.
    (root / "cases/native/suite.eval").write_text(suite)
    for name in ("harness", "core-workspace", "ts-habits-core"):
        shutil.copytree(NATIVE / name, root / "cases/native" / name)
    case = root / "cases/native/ts-habits-core/ts-habits-core.eval"
    case.write_text(case.read_text().replace("  check ts-transpile ", (
        '  check zig-harness "harness.zig" as zig\n  check native-test as own\n  check ts-transpile '), 1))
    return load_project(root).cases["ts-habits-core"]


def told(unit: Case, check: str, output: str) -> list[str]:
    """The first line of each block of the evidence."""
    spec = next(found.spec for found in unit.checks if found.id == check)
    assert isinstance(spec, StepsSpec)
    return [block.splitlines()[0] for block in blocks(output, spec.evidence)]


@pytest.mark.parametrize("check", ["subset", "behaviour", "own"])
def test_violations_are_told_with_what_they_teach(check: str, unit: Case) -> None:
    assert [line for line in VIOLATIONS.splitlines() if not line.startswith(" ")] == told(unit, check, VIOLATIONS)
    spec = next(found.spec for found in unit.checks if found.id == check)
    assert isinstance(spec, StepsSpec)
    assert blocks(VIOLATIONS, spec.evidence)[0].endswith("Move the mutable value into the Model.")


@pytest.mark.parametrize("check", ["zig", "own"])
def test_compile_errors_are_told_whole(check: str, unit: Case) -> None:
    spec = next(found.spec for found in unit.checks if found.id == check)
    assert isinstance(spec, StepsSpec)
    error, = blocks(COMPILE, spec.evidence)
    assert error.splitlines() == COMPILE.splitlines()[3:7]


@pytest.mark.parametrize("check", ["zig", "own"])
def test_failed_tests_are_told_with_what_was_found(check: str, unit: Case) -> None:
    """One block a test, down to the spec's own line; no summary, and no command line of the compiler."""
    spec = next(found.spec for found in unit.checks if found.id == check)
    assert isinstance(spec, StepsSpec)
    first, second = blocks(FAILED, spec.evidence)
    assert first.splitlines() == FAILED.splitlines()[2:9]
    assert second.splitlines() == FAILED.splitlines()[9:11]


def test_failed_tests_of_a_core_are_told_and_passed_ones_are_not(unit: Case) -> None:
    spec = next(found.spec for found in unit.checks if found.id == "behaviour")
    assert isinstance(spec, StepsSpec)
    first, second = blocks(HARNESS, spec.evidence)
    assert first.splitlines() == HARNESS.splitlines()[1:10]
    assert second.splitlines() == HARNESS.splitlines()[10:12]


# ---- two tracks ----
@pytest.mark.parametrize("case", sorted(NATIVE.glob("dual-*")), ids=lambda case: case.name)
def test_both_harnesses_of_a_case_hold_one_spec(case: Path) -> None:
    """The same tests by the same names in the same order: what one track is held to, the other is."""
    ts, zig = (re.findall(r'^test "(.*)"', (case / f"harness-{track}.zig").read_text(), re.MULTILINE)
               for track in ("ts", "zig"))
    assert len(ts) >= 8
    assert ts == zig


# ---- metrics ----
def counted(metrics: Metrics, line: str) -> str | None:
    """What a line of output is counted as: by the first diagnostic that matches it."""
    for diagnostic in metrics.diagnostics:
        if match := re.search(diagnostic.pattern.text.replace("(?<", "(?P<"), line, re.MULTILINE):
            return expand(diagnostic.label, match.groupdict()) if diagnostic.label else match.group()
    return None


@pytest.mark.parametrize(("profile", "line", "label"), [
    ("ts-core", "src/core.ts:24:1 error NS1010 module state lives in the Model", "NS1010"),
    ("ts-app", "src/core.ts:23:63 TS2322 Type 'string' is not assignable to type 'number'.", "TS2322"),
    ("ts-app", 'src/app.native:2:3: error: unknown element "buton" (did you mean "button"?)', "markup"),
    ("app", "src/main.zig:4:42: error: root source file struct 'main' has no member named 'nothere'",
     "no member named nothere"),
    ("app", "src/main.zig:9:5: error: no field or member function named 'init' in 'array_list.Aligned(u8,null)'",
     "no member named init"),
    ("app", "src/main.zig:3:102: error: use of undeclared identifier 'nothing'", "use of undeclared identifier"),
    ("app", "src/main.zig:3:1: error: expected type 'u8', found 'u16'", "expected type"),
    ("app", "src/main.zig:3:1: error: invalid format string 'd' for type 'x'", "another error of zig"),
    ("app", "error: 'tests.test.cards move' failed:", "a failed test"),
    ("app", "src/app.native:2:3: error: unknown element", "markup"),
    ("app", "Build Summary: 7/9 steps succeeded (1 failed)", None),
    ("ts-core", "  Module-level `let` makes mutable global state.", None),
])
def test_what_a_line_is_counted_as(profile: str, line: str, label: str | None, unit: Case) -> None:
    metrics = unit.suite.metrics_of(profile)
    assert metrics is not None
    assert label == counted(metrics, line)


def test_every_profile_is_in_a_group(unit: Case) -> None:
    assert {"ts-core": "ts", "ts-app": "ts", "app": "zig"} == {
        profile: group.name for group in unit.suite.metrics for profile in group.profiles}
