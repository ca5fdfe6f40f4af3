"""Who may use the server, judged by the Host and Origin headers of a request.

Host: evil.example            a web page whose host name points at this machine (DNS rebinding): refused
Origin: https://evil.example  a web page that posts to this machine: refused unless --allow-origin names it
Origin: moz-extension://...   a browser extension, which the user has installed: answered
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

LOCAL_NAMES = ("localhost", "localhost.localdomain", "127.0.0.1", "::1")
ANY = "*"


@dataclass(frozen=True)
class Callers:
    """`hosts`: names of the server, in lower case; empty means any. `origin`: web pages that may ask, as in CORS."""

    hosts: frozenset[str] = frozenset()
    origin: str | None = None

    @classmethod
    def of_listener(cls, address: str, names: Iterable[str] = (), origin: str | None = None) -> Callers:
        """The callers of a server that listens on an IP address. On loopback, only local and given names count."""
        given = frozenset(name.lower() for name in names)
        if ANY in given or not (given or ipaddress.ip_address(address).is_loopback):
            return cls(origin=origin)
        return cls(given | {*LOCAL_NAMES, address}, origin)

    def reason_to_refuse(self, headers: Iterable[tuple[bytes, bytes]]) -> str | None:
        """Why a request with these headers is refused, or None if it is not."""
        found = {name: value.decode("latin-1") for name, value in headers if name in (b"host", b"origin")}
        host = found.get(b"host", "")
        origin = found.get(b"origin")
        if self.hosts and host_name(host) not in self.hosts:
            return "this server does not go by that name; --allow-host adds names"
        if origin is None or self.origin in (ANY, origin):
            return None
        scheme, _, place = origin.partition("://")
        is_web = scheme in ("http", "https") or not place
        if is_web and place.lower() != host.lower():
            return "no pages of that origin may ask this server; see --allow-origin"
        return None


def host_name(host: str) -> str:
    """The name in a Host header, in lower case, without port and brackets; "" if the header is malformed.

    >>> host_name("LocalHost:8081"), host_name("[::1]:80"), host_name("a b")
    ('localhost', '::1', '')
    """
    try:
        return urlsplit(f"//{host}").hostname or "" if not set(host) & set(" /?#@\\") else ""
    except ValueError:
        return ""
