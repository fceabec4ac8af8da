"""People who tell of what is ahead of them, on one channel: the digest that proposes, their answers, and the asking."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from abilities.events.bus import EventBus
from abilities.followups.followups import FollowUps
from abilities.followups.proposing import Proposals
from abilities.followups.tools import FollowUpExecutor, decide_followup, take_back_followup
from abilities.tasks.engine import TriggerEngine
from abilities.tasks.opening import Triggers, build_triggers
from core.people.tiers import read_tiers
from core.tools.sharing import sharing_among
from jobs.turns.features import TurnFeatures
from jobs.turns.runner import TurnRunner
from tests.abilities.household.living import Living, open_living
from tests.clocks import NOON

INTERVIEW = "I have an interview tomorrow at 3"
AT_THREE = NOON + timedelta(hours=27)
"""It is noon, in UTC, and nobody has quiet hours: the next digest comes at 8."""
MORNING = timedelta(hours=20, minutes=1)


@dataclass(slots=True, kw_only=True)
class Following(Living):
    """The same with follow-ups. Nothing here asks a model but turns that are no word."""

    engine: TriggerEngine
    tiers: str = ""
    told: int = field(default=0)

    @property
    def proposals(self) -> Proposals:
        """Return what proposes, as a worker has it."""
        services = self.orchestrator.services
        return Proposals(
            self.engine,
            self.notifier,
            read_tiers(self.tiers, 30),
            lambda tenant_id: sharing_among(services.for_turn(tenant_id, "")),
        )

    async def work(self) -> None:
        """Do all that is to be done at this moment of the clock."""
        triggers = self._triggers()
        for _ in range(3):
            await Living.work(self)
            await self.proposals.propose()
            await self.notifier.release_held()
            await triggers.runner.once()
            store = self.delivery.store
            turns = TurnRunner(
                store.turns, self.orchestrator, store.wakeups, {}, store.make_id, "w1", TurnFeatures(runs=triggers.runs)
            )
            while lease := await turns.claim(None):
                await turns.run(lease)
            await triggers.runner.notices.hand_over()
            await self.delivery.deliver()

    async def tells(self, words: str = INTERVIEW, at: datetime = AT_THREE, person: str = "ada") -> str:
        """Let memory have read something that is ahead of a person; return its id."""
        self.told += 1
        memory = f"mem_{self.told}"
        await self.delivery.store.admin.execute(
            "insert into memories (tenant_id, id, number, text, speaker, kind, source_key, said_at, valid_from,"
            " happens_at) values ($1, $2, $3, $4, 'person', 'told', $2, $5, $5, $6)",
            self.tenants[person],
            memory,
            self.told,
            words,
            self.clock.now(),
            at,
        )
        await self.work()
        return memory

    async def is_later(self, span: timedelta, person: str = "ada") -> str:
        """Let time pass; return what somebody reads then."""
        before = self.count(person)
        self.clock.move(span)
        await self.work()
        return self.heard(person, before)

    async def state(self, memory: str = "mem_1") -> str:
        """Return the state of a follow-up."""
        return str(await self.delivery.store.db.followups.one("state", memory_id=memory))

    async def asked_of_the_model(self) -> int:
        """Return how many model calls there were since people said hello."""
        calls = await self.delivery.store.db.steps.count(kind="model")
        return calls - len(self.tenants)

    def _triggers(self) -> Triggers:
        return build_triggers(self.engine, self.orchestrator, self.notifier)


@asynccontextmanager
async def open_following(
    channel: str, database_url: str, redis_url: str, *, twice: bool = False
) -> AsyncIterator[Following]:
    """Open it all on an empty database; `twice`: on one whose every answer is lost once."""
    async with open_living(channel, database_url, twice=twice) as plain:
        store = plain.delivery.store
        bus = EventBus(redis_url, store.database, store.make_id)
        engine = TriggerEngine(
            store.database, store.make_id, plain.clock, store.wakeups, event_bus=bus, executors=[FollowUpExecutor()]
        )
        system = Following(plain.delivery, plain.clock, engine=engine, tenants=plain.tenants)
        system.more = [*plain.more, decide_followup, take_back_followup]
        services = plain.options["services"] | {FollowUps: lambda who, turn: FollowUps(engine, who, turn)}
        system.options = {"services": services, "trigger_engine": engine}
        await store.db.tenants.change({"timezone": "UTC"})
        await engine.start()
        try:
            yield system
        finally:
            await bus.close()
