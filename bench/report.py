"""How fast report.html is made, and how fast it is to use: first paint, a filter, a trial, a search, in Chromium.

    python bench/report.py [--trials 3,1000] [--turns 8] [--repeat 3] [--json FILE] [--keep DIR]

For each number of trials it makes a run of made-up trials, writes the page, writes it again where nothing changed and
where one result did, opens it from the disk (extra `browser`, Debian's chromium), and measures: milliseconds until the
first paint and until all is ready, milliseconds from a filter's click to the next frame, from a click on a trial to its
page, and from a search of its conversation to the marks. The least of the repeats counts, as noise only ever adds. Exit
status 1 where the page says an error, or asks for anything but its own files.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))

from bench.report_runs import Made, make_page, make_run, make_summary
from evalkit.grade.page import find_browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

_FLAGS = ("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--no-first-run",
          "--no-pings", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND")
_FRAME = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
_PAINTED = """new Promise((done) => new PerformanceObserver((list) => {
  for (const one of list.getEntriesByName("first-contentful-paint")) done(one.startTime);
}).observe({type: "paint", buffered: true}))"""
_TIMED = f"""async (selector) => {{
  const began = performance.now();
  document.querySelector(selector).click();
  await {_FRAME};
  return performance.now() - began;
}}"""


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure report.html.")
    parser.add_argument("--trials", default="3,1000")
    parser.add_argument("--turns", type=int, default=8, help="of an agent, about")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    parser.add_argument("--keep", type=Path, help="make the runs here and leave them")
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="evalkit-bench-"))
    figures, troubles = [], []
    try:
        for trials in map(int, options.trials.split(",")):
            made = make_run(folder / f"trials-{trials}", trials, turns=options.turns)
            told = {"trials": trials} | _written(made) | _used(made, options.repeat, troubles)
            figures.append(told)
            print("  ".join(f"{name} {value:,.1f}" if isinstance(value, float) else f"{name} {value:,}"
                            for name, value in told.items()))
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    for trouble in dict.fromkeys(troubles):
        print(f"wrong: {trouble}")
    return 1 if troubles else 0


def _written(made: Made) -> dict[str, Any]:
    """What it takes to write the page: all, nothing, and one trial of it; in milliseconds of CPU."""
    figures: dict[str, Any] = {}
    for name in ("write all CPU ms", "write nothing CPU ms", "write one CPU ms"):
        if name == "write one CPU ms":
            result = next(made.folder.glob("*/*/*/trial-1/result.json"))
            result.write_bytes(result.read_bytes().replace(b'"note": ""', b'"note": "edited"'))
        make_summary(made)
        began = time.process_time()
        make_page(made, summed=True)
        figures[name] = (time.process_time() - began) * 1000
    figures["page kB"] = (made.folder / "report.html").stat().st_size // 1000
    figures["data kB"] = sum(path.stat().st_size for path in (made.folder / "report-data").rglob("*.js")) // 1000
    return figures


def _used(made: Made, repeat: int, troubles: list[str]) -> dict[str, float]:
    """What it takes to use it; in milliseconds."""
    from playwright.sync_api import sync_playwright

    best: dict[str, float] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(os.environ["PATH"]), args=list(_FLAGS),
                                             chromium_sandbox=os.geteuid() != 0)
        for _ in range(repeat):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
            page.on("pageerror", lambda error: troubles.append(str(error)))
            page.on("request", lambda request: None if request.url.startswith((made.folder.as_uri(), "data:image/png"))
                    else troubles.append(f"asked for {request.url}"))
            for name, value in _once(page, made).items():
                best[name] = min(value, best.get(name, value))
            page.close()
        browser.close()
    return best


def _once(page: Page, made: Made) -> dict[str, float]:
    page.goto((made.folder / "report.html").as_uri())
    found = {"first paint ms": float(page.evaluate(_PAINTED)),
        "ready ms": float(page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))}
    for name, selector in (("filter", "[data-filter=status]"), ("all again", "[data-filter=status]"),
                           ("list", "[data-view=list]"), ("matrix", "[data-view=matrix]")):
        found[f"{name} ms"] = float(page.evaluate(_TIMED, selector))
    began = page.evaluate("performance.now()")
    page.locator("a.mark").first.dispatch_event("click")
    page.wait_for_selector("#part-conversation")
    found["trial ms"] = float(page.evaluate("performance.now()")) - float(began)
    page.fill("#find", "lanes")
    began = page.evaluate("performance.now()")
    page.wait_for_selector("#trial mark", state="attached")
    found["search ms"] = float(page.evaluate("performance.now()")) - float(began)
    return found


if __name__ == "__main__":
    sys.exit(main())
