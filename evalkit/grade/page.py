"""`check page`: a browser loads a page of the workspace; what goes wrong on the way is the verdict.

A browser runs what an agent wrote, so it works in a process of its own (page_child.py), on a disposable copy, without
a network, and is ended whatever it does. Where it cannot be started, that is an error and no verdict.

What holds the page: in every lane the browser's only way out is the proxy of page_server.py, and a time limit; in the
local lane Chromium's own sandbox (which root has not), in the sandbox lane the room's walls in its place: the browser,
what drives it and the server are inside, with a loopback of their own.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evalkit.analysis.model import PageSpec, Toolchain
from evalkit.errors import HarnessError
from evalkit.grade.evidence import EVIDENCE_LIMIT, excerpt, plain
from evalkit.grade.final_tree import Copy, FinalTree
from evalkit.grade.page_time import LONGEST
from evalkit.grade.verdict import Verdict
from evalkit.records import write_bytes

__all__ = ["DISTRIBUTIONS", "find_browser", "grade_page", "page_version"]

VERSION = "page 4"
DISTRIBUTIONS = ("playwright",)
"""Distributions whose versions are part of the grader's. A newer browser grades nothing again by itself."""
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_USUAL = Path("/usr/bin/chromium")
_OF_BROWSER = ("/etc/chromium.d", "/opt/google/chrome")
"""What browsers read beside what is in /usr: Debian's start script fails without the former."""
_INSIDE = ("__init__.py", "execute/__init__.py", "execute/marks.py", "grade/__init__.py", "grade/page_child.py",
           "grade/page_server.py", "grade/page_time.py")
_OURS = 120
"""Seconds for what is not the page's: the browser's start, a picture, its end."""
_LARGEST_REPORT, _LARGEST_PICTURE = 1_000_000, 20_000_000
"""Bytes of what the browser's process leaves."""
_KINDS = {"uncaught": ("uncaught error", "uncaught errors"), "console": ("console error", "console errors"),
          "request": ("failed request", "failed requests"), "blocked": ("blocked request", "blocked requests"),
          "time": ("time limit", "time limit"), "crash": ("crash", "crashes")}
"""What a trouble is called, alone and where there are several."""


def page_version() -> str:
    try:
        return f"{VERSION}, playwright {version('playwright')}"
    except PackageNotFoundError:
        return VERSION


def find_browser(path: str) -> str:
    """The program of a Chromium. path: a PATH. Raises HarnessError where there is none."""
    for name in _PROGRAMS:
        if found := shutil.which(name, path=path):
            return found
    if os.access(_USUAL, os.X_OK):
        return str(_USUAL)
    raise HarnessError("`check page` needs Chromium, and there is none on PATH",
                       hint="on Debian and Ubuntu: apt-get install chromium")


def grade_page(spec: PageSpec, tree: FinalTree, toolchains: tuple[Toolchain, ...],
               screenshot: Path | None = None) -> Verdict:
    """Load the page. screenshot: where a picture of it is kept; what an earlier one shows is gone in any case.

    Raises HarnessError where the browser or what drives it is missing or does not work.
    """
    if screenshot is not None:
        screenshot.unlink(missing_ok=True)
    if spec.path not in tree.manifest.files:
        return Verdict("fail", f"{spec.path} is not there")
    if find_spec("playwright") is None:
        raise HarnessError("`check page` needs what drives a browser, which is not installed",
                           hint="pip install 'evalkit[browser]' has it")
    packages = [str(ready.folder / "npm/node_modules") for ready in tree.session.installed(toolchains)]
    with tree.copy(toolchains, lane=tree.lane) as copy:
        browser = find_browser(copy.env["PATH"])
        job = {"root": copy.seen(copy.tree), "packages": packages, "path": spec.path, "browser": browser,
               "limit": spec.limit, "walls": copy.room.walls}
        report, picture = _looked_at(copy, job, spec.limit, tree)
        if screenshot is not None and picture:
            write_bytes(screenshot, picture, sync=False)
    return _verdict(spec, report)


