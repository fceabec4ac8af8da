"""The requests of CalDAV and CardDAV over the guarded client: resources on a server, read and safely written.

Nothing is overwritten blindly: `create` writes only to an unused URL, `replace` and `delete` change only a resource
that is still as it was read (RFC 9110 13.1).
"""

import asyncio
import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit
from xml.etree.ElementTree import Element

from abilities.dav.types import MAX_BYTES, OPERATION, DavRefused, Missing, Resource, TooLarge, refused
from abilities.dav.xml import DAV, Found, element, prop, read_multistatus, written
from core.credentials.types import Ability, OpenAccount
from core.errors import RefusedLogin
from core.http.address_guard import read_target
from core.http.failures import Failure, NoAnswer
from core.http.guarded_client import is_same_server
from core.http.operation import Operation
from core.http.peer import Allowance, Pauses
from core.http.types import HttpClient, HttpResponse

_XML = "application/xml; charset=utf-8"
_MUCH = 256 * 1024
"""Bytes from which a response is read in a thread, so that no other work waits for it."""
_pauses = Pauses("dav")


@dataclass(frozen=True, slots=True)
class Answered:
    """The content of a multistatus. `url` is its final address; the hrefs are relative to it.

    Entries of another server are left out: the account's credentials would go there with the next request.
    """

    url: str
    found: Sequence[Found]

    def address(self, href: str) -> str:
        """Return the address of an href."""
        return urljoin(self.url, href)


class DavClient:
    """An account on its server, for a single operation: answers are counted from its beginning.

    Each call raises `ToolFailed`, and `DavRefused` if the server refuses.
    """

    def __init__(self, http: HttpClient, account: OpenAccount, allowance: Allowance = OPERATION) -> None:
        hosts = sorted({urlsplit(url).netloc for url in account.servers.values()})
        self._http = Operation(http, allowance, _pauses, account.person, account.login, *hosts)
        self._account = account

    @property
    def account(self) -> OpenAccount:
        return self._account

    async def propfind(self, url: str, names: Iterable[str], *, depth: int = 0) -> Answered:
        """Return properties of a resource, and with depth 1 of those in it."""
        return await self._ask("PROPFIND", url, element(f"{DAV}propfind", prop(names)), depth)

    async def report(self, url: str, query: Element) -> Answered:
        """Return the results of a query in a collection."""
        return await self._ask("REPORT", url, query, 1)

    async def features(self, url: str) -> frozenset[str]:
        """Return the features that a server lists (RFC 4918 10.1); empty if it lists none."""
        try:
            response = await self._send("OPTIONS", url, {})
        except DavRefused:
            return frozenset()
        return frozenset(name.strip().lower() for name in response.headers.get("DAV", "").split(",") if name.strip())

    async def lead(self, url: str) -> str:
        """Return the target of a well-known address, which may be another server; empty if it has none.

        The request has no credentials and no body, which no redirect would pass on.
        """
        with _naming(url):
            response = await self._http.request("PROPFIND", url, headers={"Depth": "0"}, max_bytes=MAX_BYTES)
        known = response.status < 400 or response.status in (401, 403)
        return response.url if known and response.url != url else ""

    async def get(self, url: str) -> Resource:
        """Return a resource; raises `Missing`."""
        response = await self._send("GET", url, {})
        if response.cut:
            raise NoAnswer(Failure.UNREADABLE, _host(url))
        return Resource(url, response.headers.get("ETag", ""), response.body.decode("utf-8", "replace"))

    async def create(self, url: str, text: str, content_type: str) -> str:
        """Write a new resource and return its etag, if known; raises `Changed` if it exists."""
        return await self._write(url, text, content_type, {"If-None-Match": "*"})

    async def replace(self, resource: Resource, text: str, content_type: str) -> str:
        """Overwrite a resource as it was read and return the new etag, if known; raises `Changed`."""
        return await self._write(resource.url, text, content_type, _as_read(resource))

    async def delete(self, resource: Resource) -> None:
        """Delete a resource as it was read; a missing resource stays missing. Raises `Changed`."""
        try:
            await self._send("DELETE", resource.url, _as_read(resource))
        except Missing:
            return

    async def _write(self, url: str, text: str, content_type: str, condition: Mapping[str, str]) -> str:
        headers = {"Content-Type": f"{content_type}; charset=utf-8", **condition}
        return (await self._send("PUT", url, headers, text.encode())).headers.get("ETag", "")

    async def _ask(self, method: str, url: str, body: Element, depth: int) -> Answered:
        headers = {"Content-Type": _XML, "Depth": str(depth)}
        response = await self._send(method, url, headers, written(body))
        if response.cut:
            raise TooLarge(Failure.UNREADABLE, _host(url))
        if response.status != 207:
            raise NoAnswer(Failure.UNREADABLE, _host(url))
        with _naming(url):
            if len(response.body) < _MUCH:
                found = read_multistatus(response.body)
            else:
                found = await asyncio.to_thread(read_multistatus, response.body)
        where = response.url or url  # of the same server: no redirect passes a body on to another
        return Answered(where, [one for one in found if _is_of(where, one.href)])

    async def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> HttpResponse:
        sent = {**headers, "Authorization": self._authorization()}
        with _naming(url):
            response = await self._http.request(method, url, headers=sent, body=body, max_bytes=MAX_BYTES)
        if not 200 <= response.status < 300:
            error = refused(response.status, _host(url))
            error.refused = self._refused_login() if response.status == 401 else None
            raise error
        return response

    def _refused_login(self) -> RefusedLogin:
        account = self._account.account
        ability = Ability.CALENDAR_READ if Ability.CALENDAR_READ in account.abilities else Ability.CONTACTS_READ
        return RefusedLogin(f"{account.service}:{ability}", account.service, account.name, self._account.secret)

    def _authorization(self) -> str:
        account = self._account
        if account.bearer:
            return f"Bearer {account.secret}"
        return "Basic " + base64.b64encode(f"{account.login}:{account.secret}".encode()).decode()


def _is_of(server: str, href: str) -> bool:
    """Return whether an href in a server's answer leads to that server."""
    try:
        return is_same_server(read_target(server), read_target(urljoin(server, href)))
    except ValueError:  # not an address, or a barred address
        return False


def _as_read(resource: Resource) -> dict[str, str]:
    # A weak tag never matches in If-Match (RFC 9110 13.1.1); servers that return a weak tag mean the strong tag.
    return {"If-Match": resource.etag.removeprefix("W/")} if resource.etag else {}


@contextmanager
def _naming(url: str) -> Iterator[None]:
    """Name the server in the sentence about an answer that did not come: a person may have several."""
    try:
        yield
    except NoAnswer as error:
        raise error.of(_host(url)) from error


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""
