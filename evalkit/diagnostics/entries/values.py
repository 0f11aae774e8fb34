"""Codes of files and values: E040 to E079."""

from __future__ import annotations

from evalkit.diagnostics.entries.entry import Entry, case, suite

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        "E040", "a file that does not exist or cannot be read",
        """Whatever a case names is looked up before anything runs. Paths are relative to the `.eval` file that names
        them.""",
        wrong=case('starter "startr"'),
        right=case('starter "starter"'),
    ),
    Entry(
        "E041", "a path that leads outside the suite's folder or the workspace",
        """A suite holds all that its cases need, so that it can be moved and its results compared. Paths within a
        workspace stay within it.""",
        wrong=case('starter "../elsewhere"'),
        right=case('starter "starter"'),
    ),
    Entry(
        "E042", "a file where a folder is wanted, or the other way round",
        "Each statement says which of the two it takes.",
        wrong=case('''
            prompt "PROMPT.md"
            starter "PROMPT.md"
            '''),
        right=case('''
            prompt "PROMPT.md"
            starter "starter"
            '''),
    ),
    Entry(
        "E050", "a glob, a regex or a pattern that means nothing",
        "A check that looks for it would fail, or pass, whatever the answer is.",
        wrong=case('check grep "src/*.ts" has /for (each/'),
        right=case(r'check grep "src/*.ts" has /for \(each/'),
    ),
    Entry(
        "E051", "a command that cannot be split into words, or names no program",
        """Commands are split as a shell does it and run without one. To have a shell, name it: `sh -c '…'`.""",
        wrong=case('''check run "grep -q 'it is' README.md && test -f 'a"'''),
        right=case('''check run "grep -q 'it is' README.md"'''),
    ),
    Entry(
        "E052", "a package without a version",
        "Results depend on the tools that they were made with. Without a version they could not be compared.",
        wrong=suite('toolchain web { npm "vite" }'),
        right=suite('toolchain web { npm "vite@7.1.2" }'),
    ),
    Entry(
        "E053", "a value that is not possible there",
        "The value is well formed, but the statement cannot do anything with it.",
        wrong=case("limits { turns 0 }"),
        right=case("limits { turns 20 }"),
    ),
)
