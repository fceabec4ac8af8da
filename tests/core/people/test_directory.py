"""The directory says whose an address is, through all that may happen to it; a message is known under its person."""

import asyncio

import asyncpg
import pytest

from core.db.database import Database
from core.ids import make_id
from core.people.access_policy import Access, Policy
from notify.addresses import AddressBook, AddressRefused
from tests.core.harness import Store, message
from tests.core.people.harness import CHAT, PHONE, Harness

ANN, BOB, ANN_CHAT = "+15550000001", "+15550000002", "8100"


@pytest.fixture
def harness(store: Store) -> Harness:
    return Harness(store)


async def astray(store: Store) -> list[tuple[object, ...]]:
    """Return the addresses of which the directory says something else than people's rows do."""
    rows = await store.admin.fetch(
        "(table directory except select channel, account, user_key, tenant_id, id from identities)"
        " union all (select channel, account, user_key, tenant_id, id from identities except table directory)"
    )
    return [tuple(row) for row in rows]


async def test_it_follows_addresses_through_linking_and_unlinking(harness: Harness) -> None:
    store = harness.store
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    assert (await harness.link(code, ANN)).startswith("Linked")
    assert await store.column("select distinct person from directory") == [await harness.tenant(ANN)]
    assert await astray(store) == []
    await harness.settle()
    await harness.ask("UNLINK", ANN)
    assert (
        len(await store.column("select distinct person from directory where user_key in ($1,$2)", ANN, ANN_CHAT)) == 2
    )
    assert await astray(store) == []
    await store.db.tenants.delete(tenant_id=await harness.tenant(ANN))
    assert await astray(store) == []


async def test_promise_2_a_message_comes_again_after_its_address_was_unlinked(harness: Harness) -> None:
    store = harness.store
    code = await harness.code(ANN_CHAT, CHAT)
    await harness.settle()
    await harness.link(code, ANN)
    await harness.settle()
    first = message("hello", ANN, "SM-again")
    assert not (await store.inbox.accept(first)).duplicate
    await harness.run()
    before = await harness.tenant(ANN)
    await store.db.links.delete()  # too long ago to be undone: the place becomes a new person
    await harness.settle()
    await harness.ask("UNLINK", ANN)
    assert await harness.tenant(ANN) != before
    assert (await store.inbox.accept(first)).duplicate
    assert await store.db.inbound.count(text="hello") == 1


async def test_an_address_claimed_by_two_at_once_is_one_persons(store: Store) -> None:
    for phone in (ANN, BOB):
        await store.say("hi", sender=phone)
    people = await store.db.identities.column("tenant_id", order="user_key")
    book = AddressBook(store.database, make_id)
    claims = (book.add(str(person), "push", "ntfy:shared") for person in people)
    outcomes = await asyncio.gather(*claims, return_exceptions=True)
    assert sorted(isinstance(outcome, AddressRefused) for outcome in outcomes) == [False, True]
    assert await astray(store) == []


async def test_promise_11_nobody_reads_it_but_the_functions_across_people(store: Store) -> None:
    await store.say("hi", sender=ANN)
    database = Database(store.url)
    try:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await database.rows("select * from directory")
    finally:
        await database.close()


async def test_promise_2_the_first_message_of_a_stranger_twice_at_once(harness: Harness) -> None:
    store = harness.store
    harness.access = Access(Policy.OPEN)
    same = [message("hello", BOB, "SM-same") for _ in range(8)]
    received = await asyncio.gather(*(store.inbox.accept(one) for one in same))
    assert [one.duplicate for one in received].count(False) == 1
    assert await store.db.tenants.count() == await store.db.inbound.count() == 1
    assert await astray(store) == []
    assert await store.one("select count(*) from find_received($1,$2,$3,$4)", *PHONE, BOB, ["SM-same"]) == 1
