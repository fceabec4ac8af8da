"""Tidying: what runs out is forgotten by itself, and nothing else."""

from datetime import timedelta

from core.people.access_policy import Access, Policy
from jobs.tidying import IGNORED_KEPT, Tidying
from tests.core.harness import Store
from tests.core.people.harness import CHAT, House


async def test_strangers_codes_and_old_notes_of_them_are_forgotten_in_time(store: Store) -> None:
    house = House(store, access=Access(Policy.PAIRING))
    tidying = Tidying(store.database, house.clock)
    await house.say("let me in", "+15550000001")
    await house.settle()
    house.access = Access(Policy.OPEN)
    code = await house.code("7001", CHAT)
    await house.settle()
    await store.eye.execute(
        "insert into ignored_messages (channel, account, key, reason) values ('sms', 'a', 'k', 'bot')"
    )
    await tidying.once()
    assert await store.one("select count(*) from tenants") == 2
    house.clock.pass_by(timedelta(hours=1, minutes=1))
    await tidying.once()
    assert await store.one("select count(*) from tenants") == 1
    assert code not in str(await store.everything())
    assert await store.one("select count(*) from ignored_messages where reason = 'unknown'") == 1
    await store.eye.execute("update ignored_messages set received_at = $1", house.clock.now())
    house.clock.pass_by(IGNORED_KEPT - timedelta(minutes=1))
    await tidying.once()
    assert await store.one("select count(*) from ignored_messages") == 2
    await store.eye.execute(
        "insert into ignored_messages select channel, account, 'new', reason, $1"
        " from ignored_messages where reason = 'bot'",
        house.clock.now(),
    )
    house.clock.pass_by(timedelta(minutes=2))
    await tidying.once()
    assert await store.column("select key from ignored_messages") == ["new"]
