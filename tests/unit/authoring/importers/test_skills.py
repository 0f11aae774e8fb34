"""The format skill-evals: folders with a prompt, hidden tests and starter files."""

from __future__ import annotations

from pathlib import Path

from tests.unit.authoring.importers.sets import SKILLS, files_of, import_set, lost, put

CASE = '''case add-table {
  prompt "PROMPT.md"
  scaffold copy "skeleton"
  check hidden-tests "hidden" run "npx vitest run --outputFile={report} --reporter=json" as behaviour "its tests pass"
}
'''


def test_set_is_converted(tmp_path: Path) -> None:
    """The prompt, what the agent sees, the hidden tests and the skill each have their place."""
    job = import_set("skill-evals", put(tmp_path, SKILLS))
    files = files_of(job)
    suite = files.pop("suite.eval")
    assert {
        "add-table/add-table.eval": CASE,
        "add-table/PROMPT.md": SKILLS["evals/add-table/PROMPT.md"],
        "add-table/hidden/EVAL.test.ts": SKILLS["evals/add-table/EVAL.ts"],
        "add-table/skeleton/package.json": SKILLS["evals/add-table/package.json"],
        "add-table/skeleton/db/config.toml": SKILLS["evals/add-table/db/config.toml"],
        "skills/tables/SKILL.md": SKILLS["skills/tables/SKILL.md"],
        "skills/tables/references/keys.md": SKILLS["skills/tables/references/keys.md"],
    } == files
    assert '  skills tables from "skills" linked\n\n  arm with-skill { }\n  arm baseline { skills none }\n}\n' in suite
    assert '    npm "vitest@3.1.4"\n' in suite
    assert [] == lost(job)


def test_configured_tests_keep_their_name(tmp_path: Path) -> None:
    """Where vitest is configured, the source says which files are tests."""
    job = import_set("skill-evals", put(tmp_path, {
        "a/PROMPT.md": "Do.\n", "a/EVAL.tsx": "//\n", "a/vitest.config.ts": "export default {}\n"}))
    assert {"a/hidden/EVAL.tsx", "a/skeleton/vitest.config.ts", "a/a.eval", "a/PROMPT.md", "suite.eval"} == \
        set(job.target.files)


def test_set_without_skills_has_no_arms(tmp_path: Path) -> None:
    """A case of its own converts; the report says that no skill was found."""
    job = import_set("skill-evals", put(tmp_path, {"a/PROMPT.md": "Do.\n", "a/EVAL.ts": "//\n"}))
    assert "arm" not in files_of(job)["suite.eval"]
    assert "a/skeleton/.gitkeep" in job.target.files
    assert ["suite.eval", "skills"] == [entry.what for entry in job.report.shared.entries]


def test_incomplete_cases_are_left_out(tmp_path: Path) -> None:
    """A case without tests, without words or with hidden tests that lead out is reported; the others convert."""
    source = put(tmp_path / "source", {**SKILLS, "x/no-tests/PROMPT.md": "Do.\n", "x/empty/PROMPT.md": " \n",
                                       "x/empty/EVAL.ts": "//\n", "x/latin/PROMPT.md": b"caf\xe9",
                                       "x/latin/EVAL.ts": "//\n", "x/out/PROMPT.md": "Do.\n"})
    put(tmp_path, {"secret.ts": "s"})
    (source / "x/out/EVAL.ts").symlink_to(tmp_path / "secret.ts")
    job = import_set("skill-evals", source)
    assert ["empty: PROMPT.md: it is empty",
            "latin: PROMPT.md: it is not UTF-8 (byte 3)",
            "no-tests: EVAL.ts: there is neither EVAL.ts nor EVAL.tsx, and a case without a check measures nothing",
            "out: EVAL.ts: it leads outside the folder that is imported"] == sorted(lost(job))
    assert ["add-table/add-table.eval"] == [section.target for section in job.report.cases if section.target]
