"""Messages that come together: one commit for many, and nobody is hurt or kept waiting by another's."""

import asyncio
import random
import string
from collections.abc import Coroutine

import asyncpg
import pytest

from core.db.database import Database
from core.db.groups import AT_ONCE, GROUP, SHARE
from core.errors import StoreUnavailable
from core.ids import make_id
from core.inbox.inbox import Inbox
from core.messaging.channels import Received
from onevalet.migrating import migrate
from tests.core.harness import OPEN, Store, message, opened
from tests.locks import until_blocked
from tests.patience import PATIENCE
from tests.postgres_meter import metered, wal_flushes
from tests.services import private_postgres

ANN, BOB = "+15550000001", "+15550000002"


class WatchedDatabase(Database):
    """A database that records which messages each statement brings."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.brought: list[list[str]] = []

    async def rows(self, statement: str, *args: object) -> list[asyncpg.Record]:
        """Record what the statement brings, and run it."""
        if "receive_messages" in statement and isinstance(args[0], list):
            self.brought.append([str(value) for value in args[0]])
        return await super().rows(statement, *args)


def person(number: int) -> str:
    """Return a person's number."""
    return f"+1555{number:07d}"


async def test_a_message_alone_is_one_statement_and_one_commit(store: Store, database_url: str) -> None:
    async with metered(database_url) as meter:
        database = Database(meter.url)
        inbox = Inbox(database, store.wakeups, store.make_id, OPEN)
        await inbox.accept(message("first", ANN, "SM0"))  # what is prepared once
        meter.clear()
        for number in range(1, 6):
            await inbox.accept(message("hello", ANN, f"SM{number}"))
        assert (len(meter.statements), meter.transactions) == (5, 5), meter.statements
        await database.close()


@pytest.mark.whole("it starts a Postgres of its own")
async def test_a_message_alone_waits_for_one_flush_and_many_share_theirs() -> None:
    async with private_postgres() as postgres:
        await migrate(postgres.url)

        async def flushes(texts: str, *, together: bool) -> int:
            """Return how often a new web process waits for a flush; counting ends its connections."""
            before = await wal_flushes(postgres.url)
            async with opened(postgres.url) as store:
                inbox = Inbox(store.database, store.wakeups, make_id, OPEN)
                for text in texts:
                    taken = [inbox.accept(message("hello", person(n), f"{text}{n}")) for n in range(GROUP)]
                    await (asyncio.gather(*taken) if together else one_by_one(taken))
                return await wal_flushes(postgres.url) - before

        await flushes("a", together=True)
        assert await flushes("bc", together=False) <= 2 * GROUP
        assert await flushes("defg", together=True) <= 4 * (AT_ONCE + 2)


async def one_by_one(taken: list[Coroutine[None, None, Received]]) -> None:
    """Wait for each in turn."""
    for one in taken:
        await one


