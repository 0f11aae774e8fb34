"""What an agent looked at that it must not see: each way to each target, and what only looks like it."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import define
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalkit.analysis.model import Case, Check, Command, HiddenTestsSpec, Skill, Wrong
from evalkit.grade.audit import audit
from evalkit.grade.audit_protected import Protected, audit_inputs
from evalkit.grade.audit_record import Audit
from evalkit.records import record_bytes
from evalkit.values import evolve
from tests.unit.execute.make import case, session, setup, sh
from tests.unit.execute.transcripts import Transcript

HIDDEN = """\
import { policy } from "../src/policy";
test("an owner may delete what belongs to him", () => expect(policy.delete(owner, own)).toBe(true));
test("a guest may not delete what is not his own", () => expect(policy.delete(guest, own)).toBe(false));
"""
SOLUTION = """\
// The policy of deletions, as the reference has it.
export const policy = {
  delete: (who: User, what: Thing) => who.role === "owner" && what.owner === who.id,
  archive: (who: User, what: Thing) => who.role !== "guest" && what.state !== "locked",
  restore: (who: User, what: Thing) => what.state === "archived" && policy.delete(who, what),
};
"""
EVAL = """\
case policies {
  # a comment of ours that is rather long and in no way secret
  check hidden-tests "hidden" run "npx vitest run --outputFile={report}" as behaviour "owners and guests differ"
  check grep "src/policy.ts" has /archive: .who/ as archives "the policy knows archives"
  prompt "Write the policy of deletions into src/policy.ts."
}
"""
STARTER = "A note that the workspace has from its beginning, for everybody to read.\n"
SKILL = "Policies are plain objects with one function for each of the verbs.\nNever ask the database in them.\n"


@define
class Bench:
    """A project with one case, and a transcript of an agent that worked for it."""

    root: Path
    unit: Case
    family: list[Case]
    lines: Transcript
    protected: Protected

    @classmethod
    def make(cls, folder: Path) -> Bench:
        here = session(folder)
        root = here.root
        for name, text in {"hidden/policy.test.ts": HIDDEN, "solution/src/policy.ts": SOLUTION,
                           "wrong/open/src/policy.ts": "export const policy = { delete: () => true };\n",
                           "policies.eval": EVAL, "starter/notes.md": STARTER, "skill/SKILL.md": SKILL}.items():
            path = root / "cases/mini/policies" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for name in (".git/HEAD", "results/latest/claude/m/policies/trial-1/result.json",
                     ".evalkit/store/agent/ab/abc/tree.tar.zst"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("{}")
        behaviour = Check("behaviour", "hidden-tests", HiddenTestsSpec("cases/mini/policies/hidden", sh("true")), (),
                          False, "", "")
        unit = case(name="policies", folder="cases/mini/policies", origin="cases/mini/policies/policies.eval:1:1",
                    prompt="Write the policy of deletions into src/policy.ts.", checks=(behaviour,),
                    solution="cases/mini/policies/solution", arm="baseline",
                    wrongs=(Wrong("open", "cases/mini/policies/wrong/open", (), ""),))
        skilled = evolve(unit, arm="with-skill", setup=setup(skills=(
            Skill("policies", None, "cases/mini/policies/skill", ""),
            Skill("zig", Command(("native", "skills", "get", "zig"), 9), None, ""))))
        family = [unit, skilled]
        scratch = here.places.work / "agent-1/app"
        scratch.mkdir(parents=True)
        return cls(root, unit, family, Transcript(cwd=str(scratch)),
                   Protected.of(here, unit, family, here.contents))

    @property
    def folder(self) -> Path:
        return self.root / "cases/mini/policies"

    def audit(self) -> Audit:
        return audit(self.lines.save(self.root.parent / "run"), self.protected)

    def call(self, name: str, given: dict[str, object], text: str = "fine, thanks", **how: bool) -> None:
        self.lines.result(self.lines.call(name, given), text, **how)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench.make(tmp_path)


TARGETS = {
    "the case's folder": "cases/mini/policies/policies.eval",
    "hidden tests": "cases/mini/policies/hidden/policy.test.ts",
    "the solution": "cases/mini/policies/solution/src/policy.ts",
    "a wrong answer": "cases/mini/policies/wrong/open/src/policy.ts",
    "the cases": "cases/mini/suite.eval",
    "results": "results/latest/claude/m/policies/trial-1/result.json",
    "the store": ".evalkit/store/agent/ab/abc/tree.tar.zst",
    "evalkit's state": ".evalkit/state.db",
    "the project's history": ".git/packed-refs",
    "the skill `policies`, which this arm has not": "cases/mini/policies/skill/SKILL.md",
}


def bash(command: str) -> tuple[str, dict[str, object]]:
    return "Bash", {"command": command}


def up(bench: Bench, target: str) -> str:
    """The target by a path from the workspace."""
    return "../" * (len(Path(bench.lines.cwd).parts) - 1) + str(bench.root / target)[1:]


WAYS: dict[str, Callable[[Bench, str], tuple[str, dict[str, object]]]] = {
    "Read": lambda bench, target: ("Read", {"file_path": str(bench.root / target)}),
    "Grep": lambda bench, target: ("Grep", {"pattern": "x", "path": str(bench.root / target)}),
    "Read upwards": lambda bench, target: ("Read", {"file_path": up(bench, target)}),
    "an MCP tool": lambda bench, target: ("mcp__files__get", {"uri": f"file://{bench.root / target}"}),
    "cat": lambda bench, target: bash(f"cat {bench.root / target}"),
    "cat upwards": lambda bench, target: bash(f"cat {up(bench, target)}"),
    "quoted": lambda bench, target: bash(f"head -n 3 \"{bench.root}/\"'{target}'"),
    "cd": lambda bench, target: bash(f"cd {bench.root} && cat {target}"),
    "cd in two steps": lambda bench, target: bash(f"cd {bench.root.parent}; cd {bench.root.name}; cat ./{target}"),
    "in brackets": lambda bench, target: bash(f"(cd {bench.root} && tail {target}); ls"),
    "a variable": lambda bench, target: bash(f"P={bench.root}; cat $P/{target}"),
    "two variables": lambda bench, target: bash(f'A={bench.root} B="$A/{target}"\ncat "${{B}}"'),
    "exported": lambda bench, target: bash(f"export P={bench.root} && cat $P/{target}"),
    "a pattern": lambda bench, target: bash(f"cat {bench.root}/{'/'.join(p[:2] + '*' for p in target.split('/'))}"),
    "braces": lambda bench, target: bash(f"cat {bench.root}/{{{target},none}}"),
    "home": lambda bench, target: bash(f"cat ~/{'../' * 20}{str(bench.root / target)[1:]}"),
    "python": lambda bench, target: bash(f"python3 -c \"print(open('{bench.root / target}').read())\""),
    "sh -c": lambda bench, target: bash(f"sh -c 'cat {bench.root / target}'"),
    "a substitution": lambda bench, target: bash(f'echo "$(cat {bench.root / target})"'),
    "backticks": lambda bench, target: bash(f"echo `cat {bench.root / target}`"),
    "a redirection": lambda bench, target: bash(f"wc -l <{bench.root / target}"),
    "a loop": lambda bench, target: bash(f"for f in {bench.root / target}; do cat $f; done"),
    "a copy": lambda bench, target: bash(f"cp {bench.root / target} ./mine 2>/dev/null || true"),
    "a link": lambda bench, target: bash(f"ln -s {bench.root / target} mine && cat mine"),
    "a link above": lambda bench, target: bash(f"ln -s {bench.root.parent} l; cat l/{bench.root.name}/{target}"),
    "an option": lambda bench, target: bash(f"tool --file={bench.root / target}; tool -I{bench.root / target}"),
    "a link before": lambda bench, target: bash(f"ln -sfn {bench.root} . && cat {bench.root.name}/{target}"),
    "git": lambda bench, target: bash(f"git -C {bench.root} show HEAD:{target}"),
    "git in the folder": lambda bench, target: bash(f"cd {bench.root} && git log -p -- {target}"),
    "git by its folder": lambda bench, target: bash(f"git --git-dir={bench.root}/.git cat-file -p HEAD:{target}"),
    "git by a variable": lambda bench, target: bash(f"GIT_DIR={bench.root}/.git git show HEAD:{target}"),
    "git clone": lambda bench, target: bash(f"git clone -q {bench.root} copy"),
    "all of it": lambda bench, target: bash(f"cp -r {bench.root} copy"),
    "a search": lambda bench, target: bash(f"grep -rn TODO {bench.root}"),
    "find": lambda bench, target: bash(f"find {bench.root} -name '*.ts' -exec cat {{}} +"),
}


@pytest.mark.parametrize("what", TARGETS)
@pytest.mark.parametrize("way", WAYS)
def test_ways_by_path(bench: Bench, way: str, what: str) -> None:
    """Each way to each target is a finding where it worked, and a try where it did not."""
    name, given = WAYS[way](bench, TARGETS[what])
    bench.call(name, given)
    found = bench.audit()
    assert found.contaminated
    # (All of the project: no single place is named. A pattern may lead to several.)
    whole = way in ("git clone", "all of it", "a search", "find", "a pattern")
    assert what in {finding.what for finding in found.findings} or whole or way.startswith("git")
    assert all(finding.outcome == "read" and finding.line == 2 and finding.tool == name for finding in found.findings)


@pytest.mark.parametrize("how", ["refused", "denied", "no such file"])
@pytest.mark.parametrize("way", ["Read", "cat", "git", "cd"])
def test_tries(bench: Bench, way: str, how: str) -> None:
    """What was not carried out, or read nothing, is told and is no contamination."""
    name, given = WAYS[way](bench, TARGETS["the solution"])
    text = {"refused": "<tool_use_error>no</tool_use_error>", "denied": "Permission to use it has been denied.",
            "no such file": "Exit code 1\ncat: x: No such file or directory"}[how]
    bench.call(name, given, text, error=True)
    found = bench.audit()
    assert (False, ()) == (found.contaminated, found.findings)
    assert {"failed" if how == "no such file" else "denied"} == {finding.outcome for finding in found.tries}


def test_a_call_without_a_result_counts(bench: Bench) -> None:
    """Nobody knows what it read."""
    bench.lines.call("Read", {"file_path": str(bench.root / TARGETS["the solution"])})
    assert ["unknown"] == [finding.outcome for finding in bench.audit().findings]


def test_the_shell_stays_where_it_went(bench: Bench) -> None:
    """A folder holds from one command to the next, unless the tool says that it was set back."""
    bench.call(*bash(f"cd {bench.root}"))
    bench.call(*bash("cat cases/mini/policies/policies.eval"))
    assert bench.audit().contaminated
    other = Transcript(cwd=bench.lines.cwd)
    other.bash(f"cd {bench.root}", text=f"Shell cwd was reset to {bench.lines.cwd}")
    other.bash("cat cases/mini/policies/policies.eval")
    bench.lines = other
    assert not bench.audit().contaminated


def test_a_shell_that_begins_anew_each_time(bench: Bench) -> None:
    """A way upwards is looked at from both places; and a folder that is gone into again and again ends somewhere."""
    for _ in range(40):
        bench.call(*bash("cd src && ls"))
    assert not bench.audit().contaminated
    bench.call(*bash(f"cat {os.path.relpath(bench.folder, bench.lines.cwd)}/policies.eval"))
    assert bench.audit().contaminated


def test_links_of_the_machine_are_followed(bench: Bench, tmp_path: Path) -> None:
    """A name of the project that is a link leads to the same place."""
    (tmp_path / "elsewhere").symlink_to(bench.root)
    bench.call("Read", {"file_path": f"{tmp_path}/elsewhere/cases/mini/policies/policies.eval"})
    assert bench.audit().contaminated


def test_another_trial_s_workspace(bench: Bench) -> None:
    """Its own work folder is the agent's; that of another trial, or of another project's, is not."""
    work = Path(bench.lines.cwd).parent.parent
    bench.call("Read", {"file_path": f"{bench.lines.cwd}/notes.md"})
    bench.call(*bash("ls .. ; ls ../home"))
    assert not bench.audit().contaminated
    bench.call("Read", {"file_path": f"{work}/agent-2/app/src/policy.ts"})
    assert {"another trial's workspace"} == {finding.what for finding in bench.audit().findings}


def test_a_run_of_another_machine(bench: Bench) -> None:
    """There the project was somewhere else: its case is known by the end of the path."""
    bench.lines = Transcript(cwd="/srv/work/agent-1/app")
    bench.call("Read", {"file_path": "/home/ann/evals/cases/mini/policies/solution/src/policy.ts"})
    bench.call(*bash("ls /home/ann/evals/.evalkit/store"))
    assert ["the solution", "the store"] == [finding.what for finding in bench.audit().findings]


def test_the_command_that_prints_a_skill(bench: Bench) -> None:
    """Where another arm has the skill, and this one has not."""
    bench.call(*bash("cd src && npx native skills get zig | head"))
    assert ["command"] == [finding.how for finding in bench.audit().findings]
    bench.protected = Protected.of(session(bench.root.parent), bench.family[1], bench.family, lambda path: path)
    assert not bench.audit().contaminated


# ---- by content ----
def shown(text: str, style: str) -> str:
    """A text as tools print it."""
    lines = text.splitlines()
    return {
        "plain": text, "numbered": "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, 1)),
        "grep": "\n".join(f"a/b.ts:{number}:{line}" for number, line in enumerate(lines, 1)),
        "diff": "\n".join(f"+{line}" for line in lines), "crlf": text.replace("\n", "\r\n"),
        "indented": "\n".join(f"      > {line}   " for line in lines),
    }[style]


@pytest.mark.parametrize("style", ["plain", "numbered", "grep", "diff", "crlf", "indented"])
@pytest.mark.parametrize(("text", "what"), [(HIDDEN, "hidden tests"), (SOLUTION, "the solution"),
                                            (EVAL, "the case's file"), (SKILL, "the skill `policies`, which this arm "
                                                                               "has not")])
def test_content_tells_where_no_path_does(bench: Bench, text: str, what: str, style: str) -> None:
    """Whatever way it came: the lines that a tool returned are those of a hidden file."""
    bench.call(*bash("python3 tool.py"), shown(text, style))
    found = bench.audit()
    assert [(what, "content", 3)] == [(finding.what, finding.how, finding.line) for finding in found.findings]
    assert found.findings[0].evidence.strip("+> 0123456789→:ab./ts") in text


def test_content_in_parts(bench: Bench) -> None:
    """A file that is read a line at a time is seen all the same; one line of it says too little."""
    lines = [line for line in SOLUTION.splitlines() if len(line) > 40]
    bench.call(*bash("python3 tool.py 1"), lines[0])
    assert not bench.audit().contaminated
    for line in lines[1:]:
        bench.call(*bash("python3 tool.py 2"), line)
    assert bench.audit().contaminated


def test_what_an_agent_wrote_itself(bench: Bench) -> None:
    """It may come to the very solution, and read it again; so may a command that it gave a text."""
    bench.lines.write("src/policy.ts", SOLUTION)
    bench.call(*bash(f"cat <<'END' > test.ts\n{HIDDEN}END"))
    bench.call("Read", {"file_path": f"{bench.lines.cwd}/src/policy.ts"}, shown(SOLUTION, "numbered"))
    bench.call(*bash("cat src/policy.ts test.ts; python3 -c 'print(1)'"), SOLUTION + HIDDEN)
    assert not bench.audit().contaminated


def test_what_its_tools_made_in_the_workspace(bench: Bench) -> None:
    """A scaffold may hold what the solution has too: read in the workspace, that says nothing; a hidden test does."""
    bench.call("Read", {"file_path": f"{bench.lines.cwd}/src/policy.ts"}, SOLUTION)
    bench.call(*bash("cat src/policy.ts | head -50"), SOLUTION)
    assert not bench.audit().contaminated
    bench.call("Read", {"file_path": f"{bench.lines.cwd}/copied.ts"}, HIDDEN)
    assert bench.audit().contaminated


def test_what_everybody_may_know(bench: Bench) -> None:
    """Lines of the prompt, of the workspace and of the tools' documentation are no evidence; nor are comments."""
    path = bench.lines.save(bench.root.parent / "run")
    bench.call(*bash("python3 tool.py"), f"{bench.unit.prompt}\n{EVAL.splitlines()[1]}\n" * 3)
    assert not bench.audit().contaminated
    bench.call(*bash("python3 tool.py"), SOLUTION)
    path = bench.lines.save(bench.root.parent / "run")
    assert not audit(path, bench.protected, docs=lambda: ["# How to\n" + SOLUTION]).contaminated
    assert audit(path, bench.protected, docs=lambda: ["# How to\n"]).contaminated


