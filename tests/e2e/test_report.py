"""report.html in a real Chromium, opened from the disk: it works, shows what is hostile and runs none of it, and asks
for nothing but its own files."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field

from bench.report_runs import Made, make_page, make_run
from evalkit.execute.secrets import Redactor
from evalkit.gateway import ScriptedGateway
from evalkit.grade.page import find_browser
from evalkit.kept import user_cache
from evalkit.report.html.page import render
from evalkit.report.row import failed_row
from evalkit.report.summary import line_of_row
from evalkit.structure import plain_fields
from tests.e2e.test_transcript import SCRIPT
from tests.feature.project import KEY, MiniProject, files_with
from tests.unit.report.html_hostile import HOSTILE, hostile_run
from tests.unit.report.results import a_trial
from tests.unit.report.test_html_page import a_line

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow

FLAGS = ("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--no-first-run",
         "--no-pings", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND")
SONNET = "#trial=claude%2Fanthropic%252Fclaude-sonnet-5%2Fkanban-board%2Ftrial-1"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=find_browser(os.environ["PATH"]), args=list(FLAGS),
                                           chromium_sandbox=os.geteuid() != 0)
        yield found
        found.close()


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return drawn(make_run(tmp_path_factory.mktemp("three"), 3))


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return drawn(make_run(tmp_path_factory.mktemp("thousand"), 1000, turns=4))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return drawn(hostile_run(tmp_path_factory.mktemp("hostile")))


def drawn(made: Made) -> Made:
    state = make_page(made, Redactor.of({}))
    assert state.errors == ()
    return made


@define
class Opened:
    """A page, and what went wrong in it: errors, and requests for anything but the run's own files."""

    page: Page
    troubles: list[str] = field(factory=list)
    asked: list[str] = field(factory=list)
    folder: Path = Path()

    def see(self) -> None:
        page = self.page
        page.on("console", lambda message: self.troubles.append(message.text)
                if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("dialog", lambda dialog: self.troubles.append(f"dialog {dialog.message}"))
        page.on("popup", lambda _: self.troubles.append("a window opened"))
        page.on("request", lambda request: self.asked.append(request.url))

    def settled(self) -> None:
        """Nothing went wrong, and nothing left the run's folder."""
        self.page.wait_for_timeout(100)
        assert self.troubles == []
        base = self.folder.as_uri() + "/"
        assert [url for url in self.asked if not url.startswith((base, "data:image/png;base64,"))] == []


class Open:
    """Opens pages; in the end nothing must have gone wrong in any."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.opened: list[Opened] = []

    def __call__(self, made: Made, where: str = "", file: str = "report.html", **how: Any) -> Page:
        context = self.browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **how})
        one = Opened(context.new_page(), folder=made.folder)
        one.see()
        self.opened.append(one)
        one.page.goto(f"{made.folder.as_uri()}/{file}{where}")
        return one.page

    def close(self) -> None:
        for one in self.opened:
            one.page.context.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    opener = Open(browser)
    yield opener
    for one in opener.opened:
        one.settled()
    opener.close()


def until(page: Page, expression: str) -> None:
    """Wait until it holds in the page. (Playwright's own wait evaluates a text there, which the page's policy forbids.)
    """
    for _ in range(300):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"it never came to hold: {expression}")


def shown(page: Page, selector: str) -> int:
    return page.locator(f"{selector}:visible").count()


def hash_of(page: Page) -> str:
    return page.url.partition("#")[2]


# ---- reading ----
def test_a_small_run(three: Made, open_page: Open) -> None:
    """Its matrix, a trial with its checks and all other parts, and back again."""
    page = open_page(three)
    assert 3 == shown(page, "table.matrix a.mark")
    assert ["kanban-board"] == page.locator("table.matrix tbody th.case").all_inner_texts()
    page.locator("a.mark.fail").first.click()
    page.wait_for_selector("#part-checks")
    assert "kanban-board" in page.title()
    assert "failed: builds, hidden" in page.locator(".reason").inner_text()
    assert "error TS2339" in page.locator("details.check.fail pre.evidence:visible").first.inner_text()
    assert ["Checks 3/6", "Changes 3", "Screenshots 1", "Conversation", "Timing", "Keys and versions"] == \
        page.locator("nav.parts a").all_inner_texts()
    assert page.evaluate("document.querySelector('.pictures img').decode().then(() => true)")
    assert "The lanes are told apart at a glance." in page.locator("#part-checks").inner_text()
    assert 8 == page.locator(".waterfall .span").count()
    assert "0.16.0" in page.locator("#part-details").inner_text()
    page.go_back()
    assert 3 == shown(page, "table.matrix a.mark")


def test_a_difference_is_followed(three: Made, open_page: Open) -> None:
    """What the agent changed: added, changed and removed files, and a link to each."""
    page = open_page(three, SONNET)
    page.wait_for_selector("#part-changes")
    assert ["A", "D", "M"] == sorted(page.locator("nav.files .what").all_inner_texts())
    page.locator("details.file[open] > summary", has_text="src/lanes.ts").click()
    assert not page.locator("details.file[data-path='src/lanes.ts'] .diff").is_visible()
    page.locator("nav.files a", has_text="src/lanes.ts").click()
    assert page.locator("details.file[data-path='src/lanes.ts'] tr.plus").first.is_visible()
    assert "file=src%2Flanes.ts" in hash_of(page)
    board = page.locator("details.file[data-path='src/board.ts']")
    kinds = board.locator("tr.minus, tr.plus").evaluate_all("(all) => all.map((one) => one.className)")
    assert ["minus", "plus"] == kinds
    assert "n * 7" in board.locator("tr.minus .code").inner_text()
    assert ["8", ""] == board.locator("tr.minus .no").all_inner_texts()


def test_a_conversation_is_searched(three: Made, open_page: Open) -> None:
    """Places are counted, folded calls too; each step opens what it goes to and marks it."""
    page = open_page(three, SONNET)
    page.wait_for_selector(".event.call")
    assert 0 == page.locator(".event.call details[open]").count()
    page.keyboard.press("/")
    page.keyboard.type("vitest run")
    until(page, "location.hash.includes('find=vitest+run')")
    places = int(page.locator(".told").inner_text())
    assert places >= 1
    page.keyboard.press("Enter")
    assert f"1 of {places}" == page.locator(".told").inner_text()
    assert "vitest run" == page.locator("mark.current").inner_text()
    assert page.locator("mark.current").is_visible()
    assert "find=vitest" in hash_of(page)
    page.keyboard.press("Shift+Enter")
    assert f"{places} of {places}" == page.locator(".told").inner_text()
    page.reload()
    until(page, "document.querySelector('.told') && document.querySelector('.told').textContent")
    assert str(places) == page.locator(".told").inner_text()


def test_a_line_of_the_transcript_is_gone_to(three: Made, open_page: Open) -> None:
    """A link to a line opens its call, or the call whose result it is."""
    page = open_page(three, SONNET + "&part=conversation&line=5")
    page.wait_for_selector(".event.meant details[open] pre")
    assert "src/board.ts" == page.locator(".event.meant .about").inner_text()


def test_a_real_run_of_claude_code(tmp_path: Path, open_page: Open) -> None:
    """What the real program did, as a page: asked, called, denied, by a sub-agent, and where evidence leads."""
    project = MiniProject.make(tmp_path)
    project.env |= {"EVALKIT_CACHE": str(user_cache(os.environ)), "AI_GATEWAY_API_KEY": KEY}
    project.edit("cases/mini/suite.eval", 'allow "Bash(ls *)"', 'allow "Bash(ls *)", Task')
    project.edit("cases/mini/greeting/greeting.eval", '  judge "tone"', """\
  check transcript has "curl --version" as denied advisory
  judge "tone\"""")
    with ScriptedGateway(SCRIPT) as gateway:
        done = project.doit("run", "case:greeting", "agent=claude", "judge=off", f"gateway={gateway.url}")
    assert 0 == done.status, done.out + done.err
    page = open_page(Made(project.root, "latest"))
    page.locator("a.mark.pass").click()
    page.wait_for_selector(".event.call")
    assert "Write a greeting into answer.txt." == page.locator(".message.prompt .text").inner_text()
    assert ["shell", "write", "Task", "read", "shell"] == page.locator(".event.call .tool").all_inner_texts()
    assert ["read"] == page.locator(".event.sub .tool").all_inner_texts()
    assert ["denied"] == page.locator(".event.call .came").all_inner_texts()
    assert ["answer.txt"] == page.locator("details.file .path").all_inner_texts()
    assert "+Hello." == page.locator("details.file tr.plus").inner_text().replace("\t", "").removeprefix("1")
    page.locator("#part-checks details.check.fail pre.evidence a").first.click()
    assert "curl --version" == page.locator(".event.meant .about").inner_text()
    assert [] == files_with(project.root / "results", KEY)


