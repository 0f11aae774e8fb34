"""`check run` and `define check`: real commands (sh, python) in copies of small trees."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from evalkit.analysis.model import Append, Command, Each, Pattern, Put, Run, RunSpec, Step, StepsSpec
from evalkit.analysis.placeholders import escape
from evalkit.errors import HarnessError
from evalkit.execute import process
from evalkit.grade import run
from evalkit.grade.evidence import EVIDENCE_LIMIT
from evalkit.grade.final_tree import FinalTree
from evalkit.grade.verdict import Verdict
from tests.unit.grade.trees import SECRET, final_tree


def command(line: str, *, limit: int = 20) -> Command:
    """A command of a case: split as a shell would, run without one."""
    return Command(tuple(shlex.split(line)), limit)


def sh(script: str, *, limit: int = 20) -> Command:
    return Command(("sh", "-c", escape(script)), limit)


def graded(tree: FinalTree, *steps: Step | Command) -> Verdict:
    made = tuple(Run(step) if isinstance(step, Command) else step for step in steps)
    return run.grade_steps(StepsSpec(made), tree, ())


def tree_of(tmp_path: Path, files: Mapping[str, str | bytes] | None = None,
            links: Mapping[str, str] | None = None) -> FinalTree:
    return final_tree(tmp_path, {"a.txt": "a\n"} if files is None else files, links=links)


def leftovers(tree: FinalTree) -> list[Path]:
    return list(tree.session.places.work.iterdir())


# ---- commands ----
def test_status_0_passes(tmp_path: Path) -> None:
    """A command that ends well passes, in the tree's copy, which is gone afterwards."""
    tree = tree_of(tmp_path)
    spec = RunSpec(command("cat a.txt"))
    assert Verdict("pass", "`cat a.txt` exited with 0", "`cat a.txt` exited with 0") == run.grade_run(spec, tree, ())
    assert leftovers(tree) == []


def failed(tree: FinalTree, script: str, *evidence: Pattern) -> str:
    """The evidence of a check whose command fails, without the output that follows it."""
    verdict = run.grade_steps(StepsSpec((Run(sh(script)),), evidence=evidence), tree, ())
    assert verdict.status == "fail"
    return verdict.evidence.partition("\n----- output -----\n")[0]


def test_evidence_begins_with_the_blocks_that_a_check_declares(tmp_path: Path) -> None:
    """All that a regex matches, also over several lines, in the output's order, each once; of a string its line."""
    said = "start\ncase one: bad\n  want 1\n  have 2\n\ncase two: bad\n  want 3\nnote: x\nend\n"
    tree = tree_of(tmp_path, {"said": said})
    assert "case one: bad\n  want 1\n  have 2\ncase two: bad\n  want 3\nnote: x" == failed(
        tree, "cat said; exit 1", Pattern("note"), Pattern(r"^case .*: bad(\n  .*)*", regex=True), Pattern("want 3"))


def test_evidence_that_a_check_declares_and_does_not_find_is_guessed(tmp_path: Path) -> None:
    assert "error: last" == failed(tree_of(tmp_path), "echo a; echo error: last; exit 1", Pattern("nowhere"))


def test_a_block_that_takes_too_long_tells_nothing_and_ends(tmp_path: Path) -> None:
    """A pattern that runs away on an agent's output costs two seconds, and the verdict stands."""
    script = "head -c 30000 /dev/zero | tr '\\0' a; echo; echo error: b; exit 1"
    assert "error: b" == failed(tree_of(tmp_path), script, Pattern("(a|aa)+$x", regex=True))


def test_declared_evidence_has_its_bounds(tmp_path: Path) -> None:
    verdict = run.grade_steps(StepsSpec((Run(sh("seq 1 20000; exit 1")),), evidence=(Pattern("1"),)),
                              tree_of(tmp_path), ())
    assert len(verdict.evidence) <= EVIDENCE_LIMIT


