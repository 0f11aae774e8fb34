"""Writes the same graph three times: as cases of evalkit, as a dodo.py for plain doit, and as a build.ninja.

Each case is eight tasks: a workspace, an agent run, four grades, a result, and the case itself.

    case file, starter ─ workspace ─ agent ─┬ 4 grades ─ result ─ case
                                            └ (each grade has a check of its own beside the agent's tree)

Evalkit has two tasks more for all cases together, a template and a report. With doit and ninja each input of a task is
a file of its own, so that an edit of one check makes as little run there as here: its grade, the result, the case.
Their tasks only copy their inputs to their output: what is compared is the engine.
"""

from __future__ import annotations

import stat
from pathlib import Path

__all__ = ["CHECKS", "TASKS", "edit_check", "edit_input", "write_cases", "write_doit", "write_ninja", "write_trials"]

CHECKS = ("one", "two", "three", "four")
TASKS = 4 + len(CHECKS)
"""Tasks of a case."""

PYPROJECT = """\
[tool.doit]
loader = "evalkit"
backend = "evalkit"
dep_file = ".evalkit/state.db"

[tool.doit.plugins.command]
run = "evalkit.dag.command:Run"
"""
SUITE = """\
suite bench {
  about "Trivial cases: what they cost is what the engine costs."
  agent claude { mcp none }
  limits { turns 5; time 60s }
  profile note { scaffold copy "skeleton" }
}
"""
CASE = """\
case {name} {{
  about "Case {name} of the benchmark."
  use note
  starter "starter"
  prompt \"\"\"
    Write the number of {name} into answer.txt.
    \"\"\"
  check grep "*.txt" has "README" as one
  check grep "*.txt" lacks "TODO" as two
  check grep "*.txt" lacks /{name}xy/ as three
  check exists "README.txt" as four
}}
"""

FAKE_CLAUDE = """\
#!/bin/sh
# Speaks as Claude Code does, in a millisecond. Each run leaves another answer.
if [ "$1" = --version ]; then
  echo "9.9.9 (Claude Code)"
  exit 0
fi
cat > /dev/null
echo "answer $$" > answer.txt
cat <<'END'
{"type": "system", "subtype": "init", "session_id": "s"}
{"type": "assistant", "message": {"id": "m", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1,\
 "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}}}
{"type": "result", "subtype": "success", "is_error": false, "num_turns": 1, "total_cost_usd": 0.0, "usage":\
 {"input_tokens": 1, "output_tokens": 1, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},\
 "terminal_reason": "completed", "permission_denials": []}
END
"""

DODO = '''\
"""{cases} cases of eight tasks."""

from pathlib import Path

DOIT_CONFIG = {{"verbosity": 0}}
CASES = range({cases})
CHECKS = {checks}


def copy(dependencies, targets):
    Path(targets[0]).write_bytes(b"".join(Path(path).read_bytes() for path in sorted(dependencies)))


def task(name, target, *dependencies):
    return {{"name": name, "actions": [copy], "file_dep": list(dependencies), "targets": [target]}}


def task_workspace():
    for n in CASES:
        yield task(n, f"out/{{n}}/workspace", f"cases/{{n}}/starter")


def task_agent():
    for n in CASES:
        yield task(n, f"out/{{n}}/agent", f"cases/{{n}}/prompt", f"out/{{n}}/workspace")


def task_grade():
    for n in CASES:
        for check in CHECKS:
            yield task(f"{{n}}:{{check}}", f"out/{{n}}/{{check}}", f"cases/{{n}}/{{check}}", f"out/{{n}}/agent")


def task_result():
    for n in CASES:
        yield task(n, f"out/{{n}}/result", *(f"out/{{n}}/{{check}}" for check in CHECKS))


def task_case():
    for n in CASES:
        yield task(n, f"out/{{n}}/case", f"out/{{n}}/result")
'''
NINJA_RULE = "rule copy\n  command = cat $in > $out\n"


def write_cases(root: Path, cases: int) -> None:
    """A project of evalkit's with so many cases. Each has a starter of its own: no two workspaces are the same."""
    _write_suite(root)
    for number in range(cases):
        _write_case(root, number)


def _write_case(root: Path, number: int) -> None:
    name = f"c{number}"
    _put(root / "cases" / "bench" / name / f"{name}.eval", CASE.format(name=name))
    _put(root / "cases" / "bench" / name / "starter" / "notes.txt", f"Notes of {name}.\n")


def write_trials(root: Path) -> Path:
    """A project with one case, and a program that stands in for Claude Code. Returns its path."""
    _write_suite(root)
    _write_case(root, 0)
    program = root.parent / "claude"
    _put(program, FAKE_CLAUDE)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def _write_suite(root: Path) -> None:
    _put(root / "pyproject.toml", PYPROJECT)
    _put(root / "dodo.py", "")
    _put(root / "cases" / "bench" / "suite.eval", SUITE)
    _put(root / "cases" / "bench" / "skeleton" / "README.txt", "README\n")


def edit_check(root: Path, number: int, mark: str) -> None:
    """Give the third check of a case another pattern, which matches as little."""
    path = root / "cases" / "bench" / f"c{number}" / f"c{number}.eval"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(f'  check grep "*.txt" lacks /c{number}x{mark}y/ as three\n'
                            if line.endswith(" as three\n") else line for line in lines), encoding="utf-8")


# ---- the same for others ----
def write_doit(root: Path, cases: int) -> None:
    _write_inputs(root, cases)
    _put(root / "dodo.py", DODO.format(cases=cases, checks=CHECKS))


def write_ninja(root: Path, cases: int) -> None:
    _write_inputs(root, cases)
    _put(root / "build.ninja", ninja_of(cases))


def ninja_of(cases: int) -> str:
    """The text of build.ninja."""
    lines = [NINJA_RULE]
    for n in range(cases):
        lines.append(f"build out/{n}/workspace: copy cases/{n}/starter")
        lines.append(f"build out/{n}/agent: copy cases/{n}/prompt out/{n}/workspace")
        lines += [f"build out/{n}/{check}: copy cases/{n}/{check} out/{n}/agent" for check in CHECKS]
        lines.append(f"build out/{n}/result: copy {' '.join(f'out/{n}/{check}' for check in CHECKS)}")
        lines.append(f"build out/{n}/case: copy out/{n}/result")
    return "\n".join(lines) + "\n"


def _write_inputs(root: Path, cases: int) -> None:
    for n in range(cases):
        for name in ("starter", "prompt", *CHECKS):
            _put(root / "cases" / str(n) / name, f"{name} {n}\n")
        (root / "out" / str(n)).mkdir(parents=True, exist_ok=True)


def edit_input(root: Path, number: int, mark: str) -> None:
    """Change what the third check of a case is made of."""
    _put(root / "cases" / str(number) / "three", f"three {number} {mark}\n")


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