# ---- filters ----
def test_a_thousand_trials_are_filtered(thousand: Made, open_page: Open) -> None:
    """By words, statuses, suites and failed checks; the address tells, and brings it back."""
    page = open_page(thousand)
    assert 1000 == shown(page, "table.matrix a.mark")
    page.locator("#q").fill("kanban sonnet")
    until(page, "document.getElementById('shown').textContent")
    rows = page.locator("table.matrix tbody th.case:visible").all_inner_texts()
    assert rows
    assert all(row.startswith("kanban-board") for row in rows)
    assert 1 == page.locator("table.matrix thead th:not(.case):visible").count()
    page.locator("[data-filter=status][data-value=fail]").click()
    left = shown(page, "table.matrix a.mark")
    assert left == shown(page, "table.matrix a.mark.fail") > 0
    assert "q=kanban+sonnet&status=fail" == hash_of(page)
    assert f"{left} of 1,000" == page.locator("#shown").inner_text()
    page.reload()
    assert left == shown(page, "table.matrix a.mark")
    assert "kanban sonnet" == page.locator("#q").input_value()
    page.locator("a.mark.fail:visible").first.click()
    page.wait_for_selector("#part-checks")
    assert "q=kanban" in hash_of(page)
    page.keyboard.press("Escape")
    assert left == shown(page, "table.matrix a.mark")
    page.locator("#q").fill("no such case")
    page.wait_for_selector("#nothing:visible")
    page.locator("#clear").click()
    assert 1000 == shown(page, "table.matrix a.mark")
    page.locator("#failed").select_option("hidden")
    assert "failed=hidden" == hash_of(page)
    assert 0 == shown(page, "table.matrix a.mark.pass")


