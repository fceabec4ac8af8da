"""`POST /events/{source}`: what is proven is kept before the 2xx, all else is 4xx, and strangers cost nothing."""

import base64
import hashlib
import hmac
import json
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict, CIMultiDictProxy

from abilities.events.bus import EventBus
from abilities.events.parse import read_event
from abilities.events.receive import EventRoutes
from abilities.events.source_index import SourceIndex
from abilities.events.source_types import EventSource, SourceOptions, Style
from abilities.events.sources import EventSources, SourceError
from abilities.events.verify import check_proof
from channels.http.app import build_app, serve
from channels.http.penalties import BadRequests
from core.credentials.secret_keys import SecretKey, SecretKeys
from core.credentials.store import CredentialStore
from core.db.database import Database
from core.errors import RequestRefused, StoreUnavailable
from core.ids import make_id
from core.json_types import storable
from tests.core.harness import Store, opened
from tests.examples import examples

NOW = 1_800_000_000.0
SECRET = b"whsec_of_this_test"
BODY = b'{"id":"evt_1","type":"invoice.paid","action":"opened","data":{"object":{"id":7}}}'


def signed(secret: bytes, body: bytes) -> str:
    """Return the HMAC-SHA256 in hex."""
    return hmac.new(secret, body, hashlib.sha256).hexdigest()


def good_headers(style: Style, body: bytes = BODY, secret: bytes = SECRET, at: float = NOW) -> dict[str, str]:
    """Prove a body as its source does."""
    match style:
        case Style.BEARER:
            return {"Authorization": f"Bearer {secret.decode()}"}
        case Style.HMAC:
            return {"X-Signature": signed(secret, f"{at:.0f}.".encode() + body), "X-Time": f"{at:.0f}"}
        case Style.GITHUB:
            return {
                "X-Hub-Signature-256": f"sha256={signed(secret, body)}",
                "X-GitHub-Event": "issues",
                "X-GitHub-Delivery": "d-1",
            }
        case Style.STRIPE:
            return {"Stripe-Signature": f"v0=abc,t={at:.0f},v1={signed(secret, f'{at:.0f}.'.encode() + body)}"}


OPTIONS = {Style.HMAC: SourceOptions(timestamp_header="X-Time")}


@dataclass(slots=True)
class Door:
    """A served application with one source of each style of Ann's."""

    store: Store
    sources: EventSources
    url: str
    http: aiohttp.ClientSession
    ids: dict[Style, str]
    time: float = 0.0

    async def post(self, source: str, headers: Mapping[str, str], body: bytes = BODY) -> tuple[int, dict[str, object]]:
        """Post a body; return the status and what was answered."""
        async with self.http.post(f"{self.url}/events/{source}", data=body, headers=headers) as answer:
            return answer.status, await answer.json() if answer.status == 200 else {}

    async def kept(self) -> list[tuple[object, ...]]:
        """Return (tenant, source, type, id) of all events."""
        rows = await self.store.admin.fetch("select * from events order by received_at")
        return [(row["tenant_id"], row["source"], row["type"], row["id"]) for row in rows]


@pytest.fixture
async def door(database_url: str) -> AsyncIterator[Door]:
    async with opened(database_url) as store, aiohttp.ClientSession() as http:
        await store.admin.execute("insert into tenants (tenant_id) values ('ann'), ('bob')")
        credentials = CredentialStore(store.database, SecretKeys([SecretKey("k", os.urandom(32))]))
        sources = EventSources(store.database, credentials, make_id)
        ids = {}
        for style in Style:
            source, _ = await sources.add("ann", f"my-{style.value}", style, OPTIONS.get(style), SECRET.decode())
            ids[style] = source.id
        bus = EventBus("redis://127.0.0.1:1/0", store.database)
        made = Door(store, sources, "", http, ids)
        routes = EventRoutes(sources, bus, now=lambda: NOW, monotonic=lambda: made.time).routes()
        app = build_app([], ready=store.database.ready, extra_routes=routes, bad_requests=BadRequests(10_000))
        async with serve(app, "127.0.0.1", 0) as port:
            made.url = f"http://127.0.0.1:{port}"
            yield made
        await bus.close()


