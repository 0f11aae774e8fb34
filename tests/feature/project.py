"""A small project of its own on disk, and `doit` run on it as a person would: through the command line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import zstandard
from attrs import define, field, frozen

from tests.feature.warm import warm

__all__ = ["KEY", "Done", "MiniProject", "fake_claude", "files_with", "on_path"]

KEY = "vck_a-dummy-key-that-must-not-show-up-anywhere"
"""What tests set as the gateway's key. It is compared with all that a run leaves on disk."""

PYPROJECT = """\
[tool.doit]
loader = "evalkit"
backend = "evalkit"
dep_file = ".evalkit/state.db"

[tool.doit.plugins.command]
run = "evalkit.dag.command:Run"
"""

SUITE = """\
suite mini {
  about "Small things that need no tools."
  agent claude { allow "Bash(ls *)"; mcp none }
  limits { turns 5; time 30s }

  profile note {
    scaffold copy "skeleton"
    skills writing from "skills/writing"
    caches "cache"
  }

  define check not-empty "no text is empty" {
    each "*.txt" run "test -s {file}"
  }
}
"""

CASE = """\
case greeting {
  about "Writes a greeting."
  use note
  starter "starter"
  prompt \"\"\"
    Write a greeting into answer.txt.
    \"\"\"
  check run "sh check.sh" as own "the workspace's own check passes"
  check grep "answer.txt" has /hello/i as greets "it says hello"
  check grep "answer.txt" lacks "TODO" as finished
  check not-empty as not-empty
  judge "tone" as tone {
    files "answer.txt"
    pass at 6, advisory
    criterion "It is friendly."
  }
  solution "solution"
  wrong "wrong/rude" fails greets
}
"""

FILES = {
    "pyproject.toml": PYPROJECT,
    "dodo.py": '"""A project of its own."""\n',
    "cases/mini/suite.eval": SUITE,
    "cases/mini/skeleton/check.sh": "test -f answer.txt && test ! -e cache/stale\n",
    "cases/mini/skeleton/README.txt": "Write answer.txt; `sh check.sh` checks it.\n",
    "cases/mini/skills/writing/SKILL.md": "---\nname: writing\ndescription: How to write.\n---\nBe brief.\n",
    "cases/mini/greeting/greeting.eval": CASE,
    "cases/mini/greeting/starter/notes.txt": "Greet the reader.\n",
    "cases/mini/greeting/solution/answer.txt": "Hello, reader.\n",
    "cases/mini/greeting/wrong/rude/answer.txt": "Go away.\n",
}

_RAN = re.compile(r"^ +[\d.]+s  (\S+?)(?:: [a-z ]+)?(?:  \((.*)\))?$")
_ANNOUNCED = re.compile(r"^ +\.\.  (\S+)  \((.*)\)$")


@frozen
class Done:
    """A finished command."""

    status: int
    out: str
    err: str

    @property
    def ran(self) -> dict[str, str]:
        """The tasks that ran, without the trial's path, with why: `agent`, `grade greets`, `judge tone`, …"""
        whys: dict[str, str] = {}
        found: dict[str, str] = {}
        for line in self.err.splitlines():
            if match := _ANNOUNCED.match(line):
                whys[match.group(1)] = match.group(2)
            elif match := _RAN.match(line):
                name = match.group(1)
                kind, _, rest = name.partition(":")
                check = rest.rpartition(":")[2] if kind in ("grade", "judge") else ""
                found[f"{kind} {check}".strip()] = match.group(2) or whys.get(name, "")
        return found


@define
class MiniProject:
    """A project folder with its own cache and work folders.

    warm: its runs need not start Python each time (warm.py), unless variables of its own are meant for Python.
    """

    root: Path
    env: dict[str, str] = field(factory=dict)
    warm: bool = False

    @classmethod
    def make(cls, folder: Path) -> MiniProject:
        project = cls(folder / "project")
        for name, text in FILES.items():
            project.write(name, text)
        return project

    def path(self, name: str) -> Path:
        return self.root / name

    def read(self, name: str) -> str:
        return self.path(name).read_text(encoding="utf-8")

    def write(self, name: str, text: str) -> None:
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_text(text, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text that is there; anything else would test nothing."""
        text = self.read(name)
        assert old in text, f"{old!r} is not in {name}"
        self.write(name, text.replace(old, new))

    @property
    def environ(self) -> dict[str, str]:
        """Of what is run in the project: with no key and no choice of the person who runs the tests."""
        passed = {name: value for name, value in os.environ.items()
                  if not name.startswith(("EVALKIT_", "ANTHROPIC_", "CLAUDE_", "AI_GATEWAY_", "VERCEL_", "OPENAI_",
                      "GEMINI_"))}
        return {**passed, "EVALKIT_CACHE": str(self.root.parent / "cache"),
                "EVALKIT_WORK": str(self.root.parent / "work"), **self.env}

    def start(self, *args: str, **env: str) -> subprocess.Popen[str]:
        """Start doit in the project, with its streams in pipes and in a session of its own."""
        return subprocess.Popen([sys.executable, "-m", "doit", *args], cwd=self.root, env={**self.environ, **env},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                start_new_session=True)

    def doit(self, *args: str, timeout: float = 120) -> Done:
        """Run doit in the project."""
        if self.warm and not any(name.startswith("PYTHON") for name in self.env):
            done = Done(*warm().doit(args, self.root, self.environ))
        else:
            ran = subprocess.run([sys.executable, "-m", "doit", *args], cwd=self.root, env=self.environ, text=True,
                                 capture_output=True, timeout=timeout, check=False, stdin=subprocess.DEVNULL)
            done = Done(ran.returncode, ran.stdout, ran.stderr)
        assert "Traceback" not in done.err, done.err
        return done

    def files_with(self, text: str) -> list[str]:
        """Files of the project, its cache and its work folder whose bytes hold a text; archives are looked into."""
        return files_with(self.root.parent, text)


def on_path(folder: Path) -> str:
    """A PYTHONPATH that has a folder before what is on it already."""
    return os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])


def files_with(folder: Path, text: str) -> list[str]:
    """Files below a folder whose names or bytes hold a text; archives are looked into."""
    found = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        data = path.read_bytes() if path.is_file() else b""
        if path.suffix == ".zst":
            data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
        if text.encode() in data or text in name:
            found.append(name)
    return found


FAKE_CLAUDE = '''\
#!{python}
"""Speaks as Claude Code does; writes the prompt's greeting. Counts its runs in the file {count}."""
import json, os, sys

if "--version" in sys.argv:
    print("9.9.9 (Claude Code)")
    sys.exit(0)
prompt = sys.stdin.read()
with open({count!r}, "a") as file:
    file.write("run\\n")

def say(event):
    print(json.dumps(event), flush=True)

usage = {{"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}}
say({{"type": "system", "subtype": "init", "session_id": "s", "token": os.environ.get("ANTHROPIC_AUTH_TOKEN")}})
say({{"type": "assistant", "message": {{"id": "m1", "usage": usage, "content": []}}}})
with open("answer.txt", "w") as file:
    file.write("Hello. I was asked: " + prompt)
say({{"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, "total_cost_usd": 0.25,
      "usage": usage, "terminal_reason": "completed", "permission_denials": []}})
'''


def fake_claude(folder: Path) -> tuple[Path, Path]:
    """A program that stands in for Claude Code, and the file in which it counts its runs."""
    folder.mkdir(parents=True, exist_ok=True)
    program, count = folder / "claude", folder / "runs"
    program.write_text(FAKE_CLAUDE.format(python=sys.executable, count=str(count)))
    program.chmod(0o755)
    count.touch()
    return program, count