def test_a_thousand_trials_as_a_list(thousand: Made, open_page: Open) -> None:
    """All of them, sorted by what a head says; where the order is turned, too."""
    page = open_page(thousand, "#view=list")
    until(page, "document.querySelectorAll('#list tbody tr').length === 1000")
    page.locator("#list th.cost button").click()
    page.locator("#list th.cost button").click()
    assert "view=list&sort=-cost" == hash_of(page)
    until(page, "document.querySelectorAll('#list tbody tr').length === 1000")
    costs = [float(text.removeprefix("$")) for text in page.locator("#list tbody td:nth-child(9)").all_inner_texts()]
    assert sorted(costs, reverse=True) == costs
    page.locator("#list td.case a").first.click()
    page.wait_for_selector("#part-checks")


def test_only_the_trial_that_is_opened_is_loaded(thousand: Made, open_page: Open) -> None:
    """The page itself loads nothing; a trial is one file."""
    page = open_page(thousand)
    assert 1 == len(open_page.opened[0].asked)
    page.locator("a.mark").first.click()
    page.wait_for_selector("#part-checks")
    scripts = [url for url in open_page.opened[0].asked if url.endswith(".js")]
    assert 1 == len(scripts)


# ---- keys ----
def test_keys(thousand: Made, open_page: Open) -> None:
    """Everything can be done without a mouse."""
    page = open_page(thousand)
    page.keyboard.press("?")
    assert "next trial that did not pass" in page.locator("dialog[open]").inner_text()
    page.keyboard.press("Escape")
    assert 0 == page.locator("dialog[open]").count()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    at = page.evaluate("document.activeElement.dataset.n")
    assert page.evaluate("document.activeElement.closest('tr').rowIndex") > 1
    page.keyboard.press("Enter")
    page.wait_for_selector("#part-checks")
    place = page.evaluate("JSON.parse(document.getElementById('index').textContent).trials")[int(at)]["place"]
    assert place == trial_of(page)
    place_part = hash_of(page)
    page.keyboard.press("j")
    until(page, f"!location.hash.includes({json.dumps(place_part)})")
    assert place != trial_of(page)
    page.keyboard.press("k")
    page.wait_for_selector("#part-checks")
    assert place == trial_of(page)
    page.keyboard.press("f")
    page.wait_for_selector(".reason:not(.pass)")
    page.keyboard.press("4")
    assert "part=conversation" in hash_of(page)
    page.keyboard.press("e")
    assert page.locator(".event.call details[open]").count() > 1
    page.keyboard.press("Escape")
    page.keyboard.press("v")
    assert page.locator("#list").is_visible()