def test_another_status_fails_with_the_telling_lines(tmp_path: Path) -> None:
    """The evidence begins with the message, wherever it stands in the output."""
    tree = tree_of(tmp_path, {"check.sh": "echo banner\necho 'a.c:1:2: error: no'\necho\necho end\nexit 3\n"})
    assert Verdict("fail", "`sh check.sh` exited with 3", "a.c:1:2: error: no\n----- output -----\n"
                   "banner\na.c:1:2: error: no\n\nend") == graded(tree, command("sh check.sh"))


def test_a_silent_fail_says_so(tmp_path: Path) -> None:
    """No output is told apart from output that was lost."""
    assert Verdict("fail", "`false` exited with 1", "it printed nothing") == graded(tree_of(tmp_path), command("false"))


def test_the_time_limit_is_a_fail(tmp_path: Path) -> None:
    """Code that hangs, deaf to SIGTERM and with children of its own, ends within the limit as a fail."""
    tree = tree_of(tmp_path, {"hang.sh": "trap '' TERM\nsleep 300 &\necho begun\nwhile :; do sleep 1; done\n"})
    began = time.monotonic()
    assert Verdict("fail", "`sh hang.sh` was ended by its time limit of 1 s", "begun") == graded(
        tree, command("sh hang.sh", limit=1))
    assert time.monotonic() - began < 60


def test_a_crash_is_a_fail(tmp_path: Path) -> None:
    """Death by a signal is named."""
    tree = tree_of(tmp_path, {"crash.sh": "echo last words\nkill -SEGV $$\n"})
    got = graded(tree, command("sh crash.sh"))
    assert (got.status, got.summary) == ("fail", "`sh crash.sh` died of SIGSEGV")
    assert got.evidence.startswith("last words")


@pytest.mark.parametrize("program", ["no-such-tool", "/no/such/tool"])
def test_a_missing_program_of_the_harness_is_an_error(tmp_path: Path, program: str) -> None:
    """A toolchain's program that is not there says nothing of the agent."""
    got = graded(tree_of(tmp_path), command(f"{program} --test"))
    assert (got.status, got.summary) == ("error", f"`{program}` is not installed")


@pytest.mark.parametrize("line", ["./build.sh", "bin/tool x", "{workspace}/build.sh"])
def test_a_missing_program_of_the_workspace_is_a_fail(tmp_path: Path, line: str) -> None:
    """The agent should have made it."""
    got = graded(tree_of(tmp_path), command(line))
    assert ("fail", f"`{line.replace('{workspace}', '.')}` cannot start") == (got.status, got.summary)


def test_a_program_of_the_workspace_that_cannot_be_executed_is_a_fail(tmp_path: Path) -> None:
    """Neither a file without the permission nor one that is no program is the harness's fault."""
    tree = final_tree(tmp_path, {"plain.sh": "echo", "garbage": b"\x00\x01"}, programs=["garbage"])
    assert graded(tree, command("./plain.sh")).status == "fail"
    assert graded(tree, command("./garbage")).status == "fail"


def test_nothing_is_left_running(tmp_path: Path) -> None:
    """What a command starts in the background ends with it, and cannot hold the check up."""
    witness = tmp_path / "witness"
    script = f"(sleep 2; touch {witness}) & (setsid sh -c 'sleep 2; touch {witness}' &) ; exit 0"
    began = time.monotonic()
    assert graded(tree_of(tmp_path), sh(script)).status == "pass"
    time.sleep(max(0.0, 2.5 - (time.monotonic() - began)))
    assert not witness.exists()


