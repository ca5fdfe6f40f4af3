"""Who may use the server, judged by the headers of a request.

Host: evil.example            a web page whose host name points at this machine (DNS rebinding): refused
Origin: https://evil.example  a web page that posts to this machine: refused unless --allow-origin names it
Sec-Fetch-Site: cross-site    an image, frame, script, link or form of such a page, without an Origin: refused
Origin: moz-extension://...   a browser extension, which the user has installed: answered

Browsers send Sec-Fetch-Site to this machine and over TLS. Elsewhere a Referer shows the page, and a browser that sends
neither has no business at the one route that computes for a link (`/v2/check?text=...`): our page posts.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

LOCAL_NAMES = ("localhost", "localhost.localdomain", "127.0.0.1", "::1")
ANY = "*"
# Of programs that the user has installed; no web page has one.
INSTALLED = frozenset(
    ("chrome-extension", "moz-extension", "safari-web-extension", "ms-browser-extension", "vscode-webview", "app")
)
OUR_SITES = frozenset(("same-origin", "none"))  # Sec-Fetch-Site: our page, or the address line
READ = (b"host", b"origin", b"sec-fetch-site", b"referer", b"user-agent")
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::[0-9]{1,5})?", re.ASCII | re.IGNORECASE)
_ORIGIN = re.compile(r"([a-z][a-z0-9+.-]*)://([^/?#@\s]*)", re.ASCII | re.IGNORECASE)
NOT_THIS_PAGE = "no pages of that origin may ask this server; see --allow-origin"


class Refusal(NamedTuple):
    """Why a request is refused, and with which status."""

    status: int
    reason: str


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

    def refuse(
        self, headers: Iterable[tuple[bytes, bytes]], *, computes: bool, is_link: bool = False
    ) -> Refusal | None:
        """Why a request with these headers is refused, or None if it is not.

        computes: its route does more than to send a file of the page. is_link: it computes, and a link can ask for it.
        """
        given = [(name, value.decode("latin-1")) for name, value in headers if name in READ]
        found = dict(given)
        if len(found) < len(given):
            return Refusal(400, "Host, Origin, Sec-Fetch-Site, Referer and User-Agent: expected each once")
        host = found.get(b"host", "")
        name = host_name(host)
        if not name:
            return Refusal(400, "Host: expected a name or an address, and a port if need be")
        if self.hosts and name not in self.hosts:
            return Refusal(403, "this server does not go by that name; --allow-host adds names")
        if self.origin == ANY:
            return None
        if b"origin" in found:
            return self._refuse_origin(found[b"origin"], host)
        if computes and _is_of_a_page(found, host, is_link=is_link):
            return Refusal(403, NOT_THIS_PAGE)
        return None

    def _refuse_origin(self, origin: str, host: str) -> Refusal | None:
        if origin == self.origin:
            return None
        parts = _ORIGIN.fullmatch(origin)
        if parts is None and origin != "null" and not origin.startswith("blob:"):
            return Refusal(400, "Origin: expected a scheme and a host")
        if parts and parts[1].lower() in INSTALLED:
            return None
        is_ours = parts and parts[1].lower() in ("http", "https") and parts[2].lower() == host.lower()
        return None if is_ours else Refusal(403, NOT_THIS_PAGE)


def _is_of_a_page(found: dict[bytes, str], host: str, *, is_link: bool) -> bool:
    """Whether a request without an Origin is one of a web page other than ours."""
    site = found.get(b"sec-fetch-site")
    if site is not None:
        return site.strip().lower() not in OUR_SITES
    if b"referer" in found:
        return found[b"referer"].partition("://")[2].partition("/")[0].lower() != host.lower()
    return is_link and found.get(b"user-agent", "").startswith("Mozilla/")


def host_name(host: str) -> str:
    """The name in a Host header, in lower case, without port and brackets; "" if the header is malformed.

    >>> host_name("LocalHost:8081"), host_name("[::1]:80"), host_name("a b"), host_name("localhost:80.evil.example")
    ('localhost', '::1', '', '')
    """
    found = _HOST.fullmatch(host)
    return (found[1] or found[2]).lower() if found else ""
