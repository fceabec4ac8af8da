"""Uses of consents in the database: counted with their record, in one transaction, by any number of workers."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from core.consents.store import Call, ConsentStore
from core.consents.types import Agreed, StandingConsent
from core.json_types import JsonObject
from tests.core.harness import Store, TwiceDatabase, opened

NOW = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
MOST = 5


@pytest.fixture(params=[False, True], ids=["", "every answer is lost once"])
async def store(database_url: str, request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    async with opened(database_url, TwiceDatabase(database_url) if request.param else None) as store:
        yield store


async def consent_of(store: Store) -> StandingConsent:
    """Store a consent, and return it."""
    await store.db.tenants.add(tenant_id="tn")
    agreed = Agreed("tn", "post", "v", {"text": {"text": 5}}, MOST, NOW + timedelta(days=1), "at once")
    await store.admin.execute(
        "insert into standing_consents (tenant_id, id, number, turn_id, approval_id, name, sealed, hash, told,"
        " max_uses, expires_at, created_at) values ('tn', 'cns', 1, 't', 'a', 'post', $1, $2, 'at once', $3, $4, $5)",
        agreed.sealed,
        agreed.hash,
        MOST,
        agreed.expires_at,
        NOW,
    )
    [consent] = await ConsentStore(store.database).active("tn", NOW)
    assert consent.is_whole
    return consent


def call(number: int, text: str = "x") -> Call:
    arguments: JsonObject = {"text": text}
    return Call("tn", f"turn{number}", "0.1/post", "post", arguments)


async def test_workers_that_use_it_at_once_never_exceed_the_count(store: Store) -> None:
    consent, consents = await consent_of(store), ConsentStore(store.database)
    uses = await asyncio.gather(
        *(consents.use(consent, call(number), call(number).use_id, NOW) for number in range(20) for _ in range(2))
    )
    served = {use.id for use in uses if use}
    assert len(served) == MOST
    assert sorted({use.number for use in uses if use}) == [1, 2, 3, 4, 5]
    assert await store.db.standing_consents.one("used") == MOST
    assert await store.column("select state || ' ' || reason from standing_consents") == ["ended used_up"]
    assert await store.db.consent_uses.count() == MOST
    assert await store.db.notifications.column("text", order="text") == ["1", "2", "3", "4", "5"]


async def test_a_repeat_finds_its_own_use_and_no_other_call_does(store: Store) -> None:
    consent, consents = await consent_of(store), ConsentStore(store.database)
    for number in range(MOST):
        first = await consents.use(consent, call(number), "", NOW)
        assert await consents.use(consent, call(number), "", NOW) == first
        assert await consents.used_by(call(number)) == first
    assert await consents.use(consent, call(0, "y"), "", NOW) is None, "the same place, with other arguments"
    assert await consents.used_by(call(0, "y")) is None
    assert await consents.use(consent, call(MOST), "", NOW) is None


async def test_what_is_over_withdrawn_or_changed_serves_no_more(store: Store) -> None:
    consent, consents = await consent_of(store), ConsentStore(store.database)
    assert await consents.use(consent, call(1), "", NOW + timedelta(days=1)) is None
    await store.admin.execute("update standing_consents set sealed = sealed || ' '")
    assert await consents.use(consent, call(2), "", NOW) is None
    await store.admin.execute("update standing_consents set sealed = trim(sealed)")
    assert await consents.withdraw("tn", None, "word", NOW) in ([1], [])
    assert await consents.use(consent, call(3), "", NOW) is None
    assert await store.db.standing_consents.one("used") == 0


async def test_nothing_is_granted_without_an_approval_behind_it(store: Store) -> None:
    consent = await consent_of(store)
    with pytest.raises(PermissionError):
        await ConsentStore(store.database).grant(consent.agreed, "turn", "key", "Agent", {"uses": 5}, NOW)
