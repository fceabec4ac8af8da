"""An system that writes first: an approving one with triggers, events and notifications; its clock is moved."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import aiohttp
from aiohttp import web

from abilities.calendar.tools import EventReminder
from abilities.events.bus import EventBus
from abilities.events.receive import EventRoutes
from abilities.events.source_types import Style
from abilities.events.sources import EventSources
from abilities.tasks import looking_after as tasks
from abilities.tasks.at_night import NightTasks, run_task_at_night
from abilities.tasks.engine import TriggerEngine
from abilities.tasks.opening import build_triggers
from abilities.tasks.reminders import RemindMe, TellExecutor, take_back_reminder
from abilities.tasks.scheduling import ScheduleTask, SetHeartbeat
from abilities.web.page import read_html
from agents.person import set_preference
from agents.travel import FlightSearchAgent
from channels.http.app import build_app, serve
from core.agents.registry import AgentRegistry
from core.credentials.secret_keys import SecretKey, SecretKeys
from core.credentials.store import CredentialStore
from core.http.guarded_client import GuardedClient
from core.inbox.inbox import Inbox
from core.people.people import People
from core.tools.tool import Tool
from jobs.delivery.card_updates import Redraws
from jobs.delivery.redraws import RedrawRunner
from jobs.delivery.runner import DeliveryRunner
from jobs.turns.features import TurnFeatures
from jobs.turns.runner import TurnRunner
from jobs.upkeep.schedule import advance_approvals, release_notifications
from notify.service import NotificationService
from notify.store import NotificationStore
from tests.clocks import StandingClock
from tests.contract.approving import Approving
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.delivery_harness import DeliveryHarness
from tests.contract.harness import ChannelHarness, open_harness
from tests.core.builders import Step
from tests.core.harness import OPEN, opened
from tests.eventually import eventually


@dataclass(slots=True)
class Web:
    """The world outside: what a page says now, and a source that tells of events."""

    price: int = 320
    url: str = ""
    source: str = ""
    secret: str = field(default="", repr=False)


@dataclass(slots=True, kw_only=True)
class Proactive(Approving):
    """One worker's parts, wired as in `onevalet.wiring.worker_parts` and driven by hand."""

    engine: TriggerEngine
    http: aiohttp.ClientSession
    web: Web = field(default_factory=Web)
    tenant: str = ""

    async def work(self) -> None:
        """Do all that is to be done at this moment of the clock, until nothing is left."""
        store, harness = self.delivery.store, self.delivery.channel
        notes = NotificationStore(store.database, store.make_id)
        service = NotificationService(notes, [harness.name, *self.others], store.wakeups, self.clock, store.make_id)
        orchestrator = self.orchestrator
        triggers = build_triggers(self.engine, orchestrator, service, read_html)
        turns = TurnRunner(
            store.turns,
            orchestrator,
            store.wakeups,
            {},
            store.make_id,
            "w1",
            TurnFeatures(runs=triggers.runs, approvals=self.approvals, holds_cards=service.holds_cards),
        )
        redraws = RedrawRunner(Redraws(store.database), {harness.name: harness.sender} | self.others, self.clock)
        while True:
            await advance_approvals(self.approvals, self.clock, store.make_id)
            fired = await triggers.runner.once() + await self.engine.make_up()
            await triggers.runner.looked()
            if lease := await turns.claim(None):
                await turns.run(lease)
            handed_over = await triggers.runner.notices.hand_over()
            handed_over += await release_notifications(service, self.clock)
            await self.delivery.deliver()
            await advance_approvals(self.approvals, self.clock, store.make_id)
            if drawing := await redraws.claim(None):
                await redraws.run(drawing)
            if not (fired or lease or handed_over or drawing):
                return

    async def told(self, text: str) -> list[str]:
        """Let the person write to the model that there is; return what they then read, message by message."""
        seen = len(self.delivery.channel.bubbles())
        await self.say(text)
        return [bubble.text for bubble in self.delivery.channel.bubbles()[seen:]]

    async def hears(self, text: str, *steps: Step) -> str:
        """Let the person write while the model follows a script to its end; return what they then read."""
        return await self._read(self.say(marked(text)), *steps)

    async def decides(self, label: str, *steps: Step) -> str:
        """Let the person decide as their channel has it; return what they then read."""
        return await self._read(self.decide(label), *steps)

    async def is_at(self, moment: datetime, *steps: Step) -> str:
        """Let it be a later moment; return what the person then reads."""
        assert moment >= self.clock.at, "time does not go back"
        self.clock.at = moment
        return await self._read(self.work(), *steps)

    async def happens(self, id: str, type: str, data: dict[str, object], *steps: Step) -> str:
        """Let the source tell of an event twice over; return what the person then reads."""
        rung, answers = len(self.delivery.store.wakeups.turns), []
        proof = {"Authorization": f"Bearer {self.web.secret}"}
        for _ in range(2):
            body = {"id": id, "type": type, **data}
            async with self.http.post(f"{self.web.url}/events/{self.web.source}", json=body, headers=proof) as answer:
                answers.append((answer.status, (await answer.json())["duplicate"]))
        assert answers == [(200, False), (200, True)]
        await eventually(lambda: len(self.delivery.store.wakeups.turns) > rung)
        return await self._read(self.work(), *steps)

    async def runs(self, title: str) -> list[object]:
        """Return the states of a task's runs, the oldest first."""
        return await self.delivery.store.column(
            "select r.state from task_runs r join tasks k on k.tenant_id = r.tenant_id and k.id = r.task_id"
            " where k.title like $1 || '%' order by r.id",
            title,
        )

    async def move_in(self, home: str, elsewhere: str) -> None:
        """Let the person have written on `home`, and later, longer than this test lasts, on another channel."""
        await self.delivery.meet()
        self.tenant = await self.delivery.store.db.person()
        admin, address = self.delivery.store.admin, HARNESSES[elsewhere].account
        await admin.execute(
            "insert into identities (tenant_id, id, channel, account, user_key, admitted)"
            " values ($1, 'elsewhere', $2, $3, 'ada', 'operator')", self.tenant, elsewhere, address,
        )  # fmt: skip
        await admin.execute(
            "insert into conversations (tenant_id, id, identity_id, channel, account, peer, last_inbound_at)"
            " values ($1, 'talk-elsewhere', 'elsewhere', $2, $3, 'ada', clock_timestamp() + interval '1 day')",
            self.tenant, elsewhere, address,
        )  # fmt: skip

    async def _read(self, doing: Any, *steps: Step) -> str:
        seen = len(self.delivery.channel.bubbles())
        self.model.script[:] = steps
        await doing
        assert self.model.script == [], "the model was asked for all of it"
        return "\n".join(bubble.text for bubble in self.delivery.channel.bubbles()[seen:])


