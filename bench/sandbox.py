"""What the sandbox saves and costs, against the local lane in the same run.

    python bench/sandbox.py [--trials 10]

Ten trials of one profile with an agent that may build (here: one that ends at once) are run in both lanes, by turns.
Compared are the seconds for scaffold and prewarm in all; and, of single commands, what the walls add to each. The
toolchain comes from the person's cache. The target: five times less for scaffold and prewarm, and under 0.3 s a trial
for the sandbox.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from evalkit.execute.lanes import Local, Room  # noqa: E402
from evalkit.execute.lanes.bwrap import find_bwrap  # noqa: E402
from evalkit.execute.lanes.sandbox import Sandbox  # noqa: E402
from tests.feature.project import PYPROJECT  # noqa: E402

CASE = '''\
case measured {
  about "Nothing but its profile."
  use app
  prompt """
    Do nothing.
    """
  check exists "src/main.zig"
}
'''
ROUNDS = 20
"""Commands of each kind whose start is timed; the median counts."""


def project(folder: Path) -> Path:
    """The native suite in a project of its own."""
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "dodo.py").write_text('"""Measured."""\n')
    shutil.copytree(REPOSITORY / "cases/native", folder / "cases/native")
    for path in (folder / "cases/native").rglob("*.eval"):
        if path.name != "suite.eval":  # what the suite shares stands in other folders
            path.unlink()
    (folder / "cases/native/measured.eval").write_text(CASE)
    return folder


def run(root: Path, lane: str, trials: int) -> float:
    """Run the trials that are missing of so many. Returns the seconds of what was scaffolded."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("EVALKIT_")
           or name == "EVALKIT_CACHE"}
    env["EVALKIT_WORK"] = str(root.parent / "work")
    done = subprocess.run([sys.executable, "-m", "doit", "run", "case:measured", "agent=command:true", f"lane={lane}",
                           f"trials={trials}", "jobs=1", "agents=1"], cwd=root, env=env, capture_output=True,
                          text=True, check=False)
    if len(prewarms(root)) != trials:
        raise SystemExit(f"{lane}: {len(prewarms(root))} of {trials} trials ran\n{done.stderr}")
    return sum(float(line.split()[0].rstrip("s")) for line in done.stderr.splitlines()
               if len(line.split()) > 1 and line.split()[1].startswith(("template:", "workspace:")))


def prewarms(root: Path) -> list[float]:
    """Seconds that each trial's prewarm took, or the clone of one."""
    return [json.loads(path.read_text())["prewarm_seconds"]
            for path in (root / ".evalkit/store/agent").rglob("agent.json")]


def start(room: Room) -> float:
    """Seconds that `true` takes, the median of some rounds."""
    room.tree.mkdir(exist_ok=True)
    times = []
    for _ in range(ROUNDS):
        began = time.monotonic()
        room.run(["true"], limit=60, log=room.scratch / "log")
        times.append(time.monotonic() - began)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10)
    trials = parser.parse_args().trials
    with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as name, contextlib.chdir(name):
        base = Path(name)
        roots = {lane: project(base / lane / "project") for lane in ("sandbox", "local")}
        made = dict.fromkeys(roots, 0.0)
        for number in range(1, trials + 1):  # by turns: what else the machine does meets both
            for lane, root in roots.items():
                made[lane] += run(root, lane, number)
        for lane, root in roots.items():
            made[lane] += sum(prewarms(root))
            print(f"{lane:8} scaffold and prewarm of {trials} trials: {made[lane]:7.1f} s, the first prewarm "
                  f"{max(prewarms(root)):.1f} s, the shortest {min(prewarms(root)):.1f} s")
        print(f"         {made['local'] / made['sandbox']:.1f} times less in the sandbox", flush=True)
        (base / "a").mkdir()
        (base / "b").mkdir()
        (base / "c").mkdir()
        walls = Sandbox(find_bwrap() or "")
        reaching = walls.room(base / "c", (), {})
        reaching.reach("", lambda _: nullcontext())
        plain = start(Local().room(base / "a", (), os.environ))
        behind, asking = start(walls.room(base / "b", (), {})), start(reaching)
        print(f"a command: {1000 * plain:.0f} ms local, {1000 * behind:.0f} ms in the sandbox, {1000 * asking:.0f} ms "
              "with the gateway in reach")
        print(f"         the sandbox adds {behind - plain:.3f} s to a command, {asking - plain:.3f} s to an agent")


if __name__ == "__main__":
    main()
