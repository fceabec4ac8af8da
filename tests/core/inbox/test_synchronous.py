"""Promise 1 with a standby that must confirm: what only one machine has is not acknowledged, however often it comes."""

import asyncio

import asyncpg
import pytest

from core.db.database import Database
from core.errors import StoreUnavailable
from core.ids import make_id
from core.inbox.inbox import Inbox
from core.messaging.messages import Address, InboundMessage
from core.people.access_policy import Access, Policy
from core.queue.wakeups import NoWakeups
from onevalet.migrating import migrate
from tests.services import private_postgres
from tests.small_disk import admin_on

_WAITS_FOR = "select wait_event from pg_stat_activity where pid = $1"


def message(number: int) -> InboundMessage:
    """One text of one person."""
    address = Address("sms", "b", "+15550000001", "")
    return InboundMessage(address, address.peer, (f"SM{number}",), f"hello {number}")


async def until_commits_wait(url: str, admin: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Commit until a commit waits for the standby: Postgres' checkpointer is told of it a moment after its sessions."""
    for _ in range(1000):
        other = await asyncpg.connect(url)
        commit = asyncio.ensure_future(other.execute("comment on table inbound is 'touched'"))
        while not commit.done():
            if await admin.fetchval(_WAITS_FOR, other.get_server_pid()) == "SyncRep":
                await admin.execute("select pg_terminate_backend($1)", other.get_server_pid())
                await asyncio.wait([commit])
                return
        await commit
        await other.close()
    raise AssertionError("no commit waits for the standby")


@pytest.mark.slow
async def test_promise_1_a_duplicate_waits_for_the_standby_as_its_first_did() -> None:
    # Who stops waiting for a standby leaves the row committed on the primary alone, where the next delivery meets it.
    async with private_postgres(wal_level="replica", max_wal_senders="2") as server, admin_on(server.url) as admin:
        await migrate(server.url)
        database = Database(server.url, patience=1.0)
        inbox = Inbox(database, NoWakeups(), make_id, Access(Policy.OPEN))
        try:
            await inbox.accept(message(1))
            await admin.execute("alter system set synchronous_standby_names = 'nobody'")
            await admin.execute("select pg_reload_conf()")
            await until_commits_wait(server.url, admin)
            for number in (2, 2, 1):
                with pytest.raises(StoreUnavailable):
                    await inbox.accept(message(number))
            kept = await admin.fetchval("select count(*) from inbound")
            assert kept == 2, "the second is there, on this machine alone"
            await admin.execute("alter system reset synchronous_standby_names")
            await admin.execute("select pg_reload_conf()")
            assert (await inbox.accept(message(2))).duplicate
        finally:
            await database.close()
