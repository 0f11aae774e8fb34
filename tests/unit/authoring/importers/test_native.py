"""The format native-evals: what its fields become, word for word, and what is said about those that become nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.authoring.importers.sets import NATIVE, files_of, import_set, lost, native_case, put

BOOK_SHELF = r'''case book-shelf {
  about "Books on a shelf: they can be lent."
  use app
  prompt """
    Build a shelf of books.

    Each has a title.
    """
  limits { turns 40; time 1m30s }

  check run "native test -Dplatform=null" as own-tests
  check markup as markup
  check grep "src/*.native" has /<for\s+[A-Za-z0-9_]+/ as books-come-from-a-loop "books come from a loop"
  check grep "src/*.zig", "src/*.native" lacks "TODO" as nothing-is-left-to-do "nothing is left to do"
  check snapshot has "role=list", /name="(Lend|Give)"/ as live on macos-local "the shelf is shown"

  judge "craft" as quality {
    files "src/main.zig"
    pass at 7
    criterion "Lending is one message."
    criterion "Says \"why\"."
  }
}
'''
TWO_WAYS = '''case two-ways {
  about "One task, two languages."
  use none
  prompt "prompt.md"
  limits { turns 80; time 20m }

  check run "native test -Dplatform=null" as own-tests

  track ts {
    use ts-app
    starter "starter-ts"
    check ts-harness "harness-ts.zig" "src/list.ts" as ts-harness "the list is right"
  }

  track zig {
    use app
    starter "starter-zig"
    check zig-harness "harness-zig.zig" as zig-harness "the list is right"
  }
}
'''
CLOCK_CORE = '''case clock-core {
  about "A clock."
  use ts-core
  starter "starter"
  prompt """Write a clock."""
  limits { turns 80; time 20m }

  check ts-transpile "src/core.ts" as transpile
  check ts-harness "harness.zig" "src/core.ts" as ts-harness "it ticks"
}
'''


def test_set_is_converted(tmp_path: Path) -> None:
    """Every field of the format has its statement, and assets lie beside their cases."""
    job = import_set("native-evals", put(tmp_path, NATIVE))
    files = files_of(job)
    assert BOOK_SHELF == files["book-shelf/book-shelf.eval"]
    assert TWO_WAYS == files["two-ways/two-ways.eval"]
    assert CLOCK_CORE == files["clock-core/clock-core.eval"]
    assert "Fix the list.\nIt is wrong." == files["two-ways/prompt.md"]
    assert [] == lost(job)
    assert {"suite.eval", "book-shelf/book-shelf.eval", "two-ways/two-ways.eval", "two-ways/prompt.md",
            "two-ways/harness-ts.zig", "two-ways/harness-zig.zig", "two-ways/starter-ts/src/list.ts",
            "two-ways/starter-zig/src/main.zig", "clock-core/clock-core.eval", "clock-core/harness.zig",
            "clock-core/starter/src/core.ts", "harness-lib/wire.zig"} == set(files)


def test_suite_declares_what_cases_use(tmp_path: Path) -> None:
    """Profiles and checks that no case uses are not in the suite: they would be reported as unused."""
    everything = files_of(import_set("native-evals", put(tmp_path / "all", NATIVE)))["suite.eval"]
    little = files_of(import_set("native-evals", put(tmp_path / "one", {"a/eval.json": native_case()})))["suite.eval"]
    heads = ["profile app {", "profile ts-app extends app {", "profile ts-core {", "define check markup ",
             "define check ts-transpile(entry) ", "define check ts-harness(harness, entry) ",
             "define check zig-harness(spec) "]
    assert [True] * 7 == [head in everything for head in heads]
    assert [True, False, False, True, False, False, False] == [head in little for head in heads]


def test_limits_that_all_cases_share_stand_in_the_suite(tmp_path: Path) -> None:
    """They are said once."""
    files = files_of(import_set("native-evals", put(tmp_path, {
        f"{name}/eval.json": native_case(name=name, maxTurns=9, timeoutMs=60_000) for name in ("a", "b")})))
    assert ["  limits { turns 9; time 1m }"] == [
        line for text in files.values() for line in text.splitlines() if "limits" in line]


def test_defaults_of_the_format_are_written_out(tmp_path: Path) -> None:
    """A judge without files, threshold and advisory has those of the format."""
    job = import_set("native-evals", put(tmp_path, {"a/eval.json": native_case(
        {"type": "llm_judge", "criteria": ["Good."], "description": "craft"})}))
    assert ('  judge "craft" as quality {\n    files "src/*.native", "src/main.zig", "src/tests.zig"\n'
            '    pass at 6, advisory\n    criterion "Good."\n  }\n') in files_of(job)["shelf/shelf.eval"]


def test_harness_with_other_arguments_has_a_check_of_its_own(tmp_path: Path) -> None:
    """`define check` takes no list: each set of arguments has one."""
    harness = {"type": "zig_harness", "harness": "h.zig", "description": "right"}
    job = import_set("native-evals", put(tmp_path, {"a/h.zig": "//\n", "a/eval.json": native_case(
        {**harness, "args": ["-Dplatform=null"]}, {**harness, "args": ["-Da=b c", "{x}"]})}))
    files = files_of(job)
    assert '  check zig-harness-2 "h.zig" as zig-harness-2 "right"\n' in files["shelf/shelf.eval"]
    assert "    run \"native test '-Da=b c' '{{x}'\" time 15m\n" in files["suite.eval"]


@pytest.mark.parametrize(("text", "expected"), [
    ("{", "eval.json: it is not JSON: line 1, column 2: Expecting property name enclosed in double quotes"),
    ("[1]", "eval.json: it holds a list, not an object"),
    (b"\xff\xfe", "eval.json: it is not UTF-8 (byte 0)"),
    ("[" * 100_000, "eval.json: it cannot be read as JSON: it is nested too deeply"),
    (" " * 1_000_001, "eval.json: it is larger than 1 MB"),
    (native_case(prompt=...), "prompt: it is missing"),
    (native_case(prompt=["a"]), "prompt: it is a list, not a text"),
    (native_case(prompt=" "), "prompt: it is empty"),
    (native_case(prompt="\ud800"), "prompt: it holds half of a surrogate pair, which is not a character"),
    (native_case(checks=[]), "checks: no check is left, and a case without one measures nothing"),
    (native_case(checks={}), "checks: it is an object, not a list"),
])
def test_case_that_cannot_be_converted_is_left_out(tmp_path: Path, text: str | bytes, expected: str) -> None:
    """It is reported with the reason, and the other cases still convert."""
    job = import_set("native-evals", put(tmp_path, {"bad/eval.json": text, "good/eval.json": native_case(name="good")}))
    assert expected in [line.partition(": ")[2] for line in lost(job)]
    assert ["good/good.eval"] == [section.target for section in job.report.cases if section.target]


@pytest.mark.parametrize(("change", "expected"), [
    ({"colour": 1}, ["colour: the format has no such field, so that nobody knows what it asks for"]),
    ({"frontend": "qt"}, ["frontend: there is no `qt` in this format; taken as `native`"]),
    ({"maxTurns": 1.5}, ["maxTurns: 1.5 is not a whole number of turns"]),
    ({"maxTurns": "9"}, ["maxTurns: it is a text, not a number"]),
    ({"timeoutMs": -5}, ["timeoutMs: -5 ms is not a time from a second to a week"]),
    ({"description": 5}, ["description: it is a number, not a text"]),
    ({"tracks": []}, ["tracks: it is a list, not an object"]),
    ({"frontend": "app-dual", "tracks": {"rust": {}, "zig": 5}},
     ["tracks.rust: the format has the tracks ts and zig", "tracks.zig: it is a number, not an object"]),
])
def test_odd_field_is_reported(tmp_path: Path, change: dict[str, Any], expected: list[str]) -> None:
    """The case converts without it."""
    job = import_set("native-evals", put(tmp_path, {"a/eval.json": native_case(**change)}))
    assert [f"shelf: {line}" for line in expected] == lost(job)
    assert "shelf/shelf.eval" in job.target.files


GREP = {"type": "file_grep", "files": "a", "pattern": "b", "expect": True}


@pytest.mark.parametrize(("check", "expected"), [
    (7, ["checks[1]: it is a number, not an object"]),
    ({}, ["checks[1].type: it is missing"]),
    ({"type": "smell"}, ["checks[1].type: there is no check type `smell` in this format; it has build_test, "
                         "markup_check, file_grep, snapshot_grep, ts_transpile, ts_harness, zig_harness, llm_judge"]),
    ({**GREP, "pattern": "("}, ["checks[1].pattern: /(/ at character 1: this group is not closed",
                                "checks[1]: the check was left out"]),
    ({**GREP, "expect": "yes"},
     ["checks[1].expect: `yes` is not true (the pattern must be found) or false (it must not)",
      "checks[1]: the check was left out"]),
    ({**GREP, "files": "../x"}, ["checks[1].files: `../x` is no glob of files in the workspace",
                                 "checks[1]: the check was left out"]),
    ({**GREP, "case": 1}, ["checks[1].case: the format has no such field, so that nobody knows what it asks for"]),
    ({**GREP, "lanes": ["moon", "macos-local"]}, ["checks[1].lanes: there is no lane `moon`"]),
    ({"type": "snapshot_grep", "patterns": ["a", "*"]},
     ["checks[1].patterns[1]: /*/ at character 1: there is nothing that `*` could repeat"]),
    ({"type": "snapshot_grep", "patterns": []}, ["checks[1]: the check was left out: no pattern is left"]),
    ({"type": "zig_harness", "harness": "../../etc/passwd"},
     ["checks[1]: the check was left out: there is no file `../../etc/passwd` in the case's folder"]),
    ({"type": "llm_judge", "criteria": []}, ["checks[1]: the judge was left out: it has no criteria"]),
    ({"type": "llm_judge", "criteria": ["x"], "minScore": 6.5},
     ["checks[1].minScore: 6.5 is not a whole number from 0 to 10; the judge is advisory, without a threshold"]),
    ({"type": "llm_judge", "criteria": ["x"], "lanes": ["macos-local"]},
     ["checks[1].lanes: a judge reads files alone: it has no lanes"]),
])
def test_odd_check_is_reported(tmp_path: Path, check: Any, expected: list[str]) -> None:
    """What is wrong with a check is named by its place; the other checks stay."""
    job = import_set("native-evals", put(tmp_path, {"a/eval.json": native_case(check)}))
    assert [f"shelf: {line}" for line in expected] == lost(job)
    assert "  check markup as markup\n" in files_of(job)["shelf/shelf.eval"]


def test_names_are_made_fit_and_unique(tmp_path: Path) -> None:
    """A name that the language cannot have is changed; a second case of one name is left out."""
    job = import_set("native-evals", put(tmp_path, {
        "a/eval.json": native_case(name="My shelf!"), "b/eval.json": native_case(name="my-Shelf")}))
    assert ["my-shelf/my-shelf.eval", ""] == [section.target for section in job.report.cases]
    assert ["b: my-Shelf: a case of this name was read from a/eval.json; names are unique, compared without case"] == \
        lost(job)


def test_field_that_stands_twice_is_reported(tmp_path: Path) -> None:
    """JSON readers take the last one without a word."""
    job = import_set("native-evals", put(tmp_path, {"a/eval.json": native_case().replace("{", '{"prompt": "x", ', 1)}))
    assert ["shelf: prompt: it stands twice in one object; the last one was taken"] == lost(job)


def test_links_that_lead_out_are_not_followed(tmp_path: Path) -> None:
    """Neither a linked file nor a linked folder outside the source is read; links within it are copied as files."""
    put(tmp_path / "outside", {"secret.txt": "s", "eval.json": native_case(name="stolen")})
    source = put(tmp_path / "source", {"a/eval.json": native_case(), "a/starter/real.txt": "r"})
    (source / "a/starter/link.txt").symlink_to("real.txt")
    (source / "a/starter/out.txt").symlink_to(tmp_path / "outside/secret.txt")
    (source / "a/starter/folder").symlink_to(tmp_path / "outside")
    (source / "a/starter/round").symlink_to("round")
    (source / "b").symlink_to(tmp_path / "outside")
    (source / "c").mkdir()
    (source / "c/eval.json").symlink_to(tmp_path / "outside/eval.json")
    job = import_set("native-evals", source)
    assert ["shelf/shelf.eval", "shelf/starter/link.txt", "shelf/starter/real.txt", "suite.eval"] == \
        sorted(job.target.files)
    assert ["c: eval.json: it leads outside the folder that is imported",
            "shelf: a/starter/folder: a link to a folder; links are not followed",
            "shelf: a/starter/out.txt: it leads outside the folder that is imported",
            "shelf: a/starter/round: its link leads nowhere"] == sorted(lost(job))
    assert [("b", "a link to a folder; links are not followed")] == job.sources[0].skipped


def test_asset_that_would_be_a_case_file_is_not_copied(tmp_path: Path) -> None:
    """Each `.eval` file of a project is a case file."""
    job = import_set("native-evals", put(tmp_path, {"a/eval.json": native_case(), "a/starter/x.eval": "boo"}))
    assert ["shelf: a/starter/x.eval: it would be read as a case file"] == lost(job)


def test_prompt_file_takes_no_asset_s_name(tmp_path: Path) -> None:
    """A case may have a prompt.md of its own."""
    job = import_set("native-evals", put(tmp_path, {"a/eval.json": native_case(prompt="a\nb"), "a/prompt.md": "mine"}))
    assert ("mine", "a\nb") == (files_of(job)["shelf/prompt.md"], files_of(job)["shelf/case-prompt.md"])


def test_case_that_no_file_can_hold_is_left_out(tmp_path: Path) -> None:
    """Fifteen thousand checks are more than a case file may have."""
    data = json.loads(native_case())
    data["checks"] = [{"type": "build_test", "args": ["x"]}] * 15_000
    job = import_set("native-evals", put(tmp_path, {"a/eval.json": json.dumps(data)}))
    assert ["shelf: shelf: it is too large for a case file"] == lost(job)
