"""What waits is counted by a counter, which is right whatever becomes of a message, and makes nobody wait."""

import asyncio
import random

import asyncpg
import pytest

from core.inbox.inbox import Inbox
from core.messaging.messages import Command
from core.queue.limits import BacklogLimits
from tests.core.harness import OPEN, Store, TwiceDatabase, message, opened
from tests.patience import PATIENCE

PHONES = [f"+1555000{number:04d}" for number in range(5)]
BOTH = (
    "select (select count(*) from inbound where state = 'waiting'),"
    " (select coalesce(sum(waiting), 0) from waiting_counts), count_waiting()"
)


async def agree(store: Store) -> int:
    """Check that the counter says what a count does; return it."""
    row = await store.admin.fetchrow(BOTH)
    assert row is not None
    assert row[0] == row[1] == row[2]
    return int(row[0])


@pytest.mark.parametrize("seed", range(3))
async def test_the_counter_is_right_after_whatever_happens_to_messages(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    inbox = Inbox(store.database, store.wakeups, store.make_id, OPEN, waiting=BacklogLimits(of_person=4, of_all=12))
    for number in range(60):
        match chance.choice(("write", "write", "write", "again", "answer", "stop", "leave", "erase")):
            case "write":
                await inbox.accept(message(f"{number}", chance.choice(PHONES), f"SM{number}"))
            case "again":
                await inbox.accept(message("again", chance.choice(PHONES), f"SM{chance.randrange(number + 1)}"))
            case "stop":
                stop = message("", chance.choice(PHONES), f"SM{number}", command=Command("stop", ""))
                await inbox.accept(stop)
            case "leave":
                if lease := await store.turns.claim(None, "w1"):
                    await store.turns.begin(lease)
                    await store.db.lanes.change({"owner": None, "lease_until": None})
            case "answer":
                if (lease := await store.turns.claim(None, "w1")) and (turn := await store.turns.begin(lease)):
                    await store.finish(lease, turn, "answered")
                await store.db.lanes.change({"owner": None, "lease_until": None})
            case "erase":
                await store.admin.execute("delete from tenants where tenant_id in (select min(tenant_id) from tenants)")
        await agree(store)


async def test_a_message_that_is_rolled_back_is_not_counted(store: Store) -> None:
    await store.say("hello")
    before = await agree(store)
    transaction = store.admin.transaction()
    await transaction.start()
    await store.db.inbound.change({"state": "done"})
    assert await agree(store) == before - 1
    await transaction.rollback()
    assert await agree(store) == before


async def test_no_message_waits_for_another_to_be_counted(store: Store, database_url: str) -> None:
    await store.say("hello", sender=PHONES[0])
    holder = await asyncpg.connect(database_url)
    open_transaction = holder.transaction()
    await open_transaction.start()
    await holder.execute("update inbound set state = 'done'")  # counted, and not committed
    async with asyncio.timeout(PATIENCE):
        # More connections than there are rows to begin with.
        await asyncio.gather(*(store.say(f"{number}", sender=f"+1555001{number:04d}") for number in range(30)))
    await open_transaction.rollback()
    await holder.close()
    assert await agree(store) == 31


async def test_many_at_once_are_counted_exactly(store: Store) -> None:
    async def talk(phone: str) -> None:
        for number in range(6):
            await store.say(f"{number}", sender=phone)
            if (lease := await store.turns.claim(None, phone)) and (turn := await store.turns.begin(lease)):
                await store.finish(lease, turn, "answered")

    await asyncio.gather(*(talk(phone) for phone in PHONES))
    await agree(store)


async def test_an_accepted_message_stays_accepted_when_it_is_received_again(database_url: str) -> None:
    async with opened(database_url, TwiceDatabase(database_url)) as twice:
        inbox = Inbox(twice.database, twice.wakeups, twice.make_id, OPEN, waiting=BacklogLimits(of_all=2))
        for number, phone in enumerate(PHONES[:4]):
            await inbox.accept(message("hello", phone, f"SM{number}"))
        states = await twice.db.inbound.column("state", order="received_at")
        assert states == ["waiting", "waiting", "ignored", "ignored"]
        assert await agree(twice) == 2