async def test_messages_that_come_together_share_their_commits(store: Store, database_url: str) -> None:
    async with metered(database_url) as meter:
        database = Database(meter.url)
        inbox = Inbox(database, store.wakeups, store.make_id, OPEN)
        everyone = [person(number) for number in range(GROUP)]
        await asyncio.gather(*(inbox.accept(message("first", one, f"a{one}")) for one in everyone))
        meter.clear()
        received = await asyncio.gather(
            *(inbox.accept(message("hello", one, f"{n}{one}")) for one in everyone for n in "bcd")
        )
        # Two begin alone, since nobody is waiting yet; the rest comes in groups. A commit is at most one fsync.
        most = AT_ONCE + 2 * (len(received) // GROUP)
        assert len(meter.statements) <= most, meter.statements
        assert meter.transactions <= most
        assert not any(one.duplicate for one in received)
        assert await store.db.inbound.count(state="waiting") == 4 * GROUP
        await database.close()


async def test_promise_1_each_is_answered_after_its_own_commit(store: Store) -> None:
    inbox, one_at_a_time = store.inbox, asyncio.Lock()

    async def kept(number: int) -> object:
        received = await inbox.accept(message("hello", person(number % 7), f"SM{number}"))
        async with one_at_a_time:
            return await store.db.inbound.one("state", id=received.id)

    assert set(await asyncio.gather(*map(kept, range(60)))) == {"waiting"}
    assert await store.db.inbound.count() == 60


async def test_a_persons_messages_are_kept_in_the_order_in_which_they_came(store: Store) -> None:
    inbox = store.inbox
    received = await asyncio.gather(*(inbox.accept(message(str(n), ANN, f"SM{n}")) for n in range(40)))
    assert await store.db.inbound.column("text", order="seq") == [str(n) for n in range(40)]
    assert await store.db.inbound.column("id", order="seq") == [one.id for one in received]


async def test_one_bad_message_of_a_group_hurts_nobody_else(store: Store) -> None:
    inbox = store.inbox
    too_long = "".join(random.Random(1).choices(string.ascii_letters, k=20_000))  # no index takes it
    keys = [too_long if number == 20 else f"SM{number}" for number in range(40)]
    ended = await asyncio.gather(
        *(inbox.accept(message(str(n), person(n), key)) for n, key in enumerate(keys)), return_exceptions=True
    )
    assert isinstance(ended.pop(20), asyncpg.PostgresError)
    assert all(isinstance(one, Received) and not one.duplicate for one in ended)
    assert await store.db.inbound.count() == 39


async def test_one_persons_many_messages_keep_another_one_waiting_for_few(store: Store) -> None:
    database = WatchedDatabase(store.url)
    inbox = Inbox(database, store.wakeups, store.make_id, OPEN)
    await inbox.accept(message("first", BOB, "first"))
    flood = [asyncio.create_task(inbox.accept(message(str(n), ANN, f"SM{n}"))) for n in range(300)]
    await asyncio.sleep(0)
    assert not any(task.done() for task in flood)
    before = len(database.brought)
    await inbox.accept(message("hello", BOB, "SMb"))
    (with_bobs,) = [n for n, texts in enumerate(database.brought) if any("SMb" in text for text in texts)]
    assert with_bobs - before <= AT_ONCE, "his goes with the next group that begins"
    await asyncio.gather(*flood)
    assert max(map(len, database.brought)) <= SHARE + 1
    await database.close()


async def test_a_conversation_that_is_held_keeps_no_other_one_waiting(store: Store) -> None:
    inbox = store.inbox
    everyone = [person(number) for number in range(20)]
    for one in everyone:
        await inbox.accept(message("first", one, f"a{one}"))
    async with store.admin.transaction():
        held = "select 1 from conversations where peer = $1 for update"
        await store.admin.execute(held, everyone[3])
        tasks = {one: asyncio.create_task(inbox.accept(message("hello", one, f"b{one}"))) for one in everyone}
        await asyncio.wait([task for one, task in tasks.items() if one != everyone[3]])
        assert not tasks[everyone[3]].done()
    assert not (await tasks[everyone[3]]).duplicate
    assert await store.db.inbound.count(state="waiting") == 40


async def test_who_waits_behind_their_own_message_keeps_nobody_waiting(store: Store) -> None:
    inbox = store.inbox
    for one in (ANN, BOB):
        await inbox.accept(message("first", one, f"a{one}"))
    async with store.admin.transaction():
        await store.admin.execute("select 1 from conversations where peer = $1 for update", ANN)
        anns = [asyncio.create_task(inbox.accept(message(str(n), ANN, f"b{n}"))) for n in range(2)]
        await until_blocked(store.one)  # the first is tried alone and waits, and the second waits for the first
        async with asyncio.timeout(PATIENCE):
            await inbox.accept(message("hello", BOB, "bob"))
        assert not any(task.done() for task in anns)
    await asyncio.gather(*anns)


async def test_promise_2_a_group_whose_answer_was_lost_is_known_again(store: Store) -> None:
    database = Database(store.url, patience=0.01)
    inbox = Inbox(database, store.wakeups, store.make_id, OPEN)
    everyone = [message("hello", person(number), f"SM{number}") for number in range(10)]
    await asyncio.gather(*(inbox.accept(one) for one in everyone), return_exceptions=True)
    await database.close()
    received = await asyncio.gather(*(store.inbox.accept(one) for one in everyone))
    assert await store.db.inbound.column("id", order="id") == sorted(str(one.id) for one in received)


async def test_a_group_is_told_that_the_store_is_away(store: Store) -> None:
    inbox = Inbox(Database("postgresql://nobody@127.0.0.1:1/none", patience=0.2), store.wakeups, store.make_id, OPEN)
    ended = await asyncio.gather(
        *(inbox.accept(message("hello", person(n), f"SM{n}")) for n in range(20)), return_exceptions=True
    )
    assert {type(one) for one in ended} == {StoreUnavailable}