async def test_promises_1_and_2_each_style_is_stored_once_under_its_sources_name(door: Door) -> None:
    for style in Style:
        answers = [await door.post(door.ids[style], good_headers(style)) for _ in range(2)]
        assert [status for status, _ in answers] == [200, 200], style
        assert [body["duplicate"] for _, body in answers] == [False, True], style
    assert await door.kept() == [
        ("ann", "my-bearer", "invoice.paid", "evt_1"),
        ("ann", "my-hmac", "invoice.paid", "evt_1"),
        ("ann", "my-github", "issues.opened", "d-1"),
        ("ann", "my-stripe", "invoice.paid", "evt_1"),
    ]
    # A bearer's secret names the tenant: two people may call a source alike, and each posts to its own.
    _, secret = await door.sources.add("bob", "my-bearer", Style.BEARER)
    door.time += 1.0
    assert (await door.post("my-bearer", {"Authorization": f"Bearer {secret}"}))[0] == 200
    assert (await door.kept())[-1] == ("bob", "my-bearer", "invoice.paid", "evt_1")


async def test_promise_12_unproven_or_malformed_events_are_refused_with_a_4xx(door: Door) -> None:
    tried = 0
    for style in Style:
        good, source = good_headers(style), door.ids[style]
        name = next(iter(good))
        bad: list[tuple[str, dict[str, str], bytes]] = [
            (source, {}, BODY),
            (source, good | {name: ""}, BODY),
            (source, good | {name: good[name][:-1] + ("0" if good[name][-1] != "0" else "1")}, BODY),
            (source, good | {name: good[name] + "é"}, BODY),
            (source, good_headers(style, secret=b"another"), BODY),
            ("src_unknown", good, BODY),
            ("Not%20a%00source", good, BODY),
        ]
        if style is not Style.BEARER:
            bad.append((source, good, BODY + b" "))
        if style in (Style.HMAC, Style.STRIPE):
            bad += [(source, good_headers(style, at=NOW + off), BODY) for off in (-301, 301)]
        for malformed in (b"", b"{", b"\xff\xfe", b'{"a":NaN}', b'{"a":1e999}', b"[" * 5000, b"[" * 101 + b"]" * 101):
            bad.append((source, good_headers(style, malformed), malformed))
        for where, headers, body in bad:
            status, _ = await door.post(where, headers, body)
            assert 400 <= status < 500, (style, where, headers, body[:40], status)
            tried += 1
    async with door.http.post(f"{door.url}/events/{door.ids[Style.BEARER]}", data=b"x" * 300_000) as answer:
        assert answer.status == 413
    assert tried > 50
    assert await door.kept() == []


@pytest.mark.parametrize("style", [Style.HMAC, Style.STRIPE])
async def test_promise_2_unsigned_headers_change_neither_id_nor_type(door: Door, style: Style) -> None:
    good = good_headers(style)
    forged = {"X-Event-Id": "forged-1", "X-Event-Type": "refunded"}
    assert (await door.post(door.ids[style], good))[1] == {"id": "evt_1", "duplicate": False}
    assert (await door.post(door.ids[style], good | forged))[1] == {"id": "evt_1", "duplicate": True}
    assert await door.kept() == [("ann", f"my-{style.value}", "invoice.paid", "evt_1")]


def test_headers_outside_the_signature_are_not_read_even_if_configured() -> None:
    options = SourceOptions(id_header="X-Id", type_header="X-Type")
    headers = CIMultiDictProxy(CIMultiDict({"X-Id": "forged", "X-Type": "forged"}))
    for style in (Style.HMAC, Style.STRIPE):
        source = EventSource("ann", "src_1", "x", style, options, SECRET)
        event, _ = read_event(source, headers, "application/json", b'{"n": 1}', NOW)
        assert event.type == "event"
        assert event.id.startswith("content:")


async def test_a_source_whose_headers_nobody_signs_cannot_be_told_to_read_them(door: Door) -> None:
    for options in (SourceOptions(id_header="X-Id"), SourceOptions(type_header="X-Type")):
        with pytest.raises(SourceError, match="covers the body only"):
            await door.sources.add("ann", "shop", Style.HMAC, options)
        await door.sources.add("ann", f"shop-{options.id_header.lower()}", Style.BEARER, options)


