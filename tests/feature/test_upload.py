"""`upload=braintrust` and `evalkit upload`, against a stand-in of Braintrust's API on loopback."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evalkit.report.upload_child import may_ask
from tests.feature.braintrust import Braintrust, braintrust
from tests.feature.project import KEY as GATEWAY_KEY
from tests.feature.project import MiniProject, fake_claude

KEY = "sk-a-dummy-key-of-braintrust-1234567890"
AGENT = ("case:greeting", "agent=claude", "judge=off", "gateway=direct")


@pytest.fixture
def server() -> Iterator[Braintrust]:
    with braintrust(KEY) as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, server: Braintrust) -> MiniProject:
    """A project with a stand-in for Claude Code, and the keys of both."""
    mini = MiniProject.make(tmp_path)
    program, _ = fake_claude(tmp_path / "bin")
    mini.env |= {"EVALKIT_CLAUDE": str(program), "AI_GATEWAY_API_KEY": GATEWAY_KEY,
                 "BRAINTRUST_API_KEY": KEY, "BRAINTRUST_APP_URL": server.url, "HTTP_PROXY": "http://127.0.0.1:1",
                 **dict.fromkeys(("BRAINTRUST_API_URL", "BRAINTRUST_PROJECT", "BRAINTRUST_ORG_NAME"), "")}
    return mini


def evalkit(project: MiniProject, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "evalkit.cli", *args], cwd=project.root, env=project.environ,
                          capture_output=True, text=True, check=False, timeout=120)


def test_a_run_is_an_experiment_and_a_trial_a_row(project: MiniProject, server: Braintrust) -> None:
    """Scores by check, what it was, what it cost; uploaded again, also with new verdicts, nothing is doubled."""
    done = project.doit("run", *AGENT, "trials=2", "run=first", "upload=braintrust")
    assert 0 == done.status, done.err
    assert "uploaded 2 trials of run `first` to Braintrust: project `evalkit`, experiment `first`" in done.err
    assert [("p-evalkit", "first")] == list(server.experiments)
    rows = sorted(server.rows.values(), key=lambda row: row["metadata"]["trial"])
    assert [1, 2] == [row["metadata"]["trial"] for row in rows]
    row = rows[0]
    assert {"passed": 1, "own": 1, "greets": 1, "finished": 1, "not-empty": 1} == row["scores"]
    assert {"case": "greeting", "unit": "greeting"} == row["input"]
    assert ("pass", "completed") == (row["output"]["status"], row["output"]["ended"])
    assert (0.25, 1) == (row["metrics"]["cost"], row["metrics"]["turns"])
    assert (100, 20) == (row["metrics"]["prompt_tokens"], row["metrics"]["completion_tokens"])
    assert ("claude", "mini") == (row["metadata"]["agent"], row["metadata"]["suite"])
    assert "e-0" == row["experiment_id"]

    project.edit("cases/mini/greeting/greeting.eval", 'has /hello/i', 'has /good day/i')
    done = project.doit("run", *AGENT, "trials=2", "run=first", "upload=braintrust")
    assert 1 == done.status, done.err
    assert 2 == len(server.rows)
    assert 1 == len(server.experiments)
    assert [0, 0] == [row["scores"]["greets"] for row in server.rows.values()]

    again = evalkit(project, "upload", "first", "--project", "other")
    assert (0, "") == (again.returncode, again.stderr)
    assert [("p-evalkit", "first"), ("p-other", "first")] == list(server.experiments)
    assert [] == project.files_with(KEY)
    assert KEY not in done.out + done.err + again.stdout


def test_without_a_key_the_verdicts_stand(project: MiniProject, server: Braintrust) -> None:
    """A line says what to set; nobody is asked. By itself the command fails."""
    del project.env["BRAINTRUST_API_KEY"]
    done = project.doit("run", "case:greeting", "agent=oracle", "judge=off", "upload=braintrust")
    assert 0 == done.status
    assert "uploading needs a key of Braintrust's, and BRAINTRUST_API_KEY is not set" in done.err
    assert "export BRAINTRUST_API_KEY=…, then: evalkit upload latest" in done.err
    assert 2 == evalkit(project, "upload").returncode
    assert [] == server.asked


def test_a_refused_key_and_a_broken_server(project: MiniProject, server: Braintrust) -> None:
    """Each is told as what it is, without the key; the verdicts stand."""
    assert 0 == project.doit("run", "case:greeting", "agent=oracle", "judge=off").status
    server.broken = True
    project.env["BRAINTRUST_NUM_RETRIES"] = "0"
    broken = evalkit(project, "upload")
    assert 3 == broken.returncode, broken.stderr
    assert "the upload failed: " in broken.stderr
    assert "something broke" in broken.stderr
    server.key = "another"
    refused = evalkit(project, "upload")
    assert 2 == refused.returncode, refused.stderr
    assert "did not let us in" in refused.stderr
    assert 0 == project.doit("run", "case:greeting", "agent=oracle", "judge=off", "upload=braintrust").status
    project.env["BRAINTRUST_APP_URL"] = "http://127.0.0.1:1"
    away = evalkit(project, "upload")
    assert (3, True) == (away.returncode, "the upload failed: " in away.stderr), away.stderr
    assert KEY not in away.stderr
    assert KEY not in broken.stderr + refused.stderr
    assert {} == server.rows


def test_nobody_else_is_asked(project: MiniProject, server: Braintrust) -> None:
    """An address of another's that sign-in names gets neither key nor rows, unless the person names it too."""
    assert 0 == project.doit("run", "case:greeting", "agent=oracle", "judge=off").status
    with braintrust(KEY) as other:
        server.api = other.url.replace("127.0.0.1", "localhost")
        done = evalkit(project, "upload")
        assert 2 == done.returncode, done.stderr
        assert f"export BRAINTRUST_API_URL={server.api}" in done.stderr
        assert ([], ["POST /api/apikey/login"]) == (other.asked, server.asked)
        project.env["BRAINTRUST_API_URL"] = server.api
        assert 0 == evalkit(project, "upload").returncode
        assert 1 == len(other.rows)
        assert {} == server.rows


