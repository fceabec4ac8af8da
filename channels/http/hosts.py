"""The names that the gateway answers to, and the channels that answer only this machine.

A page elsewhere can point its own name at our address (DNS rebinding) and then reads and posts as if it were ours. The
Host header gives it away, because the browser writes it. An address in it gives nothing away and needs no check if
others may reach us: an address cannot be rebound.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from core.errors import RequestRefused
from core.messaging.channels import Channel

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""Paths of a platform's probes, served under any of our names or addresses."""
ANY = "*"
_PROXYS_WORD = re.compile(
    "forwarded|forwarder|forwarding|proxied|proxy|via|real|remote|client|ip|original|originating|rewrite|proto|scheme"
    "|cluster|edge|cdn|envoy|akamai|amz|amzn|appengine|azure|cf|cloudfront|fastly|fly|ngrok|tailscale|vercel"
)
"""Words in names of headers that proxies add about the forwarded request; no browser and no provider uses them."""


@dataclass(frozen=True, slots=True)
class ServedHosts:
    """The hosts that requests may name besides this machine's own.

    `is_open`: other machines reach us, so that a proxy may also name an address, or a name without a dot such as
    compose's `web`; no page can make either its own. `*` among the names allows any.
    """

    names: frozenset[str] = frozenset({ANY})
    is_open: bool = True

    def serves(self, host: str) -> bool:
        """Return whether a host, without its port, is served here."""
        if ANY in self.names or host in self.names or is_local_host(host):
            return True
        return self.is_open and host != "" and ("." not in host.rstrip(".") or _address(host) is not None)


def served_hosts(host: str, public_url: str, further: Iterable[str] = ()) -> ServedHosts:
    """Return the hosts served by a process that listens on `host` and is known to providers as `public_url`."""
    names = {read_host(name) for name in further} | {host_of(public_url)}
    names.discard("")
    is_open = not is_local_host(host)
    if is_open and not names:
        # The operator set no name, and every route but the health checks asks for a proof.
        return ServedHosts()
    return ServedHosts(frozenset({*names, host.lower()}), is_open)


def is_local_host(host: str) -> bool:
    """Return whether a host is a name or an address of this machine that no other machine reaches."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _address(host)
    return address is not None and address.is_loopback


def check_hosts(served: ServedHosts, local: Sequence[Channel] = ()) -> Middleware:
    """Refuse requests for other hosts' names, before anything else of them is read.

    The `local` channels answer this machine only: the peer and the Host must be local, and no proxy may forward.
    """
    local_paths = {route.path for channel in local for route in channel.routes() if isinstance(route, web.RouteDef)}

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path in OPEN_PATHS:
            return await handler(request)
        given = request.headers.getall("Host", [])
        host = read_host(given[0]) if len(given) == 1 else ""
        if not served.serves(host):
            raise RequestRefused(f"host {host[:100]!r} is not in ONEVALET_ALLOWED_HOSTS", status=421)
        if request.path in local_paths and not is_local_request(request):
            raise RequestRefused("simulated channel asked from elsewhere", status=403)
        return await handler(request)

    return middleware


@lru_cache(maxsize=256)
def read_host(text: str) -> str:
    """Return the host of `host`, `host:port` or `[address]:port` in lower case; empty for any other form."""
    try:
        parts = urlsplit(f"//{text.strip()}")
        return "" if parts.username is not None or parts.netloc != text.strip() else (parts.hostname or "").rstrip(".")
    except ValueError:
        return ""


def host_of(url: str) -> str:
    """Return the host that a URL names; empty if there is none."""
    return read_host(urlsplit(url).netloc.rpartition("@")[2])


def is_local_request(request: web.Request) -> bool:
    """Return whether a request comes from this machine, for a name of it, without any proxy's header.

    A proxy that adds no header cannot be detected, so routes for this machine alone also check by the settings whether
    others reach us.
    """
    peer = _address(request.remote or "")
    return (
        peer is not None
        and peer.is_loopback
        and is_local_host(read_host(request.headers.get("Host", "")))
        and not any(names_a_proxy(name) for name in request.headers)
    )


@lru_cache(maxsize=512)
def names_a_proxy(header: str) -> bool:
    """Return whether proxies write a header of this name, by a rule about names: no list is complete."""
    words = header.lower().replace("_", "-").split("-")
    # `X-Host` repeats the host requested from a proxy; `Host` is the request's own.
    return any(map(_PROXYS_WORD.fullmatch, words)) or (words[0] == "x" and "host" in words)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address
