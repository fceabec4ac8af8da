"""Tidying: what runs out is forgotten by itself, and nothing else."""

from datetime import timedelta

from core.people.access_policy import Access, Policy
from jobs.maintenance import IGNORED_KEPT, forget_expired
from tests.core.harness import Store
from tests.core.people.harness import CHAT, Harness


async def test_strangers_codes_and_old_notes_of_them_are_forgotten_in_time(store: Store) -> None:
    harness = Harness(store, access=Access(Policy.PAIRING))
    await harness.say("let me in", "+15550000001")
    await harness.settle()
    harness.access = Access(Policy.OPEN)
    code = await harness.code("7001", CHAT)
    await harness.settle()
    await store.admin.execute(
        "insert into ignored_messages (channel, account, key, reason) values ('sms', 'a', 'k', 'bot')"
    )
    await forget_expired(store.database, harness.clock)
    assert await store.one("select count(*) from tenants") == 2
    harness.clock.move(timedelta(hours=1, minutes=1))
    await forget_expired(store.database, harness.clock)
    assert await store.one("select count(*) from tenants") == 1
    assert code not in str(await store.everything())
    assert await store.one("select count(*) from ignored_messages where reason = 'unknown'") == 1
    await store.admin.execute("update ignored_messages set received_at = $1", harness.clock.now())
    harness.clock.move(IGNORED_KEPT - timedelta(minutes=1))
    await forget_expired(store.database, harness.clock)
    assert await store.one("select count(*) from ignored_messages") == 2
    await store.admin.execute(
        "insert into ignored_messages select channel, account, 'new', reason, $1"
        " from ignored_messages where reason = 'bot'",
        harness.clock.now(),
    )
    harness.clock.move(timedelta(minutes=2))
    await forget_expired(store.database, harness.clock)
    assert await store.column("select key from ignored_messages") == ["new"]