@asynccontextmanager
async def open_proactive(kind: type[ChannelHarness], database_url: str, redis_url: str) -> AsyncIterator[Proactive]:
    """Open it all on an empty database, with the bus over Valkey and a page and a source outside."""
    clock = StandingClock()
    async with opened(database_url) as store, aiohttp.ClientSession() as http:
        inbox = Inbox(store.database, store.wakeups, store.make_id, OPEN, clock=clock)
        bus = EventBus(redis_url, store.database, store.make_id)
        engine = TriggerEngine(
            store.database,
            store.make_id,
            clock,
            store.wakeups,
            event_bus=bus,
            executors=[TellExecutor(), EventReminder()],
        )
        sources = EventSources(
            store.database, CredentialStore(store.database, SecretKeys([SecretKey("k", os.urandom(32))])), store.make_id
        )
        async with open_harness(kind, inbox) as harness:
            delivery = DeliveryHarness(
                store, harness, DeliveryRunner(store.outbox, {harness.name: harness.sender}, "w1")
            )
            system = Proactive(delivery, clock, engine=engine, http=http)
            routes = [*EventRoutes(sources, bus).routes(), web.get("/flight", _page(system.web))]
            async with serve(build_app([], ready=store.database.ready, extra_routes=routes), "127.0.0.1", 0) as port:
                system.web.url = f"http://127.0.0.1:{port}"
                guarded = GuardedClient(allowed_hosts=[f"127.0.0.1:{port}"])
                system.more = [
                    set_preference,
                    take_back_reminder,
                    run_task_at_night,
                    *(item for item in vars(tasks).values() if isinstance(item, Tool)),
                ]
                system.options = {
                    "agents": AgentRegistry([ScheduleTask, RemindMe, SetHeartbeat, FlightSearchAgent]),
                    "trigger_engine": engine,
                    "http": guarded,
                    "people": People(store.database, store.make_id, clock),
                    "services": {NightTasks: lambda tenant_id, _: NightTasks(engine, tenant_id)},
                }
                await system.move_in(harness.name, "slack" if harness.name == "telegram" else "telegram")
                made, system.web.secret = await sources.add(system.tenant, "home", Style.BEARER)
                system.web.source = made.id
                await engine.start()
                try:
                    yield system
                finally:
                    await bus.close()
                    await guarded.close()


def _page(world: Web) -> Any:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"price": world.price})

    return answer