async def test_promise_12_strangers_and_forgers_cost_no_transaction_however_many(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    for style in Style:  # what is known is looked up once
        assert (await door.post(door.ids[style], good_headers(style)))[0] == 200
    opened: list[int] = []
    connection = door.store.database._connection

    async def counted() -> object:
        opened.append(1)
        return await connection()

    monkeypatch.setattr(door.store.database, "_connection", counted)
    for number in range(100):
        bearer = {"Authorization": f"Bearer {os.urandom(4).hex()}"}
        for source, headers in (
            (f"src_{number}", {}),
            (f"src_{number}", bearer),
            (f"name-{number}", bearer),
            ("my-bearer", bearer),
            (f"name-{number}", good_headers(Style.BEARER)),
            (door.ids[Style.GITHUB], {"X-Hub-Signature-256": "sha256=00"}),
            (door.ids[Style.BEARER], bearer),
        ):
            assert (await door.post(source, headers))[0] in (401, 404)
    assert len(opened) == 0


async def test_a_source_made_now_is_found_within_a_second_of_strangers_asking(door: Door) -> None:
    assert (await door.post("src_nobody", {}))[0] == 404
    made, secret = await door.sources.add("bob", "late", Style.BEARER)
    door.time += 1.0
    assert (await door.post(made.id, {"Authorization": f"Bearer {secret}"}))[0] == 200
    assert (await door.post("late", {"Authorization": f"Bearer {secret}"}))[0] == 200
    # Two sources may have one secret; the name in the address tells them apart.
    other, _ = await door.sources.add("bob", "later", Style.BEARER, secret=secret)
    door.time += 1.0
    for name in ("late", "later"):
        body = json.dumps({"id": name}).encode()
        assert (await door.post(name, {"Authorization": f"Bearer {secret}"}, body))[0] == 200
    assert [row[1] for row in await door.kept()] == ["late", "late", "later"]
    assert other.id != made.id


async def test_promise_11_an_event_goes_to_whom_its_source_belongs_now(door: Door) -> None:
    good, source = good_headers(Style.BEARER), door.ids[Style.BEARER]
    assert (await door.post(source, good))[0] == 200
    await door.store.db.event_sources.change({"tenant_id": "bob"}, id=source)
    assert await door.post(source, good) == (200, {"id": "evt_1", "duplicate": False})
    assert [row[0] for row in await door.kept()] == ["ann", "bob"]
    # As in a merge, where whoever had it is gone.
    await door.store.db.event_sources.change({"tenant_id": "ann"}, id=source)
    await door.store.db.tenants.delete(tenant_id="bob")
    assert (await door.post(source, good, b'{"id": "evt_2", "type": "x"}'))[0] == 200
    assert [(row[0], row[3]) for row in await door.kept()] == [("ann", "evt_1"), ("ann", "evt_2")]


async def test_promise_11_a_deleted_source_lets_nothing_in_from_that_moment(door: Door) -> None:
    good, source = good_headers(Style.GITHUB), door.ids[Style.GITHUB]
    assert (await door.post(source, good))[0] == 200
    assert await door.sources.delete("ann", "my-github")
    assert (await door.post(source, good | {"X-GitHub-Delivery": "d-2"}))[0] == 404
    assert len(await door.kept()) == 1


async def test_while_postgres_is_away_a_source_not_known_yet_is_503_at_once(door: Door) -> None:
    away = Database("postgresql://nobody@127.0.0.1:1/none", patience=0.1)
    index = SourceIndex(EventSources(away, door.sources._credentials, make_id))
    for _ in range(3):
        with pytest.raises(StoreUnavailable):
            await index.read()
    await away.close()


async def test_a_source_has_its_own_rate_and_can_say_where_things_stand(door: Door) -> None:
    options = SourceOptions(
        signature_header="X-Token", id_header="X-Id", id_field="n", type_field="data.kind", a_minute=3
    )
    made, secret = await door.sources.add("ann", "door", Style.BEARER, options)
    headers = {"X-Token": secret}
    bodies = [b'{"n":1,"data":{"kind":"opened"}}', b'{"n":2}', b"[1]"]
    assert [(await door.post(made.id, headers, body))[0] for body in bodies] == [200, 200, 200]
    assert (await door.post(made.id, headers | {"X-Id": "9"}))[0] == 429
    kept = await door.kept()
    assert kept[:2] == [("ann", "door", "opened", "1"), ("ann", "door", "event", "2")]
    assert str(kept[2][3]).startswith("content:")
    assert await door.store.one("select data from events where id like 'content:%'") == '{"value": [1]}'


async def test_promise_1_without_postgres_events_get_503_and_the_retry_is_stored(door: Door) -> None:
    away = EventBus("redis://127.0.0.1:1/0", Database("postgresql://nobody@127.0.0.1:1/none", patience=0.1))
    app = build_app(
        [], ready=door.store.database.ready, extra_routes=EventRoutes(door.sources, away, now=lambda: NOW).routes()
    )
    async with serve(app, "127.0.0.1", 0) as port:
        door.url, url = f"http://127.0.0.1:{port}", door.url
        assert (await door.post(door.ids[Style.STRIPE], good_headers(Style.STRIPE)))[0] == 503
    door.url = url
    assert (await door.post(door.ids[Style.STRIPE], good_headers(Style.STRIPE)))[0] == 200


async def test_secrets_are_stored_hashed_or_sealed_and_source_names_are_valid(door: Door) -> None:
    rows = await door.store.admin.fetch("select * from event_sources")
    assert len(rows) == len(Style)
    for row in rows:
        assert (row["secret_hash"] is None) != (row["sealed"] is None)
        assert SECRET not in (row["secret_hash"] or b"") + (row["sealed"] or b"")
    assert "whsec" not in repr(await door.sources.find(door.ids[Style.STRIPE]))
    for name in ("sms", "", "A", "x" * 65, "my-hmac"):
        with pytest.raises(SourceError):
            await door.sources.add("ann", name, Style.HMAC)
    with pytest.raises(SourceError, match="whsec"):
        await door.sources.add("ann", "stripe2", Style.STRIPE)


_LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
_NAMES = st.sampled_from(["id", "type", "action", "created", "x"])
_BODIES = st.recursive(_LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner), max_leaves=8)
_HEADERS = st.sampled_from(["X-Signature", "Stripe-Signature", "X-Event-Id", "X-GitHub-Event", "X-Time"])


