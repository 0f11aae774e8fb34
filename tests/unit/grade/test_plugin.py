"""Graders of other distributions: what they see, and that nothing which goes wrong in one is anybody else's fault."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evalkit import plugins
from evalkit.analysis.model import PluginSpec
from evalkit.errors import EvalkitError, HarnessError, UserError
from evalkit.grade import plugin as module
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.grader import grader_version
from evalkit.grade.plugin import Files, grade_files, grade_plugin
from evalkit.grade.plugin_child import file_bytes
from evalkit.grade.verdict import Verdict
from evalkit.values import evolve
from tests.unit.grade.trees import SECRET, final_tree
from tests.unit.language.plugins import offer

SPEC = PluginSpec("words", (), (("at-least", "2"),))
TREE = {"a.txt": "one two three", "docs/b.md": "four", "bytes.bin": "x"}


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    module._grader.cache_clear()
    yield
    module._grader.cache_clear()


def given(monkeypatch: pytest.MonkeyPatch, **has: Any) -> None:
    """Offer a grader that has these."""
    offer(monkeypatch)
    monkeypatch.setitem(sys.modules, "evalkit_wordy", SimpleNamespace(**has))


def graded(tree: FinalTree, spec: PluginSpec = SPEC) -> Verdict:
    """The verdict as the grader's own process makes it, in this one."""
    names = tree.matching(spec.globs) if spec.globs else sorted(tree.manifest.files)
    with tree.copy(()) as copy:
        files = Files(names, lambda name, largest: file_bytes(copy.tree / name, largest))
        return grade_files(spec.grader, files, dict(spec.settings))


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The module of a distribution's grader `words`, which is there to be written."""
    site = tmp_path / "site"
    (site / "slow_words-1.2.dist-info").mkdir(parents=True)
    (site / "slow_words-1.2.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: slow-words\nVersion: 1.2\n")
    (site / "slow_words-1.2.dist-info/entry_points.txt").write_text("[evalkit.graders]\nwords = slow_words\n")
    monkeypatch.syspath_prepend(str(site))
    plugins._all.cache_clear()
    yield site / "slow_words.py"
    plugins._all.cache_clear()
    sys.modules.pop("slow_words", None)


def test_it_reads_the_files_that_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By their names; nothing of it leads to a folder."""
    def grade(files: Files, settings: dict[str, str]) -> Verdict:
        assert ("a.txt", "docs/b.md") == files.names
        assert ["docs/b.md"] == files.matching("docs/**")
        assert (b"four", "one two three") == (files.bytes("docs/b.md"), files.text("a.txt"))
        with pytest.raises(KeyError):
            files.bytes("secret.bin")
        with pytest.raises(KeyError):
            files.bytes("../a.txt")
        with pytest.raises(ValueError, match="larger than 3 bytes"):
            files.bytes("a.txt", largest=3)
        assert [] == [name for name in dir(files) if not name.startswith("_") and name not in (
            "names", "matching", "bytes", "text")]
        return Verdict("pass", f"at least {settings['at-least']}", "two\nlines", score=7.5)

    given(monkeypatch, VERSION="3", grade=grade)
    tree = final_tree(tmp_path, {**TREE, "secret.bin": "no"})
    spec = PluginSpec("words", ("*.txt", "docs/**"), SPEC.settings)
    assert Verdict("pass", "at least 2", "two\nlines", 7.5) == graded(tree, spec)
    assert "evalkit-wordy 0.1.0 3" == grader_version(spec)


def test_what_it_says_cannot_drive_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may quote what an agent wrote."""
    given(monkeypatch, VERSION="1", grade=lambda files, settings: Verdict("fail", "a\x1b[2Jb\nc", "x\x07\n" * 9_000))
    verdict = graded(final_tree(tmp_path, TREE))
    assert "\x1b" not in verdict.summary + verdict.evidence
    assert "\n" not in verdict.summary


@pytest.mark.parametrize("raised", [ValueError("at-least"), SystemExit(3), RecursionError("deep"), AssertionError()])
def test_one_that_crashes_is_an_error_of_its_distribution(raised: BaseException, tmp_path: Path,
                                                          monkeypatch: pytest.MonkeyPatch) -> None:
    """No fail of the agent's, and nothing ends with it; the evidence says where."""
    def grade(files: Files, settings: dict[str, str]) -> Verdict:
        raise raised

    given(monkeypatch, VERSION="1", grade=grade)
    verdict = graded(final_tree(tmp_path, TREE))
    assert "error" == verdict.status
    assert verdict.summary.startswith("the grader `words` of the distribution evalkit-wordy 0.1.0 failed: "
                                      f"{type(raised).__name__}")
    assert "in grade" in verdict.evidence


@pytest.mark.parametrize("returned", [
    None, "pass", Verdict("passed", ""), Verdict("scored", ""),  # type: ignore[arg-type] # no verdict
    Verdict("pass", "", score="8"), Verdict("pass", b"8"), Verdict("pass", "\ud800")])  # type: ignore[arg-type] # nor these
