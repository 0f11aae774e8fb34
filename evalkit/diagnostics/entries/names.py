"""Codes of names, and of what must be there once: E020 to E039."""

from __future__ import annotations

from evalkit.diagnostics.entries.entry import Entry, case, file, files, suite

__all__ = ["ENTRIES"]

ENTRIES = (
    Entry(
        "E020", "an unknown profile",
        "`use` and `extends` name a profile of the case's own suite; those of other suites do not count.",
        wrong=case("""
            use ap
            scaffold copy "skeleton"
            """),
        right=case("""
            use app
            scaffold copy "skeleton"
            """),
    ),
    Entry(
        "E021", "an unknown check",
        "After `check` stands a kind of check that the language has, or the name of a `define check` of the suite.",
        wrong=case('check rum "make lint"'),
        right=case('check run "make lint"'),
    ),
    Entry(
        "E022", "`fails` names a check that the case does not have",
        """A wrong answer proves a check by failing it. A check goes by the name after `as`; one without a name has an
        id that changes with its content, so name the checks that `fails` refers to.""",
        wrong=case('''
            check run "make fresh"
            wrong "wrong/stale" fails fresh
            '''),
        right=case('''
            check run "make fresh" as fresh
            wrong "wrong/stale" fails fresh
            '''),
    ),
    Entry(
        "E023", "an unknown lane",
        "A check that is bound to a lane which does not exist would be skipped everywhere, and nobody would notice.",
        wrong=case('check run "make ui" on macos'),
        right=case('check run "make ui" on macos-local'),
    ),
    Entry(
        "E024", "an unknown agent",
        "`use agent` and `agent NAME { … }` name one of the agents that evalkit can run.",
        wrong=case("use agent cloude"),
        right=case("use agent claude"),
    ),
    Entry(
        "E025", "an unknown placeholder, or a brace that opens none",
        """Command lines and some paths have placeholders, and each statement has its own set of them. A brace that is
        meant as a brace is written `{{`.""",
        wrong=case('check run "test -f {worksapce}/README.md"'),
        right=case('check run "test -f {workspace}/README.md"'),
    ),
    Entry(
        "E026", "too few arguments for a check, or more than one description",
        """A `define check` with parameters takes one string for each; the string after them, or the only one of any
        other check, describes it.""",
        wrong=case('check run "make lint" "it is tidy" "and short"'),
        right=case('check run "make lint" "it is tidy and short"'),
    ),
    Entry(
        "E027", "a case outside of every suite",
        "A case belongs to the suite of its own folder or of the nearest folder above.",
        wrong=files('''
            === /cases/lost/lost.eval
            case lost {
              prompt """Write a greeting."""
              check grep "hello.txt" has /[Hh]ello/
            }
            '''),
        right=files('''
            === suite.eval
            suite greetings { scaffold copy "skeleton" }
            === found/found.eval
            case found {
              prompt """Write a greeting."""
              check grep "hello.txt" has /[Hh]ello/ as greets
              solution "solution"
              wrong "wrong/rude" fails greets
            }
            === found/solution/hello.txt
            Hello!
            === found/wrong/rude/hello.txt
            Go away.
            '''),
    ),
    Entry(
        "E028", "a suite in a file that is not named `suite.eval`",
        "A suite holds for a folder. Its file has one name, so that a case's suite is found by looking at folders.",
        wrong=files("""
            === greetings.eval
            suite greetings { limits { turns 20 } }
            """),
        right=files("""
            === suite.eval
            suite greetings { limits { turns 20 } }
            """),
    ),
    Entry(
        "E029", "a profile that extends itself, or too many others",
        "A chain of `extends` has an end. One that is longer than 16 profiles can no longer be followed by a reader.",
        wrong=suite("profile wide extends wide { limits { turns 40 } }"),
        right=suite("profile app { limits { turns 40 } }"),
    ),
    Entry(
        "E030", "a name that is taken",
        """Results are kept under names, in files. So names are unique among their kind, and are compared without case.
        Some words are taken by the language itself.""",
        wrong=case('''
            check run "make lint" as tidy
            check run "make fmt" as Tidy
            '''),
        right=case('''
            check run "make lint" as tidy
            check run "make fmt" as formatted
            '''),
    ),
    Entry(
        "E031", "a statement or an option that stands twice",
        "Of two such statements in one block only one could hold, and a reader could not tell which.",
        wrong=case('''
            limits { turns 20 }
            limits { turns 40 }
            '''),
        right=case("limits { turns 40 }"),
    ),
    Entry(
        "E032", "something that must be there is missing",
        """A case needs a prompt, something to start from, and at least one check or judge; a judge needs a criterion;
        a `define check` needs a step that can fail. Without them a case would measure nothing.""",
        wrong=file('''
            case hello {
              use app
              prompt """Write a greeting into hello.txt."""
            }
            '''),
        right=file('''
            case hello {
              use app
              prompt """Write a greeting into hello.txt."""
              check run "test -s hello.txt" as written
              solution "solution"
              wrong "wrong/empty" fails written
            }
            '''),
    ),
    Entry(
        "E033", "an unknown arm",
        "`for arm` names an arm that the suite declares. A check of another one would be skipped everywhere.",
        wrong=files('''
            === suite.eval
            suite s {
              profile app { scaffold copy "skeleton" }
              arm with-skill { }
              arm baseline { skills none }
              check run "make lint" as tidy for arm base-line
            }
            '''),
        right=files('''
            === suite.eval
            suite s {
              profile app { scaffold copy "skeleton" }
              arm with-skill { }
              arm baseline { skills none }
              check run "make lint" as tidy for arm baseline
            }
            '''),
    ),
    Entry(
        "E034", "an unknown track",
        "`for track` names a track of the case; in a suite or a profile, a track of any of its cases.",
        wrong=case("""
            check run "make types" for track typescript
            track ts { starter "starter" }
            track zig { limits { turns 40 } }
            """),
        right=case("""
            check run "make types" for track ts
            track ts { starter "starter" }
            track zig { limits { turns 40 } }
            """),
    ),
    Entry(
        "E035", "an unknown tier",
        "The name behind a case's name is a tier that its suite declares with `tier`.",
        wrong=files('''
            === suite.eval
            suite viewer {
              tier flat "one command with flat arguments"
            }
            === it.eval
            case elevation flatt "Color by elevation" { expect setColorMode(mode: "elevation") }
            '''),
        right=files('''
            === suite.eval
            suite viewer {
              tier flat "one command with flat arguments"
            }
            === it.eval
            case elevation flat "Color by elevation" { expect setColorMode(mode: "elevation") }
            '''),
    ),
    Entry(
        "E036", "calls that are expected of an agent that makes none",
        """`expect` and `never` look at the commands that agent `tools` calls. It is the agent of such a case where
        nobody says otherwise.""",
        wrong=file("""
            case elevation "Color by elevation" {
              use app
              use agent claude
              expect setColorMode(mode: "elevation")
              solution "solution"
              wrong "wrong/one" fails calls
            }
            """),
        right=file("""
            case elevation "Color by elevation" {
              use app
              expect setColorMode(mode: "elevation")
            }
            """),
    ),
    Entry(
        "E037", "an `allow` for something else than a warning, or without a reason",
        """Only warnings can be meant so, and who reads the case later wants to know why. Errors are corrected. The
        rules of an agent, such as `allow "Bash(make *)"`, stand in an `agent` block.""",
        wrong=case('allow W999 "the task pins this name"'),
        right=case('''
            check grep "*.txt" has "Do it" allow W001 "the task pins these words"
            '''),
    ),
    Entry(
        "E038", "a name that no environment variable can have",
        "Such a name has letters, digits and `_`, and does not start with a digit.",
        wrong=case('env LOG-LEVEL = "debug"'),
        right=case('env LOG_LEVEL = "debug"'),
    ),
)