def test_refused_content_is_not_read(bench: Bench) -> None:
    """What a refused call is told with was not returned by it."""
    bench.call(*bash("python3 tool.py"), "Permission to use Bash has been denied: " + HIDDEN, error=True)
    assert not bench.audit().contaminated


def test_plain_work_is_not_contaminated(bench: Bench) -> None:
    """What agents do all day, near to what would count."""
    for command in ("ls -la && cat package.json", "cd src && git init -q . && git add -A && git log --oneline",
                    "grep -rn cases/ . | head", "find / -name node_modules -maxdepth 3 2>/dev/null",
                    "cat /etc/os-release", "npm test -- --run 2>&1 | tail -20",
                    "mkdir -p results && echo ok > results/latest",
                    "cat cases/mini/list.txt", f"cat {bench.lines.cwd}/solution/src/policy.ts", "cp -r src copy",
                    "tar czf ../home/x.tgz .", "ls ~ && cat ~/.config/x", f"git -C {bench.lines.cwd} show HEAD:a",
                    "echo 'see /usr/share/doc' | sed 's,/,_,g'", "ps aux | grep node"):
        bench.call(*bash(command), "fine")
    bench.call("Write", {"file_path": f"{bench.lines.cwd}/a.md", "content": f"see {bench.root}/cases/mini/policies"})
    bench.call("Glob", {"pattern": "**/*.ts"})
    found = bench.audit()
    assert (False, (), ()) == (found.contaminated, found.findings, found.tries)


