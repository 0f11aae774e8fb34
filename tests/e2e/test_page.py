"""Pages in a real Chromium: what each check of a page must catch, and that nothing leaves the machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalkit.analysis.model import Check, PageSpec
from evalkit.execute.lanes import LANES
from evalkit.grade.grader import grade_check
from evalkit.grade.page_child import _is_its_own
from evalkit.grade.page_time import PageTime
from evalkit.grade.verdict import Verdict
from evalkit.values import evolve
from tests.processes import proc_files
from tests.sandbox import bwrap
from tests.unit.grade.trees import a_case, final_tree

pytestmark = pytest.mark.slow


@pytest.fixture(params=LANES)
def lane(request: pytest.FixtureRequest) -> str:
    """Every lane of this machine. Where the sandbox does not work, its tests fail and say so."""
    if request.param == "sandbox":
        bwrap()
    return str(request.param)


def loaded(folder: Path, body: str, *, limit: int = 8, lane: str = "local", **files: str) -> Verdict:
    page = f"<!doctype html><title>A page</title><body>{body}</body>"
    check = Check("smoke", "page", PageSpec("index.html", limit), (), False, "", "x.eval:1:1")
    tree = final_tree(folder, {"index.html": page, **{name.replace("_", "."): text for name, text in files.items()}})
    return grade_check(a_case(), check, evolve(tree, lane=lane), {}, lane, None, folder / "screenshots").verdict


def test_a_page_that_works(tmp_path: Path, lane: str) -> None:
    """Modules, a worker, WebGL in a browser without a graphics card, and a secure context; a picture of it is kept."""
    verdict = loaded(tmp_path, """
      <canvas></canvas><script type="module">
      import {say} from './other.js';
      document.body.append(say);
      new Worker('work.js').postMessage(1);
      if (!document.querySelector('canvas').getContext('webgl2')) throw new Error('no WebGL');
      if (!isSecureContext) throw new Error('not secure');
      console.warn('careful');
      </script>""", lane=lane, other_js="export const say = 'hello';", work_js="onmessage = () => fetch('other.js');")
    assert ("pass", "index.html loads without an error") == (verdict.status, verdict.summary), verdict.evidence
    assert "warning: careful (/index.html:" in verdict.evidence
    assert (tmp_path / "screenshots/smoke.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("body", "summary", "told"), [
    ("<script type=module>import 'https://cdn.invalid/x.js'</script>", "index.html: blocked request",
     "blocked request: https://cdn.invalid/x.js: the page has no network"),
    ("<script type=module>import './nope.js'</script>", "index.html: failed request",
     "failed request: /nope.js: status 404"),
    ("<script type=module>import 'bare'</script>", "index.html: uncaught error",
     "uncaught error: TypeError: Failed to resolve module specifier"),
    ("<script>setTimeout(() => { throw new RangeError('late') }, 300)</script>", "index.html: uncaught error",
     "uncaught error: RangeError: late < index.html:1:"),
    ("<script>(async () => { await 1; null.x })()</script>", "index.html: uncaught error",
     "uncaught error: TypeError: Cannot read properties of null"),
    ("<img src=a.png>", "index.html: failed request", "failed request: /a.png: status 404"),
    ("<script>setTimeout(() => fetch('late.json').catch(() => {}), 500)</script>", "index.html: failed request",
     "failed request: /late.json: status 404"),
    ("<script>console.error('broken: %d', 7)</script>", "index.html: console error", "console error: broken: "),
    ("<script>console.error('Failed to load resource: mine')</script>", "index.html: console error",
     "console error: Failed to load resource: mine"),
    ("<script>console.error('over: net::ERR_ABORTED')</script>", "index.html: console error", "console error: over: "),
    ("<script>console.assert(1 > 2, 'no order')</script>", "index.html: console error", "console error: no order"),
    ("<script>const t = Date.now(); while (Date.now() - t < 4000); setTimeout(() => { throw Error('late') }, 1200)"
     "</script>", "index.html: uncaught error", "uncaught error: Error: late"),
    ("<script>for (;;) {}</script>", "index.html: time limit", "time limit: the page did not load within 5 s"),
    ("<script>setTimeout(() => { for (;;) {} }, 500)</script>", "index.html: time limit",
     "time limit: the page did not answer within 5 s"),
    ("<script>alert(1); confirm('2')</script><script>throw 'text'</script>", "index.html: uncaught error",
     "uncaught error: "),
], ids=["no such address", "no such module", "no such package", "late exception", "unhandled rejection",
        "no such image", "late request", "console", "said as the browser says it", "said as given up", "assertion",
        "late after a slow load", "endless loop", "late endless loop", "dialogs"])
def test_what_goes_wrong(tmp_path: Path, body: str, summary: str, told: str) -> None:
    """Each is a fail that says so."""
    verdict = loaded(tmp_path, body, limit=5)
    assert ("fail", summary) == (verdict.status, verdict.summary), verdict.evidence
    assert verdict.evidence.startswith(told)


def test_a_page_that_is_slow(tmp_path: Path) -> None:
    """Each answer has the whole time: one that comes is no hang, however long all of them take."""
    verdict = loaded(tmp_path, """<script>(function draw() {
      const t = Date.now();
      while (Date.now() - t < 1000);
      requestAnimationFrame(draw);
    })()</script>""", limit=5)
    assert "pass" == verdict.status, verdict.evidence


def test_time_on_a_busy_machine() -> None:
    """Three programs on one processor: what waits for it has at most a third of the time; what sleeps loses nothing."""
    processor = min(os.sched_getaffinity(0))

    def had(code: str, programs: int) -> float:
        """The share of the time that these programs had."""
        pinned = f"import os; os.sched_setaffinity(0, [{processor}])\n{code}"
        running = [subprocess.Popen([sys.executable, "-c", pinned]) for _ in range(programs)]
        try:
            time.sleep(1)
            began = time.monotonic()
            clock = PageTime(60)
            time.sleep(2)
            return clock.had() / (time.monotonic() - began)
        finally:
            for program in running:
                program.kill()
                program.wait()

    assert 0 < had("while True: pass", 3) < 0.4
    assert 0.7 < had("import time; time.sleep(60)", 1) <= 1


@pytest.fixture
def elsewhere() -> Iterator[tuple[str, list[str]]]:
    """A server on another address of this machine, and who connected to it."""
    visitors: list[str] = []
    with socket.create_server(("127.0.0.2", 0)) as server:
        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                visitors.append(repr(connection.recv(1000)))
                connection.close()

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.2:{server.getsockname()[1]}", visitors


@pytest.mark.parametrize("attempt", [
    "fetch('http://HOST/x').catch(() => {})", "new Image().src = 'http://HOST/x.png'",
    "new WebSocket('ws://HOST/w').onerror = () => {}", "fetch('https://HOST/x').catch(() => {})",
    "window.open('http://HOST/')", "navigator.sendBeacon('http://HOST/b', 'secret')",
    "new Worker(URL.createObjectURL(new Blob([`fetch('http://HOST/x').catch(() => {})`])))",
    "location.href = 'http://HOST/'",
    "new SharedWorker(URL.createObjectURL(new Blob([`fetch('http://HOST/x').catch(() => {})`])))",
])
def test_nothing_leaves_the_page(tmp_path: Path, elsewhere: tuple[str, list[str]], attempt: str) -> None:
    """Whatever a page tries, nobody hears of it, and it is told."""
    host, visitors = elsewhere
    _refused(loaded(tmp_path, f"<script>{attempt.replace('HOST', host)}</script>"), host)
    assert [] == visitors


def test_no_packet_leaves_the_page(tmp_path: Path) -> None:
    """Calls between browsers begin with datagrams, which no proxy sees."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.2", 0))
        other.setblocking(False)
        loaded(tmp_path, f"""<script>(async () => {{
          const peer = new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.2:{other.getsockname()[1]}'}}]}});
          peer.createDataChannel('x');
          await peer.setLocalDescription(await peer.createOffer());
        }})()</script>""")
        with pytest.raises(BlockingIOError):
            other.recv(2000)