@given(
    headers=st.dictionaries(_HEADERS, st.text(max_size=20)),
    body=st.binary(max_size=20) | _BODIES.map(lambda value: json.dumps(value).encode()),
    style=st.sampled_from(Style),
    form=st.booleans(),
)
@examples(60)
def test_any_request_is_verified_or_refused_and_then_parsed_or_refused(
    headers: dict[str, str], body: bytes, style: Style, form: bool
) -> None:
    source = EventSource("ann", "src_1", "x", style, OPTIONS.get(style, SourceOptions()), SECRET, b"h")
    given_headers = CIMultiDictProxy(CIMultiDict(headers))
    with pytest.raises(RequestRefused):
        check_proof(source, given_headers, body, NOW)
    try:
        event, also = read_event(
            source, given_headers, "application/x-www-form-urlencoded" if form else "application/json", body, NOW
        )
    except RequestRefused:
        return
    assert 0 < len(event.id) <= 200
    assert 0 < len(event.type) <= 200
    assert [event.id, event.type, also] == storable([event.id, event.type, also])
    json.dumps(storable(event.data), allow_nan=False)


def test_hmac_in_base64_and_githubs_form_are_read() -> None:
    source = EventSource("ann", "src_1", "x", Style.HMAC, SourceOptions(), SECRET)
    digest = base64.b64encode(hmac.new(SECRET, BODY, hashlib.sha256).digest()).decode()
    check_proof(source, CIMultiDictProxy(CIMultiDict({"X-Signature": digest})), BODY, NOW)
    event, _ = read_event(
        source, CIMultiDictProxy(CIMultiDict()), "application/x-www-form-urlencoded", b"payload=%7B%22id%22%3A5%7D", NOW
    )
    assert (event.id, event.data) == ("5", {"id": 5})
