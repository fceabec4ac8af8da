"""The guarded HTTP client for all addresses that a model or a message can name.

The check is made at the creation of the socket, on the address that is then connected to: no name can resolve to
different servers for the check and for the connection, and each redirect passes the same check.
"""

import asyncio
import json as jsons
import re
import socket
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urljoin

import aiohttp
import structlog
from aiohttp.abc import AbstractResolver
from multidict import CIMultiDict

from core.errors import ToolFailed
from core.http.address_guard import USUAL_PORTS, Barred, Target, is_public, read_host, read_target
from core.http.failures import Failure, NoAnswer
from core.http.provider_session import ENCODINGS, UnreadableBody, bound_interim, read_body
from core.http.resolving import peer_resolver
from core.http.sockets import NOT_PUBLIC, open_socket
from core.http.types import HttpResponse
from core.json_types import Json
from core.language.catalogue import gettext, gettext_noop

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "REPORT"})
"""The methods of the web, and of calendars and address books (RFC 4918, 3253, 4791, 5689)."""
CONNECTIONS = 50
"""Connections of all people's tools in a process; a single person's turns make fewer calls at once."""
_OURS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect", "keep-alive"}
)
_HARMLESS = frozenset({"accept", "accept-language", "user-agent", "content-type"})
"""Headers that may go to another host: none could be a credential."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]{0,8000}")

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Limits:
    """`max_bytes`: of a decompressed body; `pdf_bytes`: of a PDF, which cannot be read from its beginning alone.

    Times are seconds, `total` over all redirects and the body.
    """

    max_bytes: int = 2 * 1024 * 1024
    pdf_bytes: int = 8 * 1024 * 1024
    redirects: int = 5
    connect: float = 5.0
    silence: float = 10.0
    total: float = 20.0
    header_bytes: int = 8190
    headers: int = 128

    def of(self, content_type: str) -> int:
        """Return the limit of a body of a type, in bytes."""
        return max(self.max_bytes, self.pdf_bytes) if content_type == "application/pdf" else self.max_bytes


@dataclass(frozen=True, slots=True)
class _Ask:
    method: str
    target: Target
    headers: CIMultiDict[str]
    body: bytes | None


class GuardedClient:
    """Fetches from public addresses, and from hosts the operator named. Implements `core.http.types.HttpClient`."""

    def __init__(
        self,
        *,
        allowed_hosts: Iterable[str] = (),
        ports: Iterable[int] = USUAL_PORTS.values(),
        limits: Limits | None = None,
        resolver: AbstractResolver | None = None,
    ) -> None:
        """`allowed_hosts`: `host` or `host:port`, allowed even in private networks; raises `ValueError`.

        `ports`: the allowed ports of all other hosts.
        """
        self._allowed = frozenset(read_allowed(text) for text in allowed_hosts)
        self._ports = frozenset(ports)
        self._limits = limits or Limits()
        self._resolver = resolver
        self._guarded: aiohttp.ClientSession | None = None
        self._open: aiohttp.ClientSession | None = None

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Json = None,
        body: bytes | None = None,
        max_bytes: int | None = None,
        whole: bool = False,
        may_go: Callable[[Target], bool] | None = None,
    ) -> HttpResponse:
        """Make a request, following redirects; raises `ToolFailed` in a plain sentence.

        `body` are bytes to send in place of `json`. `whole`: a body whose declared length exceeds the limit is not
        read, and `cut` is true. `may_go` restricts the request and each redirect further. Headers that could hold a
        credential are dropped when a redirect leaves the host.
        """
        try:
            ask = _first(method, url, headers or {}, json, body)
            async with asyncio.timeout(self._limits.total):
                return await self._follow(ask, max_bytes, may_go, whole=whole)
        except Barred as error:
            _log.warning("fetch_refused", reason=str(error))
            raise ToolFailed(error.in_words()) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            _log.info("fetch_failed", cause=type(error).__name__)
            raise _failed(error) from error

    @asynccontextmanager
    async def stream(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, silence: float
    ) -> "AsyncIterator[aiohttp.ClientResponse]":
        """Make a request and yield the response to be read while it comes, uncompressed; no redirect is followed.

        `silence` is the longest pause in it, in seconds. Raises `Barred`, `aiohttp.ClientError` and `OSError`.
        """
        ask = _first(method, url, headers, None, body or None)
        ask.headers["Accept-Encoding"] = "identity"
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=self._limits.connect, sock_read=silence)
        async with self._admit(ask.target).request(
            ask.method, ask.target.url, headers=ask.headers, data=ask.body, allow_redirects=False, timeout=timeout
        ) as answer:
            yield answer

    async def check(self, url: str) -> None:
        """Refuse an address that is barred, or whose name resolves only to such addresses. Raises `ToolFailed`.

        A name that does not resolve at the moment passes: each request is checked when it is made.
        """
        try:
            target = read_target(url)
            if self._admit(target) is self._open or target.literal:
                return
            resolver = self._resolver or peer_resolver()
            async with asyncio.timeout(self._limits.connect):
                resolved = await resolver.resolve(target.host, target.port, socket.AF_UNSPEC)
        except Barred as error:
            raise ToolFailed(error.in_words()) from error
        except OSError:
            return
        if resolved and not any(is_public(address["host"]) for address in resolved):
            raise ToolFailed(gettext(NOT_PUBLIC))

    async def connect(self, host: str, port: int, ports: Collection[int]) -> socket.socket:
        """Return a socket to a server of another kind. Implements `core.http.types.SocketAccess`."""
        host = read_host(host)
        named = (host, port) in self._allowed or (port in ports and (host, None) in self._allowed)
        if not named and port not in ports:
            raise Barred(gettext_noop("Only the usual ports of such servers can be reached."))
        async with asyncio.timeout(self._limits.connect):
            return await open_socket(host, port, anywhere=named, resolver=self._resolver)

    async def close(self) -> None:
        for session in (self._guarded, self._open):
            if session is not None:
                await session.close()
        self._guarded = self._open = None

    async def _follow(
        self, ask: _Ask, most: int | None, may_go: Callable[[Target], bool] | None, *, whole: bool
    ) -> HttpResponse:
        for _ in range(self._limits.redirects + 1):
            session = self._admit(ask.target)
            if may_go is not None and not may_go(ask.target):
                raise Barred(gettext_noop("That address may not be fetched here."))
            async with session.request(
                ask.method, ask.target.url, headers=ask.headers, data=ask.body, allow_redirects=False
            ) as answer:
                location = answer.headers.get("Location")
                if answer.status in _REDIRECTS and location is not None:
                    ask = _next(ask, answer.status, location)
                    continue
                return await _read(answer, ask, most or self._limits.of(answer.content_type), whole=whole)
        raise Barred(gettext_noop("That address redirects too often."))

    def _admit(self, target: Target) -> aiohttp.ClientSession:
        """Return the session for a target: for hosts that the operator named the open session, else the guarded."""
        usual = USUAL_PORTS[target.scheme] == target.port
        if (target.host, target.port) in self._allowed or (usual and (target.host, None) in self._allowed):
            if self._open is None:
                self._open = self._make(None)
            return self._open
        if target.port not in self._ports:
            raise Barred(gettext_noop("Only the usual ports of the web can be reached."))
        if target.literal and not is_public(target.host):
            raise Barred(NOT_PUBLIC)
        if self._guarded is None:
            self._guarded = self._make(_public_socket)
        return self._guarded

    def _make(self, factory: "Callable[[aiohttp.AddrInfoType], socket.socket] | None") -> aiohttp.ClientSession:
        limits = self._limits
        connector = aiohttp.TCPConnector(
            socket_factory=factory,
            resolver=self._resolver or peer_resolver(),
            use_dns_cache=False,
            limit=CONNECTIONS,
            limit_per_host=8,
        )
        bound_interim(connector)
        return aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=limits.total, sock_connect=limits.connect, sock_read=limits.silence),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            max_line_size=limits.header_bytes,
            max_field_size=limits.header_bytes,
            max_headers=limits.headers,
        )


def read_allowed(text: str) -> tuple[str, int | None]:
    """Parse `host`, `host:port` or `[address]:port`; raises `ValueError` in words for the operator."""
    match = re.fullmatch(r"(?:\[([0-9a-fA-F:.]+)\]|([^\[\]:]+))(?::([0-9]{1,5}))?", text.strip())
    if match is None or not 0 < int(match[3] or 1) < 65536:
        raise ValueError(f"{text.strip()!r} is no host, nor host:port")
    return read_host(match[1] or match[2]), int(match[3]) if match[3] else None


class _BarredAddress(OSError):
    """A name resolves to an address that is not public."""


def _public_socket(info: "aiohttp.AddrInfoType") -> socket.socket:
    family, kind, protocol, _, address = info
    if not is_public(str(address[0])):
        raise _BarredAddress(NOT_PUBLIC)
    return socket.socket(family, kind, protocol)


def _first(method: str, url: str, headers: Mapping[str, str], json: Json, body: bytes | None) -> _Ask:
    if method.upper() not in METHODS:
        raise Barred(gettext_noop("That is not a method of a web request."))
    sent = CIMultiDict({"Accept": "*/*", "User-Agent": "OneValet/0.1"})
    if json is not None:
        body = jsons.dumps(json).encode()
        sent["Content-Type"] = "application/json"
    for name, value in headers.items():
        if name.lower() in _OURS or name.lower().startswith("proxy-") or not _TOKEN.fullmatch(name):
            raise Barred(f"The header {name[:40]!r} cannot be set.")
        if not _VALUE.fullmatch(value):
            raise Barred(f"The header {name[:40]!r} cannot have this value.")
        sent[name] = value
    sent["Accept-Encoding"] = ENCODINGS
    return _Ask(method.upper(), read_target(url), sent, body)


def _next(ask: _Ask, status: int, location: str) -> _Ask:
    """Return the request that follows a redirect, by RFC 9110 15.4 and as browsers do."""
    target = read_target(urljoin(str(ask.target.url), location))
    headers, method, body = ask.headers.copy(), ask.method, ask.body
    if (status == 303 and method != "HEAD") or (status in (301, 302) and method == "POST"):
        method, body = "GET", None
        headers.popall("Content-Type", None)
    if not is_same_server(ask.target, target):
        if body is not None:
            raise _passed_on(ask.target, target)
        kept = {name: value for name, value in headers.items() if name.lower() in _HARMLESS}
        headers = CIMultiDict(kept | {"Accept-Encoding": ENCODINGS})
    return _Ask(method, target, headers, body)


def _passed_on(before: Target, after: Target) -> Barred:
    """Return the refusal to pass a request on to another server; both are named as far as they differ."""
    one, other = before.host, after.host
    if one == other:
        one, other = str(before.url.origin()), str(after.url.origin())
    return Barred(gettext_noop("{host} passes the request on to {other}."), host=one, other=other)


def is_same_server(before: Target, after: Target) -> bool:
    """Return whether two addresses have the same server, the second no less protected: a credential may follow."""
    if before.host != after.host:
        return False
    # From http to https on the usual ports is the same server, better protected; never the other way round.
    ports = (before.scheme, before.port), (after.scheme, after.port)
    return ports[0] == ports[1] or ports == (("http", 80), ("https", 443))


async def _read(answer: aiohttp.ClientResponse, ask: _Ask, most: int, *, whole: bool) -> HttpResponse:
    body, cut = b"", whole and (answer.content_length or 0) > most
    if ask.method != "HEAD" and not cut:
        encoding = ",".join(answer.headers.getall("Content-Encoding", []))
        body, cut = await read_body(answer.content.iter_chunked(64 * 1024), encoding, most)
    if cut:
        answer.close()  # the rest is not read, so the connection cannot be reused
    return HttpResponse(answer.status, answer.headers, body, url=str(ask.target.url), cut=cut)


def _failed(error: Exception) -> ToolFailed:
    """Return the failure in a sentence for the person, which names no host."""
    match error:
        case aiohttp.ClientConnectorError() if isinstance(error.os_error, _BarredAddress):
            return ToolFailed(gettext(NOT_PUBLIC))
        case TimeoutError():
            return NoAnswer(Failure.TIMEOUT)
        case aiohttp.ClientSSLError() | aiohttp.ClientConnectorCertificateError():
            return NoAnswer(Failure.INSECURE)
        case UnreadableBody() | aiohttp.ClientResponseError() | aiohttp.ClientPayloadError():
            return NoAnswer(Failure.UNREADABLE)
        case ValueError():
            return ToolFailed(gettext("That request is not well-formed."))
        case _:
            return NoAnswer(Failure.UNREACHABLE)
