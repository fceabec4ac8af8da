"""Events that arrive at two web processes while two people become one: each is answered with 2xx and fires once."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta

import aiohttp
import asyncpg
import pytest

from abilities.events.bus import EventBus
from abilities.events.merge import EventSourceMerge
from abilities.events.receive import EventRoutes
from abilities.events.source_types import SourceOptions, Style
from abilities.events.sources import EventSources
from abilities.tasks.engine import TriggerEngine
from channels.http.app import build_app, serve
from core.clock import Clock
from core.ids import make_id
from core.queue.wakeups import NoWakeups
from tests.core.harness import Store, opened
from tests.core.people.harness import CHAT, PHONE, Harness
from tests.eventually import eventually
from tests.locks import until_blocked

ANN, ANN_CHAT = "+15550000001", "7001"
NO_REDIS = "redis://127.0.0.1:1/0"


@dataclass(slots=True)
class Doors:
    """Two web processes before one database, and the services that post to them."""

    urls: list[str]
    http: aiohttp.ClientSession
    answers: list[tuple[str, int]] = field(default_factory=list)
    going: bool = True

    async def post_all_the_time(self, who: str, secret: str) -> None:
        """Post one event after the other to the address "door", at either process, until told to stop."""
        number = 0
        while self.going:
            number += 1
            body = json.dumps({"id": f"{who}-{number}", "type": "opened"})
            headers = {"Authorization": f"Bearer {secret}"}
            async with self.http.post(f"{self.urls[number % 2]}/events/door", data=body, headers=headers) as answer:
                self.answers.append((f"{who}-{number}", answer.status))
            await asyncio.sleep(0.02)

    async def has_answered(self, more: int) -> None:
        """Wait until so many more events have been answered."""
        wanted = len(self.answers) + more
        await eventually(lambda: len(self.answers) >= wanted, f"{more} more answers")


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    async with opened(database_url) as store:
        yield store


async def linked(people: Harness) -> None:
    """Wait until the two are linked: a turn that met a deadlock with an event that just came is run again later."""

    async def look() -> bool:
        if (await people.heard(ANN)).startswith("Linked"):
            return True
        await people.run()
        return False

    await eventually(look, "that the two are linked")


async def two_with_doors(store: Store) -> tuple[Harness, dict[str, str]]:
    """Return two people, each with a source and a task that waits for its events, and their tenants."""
    people = Harness(store)
    people.hooks = (EventSourceMerge(people.credentials),)
    await people.ask("hello", ANN)
    await people.ask("hello", ANN_CHAT, CHAT)
    both = {"ann": await people.tenant(ANN, PHONE), "chat": await people.tenant(ANN_CHAT, CHAT)}
    sources = EventSources(store.database, people.credentials, make_id)
    for who, tenant_id in both.items():
        await sources.add(tenant_id, "door", Style.BEARER, SourceOptions(a_minute=10**6), f"secret of {who}")
        await store.admin.execute(
            "insert into tasks (tenant_id, id, number, title, kind, trigger, action, state, anchor, created_at)"
            " values ($1, $2, 1, '', 'event', $3, $4, 'ACTIVE', now(), now())",
            tenant_id, f"task of {who}", json.dumps({"kind": "event", "source": "door", "type": "*"}),
            json.dumps({"kind": "message", "text": "It opened."}),
        )  # fmt: skip
    return people, both


async def test_every_event_during_a_link_is_taken_and_fires_its_task_once(store: Store) -> None:
    people, both = await two_with_doors(store)
    sources = EventSources(store.database, people.credentials, make_id)
    # The runs need not be worked on: that they were started is what counts.
    await store.admin.execute(
        "create function hold() returns trigger language plpgsql as"
        " $$ begin new.not_before := 'infinity'; return new; end $$;"
        "create trigger hold before insert or update on lanes for each row when (new.conversation_id is null)"
        " execute function hold()"
    )
    code = await people.code(ANN_CHAT, CHAT)
    await people.settle()
    async with AsyncExitStack() as stack:
        buses = [EventBus(NO_REDIS, store.database, poll=timedelta(seconds=0.2)) for _ in range(2)]
        for bus in buses:
            stack.push_async_callback(bus.close)
        apps = [
            build_app([], ready=store.database.ready, extra_routes=EventRoutes(sources, bus).routes()) for bus in buses
        ]
        ports = [await stack.enter_async_context(serve(app, "127.0.0.1", 0)) for app in apps]
        engine = TriggerEngine(store.database, make_id, Clock(), NoWakeups(), event_bus=buses[0])
        await engine.start()
        http = await stack.enter_async_context(aiohttp.ClientSession())
        doors = Doors([f"http://127.0.0.1:{port}" for port in ports], http)
        async with asyncio.TaskGroup() as group:
            for who in both:
                for sender in "xyz":
                    group.create_task(doors.post_all_the_time(f"{who}-{sender}", f"secret of {who}"))
            await doors.has_answered(12)
            await people.link(code, ANN)
            await linked(people)
            await doors.has_answered(12)
            doors.going = False
        assert Counter(status for _, status in doors.answers) == {200: len(doors.answers)}
        work = "select not exists (select from event_work where state = 'waiting')"
        await eventually(lambda: store.one(work), "that the bus has handled all")
    rows = await store.admin.fetch("select tenant_id, task_id, cause ->> 'id' as event from task_runs")
    assert Counter((row["tenant_id"], row["task_id"], row["event"]) for row in rows) == {
        (both["ann"], f"task of {event.split('-')[0]}", event): 1 for event, _ in doors.answers
    }


async def test_a_run_that_starts_during_a_link_has_its_events_new_name(store: Store) -> None:
    people, both = await two_with_doors(store)
    code = await people.code(ANN_CHAT, CHAT)
    await people.settle()
    run = {"task_id": "task of chat", "run_id": "run_1", "turn_id": "turn_1", "occurrence": "door:e1"}
    run |= {"state": "QUEUED", "due_at": "2026-01-01T00:00:00Z", "reason": ""}
    cause = {"cause": {"id": "e1", "source": "door"}}
    other = await asyncpg.connect(store.url)
    try:
        await other.execute("begin")
        await other.execute("select start_runs($1, $2)", both["chat"], json.dumps([run | cause]))
        linking = asyncio.create_task(people.link(code, ANN))
        await until_blocked(other.fetchval)
        await other.execute("commit")
        await linking
    finally:
        await other.close()
    await linked(people)
    rows = await store.admin.fetch("select tenant_id, occurrence from task_runs where id = 'run_1'")
    # By the old name, the event would start a second run where the work on it is repeated.
    assert [tuple(row) for row in rows] == [(both["ann"], "door-2:e1")]
