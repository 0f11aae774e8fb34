"""Which proxy leads to a provider: none to this machine, and of others the one that is needed."""

from __future__ import annotations

import sys

import httpx
import pytest

from evalkit.errors import UserError
from evalkit.execute.models.proxies import client_for, is_here
from tests.unit.gateway.asking import serving
from tests.unit.gateway.upstream import Upstream

SOCKS = "socks5://127.0.0.1:9"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """None but the test's, and no package that can do SOCKS."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setitem(sys.modules, "socksio", None)


@pytest.mark.parametrize(("url", "here"), [
    ("http://127.0.0.1:80/v1", True), ("http://localhost", True), ("http://[::1]:8", True), ("http://127.9.9.9", True),
    ("https://a.localhost", True), ("https://gateway.invalid", False), ("http://localhost.invalid", False),
    ("http://192.0.2.1", False), ("nothing", False), ("http://[::1", False)])
def test_what_is_on_this_machine(url: str, here: bool) -> None:
    assert here == is_here(url)


@pytest.mark.parametrize("variable", ["ALL_PROXY", "HTTP_PROXY", "all_proxy"])
@pytest.mark.parametrize("proxy", [SOCKS, "http://127.0.0.1:9", "ftp://127.0.0.1:9"])
def test_no_proxy_leads_to_this_machine(variable: str, proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its kind."""
    monkeypatch.setenv(variable, proxy)
    with serving(Upstream(lambda _, out: out.send(200, b"here"))) as asker, client_for(asker.url) as client:
        assert "here" == client.get(asker.url).text


@pytest.mark.parametrize(("url", "environ", "variable"), [
    ("https://gateway.invalid", {"ALL_PROXY": SOCKS}, "ALL_PROXY"),
    ("https://gateway.invalid", {"HTTPS_PROXY": SOCKS, "ALL_PROXY": "http://127.0.0.1:9"}, "HTTPS_PROXY"),
    ("https://gateway.invalid", {"https_proxy": "ftp://127.0.0.1:9"}, "https_proxy")])
def test_a_proxy_that_cannot_be_used(
    url: str, environ: dict[str, str], variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person is told which variable names it."""
    for name, proxy in environ.items():
        monkeypatch.setenv(name, proxy)
    with pytest.raises(UserError) as raised:
        client_for(url)
    assert raised.value.message.startswith(f"{variable} names a proxy that evalkit cannot use")
    assert "NO_PROXY to gateway.invalid" in raised.value.hint


@pytest.mark.parametrize("environ", [
    {"ALL_PROXY": SOCKS, "HTTPS_PROXY": "http://127.0.0.1:9"}, {"HTTP_PROXY": SOCKS},
    {"ALL_PROXY": SOCKS, "NO_PROXY": "gateway.invalid"}])
def test_a_proxy_that_is_not_needed(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It harms nobody: another one leads there, or none has to."""
    for name, proxy in environ.items():
        monkeypatch.setenv(name, proxy)
    with client_for("https://gateway.invalid") as client, pytest.raises(httpx.ConnectError):
        client.get("https://gateway.invalid")