def test_one_that_returns_no_verdict(returned: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an error of its own, too."""
    given(monkeypatch, VERSION="1", grade=lambda files, settings: returned)
    verdict = graded(final_tree(tmp_path, TREE))
    assert "error" == verdict.status
    assert re.search(r"evalkit-wordy 0\.1\.0 returned (no verdict|a verdict that is none)", verdict.summary)


@pytest.mark.parametrize("has", [{}, {"VERSION": 1, "grade": print}, {"VERSION": "1"}])
def test_what_is_no_grader(has: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it needs is said; its key has a version all the same."""
    given(monkeypatch, **has)
    with pytest.raises(HarnessError, match=r"the grader `words` of .* is no grader: it needs a text VERSION"):
        grade_plugin(SPEC, final_tree(tmp_path, TREE))
    assert grader_version(SPEC).startswith("broken: ")


def test_one_that_cannot_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its distribution is named, and where its entry point leads."""
    offer(monkeypatch, value="no_such_module_anywhere")
    with pytest.raises(HarnessError, match=r"evalkit-wordy 0\.1\.0 cannot be loaded: ModuleNotFoundError") as raised:
        grade_plugin(SPEC, final_tree(tmp_path, TREE))
    assert "no_such_module_anywhere" in raised.value.hint


def test_one_that_was_uninstalled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A case that was compiled with it is no fail."""
    monkeypatch.setattr("evalkit.plugins._all", lambda _: ())
    with pytest.raises(HarnessError, match="no distribution that is installed has a grader `words`"):
        grade_plugin(SPEC, final_tree(tmp_path, TREE))


# ---- in its own process ----
GRADER = "from evalkit.extend import {}\nVERSION = '1'\ndef grade(files, settings):\n    {}\n"


def test_it_works_in_a_process_of_its_own(installed: Path, tmp_path: Path) -> None:
    """With the person's environment, and away from the tree; links of the agent's are no files."""
    installed.write_text(GRADER.format(
        "Verdict", "import os; seen = [files.text(n) for n in files.names if n != 'link']; print('told')\n"
        "    try: files.bytes('link')\n    except KeyError: seen.append('no link')\n"
        "    return Verdict('pass', f'{seen} {settings} {os.getpid()} {os.environ.get(\"PYTHONPATH\")}', "
        "os.environ['AI_GATEWAY_API_KEY'][:3] + str(os.listdir()), 7.5)"))
    tree = final_tree(tmp_path, {"a.txt": "one", "docs/b.md": "two"}, links={"link": "/etc/passwd"})
    verdict = grade_plugin(SPEC, tree)
    assert ("pass", 7.5) == (verdict.status, verdict.score), verdict
    assert verdict.summary.startswith("['one', 'two', 'no link'] {'at-least': '2'} ")
    assert str(os.getpid()) not in verdict.summary
    assert verdict.summary.endswith(" None")
    assert "vck" in verdict.evidence
    assert "a.txt" not in verdict.evidence


def test_one_that_hangs_is_ended_by_its_limit(installed: Path, tmp_path: Path) -> None:
    """Such as by a pattern that a file of the agent's makes run for ever: no fail of the agent's."""
    installed.write_text(GRADER.format("Verdict", "print('looking at', files.names)\n    while True: pass"))
    verdict = grade_plugin(evolve(SPEC, limit=2), final_tree(tmp_path, TREE))
    assert ("error", "the grader `words` of the distribution slow-words 1.2 was ended by its time limit of 2 s") == (
        verdict.status, verdict.summary)


def test_a_verdict_that_is_too_long(installed: Path, tmp_path: Path) -> None:
    """Its beginning is kept; a key that stands where it is cut is taken out whole."""
    installed.write_text(GRADER.format(
        "Verdict", f"return Verdict('fail', 's' * 495 + '{SECRET}' + 's' * 10 ** 7, 'e' * 7_990 + '{SECRET}' * 9_000)"))
    tree = final_tree(tmp_path, TREE)
    verdict = grade_plugin(SPEC, tree)
    assert ("fail", 500, 8_000) == (verdict.status, len(verdict.summary), len(verdict.evidence))
    assert SECRET[:4] not in verdict.summary + verdict.evidence

    installed.write_text(GRADER.format("HarnessError", f"raise HarnessError('s' * 495 + '{SECRET}' + 's' * 10 ** 7)"))
    with pytest.raises(HarnessError) as raised:
        grade_plugin(SPEC, tree)
    assert 500 == len(raised.value.message)
    assert SECRET[:4] not in raised.value.message


def test_the_last_words_of_one_that_ends_its_process(installed: Path, tmp_path: Path) -> None:
    """However much it printed before, and wherever that is cut."""
    filler = 80_000 - len(SECRET) + 8 - len("\nthe end\n")
    installed.write_text(GRADER.format(
        "Verdict", f"import os; print('{SECRET}' + 'x ' * {filler // 2} + '\\nthe end', flush=True)\n    os._exit(7)"))
    verdict = grade_plugin(SPEC, final_tree(tmp_path, TREE))
    assert verdict.evidence.endswith("the end"), verdict
    assert SECRET[-8:] not in verdict.evidence


def test_one_that_ends_its_process(installed: Path, tmp_path: Path) -> None:
    """What it printed is the evidence, without keys."""
    installed.write_text(GRADER.format(
        "Verdict", f"import os; print('here {SECRET}', flush=True)\n    os._exit(7)"))
    verdict = grade_plugin(SPEC, final_tree(tmp_path, TREE))
    assert "error" == verdict.status
    assert verdict.summary.endswith("slow-words 1.2 ended without a verdict (exit status 7)")
    assert verdict.evidence.startswith("here ")
    assert SECRET not in verdict.evidence


@pytest.mark.parametrize(("name", "kind"), [("UserError", UserError), ("HarnessError", HarnessError)])
def test_errors_of_evalkits_own_come_through(name: str, kind: type[EvalkitError], installed: Path,
                                             tmp_path: Path) -> None:
    """A grader says so that a tool of its is missing."""
    installed.write_text(GRADER.format(name, f"raise {name}('no speller', hint='install one')"))
    with pytest.raises(kind, match="no speller") as raised:
        grade_plugin(SPEC, final_tree(tmp_path, TREE))
    assert "install one" == raised.value.hint
