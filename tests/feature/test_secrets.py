"""Keys of every kind, in every form, by every way out: they are nowhere on the disk and nowhere on the screen."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import zstandard

from evalkit.gateway import Fault, Reply, ScriptedGateway, ToolCall
from tests.feature.project import Done, MiniProject

VARIABLES = {
    "AI_GATEWAY_API_KEY": "vck_Gw7Kd2Lx9Vb4Ny8Qd1Wm6Tc3Hf5Jg0PsaEuIoYtRw",
    "ANTHROPIC_AUTH_TOKEN": "sk-ant-api03-" + "A1n2T3h4R5o6P7i8C9" * 5 + "-AA",
    "OPENAI_API_KEY": 'odd/"quoted"+k\\ey=ü1234567',
    "GITHUB_TOKEN": "ghp_" + "Gh0tk1en2Fo3rTe4st5" * 2,
    "AWS_SECRET_ACCESS_KEY": "wJalr/XUtnFEMI+K7MDENG/bPxRfiCYDUMMYKEYS",
    "SOME_SERVICE_PASSWORD": "Tr0ub4dor&3<Password>",
    "MY_STAGE": "plain-words-secret",  # the project calls it one
}
"""Planted in the environment of the run."""
FOUND = {
    "google": "AIzaSyD1mm7Qx9Vb4Ny8Kd1Wm6Tc3Hf5Jg0PsaE",
    "slack": "xoxb-123456789012-Q7zr2Lx9Vb4Ny8Kd1Wm6Tc3H",
    "aws": "AKIAQ7ZR2LXV4NYKD3WM",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.Q7zr2Lx9Vb4Ny8Kd1Wm6Tc3Hf5Jg0PsaE",
}
"""In no variable: an agent found them on this machine. They are known by their shape, where it can be seen."""

FORMS: dict[str, Callable[[str], str]] = {
    "raw": lambda key: key,
    "json": lambda key: json.dumps(key)[1:-1],
    "json twice": lambda key: json.dumps(json.dumps(key)[1:-1])[1:-1],
    "url": lambda key: quote(key, safe=""),
    "url, small digits": lambda key: re.sub("%..", lambda code: code[0].lower(), quote(key, safe="")),
    "hex": lambda key: key.encode().hex(),
    "HEX": lambda key: key.encode().hex().upper(),
    "base64": lambda key: _inner(base64.b64encode(key.encode()), 0),
    "base64 after 1": lambda key: _inner(base64.b64encode(b"x" + key.encode()), 1),
    "base64 after 2": lambda key: _inner(base64.b64encode(b"xx" + key.encode()), 2),
    "base64 for URLs": lambda key: _inner(base64.urlsafe_b64encode(key.encode()), 0),
}


def _inner(coded: bytes, offset: int) -> str:
    """What of a base64 text hangs on the key alone."""
    return coded.decode().rstrip("=")[(0, 2, 3)[offset] : -1]


def wanted() -> dict[str, str]:
    """All that must be nowhere, by what it is."""
    found = {f"{name}, {form}": made(key) for name, key in VARIABLES.items() for form, made in FORMS.items()}
    return found | FOUND


AGENT = '''\
#!{python} -IS
"""Speaks as Claude Code does. It prints and writes what is in its own file, in every way that it knows."""
import base64, json, os, sys

if "--version" in sys.argv:
    print("9.9.9 (Claude Code)")
    sys.exit(0)
sys.stdin.read()
with open({texts!r}) as file:
    given = json.load(file)
texts = given["texts"]

def say(event):
    print(json.dumps(event), flush=True)

usage = {{"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}}
say({{"type": "system", "subtype": "init", "session_id": "s", "environment": texts}})
for number, text in enumerate(texts):
    print("noise:", text, flush=True)
    print("trouble:", text, file=sys.stderr, flush=True)
    say({{"type": "assistant", "message": {{"id": f"m{{number}}", "usage": usage, "content": [
        {{"type": "text", "text": text}},
        {{"type": "tool_use", "id": f"t{{number}}", "name": "Bash", "input": {{"command": "echo " + text}}}}]}}}})
    say({{"type": "user", "message": {{"content": [{{"type": "tool_result", "tool_use_id": f"t{{number}}",
        "content": json.dumps({{"out": text}})}}]}}, "tool_use_result": {{"stdout": text, text[:200]: 1}}}})
if given["fails"]:
    say({{"type": "result", "subtype": "success", "is_error": True, "num_turns": 1, "result": " ".join(texts),
          "usage": usage, "total_cost_usd": 0.1, "terminal_reason": "api_error", "api_error_status": 400}})
    sys.exit(1)
with open("answer.txt", "w") as file:
    file.write("Hello. " + "\\n".join(texts))
with open("check.sh", "w") as file:
    file.write("cat answer.txt; cat answer.txt >&2; exit 1")
os.makedirs("out")
for number, text in enumerate(texts):
    with open(f"out/{{number}}.bin", "wb") as file:
        file.write(b"\\x00" + text.encode() + b"\\xff" + base64.encodebytes(text.encode()))
    name = text.replace("/", "_")[:200]
    for make in (lambda: open("out/" + name, "w").close(), lambda: os.makedirs("d/" + name),
                 lambda: os.symlink(text, f"out/link{{number}}")):
        try:
            make()
        except OSError:
            pass
say({{"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, "total_cost_usd": 0.25, "usage": usage,
      "terminal_reason": " ".join(texts), "permission_denials": [
          {{"tool_name": "Read", "tool_use_id": "x", "tool_input": {{"file_path": text}}}} for text in texts]}})
'''


@pytest.fixture(params=[False, True], ids=["ends", "fails"])
def planted(request: pytest.FixtureRequest, tmp_path: Path,
            tmp_path_factory: pytest.TempPathFactory) -> Iterator[MiniProject]:
    """A project whose agent and whose judge tell all keys. What they know them from is outside of what is looked at."""
    outside = tmp_path_factory.mktemp("outside")
    texts, program = outside / "texts.json", outside / "claude"
    texts.write_text(json.dumps({"texts": list(wanted().values()), "fails": request.param}))
    program.write_text(AGENT.format(python=sys.executable, texts=str(texts)))
    program.chmod(0o755)
    project = MiniProject.make(tmp_path)
    project.write("pyproject.toml", project.read("pyproject.toml") + '\n[tool.evalkit]\nsecrets = ["MY_STAGE"]\n')

    def told(asked: dict[str, Any]) -> Reply:
        reason = " ".join(wanted().values())
        return Reply((ToolCall(asked["tools"][0]["name"], {"scores": [
            {"criterion": 1, "score": 8, "reason": reason}]}),))

    refused = Fault(400, "invalid_request_error", " ".join(wanted().values()))
    with ScriptedGateway([told, *[refused] * 20]) as gateway:
        project.env |= {**VARIABLES, "EVALKIT_GATEWAY": gateway.url, "EVALKIT_CLAUDE": str(program)}
        yield project


def everything(project: MiniProject) -> dict[str, bytes]:
    """Each file below the project, its cache, its store and its work folder, by name; archives are opened."""
    found = {}
    for path in sorted(project.root.parent.rglob("*")):
        name = path.relative_to(project.root.parent).as_posix()
        data = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        if path.suffix == ".zst":
            data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
        found[name] = name.encode("utf-8", "surrogateescape") + b"\n" + data
    return found


def leaks(where: str, data: bytes) -> list[str]:
    return [f"{what} in {where}" for what, text in wanted().items() if text.encode() in data]


def evalkit(project: MiniProject, *args: str) -> Done:
    done = subprocess.run([sys.executable, "-m", "evalkit.cli", *args], cwd=project.root, env=project.environ,
                          text=True, capture_output=True, timeout=120, check=False, stdin=subprocess.DEVNULL)
    return Done(done.returncode, done.stdout, done.stderr)


def test_planted_keys_are_nowhere(planted: MiniProject) -> None:
    """The agent prints, writes and names files with them; the judge tells them; then each command is asked."""
    done = [planted.doit("run", "case:greeting", "agent=claude", "judge=on", "retries=0")]
    assert done[0].status in (1, 3), done[0].err
    planted.edit("cases/mini/greeting/greeting.eval", "It is friendly.", "It is very friendly.")
    done += [planted.doit("run", "case:greeting", "agent=claude", "judge=on", "retries=0", "why=1"),
             planted.doit("run", "case:greeting", "agent=claude", "dry=1"),
             planted.doit("run", "case:greeting", "agent=oracle"),
             planted.doit("run", "regrade:latest"), planted.doit("list", "--all", "--status")]
    done += [evalkit(planted, *line.split()) for line in (
        "why case:greeting agent=claude", "plan all agent=claude", "store ls", "store verify", "show greeting --full",
        "choices", "check", "why case:gone", "transcript greeting", "transcript greeting --json",
        "store ls gateway=http://user:plain-words-secret@host")]
    left = everything(planted)
    found = [leak for name, data in left.items() for leak in leaks(name, data)]
    outputs = [(one.out + one.err).encode() for one in done]
    found += [leak for number, output in enumerate(outputs) for leak in leaks(f"output {number}", output)]
    assert [] == found, "\n".join(found)
    assert any(b"[ANTHROPIC_AUTH_TOKEN redacted]" in data for data in left.values())
    assert any(b"[Google key redacted]" in data for data in left.values())
    assert any(b"[MY_STAGE redacted]" in data for data in left.values())


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_transcript_that_nobody_cleaned(planted: MiniProject, more: list[str]) -> None:
    """Somebody else's file is shown without keys, also where a line of it is cut."""
    lines = [{"type": "assistant", "message": {"id": f"m{number}", "content": [
        {"type": "text", "text": text}, {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {
            "command": "x " * 65 + text}}]}} for number, text in enumerate(wanted().values())]
    planted.write("old.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    done = evalkit(planted, "transcript", "old.jsonl", *more)
    assert 0 == done.status, done.err
    assert [] == leaks("output", (done.out + done.err).encode())
    assert VARIABLES["AI_GATEWAY_API_KEY"][:20] not in done.out
