"""Evidence from a program's output."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.grade.evidence import EVIDENCE_LIMIT, OUTPUT_RULE, excerpt, plain

ZIG_TESTS = """\
test
+- run test 5 pass, 2 fail (7 total)
error: 'tests.test.cards move' failed:
       expected 3, found 4
       …/std/testing.zig:118:17: 0x12570d2 in expectEqualInner (test)
                       return error.TestExpectedEqual;
                       ^
       ./src/tests.zig:173:18: 0x125715a in test.cards move (test)
error: 'tests.test.cards stay' failed:
       …/std/testing.zig:615:14: 0x1254bcf in expect (test)
           if (!ok) return error.TestUnexpectedResult;
                    ^
failed command: ./.zig-cache/o/5a23/test --seed=0x71c7e8b0 --listen=-

Build Summary: 7/9 steps succeeded (1 failed); 5/7 tests passed (2 failed)
test transitive failure
+- run test 5 pass, 2 fail (7 total)
"""
ZIG_COMPILE = """\
test
+- run test
   +- compile test Debug native 1 errors
src/main.zig:149:15: error: expected type 'u8', found '*const [2:0]u8'
const x: u8 = "no";
              ^~~~
referenced by:
    comptime: src/main.zig:149:36
"""


def head(output: str) -> list[str]:
    return excerpt(output).split(OUTPUT_RULE)[0].splitlines()


def test_failed_zig_tests_come_first() -> None:
    """Each failed test leads, with the two lines that say why; the output follows in its own order."""
    expected = [
        "error: 'tests.test.cards move' failed:",
        "       expected 3, found 4",
        "       …/std/testing.zig:118:17: 0x12570d2 in expectEqualInner (test)",
        "error: 'tests.test.cards stay' failed:",
        "       …/std/testing.zig:615:14: 0x1254bcf in expect (test)",
        "           if (!ok) return error.TestUnexpectedResult;",
    ]
    assert expected == head(ZIG_TESTS)
    assert ZIG_TESTS.strip() == excerpt(ZIG_TESTS).split(f"{OUTPUT_RULE}\n")[1]


def test_compile_errors_come_first_with_their_context() -> None:
    """A compiler's message leads with its source line and the carets; a repeated one does not take a second place."""
    expected = ["src/main.zig:149:15: error: expected type 'u8', found '*const [2:0]u8'", 'const x: u8 = "no";',
                "              ^~~~"]
    assert expected == head(ZIG_COMPILE * 3)


def test_messages_of_other_tools_are_found() -> None:
    """Runners and compilers of several languages have their messages found between banners and summaries."""
    for line in ("src/a.ts(3,5): error TS2322: Type 'x' is not", "error[E0382]: borrow of moved value: `x`",
                 "not ok 3 - moves a card", "FAILED tests/test_a.py::test_b - assert 1 == 2", "E   assert 1 == 2",
                 "--- FAIL: TestMove (0.00s)", " FAIL  src/a.test.ts > moves", "AssertionError: expected 1 to be 2",
                 "  3:5  error  'x' is unused  no-unused-vars", "thread 'main' panicked at src/main.rs:2:5:",
                 "a.c:1:2: fatal error: no such header", "json.decoder.JSONDecodeError: Expecting value",
                 "npm ERR! Error: no such script"):
        output = "\n".join(["banner"] * 8 + [line, ""] + ["summary"] * 8)
        assert line.rstrip() == head(output)[0]


def test_words_about_errors_are_no_messages() -> None:
    """A count of no errors, or a file that is named after them, is no message; then the last lines lead."""
    output = "\n".join(["0 errors, 0 warnings", "compiling error_page.zig", "no test failed", *"abcdef"])
    assert [*"cdef"] == head(output)


def test_short_output_stands_as_it_is() -> None:
    """An output that begins with its message, or holds nothing else, is not said twice."""
    assert excerpt("\n\nerror: no\r\n  here\n\n") == "error: no\n  here"
    assert excerpt("all\nis\nwell\n") == "all\nis\nwell"
    assert excerpt("\n \n") == ""


def test_a_long_output_loses_its_middle() -> None:
    """Errors early and a summary last both stay; the gap is said."""
    lines = [f"step {number} {'.' * 60}" for number in range(5_000)]
    lines[7] = "src/a.zig:1:2: error: expected `;`"
    lines[-1] = "Build Summary: 1 failed"
    got = excerpt("\n".join(lines))
    assert lines[7] == got.splitlines()[0]
    assert lines[-1] == got.splitlines()[-1]
    assert "lines left out …" in got
    assert EVIDENCE_LIMIT - 500 < len(got) <= EVIDENCE_LIMIT


def test_thousands_of_errors_leave_room_for_the_output() -> None:
    """The leading lines take a third of the room at most."""
    got = excerpt("\n".join(f"src/a.zig:{number}:2: error: expected `;`" for number in range(5_000)))
    assert len(got) <= EVIDENCE_LIMIT
    assert got.splitlines()[-1] == "src/a.zig:4999:2: error: expected `;`"


def test_progress_bars_and_colours_are_gone() -> None:
    """What a carriage return wrote over is gone, and so are colours, titles and cursor moves."""
    output = "\x1b]0;title\x07\x1b[2K\x1b[31;1merror:\x1b[0m no\n 10%\r 50%\r100% done\r\n\x1b(Bend\x07\n"
    assert excerpt(output) == "error: no\n100% done\nend\\x07"


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=500) | st.sampled_from(["error: x", "x" * 400, "", "FAIL", "\x1b[31m"]), max_size=80),
       st.integers(1_000, 9_000))
def test_the_limit_holds_and_nothing_drives_a_terminal(lines: list[str], limit: int) -> None:
    """Whatever a program prints, evidence is at most as long as it may be, and all its lines are printable."""
    got = excerpt("\n".join(lines), limit)
    assert len(got) <= limit
    assert all(line.isprintable() for line in got.split("\n"))


def test_plain_names() -> None:
    """A name is shown on one line, with its control characters to be seen."""
    assert plain("a\nb\x07\u00a0c\u202e.txt") == "a\\nb\\x07 c\\u202e.txt"
    assert plain("größe 界 📁.txt") == "größe 界 📁.txt"
