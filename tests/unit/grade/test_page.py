"""The check of pages without a browser: its server, and what it needs. With one: tests/e2e/test_page.py."""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from evalkit.analysis.model import Check, PageSpec
from evalkit.execute.lanes import LocalRoom
from evalkit.execute.process import Finished
from evalkit.grade import page as module
from evalkit.grade.grader import grade_check, grader_files, grader_version
from evalkit.grade.page_server import Site, serving
from evalkit.grade.verdict import Verdict
from tests.unit.grade.trees import a_case, final_tree


def graded(folder: Path, *, path: str = "index.html") -> Verdict:
    folder.mkdir(exist_ok=True)
    check = Check("smoke", "page", PageSpec(path, 5), (), False, "", "x.eval:1:1")
    return grade_check(a_case(), check, final_tree(folder, {"index.html": "<p>hello"}), {}, "local").verdict


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A workspace with a link that leads out and one that leads nowhere, and two folders of packages."""
    for name, text in {"app/index.html": "page", "app/a b/ü.js": "1", "app/node_modules/own/x.js": "own",
                       "npm/three/build/three.js": "three", "npm/own/x.js": "other", "more/late/y.wasm": "late",
                       "secret.txt": "secret"}.items():
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    (tmp_path / "app/out").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "app/up").symlink_to(tmp_path)
    (tmp_path / "app/loop").symlink_to("loop")
    return Site(tmp_path / "app", [tmp_path / "npm", tmp_path / "more"])


def asked(site: Site, *targets: str, method: str = "GET") -> list[tuple[int, str | None, bytes]]:
    """Status, type and body of each target, as a browser asks its proxy."""
    found = []
    with serving(site) as proxy:
        for target in targets:
            connection = http.client.HTTPConnection(urlsplit(proxy).netloc, timeout=5)
            connection.request(method, target)
            answer = connection.getresponse()
            found.append((answer.status, answer.headers["Content-Type"], answer.read()))
            connection.close()
    return found


@pytest.mark.parametrize(("path", "status", "body"), [
    ("/", 200, b"page"), ("/index.html", 200, b"page"), ("/index.html?x=1", 200, b"page"),
    ("/a%20b/%C3%BC.js", 200, b"1"), ("/node_modules/three/build/three.js", 200, b"three"),
    ("/node_modules/own/x.js", 200, b"own"), ("/node_modules/late/y.wasm", 200, b"late"),
    ("/nope.js", 404, b""), ("/out", 404, b""), ("/up/secret.txt", 404, b""), ("/loop", 404, b""),
    ("/../secret.txt", 404, b""), ("/%2e%2e/secret.txt", 404, b""), ("/node_modules/../secret.txt", 404, b""),
    ("/node_modules/%2e%2e/secret.txt", 404, b""), ("/a%00b", 404, b""), ("/favicon.ico", 204, b""),
])
def test_what_the_site_has(site: Site, path: str, status: int, body: bytes) -> None:
    """The workspace, the packages below it, and nothing else of the disk."""
    (answer,) = asked(site, f"http://localhost{path}")
    assert (status, body) == (answer[0], answer[2])


def test_kinds_of_files(site: Site) -> None:
    """Browsers take a module or WebAssembly of another type for nothing."""
    answers = asked(site, "http://localhost/a%20b/%C3%BC.js", "http://localhost/node_modules/late/y.wasm")
    assert ["text/javascript; charset=utf-8", "application/wasm"] == [kind for _, kind, _ in answers]


@pytest.mark.parametrize("target", ["http://127.0.0.1:80/", "http://localhost:8080/", "http://example.com/x",
                                    "ftp://localhost/", "/index.html", "http://localhost.example.com/"])
def test_anything_else_is_refused(site: Site, target: str) -> None:
    """By name, and noted."""
    assert 403 == asked(site, target)[0][0]
    assert 1 == len(site.refused)


def test_other_methods(site: Site) -> None:
    """A tunnel is refused; a site of files takes nothing."""
    assert 403 == asked(site, "example.com:443", method="CONNECT")[0][0]
    assert 405 == asked(site, "http://localhost/", method="POST")[0][0]
    assert ["example.com:443"] == list(site.refused)


def test_a_page_that_is_not_there(tmp_path: Path) -> None:
    """It is a fail, and no browser is started for it."""
    assert ("fail", "docs.html is not there") == (graded(tmp_path, path="docs.html").status,
                                                  graded(tmp_path / "b", path="docs.html").summary)


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that names it."""
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    verdict = graded(tmp_path)
    assert "error" == verdict.status
    assert "evalkit[browser]" in verdict.evidence


def test_without_a_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that says how to get one."""
    monkeypatch.setattr(module, "_USUAL", tmp_path / "none")
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    verdict = graded(tmp_path)
    assert ("error", "`check page` needs Chromium, and there is none on PATH") == (verdict.status, verdict.summary)
    assert "apt-get install chromium" in verdict.evidence


def test_a_browser_that_does_not_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the page did not do is no fail of it."""
    monkeypatch.setattr(LocalRoom, "run", lambda *_, **__: Finished(1, 0.1))
    verdict = graded(tmp_path)
    assert "error" == verdict.status
    assert verdict.summary.startswith("the browser does not work (status 1)")


def test_a_machine_that_is_too_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no fail of the page either, unless something else went wrong before."""
    troubles: list[dict[str, str]] = []

    def run(_: LocalRoom, argv: list[str], **__: object) -> Finished:
        Path(argv[-2]).write_text(json.dumps(
            {"stage": "done", "browser": "1", "troubles": troubles, "notes": [], "busy": True}))
        return Finished(0, 0.1)

    monkeypatch.setattr(LocalRoom, "run", run)
    verdict = graded(tmp_path / "a")
    assert ("error", "the machine is too busy: of 40 s the page had too few to be judged") == (
        verdict.status, verdict.summary)
    troubles.append({"kind": "console", "told": "broken"})
    assert "fail" == graded(tmp_path / "b").status


def test_its_version() -> None:
    """What drives the browser is part of it."""
    assert grader_version(PageSpec("index.html")).startswith("page 4, playwright ")
    assert ["METADATA"] == [file.name for file in grader_files(PageSpec("index.html"))]
