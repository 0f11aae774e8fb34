"""Loads a page in Chromium and writes down what went wrong: a process of its own, which the grader can end.

    python -m evalkit.grade.page_child JOB REPORT SCREENSHOT

JOB is JSON: `root` and `packages` (folders), `path` (of the page), `browser` (its program), `limit` (seconds until the
page has to be there and in which it has to answer, of its own: page_time.py), `walls` (whether the room has walls,
which then hold the browser). REPORT is written over as things happen, so that it tells how far a process came that was
ended:

    {"stage": "starting" | "loading" | "watching" | "done", "browser": version,
     "troubles": [{"kind": "uncaught" | "console" | "request" | "blocked" | "time" | "crash", "told": words}],
     "notes": [words], "busy": whether the machine left the page too little time to say anything of it}

Chromium has no other network than the proxy of page_server.py, and none of its own requests.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from evalkit.grade.page_server import SITE, Site, serving
from evalkit.grade.page_time import LONGEST, Busy, PageTime

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, ViewportSize

__all__ = ["main"]

_TURNS, _PAUSE = 15, 0.2
"""How often a page that has loaded must answer before it is taken to work, and the seconds before each question: three
seconds, and more on a machine that is busy, or for a page that keeps it busy."""
_AFTER = 5.0
"""Seconds of its own that the page has for these turns at least, also where it needed all of its time to load."""
_QUIET = 5
"""How many of these must follow the last request."""
_WINDOW: ViewportSize = {"width": 800, "height": 450}
"""As wide as a page for desks needs: without a graphics card each pixel of a scene costs time."""
_PICTURE = 30.0
"""Seconds that a picture of the page may take."""
_END = 10.0
"""Seconds that the browser has to end."""
_MOST, _LONGEST = 50, 1_000
"""Troubles that are told, and characters of each."""
_FLAGS = (
    "--disable-background-networking", "--disable-component-update", "--disable-domain-reliability", "--disable-sync",
    "--disable-default-apps", "--disable-extensions", "--no-first-run", "--no-default-browser-check", "--no-pings",
    "--disable-client-side-phishing-detection", "--disable-quic", "--disable-dev-shm-usage", "--mute-audio",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--proxy-bypass-list=<-loopback>",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-gpu-watchdog",  # it ends what has no graphics card and little of a processor
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
    "--autoplay-policy=no-user-gesture-required",
)
_ITS_OWN = ("google.com", "googleapis.com", "gstatic.com", "gvt1.com")
"""Where the browser itself asks in spite of all flags: it is refused, and no page's doing."""
_CANCELLED = "net::ERR_ABORTED"
"""A request that the page itself gave up."""


class Report:
    """What is known so far, on the disk."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.data: dict[str, Any] = {"stage": "starting", "browser": "", "troubles": [], "notes": [], "busy": False}
        self.write()

    def stage(self, stage: str) -> None:
        self.data["stage"] = stage
        self.write()

    def trouble(self, kind: str, told: str) -> None:
        item = {"kind": kind, "told": told[:_LONGEST]}
        if item not in self.data["troubles"] and len(self.data["troubles"]) < _MOST:
            self.data["troubles"].append(item)
            self.write()

    def note(self, told: str) -> None:
        if told not in self.data["notes"] and len(self.data["notes"]) < _MOST:
            self.data["notes"].append(told[:_LONGEST])
            self.write()

    def write(self) -> None:
        beside = self.place.with_suffix(".tmp")
        beside.write_text(json.dumps(self.data), encoding="utf-8")
        beside.replace(self.place)


def main(job_file: str, report_file: str, screenshot: str) -> None:
    job = json.loads(Path(job_file).read_text(encoding="utf-8"))
    report = Report(Path(report_file))
    from playwright.sync_api import sync_playwright

    site = Site(Path(job["root"]), [Path(folder) for folder in job["packages"]])
    with serving(site) as proxy, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=job["browser"], args=list(_FLAGS), proxy={"server": proxy},
            chromium_sandbox=os.geteuid() != 0 and not job.get("walls"))  # root has none, walls allow no second one
        report.data["browser"] = browser.version
        context = browser.new_context(viewport=_WINDOW, service_workers="block",
                                      accept_downloads=False)
        watch = _Watch(report)
        watch.on(context)
        try:
            _load(context.new_page(), job["path"], float(job["limit"]), report, watch, Path(screenshot))
        except Busy:
            report.data["busy"] = True
        for asked in site.refused:
            if not _is_its_own(asked) and not any(_bare(asked) in item["told"] for item in report.data["troubles"]):
                report.trouble("blocked", f"{_bare(asked)}: there is no network (asked for beside the page)")
        report.stage("done")
        threading.Timer(_END, os._exit, (0,)).start()  # who started us ends what is left
        browser.close()
        os._exit(0)


def _load(page: Page, path: str, limit: float, report: Report, watch: _Watch, screenshot: Path) -> None:
    from playwright.sync_api import Error

    clock = PageTime(limit)
    report.stage("loading")
    try:
        if not _waited(partial(page.goto, wait_until="commit"), SITE + quote(path), LONGEST * limit):
            raise Busy  # nothing of the page ran yet
        if not clock.within(partial(_waited, page.wait_for_load_state, "load")):
            report.trouble("time", f"the page did not load within {limit:g} s")
            return
    except Error as error:
        report.trouble("crash" if watch.is_gone() else "request", _first_line(error))
    if watch.is_gone():
        return
    report.stage("watching")
    enough = max(limit, clock.had() + _AFTER)
    turns, since = 0, 0
    try:
        while (turns < _TURNS or since < _QUIET) and clock.had() < enough and clock.rest() > 0:
            page.wait_for_timeout(_PAUSE * 1000)
            if not clock.within(partial(_waited, page.wait_for_function, "true")):
                report.trouble("time", f"the page did not answer within {limit:g} s")
                return
            turns, since = turns + 1, 0 if watch.moved() else since + 1
            if watch.is_gone():
                return
    except Error as error:
        if not watch.is_gone():
            report.trouble("crash", _first_line(error))
        return
    try:
        page.screenshot(path=screenshot, timeout=_PICTURE * 1000)
    except Error as error:
        report.note(f"no screenshot: {_first_line(error)}")


def _waited(wait: Callable[..., Any], what: str, seconds: float) -> bool:
    """Whether one of Playwright's waits for a page came to its end."""
    from playwright.sync_api import TimeoutError

    try:
        wait(what, timeout=seconds * 1000)
    except TimeoutError:
        return False
    return True


