"""A worker that dies by SIGKILL at one statement of proposing a follow-up, or of a turn about one."""

import asyncio
import sys

from abilities.followups.followups import FollowUps
from abilities.followups.proposing import Proposals
from abilities.followups.tools import FollowUpExecutor, decide_followup, take_back_followup
from abilities.tasks.engine import TriggerEngine
from core.clock import Clock
from core.db.database import Database
from core.ids import make_id
from core.people.tiers import read_tiers
from core.tools.storage import Storage
from core.turns.orchestrator import Orchestrator
from core.turns.store import TurnStore
from jobs.turns.features import TurnFeatures
from jobs.turns.runner import TurnRunner
from notify.service import NotificationService
from notify.store import NotificationStore
from onevalet.wiring.abilities import use_abilities
from tests.abilities.household.victims import DeadlyDatabase
from tests.core.builders import FakeModel
from tests.core.harness import LEASE, RecordedWakeups


async def work(database: Database, name: str) -> None:
    """Propose what is ahead, and run all waiting turns."""
    clock, wakeups = Clock(), RecordedWakeups()
    notifier = NotificationService(NotificationStore(database, make_id), ["sms"], wakeups, clock, make_id)
    engine = TriggerEngine(database, make_id, clock, wakeups, executors=[FollowUpExecutor()])
    await Proposals(engine, notifier, read_tiers("", 30), lambda _: None).propose()
    orchestrator = Orchestrator(
        FakeModel([]),
        clock=clock,
        tools=[decide_followup, take_back_followup],
        storage=Storage(database),
        services={FollowUps: lambda tenant_id, turn_id: FollowUps(engine, tenant_id, turn_id)},
    )
    runner = TurnRunner(
        TurnStore(database, make_id, LEASE), orchestrator, wakeups, {}, make_id, name, TurnFeatures(None)
    )
    while lease := await runner.claim(None):
        await runner.run(lease)
    await database.close()


def main() -> None:
    """Work until the point."""
    url, point = sys.argv[1:]
    use_abilities()
    asyncio.run(work(DeadlyDatabase(url, point), f"victim {point}"))
