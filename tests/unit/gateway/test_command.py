"""`evalkit gateway` as a person starts and ends it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.unit.gateway.asking import Asker, write_script

KEY = "vck_a-dummy-key-that-must-not-be-kept"


def clean_environ(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    return {**{name: value for name, value in os.environ.items() if not name.endswith(("_KEY", "_TOKEN", "_BASE_URL"))},
            **(extra or {})}


class Running:
    """A gateway in a process of its own."""

    def __init__(self, *args: str, env: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen([sys.executable, "-m", "evalkit.cli", "gateway", *args], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environ(env))
        assert self.process.stdout is not None
        self.greeting = [self.process.stdout.readline()]
        if not self.greeting[0]:
            raise AssertionError(self.process.communicate(timeout=30)[1])
        if "socket" not in self.greeting[0]:
            self.greeting += [self.process.stdout.readline() for _ in range(3)]

    @property
    def url(self) -> str:
        found = re.search(r"ANTHROPIC_BASE_URL=(\S+)", "".join(self.greeting))
        assert found, self.greeting
        return found[1]

    def end(self, number: int = signal.SIGINT) -> tuple[int, str]:
        """Exit status and what it said on standard error."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=30)
        return self.process.returncode, errors


@contextmanager
def running(*args: str, env: Mapping[str, str] | None = None) -> Iterator[tuple[Running, Asker]]:
    gateway = Running(*args, env=env)
    try:
        with httpx.Client(trust_env=False, timeout=20) as client:
            yield gateway, Asker(client, gateway.url)
    finally:
        if gateway.process.poll() is None:
            gateway.process.kill()
            gateway.process.communicate()


def evalkit(*args: str, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, "-m", "evalkit.cli", "gateway", *args], capture_output=True, text=True,
                          check=False, timeout=60, env=clean_environ(env), stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def test_play_serves_until_it_is_ended(tmp_path: Path) -> None:
    """The lines to export, an answer, and what was answered at the end, by SIGTERM as by Ctrl-C."""
    script = write_script(tmp_path, "- {name: never, when: {user: never}, reply: a}\n- reply: hi\n")
    for number in (signal.SIGINT, signal.SIGTERM):
        with running("play", str(script)) as (gateway, asker):
            assert "hi" == asker.say()
            assert (0, f"note: {script}:3: never answered nothing\n1 request answered\n") == gateway.end(number)
    url = gateway.url
    assert [
        f"# playing {script} on {url}; Ctrl-C ends it\n",
        f"export ANTHROPIC_BASE_URL={url} ANTHROPIC_AUTH_TOKEN=no-key-needed ANTHROPIC_API_KEY=\n",
        f"export OPENAI_BASE_URL={url}/v1 OPENAI_API_KEY=no-key-needed\n",
        f"export GOOGLE_GEMINI_BASE_URL={url} GEMINI_API_KEY=no-key-needed\n"] == gateway.greeting


def test_play_tells_what_no_rule_knew(tmp_path: Path) -> None:
    """Exit status 1, and each such request in a line."""
    script = write_script(tmp_path, "- {when: {user: a}, reply: b}\n")
    with running("play", str(script)) as (gateway, asker):
        assert ["b", "403", "403"] == [asker.say(text) for text in "axy"]
        status, errors = gateway.end()
    assert 1 == status
    assert ["no answer: no rule fits [anthropic m; turn 1; user 'x'; no tools]",
            "no answer: no rule fits [anthropic m; turn 1; user 'y'; no tools]",
            "1 request answered, 2 not"] == errors.splitlines()


def test_play_on_a_port_and_on_a_socket(tmp_path: Path) -> None:
    """As asked; a request that hangs does not keep it from ending."""
    script = write_script(tmp_path, "- {when: {user: wait}, reply: {hang: 1m}}\n- reply: hi\n")
    path = tmp_path / "s.sock"
    gateway = Running("play", str(script), "--socket", str(path))
    with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), timeout=20) as client:
        assert "hi" == Asker(client, "http://gateway").say()
        assert [f"# playing {script} on the socket {path}; Ctrl-C ends it\n"] == gateway.greeting
        with pytest.raises(httpx.ReadTimeout):
            client.post("http://gateway/v1/messages", timeout=0.3,
                        json={"messages": [{"role": "user", "content": "wait"}]})
    assert 0 == gateway.end()[0]
    assert not path.exists()
    with running("play", str(script)) as (first, _):
        port = first.url.rpartition(":")[2]
        status, _, errors = evalkit("play", str(script), "--port", port)
    assert 2 == status
    assert f"cannot listen on port {port}" in errors