def test_what_is_no_measurement(project: MiniProject, server: Braintrust) -> None:
    """A known answer is marked as one; a dry run, and one that is not there, are none."""
    assert 0 == project.doit("run", "case:greeting", "agent=oracle", "judge=off", "upload=braintrust").status
    (row,) = server.rows.values()
    assert (True, True) == (row["metadata"]["self_check"], "self-check" in row["tags"])
    assert 1 == project.doit("run", "case:greeting", "agent=wrong:rude", "judge=off", "run=rude",
                             "upload=braintrust").status
    assert [True, True] == ["self-check" in row["tags"] for row in server.rows.values()]
    assert 0 == project.doit("run", "case:greeting", "agent=claude", "judge=off", "dry=1").status
    assert "run `dry` is a dry one" in evalkit(project, "upload", "dry").stderr
    assert "there is no run `gone` under results/" in evalkit(project, "upload", "gone").stderr
    assert 2 == len(server.rows)


@pytest.mark.parametrize(("app", "api", "may"), [
    ("https://www.braintrust.dev", "https://api.braintrust.dev", True),
    ("https://www.braintrust.dev", "https://api.braintrust.dev.elsewhere.org", False),
    ("https://www.braintrust.dev", "http://api.braintrust.dev", False),
    ("https://www.braintrust.dev", "https://elsewhere.dev", False),
    ("https://localhost", "https://localhost:8000", True),
    ("http://127.0.0.1:1", "http://127.0.0.1:2", True),
    ("http://127.0.0.1:1", "http://9.0.0.1:2", False),
    ("https://www.braintrust.dev", "file:///etc", False),
])
def test_whose_address_it_is(app: str, api: str, may: bool) -> None:
    """The app's own host, or one of its domain, and no less safe."""
    assert may is may_ask(app, api)
