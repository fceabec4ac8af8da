"""The cost of a message, and of a claim, to Postgres while others wait.

    uv run -m workbench.benchmarks.backlog [--waiting 1000] [--waiting 10000] [--messages 300]

A Postgres of its own, one connection. Each size takes in its messages with so many others waiting; then, as workers do,
claims lanes and outbound rows by name and in turn, and looks for talks to read. Figures are Postgres' own CPU, in
microseconds each.
"""

import argparse
import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import timedelta

import asyncpg
import psutil
import structlog

from abilities.memory.talks import LEASE, MAX_TURNS, Gathering
from core.db.database import Database
from core.ids import make_id
from core.inbox.inbox import Inbox
from core.messaging.messages import Address, InboundMessage
from core.messaging.outbox import Outbox
from core.people.access_policy import Access, Policy
from core.queue.wakeups import NoWakeups
from core.turns.store import TurnStore
from onevalet.migrating import migrate
from tests.services import private_postgres
from workbench.benchmarks.cpu import cpu_of

_FILL = """
with t as (insert into tenants (tenant_id) select 'tn_' || n from generate_series($1::int, $2::int) n
           returning tenant_id),
i as (insert into identities (tenant_id, id, channel, account, user_key, admitted)
      select tenant_id, 'i_' || tenant_id, 'sms', 'a', tenant_id, 'open' from t returning tenant_id, id),
c as (insert into conversations (tenant_id, id, identity_id, channel, account, peer)
      select tenant_id, 'c_' || tenant_id, id, 'sms', 'a', tenant_id from i returning tenant_id, id),
l as (insert into lanes (tenant_id, id, conversation_id, pending, pending_since)
      select tenant_id, id, id, true, now() from c returning tenant_id),
o as (insert into outbound (tenant_id, id, conversation_id, seq, kind, text, state)
      select tenant_id, 'o_' || tenant_id, id, 1, 'reply', 'Hello.', 'ready' from c returning tenant_id),
u as (insert into turns (tenant_id, id, lane_id, conversation_id, state, fence)
      select tenant_id, 'u_' || tenant_id, id, id, 'done', 1 from c returning tenant_id, id),
j as (insert into profile_jobs (tenant_id, turn_id, not_before) select tenant_id, id, now() from u returning tenant_id)
insert into inbound (tenant_id, id, conversation_id, seq, text) select tenant_id, 'm_' || tenant_id, id, 1, '' from c
"""
_LOOK = "select * from claim_talk('w', $1, $2, $3, $4)"
_WARM = 20
"""Calls before each measurement: plans are kept from the sixth on."""


async def measure(sizes: Sequence[int], messages: int) -> AsyncIterator[tuple[int, dict[str, float]]]:
    """Yield the costs while so many others wait, in ascending order; the least is four times the messages."""
    async with private_postgres() as postgres:
        await migrate(postgres.url)
        # Foreign keys and triggers are left out: they hold by how it is made.
        admin = await asyncpg.connect(postgres.url, server_settings={"session_replication_role": "replica"})
        database, before = Database(postgres.url, size=1), 0
        try:
            for waiting in sizes:
                await admin.execute(_FILL, before + 1, waiting, timeout=600)
                await admin.execute("vacuum analyze")
                yield waiting, await _costs(database, before + 1, messages)
                before = waiting
        finally:
            await database.close()
            await admin.close()


async def _costs(database: Database, first: int, messages: int) -> dict[str, float]:
    """Return the cost of each work; `first` is the number of the first who waits unclaimed."""
    row = await database.call("select pg_backend_pid() as pid")
    assert row is not None  # noqa: S101 - a measurement of something else
    backend = psutil.Process(row["pid"])
    inbox = Inbox(database, NoWakeups(), make_id, Access(Policy.OPEN))
    lease, gathering = timedelta(minutes=9), Gathering()
    turns, outbox = TurnStore(database, make_id, lease), Outbox(database, make_id, lease)

    async def write(number: int) -> object:
        address = Address("sms", "b", f"+1555{number % 50:07d}", "")
        return await inbox.accept(InboundMessage(address, address.peer, (make_id("SM"),), "hello"))

    async def look(_: int) -> object:
        return await database.call(_LOOK, LEASE, MAX_TURNS, gathering.pause, gathering.messages)

    async def spent(work: Callable[[int], Awaitable[object]]) -> float:
        for number in range(_WARM):
            await work(number)
        before = cpu_of(backend)
        for number in range(_WARM, _WARM + messages):
            await work(number)
        return round((cpu_of(backend) - before) / messages * 1_000_000)

    return {
        "a message": await spent(write),
        "a lane by name": await spent(lambda number: turns.claim(f"c_tn_{first + number}", "w")),
        "any lane": await spent(lambda _: turns.claim(None, "w")),
        "an answer by name": await spent(lambda number: outbox.claim(f"c_tn_{first + number}", "w")),
        "any answer": await spent(lambda _: outbox.claim(None, "w")),
        "a look for talks": await spent(look),
    }


def main() -> None:
    """Measure each size and print a line."""
    parser = argparse.ArgumentParser(prog="python -m workbench.benchmarks.backlog")
    parser.add_argument("--waiting", type=int, action="append", default=[])
    parser.add_argument("--messages", type=int, default=200)
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    asyncio.run(_show(sorted(options.waiting) or [1000, 10_000, 100_000], options.messages))


async def _show(sizes: Sequence[int], messages: int) -> None:
    async for waiting, figures in measure(sizes, messages):
        sys.stdout.write(f"{waiting}: {figures}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