def trial_of(page: Page) -> str:
    return str(page.evaluate("new URLSearchParams(location.hash.slice(1)).get('trial')"))


# ---- what is hostile ----
def test_hostile_texts_are_shown_and_never_run(hostile: Made, open_page: Open) -> None:
    """In every part of a trial, folded or not: no script, no handler, no address, no style of theirs."""
    page = open_page(hostile)
    page.locator("a.mark").click()
    page.wait_for_selector(".event.call")
    page.keyboard.press("e")
    page.evaluate("for (const fold of document.querySelectorAll('#trial details')) fold.open = true")
    page.wait_for_timeout(300)
    page.locator("#find").fill("pwned")
    until(page, "document.querySelector('.told').textContent")
    page.keyboard.press("Enter")
    page.locator("#find").press("Enter")
    assert page.locator("mark.current").is_visible()
    assert page.evaluate("window.pwned === undefined && ({}).polluted === undefined")
    text = page.locator("#trial").evaluate("(trial) => trial.textContent")
    for told in HOSTILE[:8]:
        assert told in text, told
    assert 0 == page.locator("#trial script, #trial iframe, #trial svg, #trial base, #trial style, #trial form, "
                             "#trial img:not([src^='data:image/png'])").count()
    assert "no PNG" in page.locator("#part-screenshots").inner_text()
    assert "\\xff\\xfe\\xfd no UTF-8" in text
    page.keyboard.press("Escape")
    page.go_back()


def test_what_misleads_the_eye_is_visible(hostile: Made, open_page: Open) -> None:
    """Control characters, escape sequences and what turns the direction of writing are shown as what they are."""
    page = open_page(hostile)
    page.locator("a.mark").click()
    page.wait_for_selector(".event.message")
    marks = page.locator("#trial .ctl").evaluate_all("(all) => all.map((one) => one.textContent)")
    assert {"U+202E", "U+2066", "U+200B", "U+2028", "ESC", "NUL", "DEL", "U+009B"} <= {*marks}
    assert "twoLFlinesHT.txt" in page.locator(".files .path").all_inner_texts()
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b\x00\u2028]", page.locator("#trial").inner_text())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("hole", [
    "<script>window.pwned = 1</script>", "<img src=x onerror='window.pwned = 1'>", "<script src=evil.js></script>",
    "<a id=evil href='javascript:window.pwned=1'>x</a>", "<iframe srcdoc='<script>parent.pwned = 1</script>'></iframe>",
    "<style>body { --pwned: 1 }</style>", "<p style='--pwned: 1'>", "<img src=evil.png>",
    "<base href='https://evil.invalid/'>", "<form action='evil.html'><button id=evil>x</button></form>",
    "<object data=evil.html></object>", "<link rel=stylesheet href=evil.css>",
])
def test_a_hole_would_lead_nowhere(three: Made, browser: Browser, hole: str) -> None:
    """If markup of somebody's came into the page after all, its policy would keep it from doing anything."""
    folder = three.folder
    evil = {"evil.js": "window.pwned = 1", "evil.css": "body { --pwned: 1 }", "evil.html": "<p>evil</p>"}
    for name, text in evil.items():
        (folder / name).write_text(text)
    shutil.copy(next(folder.rglob("smoke.png")), folder / "evil.png")
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "</main>\n<main id=\"trial\"" in text
    (folder / "hole.html").write_text(text.replace("</main>\n<main id=\"trial\"", f"{hole}</main>\n<main id=\"trial\""),
                                      encoding="utf-8")
    opener = Open(browser)
    page = opener(three, file="hole.html")
    assert 3 == shown(page, "table.matrix a.mark")
    page.evaluate("document.getElementById('evil')?.click()")
    page.wait_for_timeout(200)
    assert page.evaluate("window.pwned === undefined")
    assert "" == page.evaluate("getComputedStyle(document.body).getPropertyValue('--pwned')")
    assert page.url.endswith("hole.html") or "hole.html#" in page.url
    assert opener.opened[0].troubles, "the browser says what it refused"
    assert "refused" == page.evaluate(
        "() => { try { document.body.innerHTML = '<i>'; return 'made'; } catch { return 'refused'; } }")
    assert page.evaluate("[...document.images].every((image) => !image.naturalWidth)")
    opener.close()