def test_a_flood_of_output_is_a_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that prints without end is ended, and the evidence stays small."""
    monkeypatch.setattr(process, "OUTPUT_LIMIT", 20 * 1024 * 1024)
    got = graded(tree_of(tmp_path), sh("yes 'error: flood'"))
    assert (got.status, got.summary.partition("` ")[2]) == ("fail", "was ended by its output limit of 20 MB")
    assert len(got.evidence) <= EVIDENCE_LIMIT


def test_a_long_output_keeps_its_ends(tmp_path: Path) -> None:
    """Of megabytes the first and the last lines are looked at."""
    script = "echo 'x.c:1:1: error: first'; yes ......... | head -n 400000; echo 'summary: last'; exit 1"
    got = graded(tree_of(tmp_path), sh(script))
    assert got.evidence.splitlines()[0] == "x.c:1:1: error: first"
    assert got.evidence.splitlines()[-1] == "summary: last"
    assert len(got.evidence) <= EVIDENCE_LIMIT


def test_evidence_cannot_drive_a_terminal(tmp_path: Path) -> None:
    """Escape sequences and control characters do not reach the evidence."""
    got = graded(tree_of(tmp_path), sh(r"printf '\033[2J\033]0;x\007error: \033[31mred\033[0m \b\0end\n'; exit 1"))
    assert got.evidence == "error: red \\x08\\x00end"


def test_keys_and_places_stay_out_of_the_evidence(tmp_path: Path) -> None:
    """A key that shows up in an output is redacted; the copy's place is `.`, its home `~`."""
    got = graded(tree_of(tmp_path), sh(f'echo "error: $PWD/a.txt $HOME/x {SECRET}"; exit 1'))
    assert got.evidence == "error: ./a.txt ~/x [AI_GATEWAY_API_KEY redacted]"


def test_commands_see_no_variable_of_the_person(tmp_path: Path) -> None:
    """The environment is the check's own: no key, a home of its own."""
    got = graded(tree_of(tmp_path), sh('test -z "$AI_GATEWAY_API_KEY" && test "$(ls -A $HOME)" = tmp'))
    assert got.status == "pass"


# ---- copies ----
def test_each_check_has_a_copy_of_its_own(tmp_path: Path) -> None:
    """What one check deletes or writes, the next one does not miss or find."""
    tree = tree_of(tmp_path, {"a.txt": "a", "src/b.txt": "b"})
    assert graded(tree, sh("rm -rf src a.txt && touch planted")).status == "pass"
    assert graded(tree, sh("test -f a.txt && test -f src/b.txt && ! test -e planted")).status == "pass"


def test_steps_of_a_check_share_a_copy(tmp_path: Path) -> None:
    """A step finds what the steps before it made; the first that fails ends the check."""
    tree = tree_of(tmp_path)
    assert graded(tree, sh("echo x > made"), command("test -s made")).status == "pass"
    got = graded(tree, command("true"), command("test -s made"), command("no-such-tool"))
    assert (got.status, got.summary) == ("fail", "`test -s made` exited with 1")


def test_caches_are_not_carried(tmp_path: Path) -> None:
    """What the case names as a cache is not in the copy: it would hold another place's paths."""
    tree = final_tree(tmp_path, {"src/a": "a", ".cache/stale": "x"}, exclude=[".cache"])
    assert graded(tree, sh("test -f src/a && ! test -e .cache")).status == "pass"


def test_a_failing_test_in_the_copy_is_seen(tmp_path: Path) -> None:
    """A test that a check adds is built and run afresh, also where compiled files of an earlier state exist."""
    code = {"calc.py": "def add(a, b):\n    return a - b\n", "test_calc.py": "import calc\n"}
    tree = tree_of(tmp_path, code)
    test = Append("test_calc.py", "assert calc.add(1, 1) == 2, 'one and one'\n")
    python = Command((sys.executable, "test_calc.py"), 20)
    assert graded(tree, python).status == "pass"
    got = graded(tree, python, test, python)
    assert got.status == "fail"
    assert got.evidence.splitlines()[0] == "AssertionError: one and one"


@pytest.mark.parametrize("script", ['rm -rf "$PWD"', 'rm -rf "$PWD"; ln -s {outside} "$PWD"'])
@pytest.mark.parametrize("step", [Run(Command(("true",), 20)), Append("a.txt", "x"), Put("spec", "a.txt"),
                                  Each("*", Command(("true",), 20))])
