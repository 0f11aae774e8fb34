"""Run as a script where an app is shown: starts the display and the app, and runs commands beside them, as it is asked.

    python -I -S live_inside.py

One JSON object a line comes in, and one goes out for each (`live_session.py` asks). It needs nothing but a few of
Python's own modules, and decides nothing: what an answer means is settled outside.
"""
# A Python with the least of modules may run it.
# ruff: noqa: PTH103, PTH118, PTH123, PTH202

import base64
import contextlib
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time

_MOST = 4_000_000
"""Bytes of a command's output that are told: the first and the last half of it."""


class Inside:
    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="live-")
        self.started: dict[str, subprocess.Popen[bytes]] = {}
        self.env = dict(os.environ)
        self.count = 0

    def answer(self, asked: dict[str, object]) -> dict[str, object]:
        what: object = getattr(self, "do_" + str(asked.pop("do")))
        assert callable(what)
        told: dict[str, object] = what(**asked)
        # Who died meanwhile is told with every answer.
        return {**told, "ended": {name: process.returncode for name, process in self.started.items()
                                  if process.poll() is not None}}

    def do_display(self, argv: list[str], limit: float) -> dict[str, object]:
        """Start an X server that names its display by a descriptor ({fd}), and wait for that."""
        os.makedirs("/tmp/.X11-unix", mode=0o1777, exist_ok=True)
        told, tell = os.pipe()
        log = self._log("display")
        try:
            with open(log, "wb") as sink:
                self.started["display"] = subprocess.Popen(
                    [word.replace("{fd}", str(tell)) for word in argv], pass_fds=(tell,), stdin=subprocess.DEVNULL,
                    stdout=sink, stderr=sink)
        except OSError as error:
            return {"error": f"{argv[0]}: {error.strerror}"}
        finally:
            os.close(tell)
        until, number = time.monotonic() + limit, b""
        with selectors.DefaultSelector() as selector:
            selector.register(told, selectors.EVENT_READ)
            while not number.endswith(b"\n") and time.monotonic() < until:
                if selector.select(0.1):
                    more = os.read(told, 64)
                    if not more:
                        break
                    number += more
        os.close(told)
        if not number.strip().isdigit():
            return {"error": _tail(log) or "it said nothing"}
        self.env["DISPLAY"] = ":" + number.strip().decode("ascii")
        return {}

    def do_start(self, argv: list[str], env: dict[str, str]) -> dict[str, object]:
        """Start the app. Its output is kept for `do_said`."""
        self.env.update(env)
        try:
            with open(self._log("app"), "wb") as sink:
                self.started["app"] = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink,
                                                       env=self.env, start_new_session=True)
        except OSError as error:
            return {"error": error.strerror or str(error)}
        return {}

    def do_run(self, argv: list[str], limit: float) -> dict[str, object]:
        """Run a command to its end, or until the app has ended."""
        self.count += 1
        log = self._log(f"run-{self.count}")
        began = time.monotonic()
        try:
            with open(log, "wb") as sink, open(log + ".errors", "wb") as errors:
                process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=sink, stderr=errors, env=self.env,
                                           start_new_session=True)
        except OSError as error:
            return {"missing": error.strerror or str(error)}
        grace = None
        while process.poll() is None:
            now = time.monotonic()
            app = self.started.get("app")
            if grace is None and app is not None and app.poll() is not None:
                grace = now + 2.0
            if now - began > limit or (grace is not None and now > grace):
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return {"over": now - began > limit, "status": process.returncode, "out": _read(log),
                        "err": _read(log + ".errors")}
            time.sleep(0.01)
        return {"status": process.returncode, "out": _read(log), "err": _read(log + ".errors")}

    def do_read(self, path: str, most: int) -> dict[str, object]:
        """A file's bytes."""
        try:
            with open(path, "rb") as file:
                data = file.read(most + 1)
        except OSError as error:
            return {"error": error.strerror or str(error)}
        return {"data": base64.b64encode(data[:most]).decode("ascii"), "whole": len(data) <= most}

    def do_said(self) -> dict[str, object]:
        """What the app printed."""
        return {"out": _read(self._log("app"))}

    def _log(self, name: str) -> str:
        return os.path.join(self.folder, name + ".log")

    def close(self) -> None:
        for process in self.started.values():
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL) if process is self.started.get("app") else process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def _read(path: str) -> str:
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        if size <= _MOST:
            return file.read().decode("utf-8", "replace")
        head = file.read(_MOST // 2)
        file.seek(size - _MOST // 2)
        return (head + b"\n" + file.read(_MOST // 2)).decode("utf-8", "replace")


def _tail(path: str) -> str:
    return _read(path).strip()[-500:]


def main() -> None:
    inside = Inside()
    try:
        for line in sys.stdin.buffer:
            sys.stdout.write(json.dumps(inside.answer(json.loads(line))) + "\n")
            sys.stdout.flush()
    finally:
        inside.close()


if __name__ == "__main__":
    main()
