"""The cost of a message, and of a claim, to Postgres while others wait.

    uv run -m workbench.benchmarks.backlog [--waiting 0] [--waiting 1000] [--waiting 9000] [--messages 300]

A Postgres of its own, one connection. Each size takes in its messages with so many others waiting; then, as workers do,
claims lanes and outbound rows by name and in turn. Figures are Postgres' own CPU, in microseconds each.
"""

import argparse
import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta

import asyncpg
import psutil
import structlog

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
      select tenant_id, 'o_' || tenant_id, id, 1, 'reply', 'Hello.', 'ready' from c returning tenant_id)
insert into inbound (tenant_id, id, conversation_id, seq, text) select tenant_id, 'm_' || tenant_id, id, 1, '' from c
"""


async def measure(waiting: int, messages: int) -> dict[str, float]:
    """Return the cost of each step while a number of others wait."""
    async with private_postgres() as postgres:
        await migrate(postgres.url)
        admin = await asyncpg.connect(postgres.url)
        await admin.execute(_FILL, 1, waiting)
        await admin.execute("analyze")
        database = Database(postgres.url, size=1)
        row = await database.call("select pg_backend_pid() as pid")
        assert row is not None  # noqa: S101 - a measurement of something else
        backend = psutil.Process(row["pid"])
        inbox = Inbox(database, NoWakeups(), make_id, Access(Policy.OPEN))
        lease = timedelta(minutes=9)
        turns, outbox = TurnStore(database, make_id, lease), Outbox(database, make_id, lease)

        async def write(number: int) -> object:
            address = Address("sms", "b", f"+1555{number % 50:07d}", "")
            return await inbox.accept(InboundMessage(address, address.peer, (make_id("SM"),), "hello"))

        async def spent(work: Callable[[int], Awaitable[object]]) -> float:
            for number in range(20):  # plans are kept from the sixth call on
                await work(number)
            before = sum(backend.cpu_times()[:2])
            for number in range(20, 20 + messages):
                await work(number)
            return round((sum(backend.cpu_times()[:2]) - before) / messages * 1_000_000)

        figures = {"waiting": waiting, "message": await spent(write)}
        if waiting > 4 * messages:
            figures["lane_named"] = await spent(lambda number: turns.claim(f"c_tn_{number + 1}", "w"))
            figures["lane_any"] = await spent(lambda _: turns.claim(None, "w"))
            figures["outbound_named"] = await spent(lambda number: outbox.claim(f"c_tn_{number + 1}", "w"))
            figures["outbound_any"] = await spent(lambda _: outbox.claim(None, "w"))
        await database.close()
        await admin.close()
        return figures


def main() -> None:
    """Measure each size and print a line."""
    parser = argparse.ArgumentParser(prog="python -m workbench.benchmarks.backlog")
    parser.add_argument("--waiting", type=int, action="append", default=[])
    parser.add_argument("--messages", type=int, default=300)
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    for waiting in options.waiting or [0, 1000, 9000]:
        sys.stdout.write(f"{asyncio.run(measure(waiting, options.messages))}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
