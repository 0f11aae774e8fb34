"""Disks that are full or read-only: a clear error, status 3, nothing lost, and nothing paid for twice.

The small and the read-only disks are mounted in namespaces of the tests' own, where both the run that fails and the
next one, with room, take place; where the system does not allow that, the tests say so and others stand in for them: a
file where a folder should be, and a limit on the size of files.
"""

from __future__ import annotations

import json
import resource
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.feature.project import Done
from tests.feature.units import Units, table, units

COUNT = 6
DOIT = shlex.join([sys.executable, "-m", "doit", "run", "suite:mini"])
VERIFY = shlex.join([sys.executable, "-m", "evalkit.cli", "store", "verify"])


@pytest.fixture(scope="session")
def namespaces() -> None:
    """Skips, loudly, where this user may mount nothing, not even in namespaces of its own."""
    tried = subprocess.run(["unshare", "-rm", "sh", "-c", "mount -t tmpfs tmpfs /mnt"], capture_output=True, text=True,
                           check=False)
    if tried.returncode != 0:
        pytest.skip(f"FULL AND READ-ONLY DISKS WERE NOT TESTED: no namespace can be made here ({tried.stderr.strip()})")


def run_all(made: Units, *lines: str) -> list[Done]:
    """Run lines of shell in the project, in namespaces of their own; what came of those that run something."""
    script = ["set -u"]
    for number, line in enumerate(lines):
        runs = line.startswith((DOIT, VERIFY))
        script.append(f"{line} >{number}.out 2>{number}.err; echo $? >{number}.status" if runs else
                      f"{line} || exit 99")
    shell = subprocess.run(["unshare", "-rm", "sh", "-c", "\n".join(script)], cwd=made.project.root,
                           env=made.project.environ, check=False, timeout=120)
    assert 0 == shell.returncode
    done = [Done(int(made.project.read(f"{number}.status")), made.project.read(f"{number}.out"),
                 made.project.read(f"{number}.err"))
            for number, line in enumerate(lines) if line.startswith((DOIT, VERIFY))]
    assert not any("Traceback" in one.err for one in done), done
    return done


def check_told(done: Done, *words: str) -> None:
    """A short error that says what to do, and status 3."""
    assert 3 == done.status, done.err + done.out
    for word in words:
        assert word in done.err, done.err
    assert "bug" not in done.err


def check_whole(made: Units, done: Done) -> None:
    assert 0 == done.status, done.err + done.out
    assert f"{COUNT} passed" in done.out
    assert set(made.names) == set(made.agent.starts)
    results = [json.loads(path.read_bytes()) for path in made.project.path("results").rglob("*.json")]
    assert len(results) > 4 * COUNT
    assert [] == [*made.project.path("results").rglob("*.tmp")]


ONCE = Counter({f"unit-{number:02d}": 1 for number in range(1, COUNT + 1)})


@pytest.mark.usefixtures("namespaces")
def test_a_store_that_fills_up(tmp_path: Path) -> None:
    """No agent starts where there is no room for what it leaves: nothing is paid for that is then lost."""
    with units(tmp_path, COUNT, judged=False, talks=500_000) as made:
        made.project.path(".evalkit/store").mkdir(parents=True)
        full, more, verified = run_all(made, "mount -t tmpfs -o size=6m tmpfs .evalkit/store", f"{DOIT} agents=1",
                                       "cp ../agent/log log.full",
                                       "mount -o remount,size=100m .evalkit/store", DOIT, VERIFY)
        check_told(full, "cannot write to the store", "No space left on device", "is the disk full")
        assert 0 < made.project.read("log.full").count("end") < COUNT
        check_whole(made, more)
        assert ONCE == made.agent.starts
        assert 0 == verified.status, verified.out


@pytest.mark.usefixtures("namespaces")
def test_a_store_that_fills_up_in_the_midst_of_a_transcript(tmp_path: Path) -> None:
    """What did not fit is no outcome, and is no fail of the agent's; the next run begins it again."""
    with units(tmp_path, COUNT, judged=False, talks=5_000_000) as made:
        made.project.path(".evalkit/store").mkdir(parents=True)
        full, more, verified = run_all(made, "mount -t tmpfs -o size=4500k tmpfs .evalkit/store",
                                       f"{DOIT} agents=1", "mount -o remount,size=200m .evalkit/store", DOIT, VERIFY)
        check_told(full, "No space left on device", "is the disk full")
        assert "fail" not in {row.split()[1] for row in table(full.out) if row.startswith("unit-")}
        check_whole(made, more)
        assert 0 == verified.status, verified.out