def _looked_at(copy: Copy, job: dict[str, Any], limit: int, tree: FinalTree) -> tuple[dict[str, Any], bytes]:
    """The report of the process that drives the browser, and the picture that it took, if any."""
    room, desk = copy.room, copy.room.beside / "page"
    desk.mkdir(parents=True)
    given, place, picture, log = (desk / "job.json", desk / "report.json", desk / "screenshot.png",
                                  copy.scratch / "page.log")
    given.write_text(json.dumps(job), encoding="utf-8")
    argv = [sys.executable, "-P", "-m", "evalkit.grade.page_child", *map(copy.seen, (given, place, picture))]
    with _short_folder() as short:
        code = _code(desk) if room.walls else Path(__file__).parents[2]
        env = room.env | {"PYTHONPATH": copy.seen(code), "TMPDIR": "/tmp" if room.walls else short}
        if room.walls:
            for folder in (sys.prefix, sys.base_prefix, *_OF_BROWSER):
                if Path(folder).exists():
                    room.show(Path(folder))
        finished = room.run(argv, cwd=desk, env=env, limit=2 * LONGEST * limit + _OURS, log=log, tick=tree.session.tick)
    try:
        report: dict[str, Any] = json.loads(_left(place, _LARGEST_REPORT))
    except ValueError:
        report = {"stage": "starting", "troubles": [], "notes": [], "browser": ""}
    if report.get("busy") and not report["troubles"]:
        raise HarnessError(f"the machine is too busy: of {LONGEST * limit} s the page had too few to be judged",
                           hint="run less at the same time, or give the check more `time`")
    if report["stage"] == "done":
        return report, _left(picture, _LARGEST_PICTURE)
    if report["stage"] == "starting" or not finished.ended_by:
        said = excerpt(log.read_text(encoding="utf-8", errors="replace")) if log.is_file() else ""
        raise HarnessError(f"the browser does not work ({finished.ended_by or f'status {finished.exit_code}'})\n{said}",
                           hint=f"does `{job['browser']} --headless --version` work here?")
    report["troubles"].append({"kind": "time", "told": "the page held the browser up until both were ended"})
    return report, b""


def _code(desk: Path) -> Path:
    """What runs inside walls: of evalkit these modules alone, since beside its folder a project may lie."""
    package, code = Path(__file__).parents[1], desk / "code"
    for name in _INSIDE:
        place = code / "evalkit" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(package / name, place)
    return code


def _left(place: Path, most: int) -> bytes:
    """A file that was left where a page's browser could write: nothing where it is none, or is too large."""
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with open(descriptor, "rb") as file:  # noqa: PTH123 - of a descriptor
        data = file.read(most + 1) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    return data if len(data) <= most else b""


@contextmanager
def _short_folder() -> Iterator[str]:
    """A folder for what Chromium puts aside, among it a socket: that one's path may have 107 bytes."""
    folder = tempfile.mkdtemp(prefix="evalkit-")
    try:
        yield folder
    finally:
        for _ in range(20):  # a browser that was killed still has children that are about to end
            shutil.rmtree(folder, ignore_errors=True)
            if not Path(folder).exists():
                break
            time.sleep(0.1)


def _verdict(spec: PageSpec, report: dict[str, Any]) -> Verdict:
    troubles = [(str(item["kind"]), plain(str(item["told"]))) for item in report["troubles"]]
    told = [f"{_KINDS[kind][0]}: {said}" for kind, said in troubles]
    notes = [plain(str(note)) for note in report["notes"]]
    evidence = "\n".join([*told, *notes, f"Chromium {report['browser']}"])[:EVIDENCE_LIMIT]
    if not troubles:
        return Verdict("pass", f"{spec.path} loads without an error", evidence)
    counts = {kind: sum(kind == own for own, _ in troubles) for kind in _KINDS}
    said = ", ".join(f"{count} {_KINDS[kind][1]}" if count > 1 and kind != "time" else _KINDS[kind][0]
                     for kind, count in counts.items() if count)
    return Verdict("fail", f"{spec.path}: {said}", evidence)