def test_a_wrong_script(tmp_path: Path) -> None:
    """Exit status 2 with the line, at once; `--check` reads without serving."""
    script = write_script(tmp_path, "- replay: a\n")
    for args in (("play", str(script)), ("play", str(script), "--check")):
        status, out, errors = evalkit(*args)
        assert (2, "") == (status, out)
        assert f"{script}:3: a rule has no key `replay` (did you mean `reply`?)" in errors
    assert (0, f"{write_script(tmp_path, '- reply: a')} is right\n", "") == evalkit("play", str(script), "--check")


def test_record_and_play(tmp_path: Path) -> None:
    """The key goes to the provider and nowhere else; the cassette is there when the command has ended."""
    script, cassette = write_script(tmp_path, "- reply: hi\n"), tmp_path / "c.jsonl"
    with running("play", str(script)) as (provider, _):
        with running("record", provider.url, str(cassette), env={"AI_GATEWAY_API_KEY": KEY}) as (gateway, asker):
            assert "hi" == asker.say()
            assert not cassette.exists()
            assert (0, f"1 exchange recorded in {cassette}\n") == gateway.end(signal.SIGTERM)
            assert KEY not in "".join(gateway.greeting) + cassette.read_text()
        assert 0 == provider.end()[0]
    with running("play", str(cassette)) as (gateway, asker):
        assert ["hi", "403"] == [asker.say(text) for text in ("hello", "bye")]
        status, errors = gateway.end()
    assert 1 == status
    assert "turn 1 (user): text: recorded 'hello', asked 'bye'" in errors


def test_what_record_needs(tmp_path: Path) -> None:
    """A key, an address, a file that is not there; and a provider that answers: else it ends with 3."""
    cassette = tmp_path / "c.jsonl"
    key = {"AI_GATEWAY_API_KEY": KEY}
    assert "AI_GATEWAY_API_KEY" in evalkit("record", "http://127.0.0.1:9", str(cassette))[2]
    assert 2 == evalkit("record", "example.org", str(cassette), env=key)[0]
    with running("record", "http://127.0.0.1:9", str(cassette), env=key) as (gateway, asker):
        assert "502" == asker.say()
        status, errors = gateway.end()
    assert 3 == status
    assert "not recorded: http://127.0.0.1:9 cannot be reached" in errors
    assert "0 exchanges recorded: nothing is written" in errors
    cassette.write_text("mine")
    status, _, errors = evalkit("record", "http://127.0.0.1:9", str(cassette), env=key)
    assert (2, "mine") == (status, cassette.read_text())
    assert "is there already" in errors


@pytest.mark.parametrize("args", [(), ("play",), ("record",)])
def test_help_has_examples(args: tuple[str, ...]) -> None:
    status, out, _ = evalkit(*args, "--help")
    assert 0 == status
    assert "examples:\n" in out


def test_a_closed_terminal_and_nohup(tmp_path: Path) -> None:
    """A recording is kept when its terminal closes; with `nohup` it goes on."""
    script, cassette = write_script(tmp_path, "- reply: hi\n"), tmp_path / "c.jsonl"
    with running("play", str(script)) as (provider, _), running(
            "record", provider.url, str(cassette), env={"AI_GATEWAY_API_KEY": KEY}) as (gateway, asker):
        assert "hi" == asker.say()
        assert 0 == gateway.end(signal.SIGHUP)[0]
    assert cassette.exists()
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with running("play", str(cassette)) as (gateway, asker):
            gateway.process.send_signal(signal.SIGHUP)
            assert "hi" == asker.say()
            assert 0 == gateway.end()[0]
    finally:
        signal.signal(signal.SIGHUP, before)


def test_what_a_project_calls_secret_is_kept_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that pyproject.toml names, where `record` is run in the project."""
    script, cassette = write_script(tmp_path, "- reply: '{{user}}'\n"), tmp_path / "c.jsonl"
    (tmp_path / "cases").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.evalkit]\nsecrets = ["STAGE"]\n')
    monkeypatch.chdir(tmp_path)
    env = {"AI_GATEWAY_API_KEY": KEY, "STAGE": "behind-the-moon"}
    with running("play", str(script)) as (provider, _), running(
            "record", provider.url, str(cassette), env=env) as (gateway, asker):
        assert "it is behind-the-moon" == asker.say("it is behind-the-moon")
        assert 0 == gateway.end()[0]
    assert "behind-the-moon" not in cassette.read_text()
    assert "STAGE redacted" in cassette.read_text()
