"""No request ends in 5xx: every registered address is asked oddly, by nobody, a guest, a member and an owner."""

import hashlib
import hmac
import json
import os
import random
import re
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

import aiohttp
import pytest
import structlog
from aiohttp import web

from abilities.accounts.links import ConnectLinkStore
from channels.http.penalties import BadRequests
from core.ids import make_id
from core.json_types import Json, JsonObject
from operations.console.pages.base import Pages, signed_in
from operations.console.pages.every import PAGES
from operations.console.sign_in import PATH, ConsoleSignIn
from operations.console.visits import Visit
from operations.programs.tokens import ClientTokens
from operations.tenants.links import ExportLinks
from tests.core.harness import Store, opened
from tests.examples import scaled, sized
from tests.onevalet.wiring.served import KEYS, METRICS_TOKEN, PUBLIC_URL, Address, Served, open_served, raw
from tests.shipping.harness import SHIPPED, python_files

EACH = sized(scaled(15), full=300)
"""Requests to each address from each role: by a seed of each run, so that runs together send ever more.

The full size takes ten minutes: `bin/test --full tests/onevalet/wiring/test_odd_requests.py`.
"""
ENOUGH = 40
"""Requests to one address of which some are surely odd enough."""
BETWEEN = pytest.mark.whole("it asks as a stranger and the owner do")
FORM = b"application/x-www-form-urlencoded"
ODD = (
    "",
    "0",
    "-1",
    "²",
    "٣",
    "9" * 20,
    "9" * 400,
    "1e309",
    "NaN",
    "é",
    "\x00",
    "a\x00b",
    "\udcff",
    "\udcff\udcfe",
    "\ud83d",
    "\U000e0041",
    "\u202e",
    "‮",
    "../../etc/passwd",
    "'; drop table tenants; --",
    "%",
    "%%",
    "{}",
    "[]",
    '{"a":',
    "null",
    "\r\n",
    "x" * 3000,
    "2026-02-30",
    "9999-12-31T23:59:59+99:99",
    "0000-00-00",
    "con_" + "a" * 60,
    "con_é",
    "Nowhere/Atlantis",
    "a|b|c|d",
    "a_b_c",
    ":::",
    "on",
)
NAMES = (
    *(
        "proof",
        "key",
        "name",
        "number",
        "id",
        "line",
        "version",
        "before",
        "after",
        "said",
        "state",
        "q",
        "days",
        "view",
    ),
    *("channel", "page", "to", "code", "iss", "error", "choose", "go", "service", "email", "password", "imap_host"),
    *("imap_port", "url", "role", "tier", "timezone", "language", "text", "expression", "decision", "token", "address"),
)
CHARSETS = (b"", b"; charset=utf-8", b"; charset=latin-1", b"; charset=nonsense", b"; charset=\xff", b"; charset=")
TYPES = (
    *(FORM, FORM, FORM, b"application/json", b"text/plain", b"", b"\xff", b"a/b/c", b"multipart/form-data"),
    *(b"multipart/form-data; boundary=x", b"multipart/mixed; boundary="),
)
BODIES = (
    *(
        b"",
        b"\xff\xfe",
        b"\x00",
        b"=",
        b"&&&",
        b"a=%",
        b"a=%zz",
        b"proof=%ff",
        b"proof=\xe9",
        b"[" * 5000,
        b'{"a":NaN}',
    ),
    *(b'"\\ud800"', b"--x\r\n\r\nhi\r\n--x--", b"--x", b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', b"1" * 5000),
)


PROGRAMS = "/mcp"
CALLS: dict[str, Sequence[str]] = {
    "ask": ("message", "conversation", "request_id"),
    "get_answer": ("id",),
    "list_pending_approvals": (),
    "search_memory": ("query",),
    "list_notes": ("query",),
    "list_tasks": (),
}
"""The tools of people's programs, with their arguments."""
METHODS = ("initialize", "ping", "tools/list", "resources/read", "notifications/cancelled", "tools/call", "tools/call")
NOT_PAGES = {
    "onevalet/cli/new_files.py": "what it writes is a channel of somebody's own",
    "onevalet/testing/scripted_model.py": "a model server of tests",
}
_DECLARES = re.compile(
    r"\bweb\.(?:get|head|post|put|patch|delete|options|route|view|static)\(|\badd_(?:get|post|route)\("
)


@dataclass
class Asker:
    """Somebody who asks oddly, with the sessions and links that they have."""

    chance: random.Random
    ids: Sequence[str]
    links: Sequence[str] = ()
    session: str = field(default="", repr=False)
    bearer: str = field(default="", repr=False)

    def odd(self) -> str:
        if self.chance.random() < 0.2:
            return "".join(chr(self.chance.choice((0, 9, 47, 255, 0x2603, 0xDCFF, 0x1F600))) for _ in range(4))
        return self.chance.choice(ODD)

    def text(self) -> str:
        """Return an odd text, or at times one that means something."""
        return self.chance.choice(self.ids) if self.ids and self.chance.random() < 0.4 else self.odd()

    def request(self, address: Address) -> bytes:
        """Return one odd request to an address."""
        path = address.path(*(self._in_path() for _ in range(address.pattern.count("{"))))
        if self.chance.random() < 0.6:
            path += "?" + self._pairs(self.chance.randrange(4))
        if address.pattern == PROGRAMS and self.chance.random() < 0.7:
            kinds = [("Accept", b"application/json, text/event-stream"), ("Content-Type", b"application/json")]
            return raw(address.method, path, [*self._headers(), *kinds], self._called())
        method = self.chance.choice(("GET", "POST", "PUT", "DELETE")) if address.method == "*" else address.method
        if method in ("GET", "HEAD"):
            return raw(method, path, self._headers())
        kind, body = self.chance.choice(TYPES), self._body(address)
        headers = [*self._headers(), ("Content-Type", kind + self.chance.choice(CHARSETS))]
        if self.session and self.chance.random() < 0.7:
            headers = [*self._headers(), ("Content-Type", FORM)]
        return raw(method, path, headers, body)

    def _in_path(self) -> str:
        if self.links and self.chance.random() < 0.4:
            return self.chance.choice(self.links)
        return self._quoted(self.text()) or "x"

    def _quoted(self, text: str) -> str:
        return quote(text.encode("utf-8", "surrogatepass" if "\ud83d" in text else "surrogateescape"), safe="")

    def _pairs(self, number: int) -> str:
        chosen = [(self.chance.choice(NAMES), self.text()) for _ in range(number)]
        return "&".join(f"{name}={self._quoted(value)}" for name, value in chosen)

    def _body(self, address: Address) -> bytes:
        if self.chance.random() < 0.4:
            return self.chance.choice(BODIES)
        proof = hmac.new(self.session.encode(), b"onevalet console form", hashlib.sha256).hexdigest()
        pairs = self._pairs(self.chance.randrange(6))
        # Who signs out asks nothing more.
        return (pairs if address.pattern.endswith("/sign-out") else f"{urlencode({'proof': proof})}&{pairs}").encode()

    def _called(self) -> bytes:
        """Return what a program says that speaks MCP, oddly."""
        name, method = self.chance.choice([*CALLS, self.odd()]), self.chance.choice((*METHODS, self.odd()))
        arguments: JsonObject = {key: self._value() for key in CALLS.get(name, ("a",)) if self.chance.random() < 0.8}
        arguments |= {"wait_seconds": 0} if name in ("ask", "get_answer") else {}
        params: JsonObject = {"name": name, "arguments": arguments}
        said: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        if self.chance.random() < 0.3:
            said[self.chance.choice([*said])] = self._value()
        return json.dumps(said).encode()

    def _value(self) -> Json:
        odd: Sequence[Json] = (None, True, -1, 2**63, 10**400, float("nan"), 1e308, [], {}, [[[]]], {"a": self.odd()})
        return self.text() if self.chance.random() < 0.6 else self.chance.choice(odd)

    def _headers(self) -> list[tuple[str, bytes]]:
        odd = self.odd().replace("\x00", "").replace("\r\n", "").encode("utf-8", "surrogatepass")
        headers = [("Cookie", b"other=\xff; __Host-onevalet-connect=" + odd)]
        session = self.session.encode() if self.session and self.chance.random() < 0.95 else odd
        headers[0] = ("Cookie", headers[0][1] + b"; __Host-onevalet-console=" + session)
        name = self.chance.choice(
            (
                "Accept-Language",
                "Origin",
                "Sec-Fetch-Site",
                "User-Agent",
                "X-Twilio-Signature",
                "Last-Event-ID",
                "Range",
            )
        )
        if self.chance.random() < 0.3:
            headers.append((name, odd))
        given = self.bearer.encode() if self.bearer and self.chance.random() < 0.6 else odd
        headers.append(("Authorization", b"Bearer " + given))
        return headers


@asynccontextmanager
async def asking(role: str, served: Served, store: Store, seed: str) -> AsyncIterator[Asker]:
    """Yield somebody of a role, in an installation where two people have talked."""
    for sender in ("+15550000001", "+15550000002"):
        await store.say("hello", sender=sender)
    ids = [str(value) for value in await store.db.tenants.column("tenant_id")]
    ids += [str(value) for value in await store.db.conversations.column("id")]
    chance = random.Random(seed)
    if role == "nobody":
        yield Asker(chance, ())
        return
    person = ids[0]
    await store.db.tenants.change({"role": role}, tenant_id=person)
    now = datetime.now(UTC)
    sign_in = ConsoleSignIn(store.database, PUBLIC_URL, KEYS)
    links = [
        await sign_in.link(person, now),
        await ConnectLinkStore(store.database, PUBLIC_URL, KEYS).make(person, None, now),
        await ExportLinks(store.database, PUBLIC_URL, KEYS).link(person, now),
        *[await sign_in.link(person, now)],
    ]
    ends = [str(link).rpartition("/")[2] for link in links]
    session = await sign_in.begin(ends.pop(), now)
    made = await ClientTokens.of(store.database, make_id, KEYS).make(person, "laptop", now, None)
    assert made is not None
    bearer = METRICS_TOKEN if role == "owner" else made.secret
    yield Asker(chance, ids, ends, str(session), bearer)


async def ask_all(role: str, each: int, database_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask every address so often; fail with the seed at the first answer that blames us."""
    seed = os.environ.get("ONEVALET_TEST_SEED") or secrets.token_hex(8)
    print(f"ONEVALET_TEST_SEED={seed}")  # noqa: T201 - pytest shows it where the test fails
    unlimited = BadRequests(10**9, of_a_proof=10**9)
    with structlog.testing.capture_logs(processors=[structlog.processors.format_exc_info]) as logs:
        async with (
            opened(database_url) as store,
            open_served(database_url, redis_url, monkeypatch, bad_requests=unlimited) as served,
            asking(role, served, store, seed) as asker,
        ):
            for address in served.addresses():
                requests = [asker.request(address) for _ in range(each)]
                # Over as few connections as they leave open: a connection costs as much as a request.
                statuses = await served.statuses(requests, "127.0.0.1")
                blamed = [
                    (status, asked[:600]) for status, asked in zip(statuses, requests, strict=True) if status >= 500
                ]
                failed = [line for line in logs if line["event"] == "request_failed"]
                assert not blamed, (seed, address, blamed, failed)
                assert not failed, (seed, address, failed)
                logs.clear()


@pytest.mark.parametrize(
    "role", ["nobody", "owner", *(pytest.param(role, marks=BETWEEN) for role in ("guest", "member"))]
)
async def test_promise_12_no_odd_request_ends_in_5xx(
    role: str, database_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ask_all(role, EACH, database_url, redis_url, monkeypatch)


async def test_promise_12_every_address_that_the_product_declares_is_walked(
    database_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = {path for path, source in python_files(*SHIPPED).items() if _DECLARES.search(source)}
    assert len(declared) > 20
    async with open_served(database_url, redis_url, monkeypatch) as served:
        assert sorted(declared - served.modules()) == sorted(NOT_PAGES)


async def test_promise_12_odd_first_words_over_a_websocket_are_no_error_of_ours(
    database_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["", "null", "[]", "1e999", '{"token": 1}', '{"token": "\\ud800"}', "[" * 60_000, '{"a":' * 10_000]
    with structlog.testing.capture_logs() as logs:
        async with (
            open_served(database_url, redis_url, monkeypatch) as served,
            aiohttp.ClientSession() as session,
        ):
            for said in words:
                async with session.ws_connect(f"http://127.0.0.1:{served.port}/websocket") as socket:
                    await socket.send_str(said)
                    assert (await socket.receive()).data == 4401, said[:20]
    assert "request_failed" not in [line["event"] for line in logs]


async def test_promise_12_what_was_answered_500_once_is_refused(
    database_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        opened(database_url) as store,
        open_served(database_url, redis_url, monkeypatch) as served,
        asking("owner", served, store, "any") as asker,
    ):
        cookie = ("Cookie", b"__Host-onevalet-console=\xff")
        sent = ("Cookie", b"__Host-onevalet-connect=" + b"a" * 43)
        connect, form = f"/connect/{asker.links[1]}", ("Content-Type", FORM)
        requests = {
            raw("GET", "/console", [cookie]): 401,
            raw("GET", connect, [("Cookie", b"__Host-onevalet-connect=\xff")]): 200,
            raw("POST", connect, [sent, form], "proof=é".encode()): 403,
            raw("POST", connect, [sent, form], b"proof=%C3%A9"): 403,
            raw("POST", connect, [sent, form], b"proof=\xff"): 400,
            raw("POST", connect, [sent, ("Content-Type", FORM + b"; charset=nonsense")], b"proof=x"): 415,
            raw("POST", connect, [sent, ("Content-Type", b"multipart/form-data")], b"proof=x"): 415,
        }
        for request, status in requests.items():
            assert await served.statuses([request], "127.0.0.1") == [status], request


class Careless(Pages):
    """A page of the console that believes what it is given to be a number."""

    def routes(self) -> Sequence[web.RouteDef]:
        return [web.get(f"{PATH}/careless/{{number}}", self._show)]

    @signed_in
    async def _show(self, request: web.Request, visit: Visit) -> web.Response:
        return web.Response(text=str(int(request.match_info["number"])))


async def test_promise_12_a_registered_page_that_ends_in_5xx_is_found(
    database_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("operations.console.routes.PAGES", (*PAGES, Careless))
    registered = Served.addresses
    monkeypatch.setattr(
        Served, "addresses", lambda served: [one for one in registered(served) if "careless" in one.pattern]
    )
    with pytest.raises(AssertionError, match="/console/careless"):
        await ask_all("member", ENOUGH, database_url, redis_url, monkeypatch)
