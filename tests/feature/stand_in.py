"""A program that stands in for Claude Code, whose manners a test sets and whose runs it counts.

What it does stands in `manners.json` beside it and may change between two runs without making it another program; what
it did is a line an event in `log`, each written in one piece: `start UNIT PID TIME`, then `end UNIT PID TIME`. The unit
is what its prompt has in brackets: `Write a greeting [unit-07].`
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

__all__ = ["Event", "StandIn"]

_PROGRAM = '''\
#!{python} -IS
import json, os, re, sys, time

if "--version" in sys.argv:
    print("9.9.9 (Claude Code)")
    sys.exit(0)
here = os.path.dirname(os.path.abspath(__file__))
prompt = sys.stdin.read()
if not prompt:  # who started it was killed before it could ask anything
    sys.exit("Error: Input must be provided")
found = re.search(r"[[](.+?)[]]", prompt)
unit = found.group(1) if found else "greeting"
with open(here + "/manners.json") as file:
    manners = json.load(file)
log = os.open(here + "/log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def note(event):
    os.write(log, f"{{event}} {{unit}} {{os.getpid()}} {{time.monotonic()}}\\n".encode())

def say(event):
    print(json.dumps(event), flush=True)

def ask():
    """One request to the provider, as raw HTTP: a client library would take longer to import than the run lasts."""
    import socket
    host, port = os.environ["ANTHROPIC_BASE_URL"].removeprefix("http://").split(":")
    token = os.environ.get("ANTHROPIC_AUTH_TOKEN") or os.environ["ANTHROPIC_API_KEY"]
    body = json.dumps({{"model": "m", "max_tokens": 9, "tools": [{{"name": "Write"}}],
                       "messages": [{{"role": "user", "content": prompt}}]}}).encode()
    head = (f"POST /v1/messages HTTP/1.1\\r\\nHost: {{host}}\\r\\nContent-Type: application/json\\r\\n"
            f"Authorization: Bearer {{token}}\\r\\n"
            f"Content-Length: {{len(body)}}\\r\\nConnection: close\\r\\n\\r\\n")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(head.encode() + body)
        while connection.recv(65536):
            pass

with open(here + "/log") as file:
    before = sum(line.startswith(f"start {{unit}} ") for line in file)
note("start")
usage = {{"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}}
say({{"type": "system", "subtype": "init", "session_id": "s"}})
if manners["child"]:
    import subprocess
    for session in (False, True):
        child = subprocess.Popen(["sleep", manners["child"]], start_new_session=session)
if manners["asks"]:
    ask()
time.sleep(600 if unit in manners["hang"] else manners["seconds"])
if before < manners["fails"]:
    text = f"API Error: {{manners['status']}} overloaded"
    say({{"type": "result", "subtype": "success", "is_error": True, "num_turns": 1, "result": text, "usage": usage,
          "total_cost_usd": manners["cost"], "terminal_reason": "api_error", "api_error_status": manners["status"]}})
    note("fail")
    sys.exit(manners["exit"])
if manners["ends"] == "mute":
    sys.exit(0)
if manners["ends"] == "killed":
    os.kill(os.getpid(), 9)
with open("answer.txt", "w") as file:
    file.write("Hello. I was asked: " + prompt)
say({{"type": "assistant", "message": {{"id": "m1", "usage": usage, "content": [
    {{"type": "text", "text": "x" * manners["talks"]}}]}}}})
note("end")
say({{"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, "total_cost_usd": manners["cost"],
      "usage": usage, "terminal_reason": "completed", "permission_denials": []}})
'''


@frozen
class Event:
    """A line of the log. what: start, end, or fail where the provider failed it. at: seconds of a common clock."""

    what: str
    unit: str
    pid: int
    at: float


@frozen
class StandIn:
    """A stand-in in a folder of its own."""

    folder: Path

    @classmethod
    def make(cls, folder: Path, **manners: Any) -> StandIn:
        made = cls(folder)
        folder.mkdir(parents=True)
        made.program.write_text(_PROGRAM.format(python=sys.executable))
        made.program.chmod(0o755)
        made.behave(**manners)
        return made

    @property
    def program(self) -> Path:
        return self.folder / "claude"

    def behave(self, *, seconds: float = 0.0, asks: bool = False, cost: float = 0.25, fails: int = 0, status: int = 529,
               exit: int = 1, ends: str = "", child: str = "", talks: int = 0, hang: Sequence[str] = ()) -> None:
        """Set its manners.

        seconds: how long it works. asks: it asks its provider once, and waits for the answer. fails: how many of a
        unit's first runs the provider fails, with which status, and with which exit status it ends then. ends: `mute`,
        without a result, or `killed`. child: seconds that two programs which it starts and leaves alone sleep, one in a
        session of its own. talks: characters of its reply. hang: units for which it does not end.
        """
        (self.folder / "manners.json").write_text(json.dumps({
            "seconds": seconds, "asks": asks, "cost": cost, "fails": fails, "status": status, "exit": exit,
            "ends": ends, "child": child, "talks": talks, "hang": list(hang)}))

    @property
    def events(self) -> list[Event]:
        """What it did so far."""
        log = self.folder / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [Event(what, unit, int(pid), float(at)) for what, unit, pid, at in map(str.split, lines)]

    @property
    def starts(self) -> Counter[str]:
        """How often it was started for each unit."""
        return Counter(event.unit for event in self.events if event.what == "start")

    def most_at_once(self) -> int:
        """How many runs overlapped, at most. All of them must have ended."""
        steps = sorted((event.at, 1 if event.what == "start" else -1) for event in self.events)
        most = now = 0
        for _, step in steps:
            now += step
            most = max(most, now)
        return most
