"""A worker that dies by SIGKILL at one statement of a turn, or of telling its news; it ends as usual past the last."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from abilities.household.telling import follow_deeds
from core.clock import Clock
from core.db.database import Connection, Database
from core.ids import make_id
from core.turns.orchestrator import Orchestrator
from core.turns.store import TurnStore
from jobs.turns.features import TurnFeatures
from jobs.turns.runner import TurnRunner
from notify.service import NotificationService
from notify.store import NotificationStore
from onevalet.wiring.abilities import use_abilities
from tests.abilities.household.living import TIER, services_of
from tests.core.builders import FakeModel
from tests.core.harness import LEASE, RecordedWakeups


class DeadlyDatabase(Database):
    """A database at one of whose statements the process dies: `3-` before the third, `3+` after its commit."""

    def __init__(self, url: str, point: str) -> None:
        super().__init__(url, size=2)
        self._point, self._number = point, 0

    async def _fetch(self, statement: str, *args: object) -> list[asyncpg.Record]:
        self._number += 1
        self._reach("-")
        rows = await super()._fetch(statement, *args)
        self._reach("+")
        return rows

    @asynccontextmanager
    async def _transaction(self, tenant_id: str, begin: str) -> AsyncIterator[Connection]:
        self._number += 1
        self._reach("-")
        async with super()._transaction(tenant_id, begin) as connection:
            yield connection
        self._reach("+")

    def _reach(self, sign: str) -> None:
        if f"{self._number}{sign}" == self._point:
            os.kill(os.getpid(), signal.SIGKILL)


async def work(database: Database, name: str) -> None:
    """Run all waiting turns, and tell all news."""
    clock, wakeups = Clock(), RecordedWakeups()
    runner = TurnRunner(
        TurnStore(database, make_id, LEASE),
        Orchestrator(FakeModel([]), clock=clock, services=services_of(database, clock, TIER)),
        wakeups,
        {},
        make_id,
        name,
        TurnFeatures(None),
    )
    while lease := await runner.claim(None):
        await runner.run(lease)
    notes = NotificationStore(database, make_id)
    await follow_deeds(database, NotificationService(notes, ["sms"], wakeups, clock, make_id))
    await database.close()


def main() -> None:
    """Work until the point."""
    url, point = sys.argv[1:]
    use_abilities()
    asyncio.run(work(DeadlyDatabase(url, point), f"victim {point}"))
