"""Runs `doit` as the command line does, each time in a process of its own: a fork of one that has imported evalkit.

Half of a short run's time is Python's start and imports. Tests of many runs, which are not about that, save it.

    server:  reads a request a line (arguments, folder, environment, files for both streams), answers with the status
    child:   takes folder, environment and streams over, runs doit, and ends as a program does

The requests and answers are JSON, on the server's standard input and output.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from attrs import frozen

__all__ = ["Warm", "warm"]

REPOSITORY = Path(__file__).resolve().parents[2]
_LONGEST = 120
"""Seconds of a run; then it is killed."""


@frozen
class Warm:
    """A server that waits for requests."""

    server: subprocess.Popen[str]

    def doit(self, args: Sequence[str], cwd: Path, env: Mapping[str, str]) -> tuple[int, str, str]:
        """Status, standard output and standard error of `doit ARGS`."""
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in ("out", "err")]
            self.server.stdin.write(json.dumps([*map(str, files), list(args), str(cwd), dict(env)]) + "\n")
            self.server.stdin.flush()
            status = int(self.server.stdout.readline())
            out, err = (file.read_text(encoding="utf-8") for file in files)
        return status, out, err


@cache
def warm() -> Warm:
    """The server of these tests; it ends with them."""
    server = subprocess.Popen([sys.executable, "-m", "tests.feature.warm"], cwd=REPOSITORY, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})  # who forks has no threads
    atexit.register(server.communicate)  # it ends with its input
    return Warm(server)


def _serve() -> None:
    import contextlib
    import importlib
    import pkgutil

    import evalkit

    for module in pkgutil.walk_packages(evalkit.__path__, "evalkit."):
        with contextlib.suppress(ImportError):  # a run that needs it says so
            importlib.import_module(module.name)
    importlib.import_module("scipy.stats")  # what a run imports that draws intervals takes longer than the rest of it
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            raise SystemExit(_run(*json.loads(line)))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _run(out: str, err: str, args: list[str], cwd: str, env: dict[str, str]) -> int:
    from doit.doit_cmd import DoitMain

    for stream, path in ((0, os.devnull), (1, out), (2, err)):
        file = os.open(path, os.O_RDWR | os.O_CREAT)
        os.dup2(file, stream)
        os.close(file)
    signal.alarm(_LONGEST)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.argv = ["doit", *args]
    sys.path[0] = cwd
    return int(DoitMain().run(args) or 0)


if __name__ == "__main__":
    _serve()