def test_a_check_that_removes_its_workspace_fails(tmp_path: Path, script: str, step: Step) -> None:
    """Without a workspace, or with a link in its place, no step is taken: that is no error of the harness."""
    outside = tmp_path / "outside"
    outside.mkdir()
    tree = tree_of(tmp_path)
    (tree.session.root / "spec").write_text("spec")
    got = graded(tree, sh(script.replace("{outside}", str(outside))), step)
    assert Verdict("fail", "an earlier step of the check removed the workspace") == got
    assert list(outside.iterdir()) == []


# ---- each ----
NAMES = ["$(touch pwned).t", "-rf.t", "@list.t", "a b.t", "a\nb.t", "it's \"q\".t", "plain.t", "ü.t", "{x}.t", "*.t"]


def test_each_passes_any_name_as_one_argument(tmp_path: Path) -> None:
    """Blanks, quotes, line ends, wildcards and `$(…)` are part of a name; nothing is expanded."""
    tree = tree_of(tmp_path, dict.fromkeys(NAMES, "x"))
    script = 'test $# -eq 1 && test -f "$1" && test ! -e pwned && case "$1" in -*|@*) exit 9;; esac'
    step = Each("*.t", Command(("sh", "-c", escape(script), "sh", "{file}"), 20))
    got = graded(tree, step)
    assert (got.status, got.summary) == ("pass", "10 files of *.t")
    assert len(got.evidence.splitlines()) == 11, "a name must not add lines"


def test_a_name_is_no_option(tmp_path: Path) -> None:
    """A file that is called like an option comes as `./-rf`."""
    tree = tree_of(tmp_path, {"-rf": "x", "keep": "x"})
    got = graded(tree, Each("*", command("ls {file}")), command("cat ./-rf keep"))
    assert got.evidence.splitlines()[0] == "`ls ./-rf` exited with 0"
    assert got.status == "pass"


def test_each_names_the_file_that_fails(tmp_path: Path) -> None:
    """The first file that fails is the verdict, quoted so that the line can be typed."""
    got = graded(tree_of(tmp_path, {"a.t": "x", "b c\n.t": ""}), Each("*.t", command("test -s {file}")))
    assert (got.status, got.summary) == ("fail", "`test -s 'b c\\n.t'` exited with 1")


def test_each_over_no_file_fails(tmp_path: Path) -> None:
    """A check of all views of an app without views has nothing to pass on."""
    assert Verdict("fail", "no file matches *.native") == graded(tree_of(tmp_path), Each("*.native", command("true")))


def test_each_shares_its_time_limit(tmp_path: Path) -> None:
    """The agent decides how many files there are: their number does not multiply the time."""
    tree = tree_of(tmp_path, {f"{number}.t": "" for number in range(400)})
    began = time.monotonic()
    got = graded(tree, Each("*.t", command("sleep 0.3", limit=1)))
    assert (got.status, got.summary) == ("fail", "`sleep 0.3` was ended by its time limit of 1 s for all files")
    assert time.monotonic() - began < 60


# ---- put and append ----
def put(tree: FinalTree, source: str, target: str, content: str = "spec\n") -> Put:
    """A step that puts a file of the project; a source that ends in `/` is a folder with one file in a sub-folder."""
    path = tree.session.root / source
    if source.endswith("/"):
        (path / "sub").mkdir(parents=True)
        (path / "sub/inner").write_text(content)
    else:
        path.write_text(content)
    return Put(source.rstrip("/"), target)


def test_put_replaces_and_adds(tmp_path: Path) -> None:
    """A file replaces a file, a link or a folder of its name; folders on its way are made."""
    tree = tree_of(tmp_path, {"file": "old", "folder/x": "old", "kept": "kept"}, links={"link": "kept"})
    steps = [put(tree, "spec", target) for target in ("file", "folder", "link", "new/deep/file")]
    got = graded(tree, *steps, sh('test "$(cat file folder link new/deep/file | sort -u)" = spec'),
                 sh('test "$(cat kept)" = kept && test ! -L link'))
    assert got.status == "pass", got