def test_what_the_browser_itself_asks_for() -> None:
    """It goes by whole names of hosts, whatever a page's host ends with."""
    asked = ("clients2.google.com:443", "http://www.gstatic.com/x", "google.com", "evilgoogle.com:443",
             "http://127.0.0.2:80/google.com", "google.com.invalid")
    assert asked[:3] == tuple(filter(_is_its_own, asked))


def test_nothing_leaves_the_sandbox(tmp_path: Path, elsewhere: tuple[str, list[str]]) -> None:
    """There is no other address within it, and what is tried is told as elsewhere."""
    bwrap()
    host, visitors = elsewhere
    _refused(loaded(tmp_path, f"<script>fetch('http://{host}/x').catch(() => {{}})</script>", lane="sandbox"), host)
    assert [] == visitors


def _refused(verdict: Verdict, host: str) -> None:
    assert "fail" == verdict.status
    assert "blocked request" in verdict.summary
    assert host in verdict.evidence


def test_nothing_is_left_running(tmp_path: Path, lane: str) -> None:
    """A page that hangs takes the browser down with it, and is told in either lane."""
    verdict = loaded(tmp_path, "<script>for (;;) {}</script>", limit=2, lane=lane)
    assert ("fail", "index.html: time limit") == (verdict.status, verdict.summary), verdict.evidence
    assert [] == [process for process in proc_files("cmdline")
                  if str(tmp_path).encode() in _read(process)]


def _read(place: Path) -> bytes:
    try:
        return place.read_bytes()
    except OSError:
        return b""