def test_encoded_output_is_not_seen(bench: Bench) -> None:
    """A limit that is told: what is printed in an encoding says nothing, the path may."""
    bench.call(*bash("python3 tool.py"), base64.b64encode(SOLUTION.encode()).decode())
    assert not bench.audit().contaminated


def test_many_findings_are_counted(bench: Bench) -> None:
    """Some are listed, the others are a number."""
    for number in range(130):
        bench.call("Read", {"file_path": str(bench.folder / f"hidden/{number}.ts")})
    found = bench.audit()
    assert (100, 30) == (len(found.findings), found.more)


def test_gaps_are_told(bench: Bench) -> None:
    """What cannot be read is no proof of anything."""
    bench.call(*bash("ls"))
    bench.lines.lines.append('{"type": "assistant", "message": {"content": [{"type": "tool_use", "id": ')
    bench.lines.lines.append('{"type": "result"}')
    assert 1 == bench.audit().gaps


def test_inputs_name_what_is_protected(bench: Bench) -> None:
    """An edit of a hidden file, an answer or a withheld skill is a reason to audit again; a comment is none."""
    inputs = audit_inputs(bench.unit, bench.family, lambda path: f"digest of {path}", "t")
    folder = "cases/mini/policies"
    assert {f"protected {folder}/hidden", f"protected {folder}/solution", f"protected {folder}/wrong/open",
            f"protected {folder}/skill", "protected commands", "audit", "transcript"} == set(inputs)
    assert f"protected {folder}/skill" not in audit_inputs(bench.family[1], bench.family, str, "t")


PIECES = st.sampled_from([
    "cat ", "cd ", "..", "/", "$P", "${P}", "~", "~x", "*", "[", "{a,b}", "'", '"', "`", "$(", ")", "(", "\\", "\n",
    ";", "&&", "|", ">", "<", "=", "P=", "\0", "\ud800", "é", " ", "ln -s ", "git -C ", "cases/mini", "solution", "--"])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=25),
       tool=st.sampled_from(["Bash", "Read", "Grep", "x"]))
def test_whatever_an_agent_says(bench: Bench, parts: list[str], tool: str) -> None:
    """Nothing makes the audit fail, and what it found can be written down."""
    bench.lines = Transcript(cwd=bench.lines.cwd)
    text = "".join(parts)
    asked: dict[str, object] = {"file_path": text, "path": [text, {"a": text}]}
    bench.call(tool, {"command": f"cat {bench.root}/cases; {text}"} if tool == "Bash" else asked, text)
    found = bench.audit()
    record_bytes(found)
    assert found.contaminated or tool != "Bash"