class _Watch:
    """Notes what goes wrong in any page and frame of a context."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.crashed = False
        self._moving = False

    def is_gone(self) -> bool:
        """Whether the page crashed."""
        return self.crashed

    def moved(self) -> bool:
        """Whether a request began or ended since this was asked."""
        moved, self._moving = self._moving, False
        return moved

    def on(self, context: BrowserContext) -> None:
        context.on("weberror", lambda error: self.report.trouble("uncaught", _error(error.error)))
        context.on("console", self._said)
        context.on("request", lambda _: self._move())
        context.on("requestfinished", lambda _: self._move())
        context.on("requestfailed", self._failed)
        context.on("response", self._answered)
        context.on("page", self._page)

    def _page(self, page: Page) -> None:
        page.on("crash", lambda _: self._crash())
        page.on("websocket", self._socket)

    def _socket(self, socket: Any) -> None:
        self._elsewhere(socket.url)

    def _crash(self) -> None:
        self.crashed = True
        self.report.trouble("crash", "the page crashed")

    def _move(self) -> None:
        self._moving = True

    def _elsewhere(self, url: str) -> bool:
        if url.startswith((SITE, "data:", "blob:", "about:")):
            return False
        self.report.trouble("blocked", f"{_short(url)}: the page has no network")
        return True

    def _failed(self, request: Any) -> None:
        self._move()
        if not self._elsewhere(request.url) and request.failure != _CANCELLED:
            self.report.trouble("request", f"{_short(request.url)}: {request.failure}")

    def _answered(self, response: Any) -> None:
        if response.status >= 400 and not self._elsewhere(response.url):
            self.report.trouble("request", f"{_short(response.url)}: status {response.status}")

    def _said(self, message: Any) -> None:
        where = message.location
        place = f" ({_short(where['url'])}:{where['lineNumber'] + 1})" if where.get("url") else ""
        text = message.text
        if message.type in ("error", "assert"):
            if not message.args and (text.startswith("Failed to load resource:") or _CANCELLED in text):
                return  # the browser says so, and the request itself is told
            self.report.trouble("console", f"{text}{place}")
        elif message.type == "warning":
            self.report.note(f"warning: {text}{place}")


def _bare(asked: str) -> str:
    """What was refused, without a usual port: an address, or a host that was to be connected to."""
    return asked if "/" in asked else asked.removesuffix(":443").removesuffix(":80")


def _is_its_own(asked: str) -> bool:
    """Whether the browser itself asks at such a host."""
    host = urlsplit(asked if "//" in asked else f"//{asked}").hostname or ""
    return any(host == own or host.endswith(f".{own}") for own in _ITS_OWN)


def _error(error: Any) -> str:
    lines = [line.strip() for line in (error.stack or str(error)).splitlines() if line.strip()]
    said = lines[0] if lines else str(error)
    if error.name and not said.startswith(error.name):
        said = f"{error.name}: {error.message}"
    places = [line.removeprefix("at ").replace(SITE, "") for line in lines[1:4] if line.startswith("at ")]
    return said + "".join(f" < {place}" for place in places)


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0].replace(SITE, "/")


def _short(url: str) -> str:
    """An address as evidence has it: of our own site the path."""
    if url.startswith(SITE):
        return urlsplit(url).path
    return url[:200]


if __name__ == "__main__":
    main(*sys.argv[1:])
