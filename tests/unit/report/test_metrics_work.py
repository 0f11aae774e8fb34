"""One trial's work, read off transcripts in which every figure is known by hand, by the native suite's declarations."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.analysis.dialect import compile_regex
from evalkit.analysis.model import Pattern
from evalkit.report.metrics_commands import Checked, Compliance, Patience
from evalkit.report.metrics_work import Work
from tests.unit.report.metrics_transcripts import ROOT, Written, bash, edit, native_metrics, write

NATIVE = native_metrics()

NS1004 = "src/core.ts:2:7 error NS1004 a string method\n  take bytes instead"


def on_ts() -> Written:
    """The TypeScript track with all traps; each line says what it must come to."""
    return (
        Written()
        # 1: before any source was changed: tells of the starter alone
        .turn(bash("sh check.sh", "error", "src/core.ts:1:1 error NS1001 the starter's own"))
        # 2: one message of two lines; 4 lines of source, README.md is none
        .turn(write("src/core.ts", "a\nb\nc\nd\n"), write("README.md", "x\n" * 10))
        # 3: `echo` succeeded, the check did not: failed (1), teaching (1), NS1004 once though said twice, TS2322
        .turn(bash(f"cd {ROOT} && native check; echo done", "ok",
                   f"{NS1004}\nsrc/core.ts:4:1 TS2322 Type 'string' is not\n{NS1004}\ndone"))
        # 4: refused: dropped
        .turn(bash("curl https://example.org && native check", "denied", "Permission to use Bash has been denied."))
        # 5: 2 lines of source; an edit that failed wrote nothing
        .turn(edit("src/core.ts", "e\nf"), edit("src/core.ts", "1\n2\n3\n4\n5\n", "error"))
        # 6: grep found nothing, so nothing was checked: dropped
        .turn(bash("grep -n nothing src/core.ts && sh check.sh", "error"))
        # 7: failed (2), teaching (2), NS1010
        .turn(bash("native test", "error", "src/core.ts:5:1 error NS1010 no closures"))
        # 8: 4 lines of source, all markup
        .turn(write("src/app.native", "<a>\n<b/>\n\n</a>\n"))
        # 9: the first that passed: 2 retries, turn 9
        .turn(bash("timeout 60 native build"))
        # 10: failed (3), without a diagnostic
        .turn(bash("native check", "error", "panic: stack overflow"))
        # 11: so 2 turns come after the first green
        .end()
    )


def on_zig() -> Written:
    """The Zig track, never green."""
    said = ("src/main.zig:3:9: error: no field or member function named 'append' in 'array_list.Aligned(u8,null)'\n"
            "src/main.zig:9:1: error: use of undeclared identifier 'cards'\n"
            "src/main.zig:12:1: error: something that nobody named\n"
            "error: 'tests.test.adds a card' failed:\n"
            "src/app.native:3:7: unknown element `card`; did you mean `surface`?\n")
    return (
        Written()
        .turn(write("src/main.zig", "a\nb\nc"))  # 1: 3 lines, the last without an end
        .turn(bash("native test -Dplatform=null", "error", said))  # 2: failed (1), teaching by the markup's line
        .turn(edit("src/main.zig", "d"), ("MultiEdit", {"file_path": f"{ROOT}/src/main.zig", "edits": [
            {"old_string": "a", "new_string": "e\nf"}, {"old_string": "b", "new_string": "g"}]}, "ok", ""))  # 3: 1+2+1
        .turn(bash("native test", "error",  # 4: failed (2), `append` again, no teaching
                   "src/main.zig:3:9: error: no member named 'append' in struct 'std'"))
        .end("I give up.")  # 5
    )


def test_typescript_with_all_traps(tmp_path: Path) -> None:
    """11 messages with 12 lines: 11 turns, 11 x 10 tokens in and 11 x 5 out."""
    assert Work(
        turns=11, touched=True, first_pass=False, runs=4, failed=3, retries_to_green=2, turns_to_green=9, tail=2,
        teaching=2, violations={"NS1004": 1, "TS2322": 1, "NS1010": 1}, unexplained=1, lines=4 + 2 + 4,
        shares={"markup": 4}, before_edit=1, by_output=0, dropped={"refused": 1, "compound without a diagnostic": 1},
        tokens={"input": 110, "output": 55, "cache_read": 0, "cache_write": 0},
    ) == on_ts().work(tmp_path, NATIVE["ts"])


def test_zig_never_green(tmp_path: Path) -> None:
    assert Work(
        turns=5, touched=True, first_pass=False, runs=2, failed=2, retries_to_green=None, turns_to_green=None,
        tail=None, teaching=1, violations={"no member named append": 2, "use of undeclared identifier": 1,
                                           "another error of zig": 1, "a failed test": 1, "markup": 1},
        lines=3 + 1 + 2 + 1, shares={"markup": 0},
        tokens={"input": 50, "output": 25, "cache_read": 0, "cache_write": 0},
    ) == on_zig().work(tmp_path, NATIVE["zig"])


def test_sources_that_a_shell_writes(tmp_path: Path) -> None:
    """They count as changed, not as lines that Write or Edit wrote; `&&` alone hides no exit status."""
    work = (Written().turn(bash("cat > src/main.zig <<'EOF'\nconst a = 1;\nEOF"))
            .turn(bash("native test && native build && echo fine", "ok", "fine")).end().work(tmp_path, NATIVE["zig"]))
    assert (True, True, 0, 0, 2, 1) == (work.touched, work.first_pass, work.retries_to_green, work.lines,
                                        work.turns_to_green, work.tail)


def test_a_hidden_exit_status(tmp_path: Path) -> None:
    """Without a diagnostic it passed, as far as its output tells; and that is said."""
    work = (Written().turn(write("app.zon", ".{}\n")).turn(bash("native test 2>&1 | tail -3", "ok", "all fine"))
            .work(tmp_path, NATIVE["zig"]))
    assert (True, 1, 1) == (work.first_pass, work.by_output, work.lines)


TAIL = """\
error: the following build command failed with exit code 1:
.native/build/build zig lib .native/build --prefix ./zig-out test
native test: `zig build` step failed (exit code 1)
"""


def test_the_end_of_a_failure(tmp_path: Path) -> None:
    """Where `tail` cut off what failed, the suite's diagnostic with an empty label tells that it did: no violation.

    A compound command that failed with it is no friction either.
    """
    for command, status in (("native test 2>&1 | tail -3", "ok"), ("cd . && native test 2>&1", "error")):
        work = (Written().turn(write("src/main.zig", "a\n")).turn(bash(command, status, TAIL))
                .work(tmp_path, NATIVE["zig"]))
        assert (False, 1, 1, {}, {}) == (work.first_pass, work.failed, work.unexplained, work.violations, work.dropped)


def test_what_nobody_knows_is_no_run(tmp_path: Path) -> None:
    """A command in the background, one that has no result, one that never started."""
    written = (Written().turn(write("src/main.zig", "a\n"))
               .turn(bash("native test", "ok", "Command running in background", run_in_background=True))
               .turn(bash("native test &"))
               .turn(("Bash", {"command": "native test"}, "error", "<tool_use_error>Invalid input</tool_use_error>"))
               .turn(bash("native test")))
    del written.lines[-1]
    work = written.work(tmp_path, NATIVE["zig"])
    assert (0, None, {"in the background": 2, "refused": 1, "without a result": 1}) == (
        work.runs, work.first_pass, work.dropped)


def test_a_check_that_outlived_its_time(tmp_path: Path) -> None:
    """Claude Code moves it to the background and answers without an error: nobody knows what comes of it."""
    written = Written().turn(write("src/main.zig", "a\n")).turn(bash("native test", "ok", "It keeps running."))
    written.lines[-1]["tool_use_result"] = {"stdout": "", "stderr": "", "backgroundTaskId": "b1"}
    work = written.end().work(tmp_path, NATIVE["zig"])
    assert (0, None, {"in the background": 1}) == (work.runs, work.first_pass, work.dropped)


def test_a_path_that_no_system_takes(tmp_path: Path) -> None:
    """Where the root is not known, each end of a path may be a source: a path of a million folders has a million."""
    written = Written().turn(write("a/" * 1_000_000 + "src/main.zig", "a\n"))
    del written.lines[0]
    assert not written.end().work(tmp_path, NATIVE["zig"]).touched


def test_no_source_was_changed(tmp_path: Path) -> None:
    """A file outside of the workspace is none, nor is one that no glob matches; nor what was denied."""
    outside = ("Write", {"file_path": "/tmp/src/main.zig", "content": "a\n"}, "ok", "")
    work = (Written().turn(outside, write("notes.md", "b\n"), write("src/a.zig", "c\n", "denied"))
            .turn(bash("native test")).end().work(tmp_path, NATIVE["zig"]))
    assert (False, None, 0, 0, 1) == (work.touched, work.first_pass, work.runs, work.lines, work.before_edit)


def test_a_sub_agents_work_counts_and_its_turns_do_not(tmp_path: Path) -> None:
    """1: the task; its sub-agent edits and fails to check; 2: the check that passes."""
    work = (Written().turn(("Task", {"prompt": "do"}, "ok", "done"))
            .turn(write("src/main.zig", "a\n"), bash("native test", "error", "src/main.zig:1:1: error: unused"),
                  aside="toolu_01")
            .turn(bash("native test")).end().work(tmp_path, NATIVE["zig"]))
    assert (3, 1, 2, 1, 4 * 10) == (work.turns, work.retries_to_green, work.turns_to_green, work.tail,
                                    work.tokens["input"])


def test_turns_where_no_usage_is_told(tmp_path: Path) -> None:
    """What follows results begins a turn: two calls at once are one."""
    work = (Written(usage=False).turn(write("src/a.zig", "a\n"), write("src/b.zig", "b\n")).turn(bash("native test"))
            .end().work(tmp_path, NATIVE["zig"]))
    assert (3, 2, 1, {}) == (work.turns, work.turns_to_green, work.tail, work.tokens)


COMPLIANCE = Compliance((Pattern("native test"), Pattern("sh check.sh"),
                         Pattern(r"\bts_run\.mjs\b.*\bcli\.ts\b", True)), Patience())
ALONE, HIDDEN = Checked(True, True, False), Checked(False, False, False)
LAST = Checked(False, True, False)


@pytest.mark.parametrize(("command", "found"), [
    ("native test", ALONE), ("native test -Dplatform=null 2>&1", ALONE), ("  A=1 native test > log.txt", ALONE),
    ("timeout -k 5 60s env A=1 native test", ALONE), ("/opt/sdk/bin/native test", ALONE), ("sh ./check.sh", ALONE),
    ("node sdk/build/ts_run.mjs sdk/cli.ts src/core.ts", ALONE), ("bash -lc 'native test'", ALONE),
    ("native testing", None), ("native test --help", None), ("native --version", None),
    ("ls src/*.native | xargs -n1 native test", LAST), ("for f in a b; do native test $f; done", ALONE),
    ("echo native test", None), ("native", None), ("grep 'native test' README.md", None),
    ("echo \"native test; native test\"", None), ("", None), ("cat <<'E'\nnative test\nE", None),
    ("cd x && native test", LAST), ("cd x; native test", LAST), ("(cd x && native test)", LAST),
    ("native test && native test", LAST), ("cd x\nnative test\n", LAST), ("cd x && native test; echo done", HIDDEN),
    ("native test | tail -3", HIDDEN), ("native test || true", HIDDEN), ("sh -c 'native test; true'", HIDDEN),
    ("out=$(native test); echo \"$out\"", HIDDEN), ("native test\necho $?", HIDDEN),
    ("case x in x) ;; esac; native test", HIDDEN), ("native test &", Checked(True, True, True)),
])
def test_compliance_commands(command: str, found: Checked | None) -> None:
    assert found == COMPLIANCE.look(command)


def test_no_text_is_searched_for_long() -> None:
    """A regex that goes back and forth forever gets its seconds once, and what could not be searched is counted."""
    patience, endless = Patience(0.05), compile_regex(r"(?:a|a|aa)+b", "")
    assert [None, None] == [patience.search(endless, "a" * 5000), patience.search(endless, "ab")]
    assert 2 == patience.lost
    assert Patience().search(endless, "ab")