def test_a_trial_without_its_data(three: Made, open_page: Open, tmp_path: Path) -> None:
    """The page alone still has the matrix; a trial says what is missing."""
    alone = Made(tmp_path, "latest")
    alone.folder.mkdir(parents=True)
    shutil.copy(three.folder / "report.html", alone.folder)
    page = open_page(alone)
    page.locator("a.mark").first.click()
    page.wait_for_selector("#trial .note")
    assert "belongs beside this file" in page.locator("#trial").inner_text()
    assert open_page.opened[0].troubles, "the browser tells that a file is missing"
    open_page.opened[0].troubles.clear()


def test_a_trial_without_a_result(open_page: Open, tmp_path: Path) -> None:
    """It says why, and where that lies which its attempts printed."""
    row = failed_row(a_trial(), "the agent ended without a result")
    place = "claude/m/kanban-board/trial-1"
    made = Made(tmp_path, "latest")
    made.folder.mkdir(parents=True)
    (made.folder / "report.html").write_text(render("latest", [plain_fields(line_of_row(row, place))], "report-data"))
    page = open_page(made)
    page.locator("a.mark").click()
    page.wait_for_selector("#trial .note")
    assert "the agent ended without a result" in page.locator("#trial .reason").inner_text()
    assert f"results/latest/{place}/failed" in page.locator("#trial .note").inner_text()


# ---- how it looks ----
def test_light_dark_phone_and_paper(thousand: Made, three: Made, open_page: Open) -> None:
    """Two schemes of colours; nothing is wider than a phone; what is no use on paper is not printed."""
    colours = [open_page(three, color_scheme=scheme).evaluate("getComputedStyle(document.body).backgroundColor")
               for scheme in ("light", "dark")]
    assert colours[0] != colours[1]
    for made, where in ((thousand, ""), (thousand, "#view=list"), (three, SONNET)):
        page = open_page(made, where, viewport={"width": 390, "height": 844})
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    names = open_page(thousand, "#view=list", viewport={"width": 390, "height": 844}).locator("td.case, td.subject")
    assert not names.evaluate_all("(all) => all.some((one) => one.scrollWidth > one.clientWidth + 1)"), "cut off"
    page = open_page(three, SONNET)
    page.wait_for_selector("#part-checks")
    assert page.locator(".facts dd").filter(has_text="completed").inner_text() in ("completed", "completed: done")
    page.emulate_media(media="print")
    assert not page.locator(".search").is_visible()
    assert page.locator("#part-checks").is_visible()
    assert "rgb(255, 255, 255)" == page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_heads_of_many_arms(open_page: Open, tmp_path: Path) -> None:
    """Whole on a screen, on a phone and on paper, whatever the arms are called; so are the cases on paper."""
    made = Made(tmp_path, "latest")
    made.folder.mkdir(parents=True)
    lines = [a_line("kanban-board", model=f"acme/model-{model}", unit=f"kanban-board+{arm}") for model in (1, 2, 3)
             for arm in ("baseline", "an-arm-with-a-rather-long-name-of-its-own")]
    (made.folder / "report.html").write_text(render("latest", lines, "report-data"))
    cut = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1)"
    for width, media in ((1280, "screen"), (390, "screen"), (720, "print")):
        page = open_page(made, viewport={"width": width, "height": 900})
        page.emulate_media(media=media)  # type: ignore[arg-type]
        heads = page.locator(".matrix thead .agent")
        assert 6 == heads.count()
        assert [] == heads.evaluate_all(cut), (width, media)
        assert page.locator(".matrix thead .arm").evaluate_all(
            "(all) => all.every((one) => one.getBoundingClientRect().bottom <= "
            "one.parentElement.getBoundingClientRect().bottom + 2)"), (width, media)
        assert 90 < page.locator(".matrix tbody th.case").evaluate("(one) => one.offsetWidth"), (width, media)
    assert 250 < open_page(made, viewport={"width": 390, "height": 900}).locator(
        ".filters input[type=search]").evaluate("(one) => one.offsetWidth")