def test_put_of_a_folder_lays_it_over(tmp_path: Path) -> None:
    """Other files of the folder stay; a file or link of the folder's name gives way."""
    tree = tree_of(tmp_path, {"specs/mine": "mine", "file": "x"}, links={"link": "specs"})
    steps = [put(tree, "s/", "specs"), Put("s", "file"), Put("s", "link")]
    got = graded(tree, *steps, sh("cat specs/mine specs/sub/inner file/sub/inner link/sub/inner && test ! -L link"))
    assert got.status == "pass", got


def test_put_keeps_a_script_executable(tmp_path: Path) -> None:
    """A check's own script can be run by its path."""
    tree = tree_of(tmp_path)
    step = put(tree, "spec.sh", "spec.sh", "#!/bin/sh\nexit 0\n")
    (tree.session.root / "spec.sh").chmod(0o755)
    assert graded(tree, step, command("./spec.sh")).status == "pass"


@pytest.mark.parametrize(("target", "source"),
                         [("out/x", "spec"), ("out", "s/"), ("out/sub", "s/"), ("d/out/x", "spec")])
def test_put_writes_nothing_outside(tmp_path: Path, target: str, source: str) -> None:
    """Links that the agent's code plants in the copy, while the check runs, lead nothing outside."""
    outside = tmp_path / "outside"
    outside.mkdir()
    tree = tree_of(tmp_path)
    planting = sh(f"mkdir -p d && ln -s {outside} out && ln -s {outside} d/out")
    got = graded(tree, planting, put(tree, source, target))
    assert list(outside.iterdir()) == []
    assert (got.status, got.summary) in (("pass", f"`{shlex.join(['sh', '-c', planting.words[2]])}` exited with 0"),
                                         ("fail", f"{target} leads outside the workspace"))


@pytest.mark.parametrize(("files", "links"), [
    ({"src": "a file"}, {}), ({"a": ""}, {"src": "a"}),
])
def test_what_is_in_the_way_of_put_is_a_fail(tmp_path: Path, files: dict[str, str], links: dict[str, str]) -> None:
    """A file or a loop of links where the case's file needs a folder is the agent's doing."""
    tree = tree_of(tmp_path, files, links)
    got = graded(tree, put(tree, "spec", "src/deep/spec"))
    assert got.status == "fail"
    assert got.summary.startswith("src/deep/spec cannot be written: ")


def test_a_source_that_is_gone_is_an_error(tmp_path: Path) -> None:
    """What the case itself misses is no fail of the agent's."""
    with pytest.raises(HarnessError, match="spec is gone"):
        graded(tree_of(tmp_path), Put("spec", "x"))


def test_append_adds_on_a_line_of_its_own(tmp_path: Path) -> None:
    """Also where the file does not end with a line end."""
    got = graded(tree_of(tmp_path, {"a": "one"}), Append("a", "two\n"), sh('test "$(cat a)" = "one\ntwo"'))
    assert got.status == "pass"


@pytest.mark.parametrize(("target", "links"), [
    ("missing", {}), ("folder", {}), ("link", {"link": "a"}), ("src/x", {"src": "src"}), ("a/x", {}),
])
def test_append_to_what_is_no_file_is_a_fail(tmp_path: Path, target: str, links: dict[str, str]) -> None:
    """A file that the agent removed, or replaced by something else, cannot be tested."""
    got = graded(tree_of(tmp_path, {"a": "a", "folder/b": ""}, links), Append(target, "x"))
    assert Verdict("fail", f"{target} cannot be written: there is no such file to append to") == got


def test_append_writes_nothing_outside(tmp_path: Path) -> None:
    """Neither through a link in place of the file nor through one in place of its folder."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "victim").write_text("safe")
    tree = tree_of(tmp_path)
    planting = sh(f"ln -s {outside} out && ln -s {outside}/victim victim")
    assert graded(tree, planting, Append("victim", "x")).status == "fail"
    got = graded(tree, planting, Append("out/victim", "x"))
    assert Verdict("fail", "out/victim leads outside the workspace") == got
    assert (outside / "victim").read_text() == "safe"