@pytest.mark.usefixtures("namespaces")
def test_results_that_fill_up(tmp_path: Path) -> None:
    """The agents' runs are in the store: with room the results are made of them."""
    with units(tmp_path, COUNT) as made:
        made.project.path("results").mkdir()
        full, more, kept = run_all(made, "mount -t tmpfs -o size=100k tmpfs results", DOIT,
                                   "mount -o remount,size=20m results", DOIT, f"{DOIT} why=0")
        check_told(full, "cannot write", "No space left on device", "is the disk full")
        assert 0 == more.status, more.err + more.out
        assert f"{COUNT} passed" in more.out
        assert {} == kept.ran
        assert ONCE == made.agent.starts


@pytest.mark.usefixtures("namespaces")
def test_a_state_that_fills_up(tmp_path: Path) -> None:
    """What cannot be noted is done again from what the store has."""
    with units(tmp_path, COUNT) as made:
        made.project.path(".evalkit").mkdir()
        made.project.env["EVALKIT_STORE"] = "../store"
        full, more, kept = run_all(made, "mount -t tmpfs -o size=100k tmpfs .evalkit", DOIT,
                                   "mount -o remount,size=20m .evalkit", DOIT, f"{DOIT} why=0")
        check_told(full, "cannot be used", "is there room on the disk?")
        check_whole(made, more)
        assert {} == kept.ran
        assert ONCE == made.agent.starts


@pytest.mark.usefixtures("namespaces")
def test_a_work_folder_that_fills_up(tmp_path: Path) -> None:
    """Where agents work: no outcome and no fail of theirs comes of it."""
    with units(tmp_path, COUNT) as made:
        (tmp_path / "work").mkdir()
        full, more = run_all(made, "mount -t tmpfs -o size=12k tmpfs ../work", DOIT,
                             "mount -o remount,size=20m ../work", DOIT)
        check_told(full, "No space left on device", "make room")
        assert "0 passed" in full.out
        assert "failed" not in full.out.splitlines()[-1]
        check_whole(made, more)


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize(("folder", "words", "paid"), [
    ("results", ["cannot write", "Read-only file system"], True),
    (".evalkit/store", ["cannot write to the store", "Read-only file system"], False),
    (".evalkit", ["cannot be used", "May you write to that folder"], False),
])
def test_a_folder_that_is_read_only(tmp_path: Path, folder: str, words: list[str], paid: bool) -> None:
    """Told at once; no agent is paid for whose run cannot be kept."""
    with units(tmp_path, COUNT) as made:
        made.project.path(folder).mkdir(parents=True)
        told, = run_all(made, f"mount --bind {folder} {folder}", f"mount -o remount,bind,ro {folder}", DOIT)
        check_told(told, *words)
        assert (ONCE if paid else Counter()) == made.agent.starts
        check_whole(made, made.project.doit("run", "suite:mini"))
        assert ONCE == made.agent.starts


@pytest.mark.parametrize(("folder", "paid"), [("results", True), (".evalkit/store", False), (".evalkit", False)])
def test_a_file_where_a_folder_should_be(tmp_path: Path, folder: str, paid: bool) -> None:
    """The same on any system: an error that names the place, and nothing lost."""
    with units(tmp_path, COUNT) as made:
        made.project.write(folder, "")
        told = made.project.doit("run", "suite:mini")
        check_told(told, "cannot", folder)
        assert (ONCE if paid else Counter()) == made.agent.starts
        made.project.path(folder).unlink()
        check_whole(made, made.project.doit("run", "suite:mini"))
        assert ONCE == made.agent.starts


@pytest.mark.parametrize("largest", [20_000, 400_000])
def test_files_that_may_not_grow(tmp_path: Path, largest: int) -> None:
    """As on a full disk, on any system: of the database, and of a transcript."""
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

    with units(tmp_path, COUNT, judged=False, talks=500_000) as made:
        ran = subprocess.run([sys.executable, "-m", "doit", "run", "suite:mini"], cwd=made.project.root, text=True,
                             env=made.project.environ, capture_output=True, check=False, timeout=120, preexec_fn=limit)
        check_told(Done(ran.returncode, ran.stdout, ran.stderr))
        check_whole(made, made.project.doit("run", "suite:mini"))
