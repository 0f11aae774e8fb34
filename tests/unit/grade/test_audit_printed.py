"""An agent that tells no calls: what it printed is looked through, and the audit says that it was blind in part."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evalkit.execute.secrets import Redactor
from evalkit.execute.transcripts import Message, Writer
from evalkit.grade.audit import audit
from evalkit.grade.audit_printed import BLIND
from evalkit.grade.audit_record import Audit
from tests.unit.grade.test_audit import EVAL, HIDDEN, SKILL, SOLUTION, TARGETS, Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench.make(tmp_path)


def printed(bench: Bench, *texts: str, final: str = "", prompt: str = "Do it.", logged: bool = False) -> Audit:
    path = bench.root.parent / "transcript.jsonl"
    with path.open("wb") as sink:
        writer = Writer(sink, Redactor.of({}), "command", folder=bench.lines.cwd, calls=False)
        writer.write(Message("user", prompt))
        for text in texts:
            writer.write(Message("system" if logged else "assistant", text))
    return audit(path, bench.protected, final=lambda: [final])


HOW: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "numbered": lambda text: "\n".join(f"{at:6}\t{line}" for at, line in enumerate(text.splitlines(), 1)),
    "in colours": lambda text: "\n".join(f"\x1b[32m+{line}\x1b[0m" for line in text.splitlines()),
    "as JSON": lambda text: json.dumps({"type": "item", "item": {"command": "cat x", "output": text}}),
    "as a list of JSON": lambda text: json.dumps([{"output": text.splitlines()}]),
    "as JSON in a log": lambda text: f"12:00:03 tool said {json.dumps(text)}",
}


@pytest.mark.parametrize("logged", [False, True])
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize(("text", "what"), [(HIDDEN, "hidden tests"), (SOLUTION, "the solution"),
                                            (EVAL, "the case's file"), (SKILL, "the skill `policies`, which this arm "
                                                                               "has not")])
def test_lines_of_what_is_hidden(bench: Bench, text: str, what: str, how: str, logged: bool) -> None:
    """On either stream; the finding tells the line of the transcript."""
    found = printed(bench, "I begin.", HOW[how](text), logged=logged)
    assert found.contaminated
    assert [(what, "content", "read", "what it printed", 4)] == [
        (item.what, item.how, item.outcome, item.tool, item.line) for item in found.findings]
    assert "(by what it printed, line 4 of the transcript)" in found.reason


def test_what_it_prints_of_its_own_work(bench: Bench) -> None:
    """An answer that its final files have may be its own; a hidden test is not, whatever the files hold."""
    assert not printed(bench, SOLUTION, final="// mine\n" + SOLUTION).contaminated
    assert printed(bench, SOLUTION, final="export const policy = {};\n").contaminated
    assert printed(bench, HIDDEN, final=HIDDEN).contaminated


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("what", TARGETS)
def test_names_of_what_is_hidden(bench: Bench, what: str, how: str) -> None:
    """The name of an answer's place tells that it looked there, and perhaps into it; of others it is only told."""
    found = printed(bench, HOW[how](f'cat "{bench.root / TARGETS[what]}"'))
    assert found.blind
    if what in ("the cases", "results", "the store", "evalkit's state", "the project's history"):
        assert not found.contaminated
        assert [(what, "named")] == [(item.what, item.outcome) for item in found.tries]
    else:
        assert found.contaminated
        assert [(what, "unknown")] == [(item.what, item.outcome) for item in found.findings]
        assert found.findings[0].path.endswith(TARGETS[what])


def test_relative_names(bench: Bench) -> None:
    assert printed(bench, "$ cat cases/mini/policies/solution/src/policy.ts").contaminated
    assert printed(bench, "/home/ann/evals/cases/mini/policies/hidden/policy.test.ts").contaminated


def test_a_name_that_could_not_be_read_is_a_try(bench: Bench) -> None:
    found = printed(bench, f"cat: {bench.folder}/solution/src/policy.ts: No such file or directory")
    assert not found.contaminated
    assert ["failed"] == [item.outcome for item in found.tries]


@pytest.mark.parametrize("text", [
    "I wrote src/policy.ts and its tests; all of them pass.",
    "see the results in results/latest, and cases/mini/list.txt",
    f"one line of it: {SOLUTION.splitlines()[2]}", "{app}/cases/mini/policies/solution/src/policy.ts",
    '{"type": "item.completed", "n": 1e999, "text": "done"}', "[" * 3000, '{"half": "a record',
    "solution hidden wrong store",
])
def test_plain_output(bench: Bench, text: str) -> None:
    """What programs print all day, near to what would count."""
    found = printed(bench, text.replace("{app}", bench.lines.cwd))
    assert (found.contaminated, found.tries) == (False, ())


def test_what_the_prompt_names_is_known(bench: Bench) -> None:
    text = "work as in cases/mini/policies/solution, please"
    assert not printed(bench, f"> {text}", prompt=text).contaminated


def test_it_says_that_it_was_blind(bench: Bench) -> None:
    """Where calls are told it is not, whatever else is torn."""
    assert (printed(bench, "done").blind, printed(bench, "done").note) == (True, BLIND)
    bench.call("Bash", {"command": "true"})
    assert (bench.audit().blind, bench.audit().note) == (False, "")
