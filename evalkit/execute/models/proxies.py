"""HTTP clients for models, with the person's proxy where one leads to them.

What is on this machine needs no proxy. Else httpx reads the proxies of the environment (HTTPS_PROXY, HTTP_PROXY,
ALL_PROXY, NO_PROXY: https://www.python-httpx.org/environment_variables/), and takes none of them where one is of a kind
that it cannot do. Then the one that this address needs is looked for, and an error names its variable.
"""

from __future__ import annotations

import ipaddress
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from evalkit.errors import UserError

if TYPE_CHECKING:
    import httpx

__all__ = ["client_for", "is_here"]


def is_here(url: str) -> bool:
    """Whether an address is on this machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or host.endswith(".localhost") or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def client_for(url: str, *, transport: httpx.BaseTransport | None = None, limits: httpx.Limits | None = None,
               **options: Any) -> httpx.Client:
    """A client that follows no redirect, for one address. transport: another way there, for tests. options: as of
    `httpx.Client`. Raises UserError where the proxy that leads there is none that can be used.
    """
    import httpx

    limits = limits or httpx.Limits()
    if transport is None and is_here(url):
        transport = httpx.HTTPTransport(limits=limits)  # with a transport of ours no proxy is looked for
    try:
        return httpx.Client(follow_redirects=False, transport=transport, limits=limits, **options)
    except (ImportError, ValueError, httpx.InvalidURL):  # a proxy's kind, or its address; perhaps of one not needed
        if transport is not None:
            raise
    proxy = _proxy_of(url)
    if proxy is None:
        return httpx.Client(transport=httpx.HTTPTransport(limits=limits), follow_redirects=False, **options)
    variable, address = proxy
    try:
        return httpx.Client(follow_redirects=False, proxy=address, trust_env=False, limits=limits,
                            verify=httpx.create_ssl_context(), **options)
    except (ImportError, ValueError, httpx.InvalidURL):
        kind = address.partition("://")[0] if "://" in address else "no address"
        raise UserError(f"{variable} names a proxy that evalkit cannot use ({kind})",
                        hint=f"set {variable} to an http:// proxy, or NO_PROXY to {urlsplit(url).hostname}"
                        + (", or pip install socksio" if kind.startswith("socks") else "")) from None


def _proxy_of(url: str) -> tuple[str, str] | None:
    """The variable and the address of the proxy that leads to an address; None where none does."""
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return None
    found = getproxies()
    name = next((name for name in (parts.scheme, "all") if found.get(name)), None)
    if name is None:
        return None
    variable = f"{name}_proxy"
    return variable if os.environ.get(variable) else variable.upper(), found[name]
