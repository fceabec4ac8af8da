"""Planning in words, as in `dev`: with the demo model, over a real database, and told when it is due."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

import pytest

from agents import reminders, scheduling, tasks
from agents.moments import read_moment, zone_named
from agents.reminders import TellExecutor, remind_me
from agents.scheduling import ScheduleTask
from core.agents.pool import Pool
from core.agents.registry import AgentRegistry
from core.loader import load_plugins
from core.model import LiteLLMClient
from core.orchestrator import Orchestrator
from core.tools import Tool
from core.triggers.engine import TriggerEngine
from core.triggers.looking import Looking
from core.triggers.notices import ConversationNotifier, Notices
from core.triggers.reading import OrchestratorTools
from core.triggers.running import RunExecutors
from jobs.triggers import TriggerRunner
from jobs.turns import TurnRunner
from tests.core.store.house import Store, opened
from tests.core.triggers.house import HandClock

TOOLS = [one for one in (remind_me, *vars(tasks).values()) if isinstance(one, Tool)]


@dataclass(slots=True)
class Planner:
    """One worker that plans and fires, driven by hand."""

    store: Store
    clock: HandClock
    turns: TurnRunner
    runner: TriggerRunner
    pool: Pool

    async def say(self, text: str) -> list[str]:
        """Say something, and give what is answered."""
        await self.store.say(text)
        return await self.work()

    async def work(self) -> list[str]:
        """Do all that is to be done now, and give what is owed for it."""
        before = len(await self.owed())
        await self.runner.once()
        while lease := await self.turns.claim(None):
            await self.turns.run(lease)
        while await self.runner.notices.hand_over():
            pass
        return (await self.owed())[before:]

    async def owed(self) -> list[str]:
        """Give all that was ever owed, in order."""
        return [str(one) for one in await self.store.column("select text from outbound order by seq")]


@pytest.fixture
async def planner(database_url: str) -> AsyncIterator[Planner]:
    """Give a planner; it is Monday, 2 March 2026, 9:00 in Berlin."""
    client, clock = LiteLLMClient("demo/valet"), HandClock()
    await client.warm_up()
    async with opened(database_url) as store:
        engine = TriggerEngine(store.database, store.make_id, clock, store.bell, executors=[TellExecutor()])
        orchestrator = Orchestrator(
            client, tools=TOOLS, agents=AgentRegistry([ScheduleTask]), trigger_engine=engine, clock=clock
        )
        notifier = ConversationNotifier(store.database, store.bell)
        notices = Notices(engine.store, notifier)
        runs = RunExecutors(engine, orchestrator, notifier, notices)
        turns = TurnRunner(store.turns, orchestrator, store.bell, {}, store.make_id, "w1", runs=runs)
        looking = Looking(engine, OrchestratorTools(orchestrator, engine.store, store.make_id), clock, store.make_id)
        runner = TriggerRunner(engine, looking, notices, clock)
        yield Planner(store, clock, turns, runner, Pool(store.database, store.bell))
    await client.close()


@pytest.mark.timeout(90)
async def test_a_person_plans_is_reminded_asks_and_stops_in_words(planner: Planner) -> None:
    [where] = await planner.say("remind me at 3 to call mum")
    assert "which city they live in" in where
    await planner.store.eye.execute("update tenants set timezone = 'Europe/Berlin'")
    [kept] = await planner.say("remind me at 3 to call mum")
    assert kept.startswith("I will remind you on Mon 2 Mar 2026, 15:00 (Europe/Berlin): call mum. It is task 1.")

    [asked] = await planner.say("every weekday at 8 what have I got scheduled?")
    said = "Every weekday at 08:00 (Europe/Berlin), next on Tue 3 Mar 2026, 08:00: what have I got scheduled?"
    assert asked.startswith(said)
    assert asked.endswith("Shall I set this up?")
    assert await planner.store.one("select count(*) from tasks") == 1, "nothing is kept before it was read back"
    [done] = await planner.say("yes")
    assert "It is set up as task 2: every weekday at 08:00 (Europe/Berlin)." in done

    [listed] = await planner.say("What have I got scheduled?")
    assert "1. call mum: once, on Mon 2 Mar 2026, 15:00 (Europe/Berlin)" in listed
    planner.clock.pass_by(hours=6)
    assert await planner.work() == ["Reminder: call mum"]
    planner.clock.pass_by(hours=17)
    [summary] = await planner.work()
    assert summary.startswith("Scheduled:\n2. what have I got scheduled?: every weekday")
    [why] = await planner.say("why did the call mum reminder fire?")
    assert "Mon 2 Mar 2026, 15:00: ran; sent by sms" in why
    assert (await planner.say("stop the scheduled one"))[0].startswith("Task 2, what have I got scheduled?, is stopped")
    assert (await planner.say("what are my tasks?"))[0].startswith("Nothing is scheduled.")

    await planner.say("every 30 minutes remind me to stretch")
    [dropped] = await planner.say("no")
    assert await planner.store.one("select count(*) from tasks") == 2, dropped


def test_the_loader_finds_the_executor_that_ships() -> None:
    assert [one.name for one in load_plugins(["agents"]).executors] == ["tell"]
    assert reminders.remind_me.effect == "idempotent"
    assert scheduling.ScheduleTask.valet.effect == "idempotent"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("3", "2026-03-02T15:00"),
        ("at 3pm", "2026-03-02T15:00"),
        ("3 am", "2026-03-03T03:00"),
        ("15:30", "2026-03-02T15:30"),
        ("8", "2026-03-02T20:00"),
        ("8:00 am", "2026-03-03T08:00"),
        ("tomorrow at 9", "2026-03-03T09:00"),
        ("monday 10:15", "2026-03-09T10:15"),
        ("friday", "2026-03-06T09:00"),
        ("in 20 minutes", "2026-03-02T10:20"),
        ("in half an hour", "2026-03-02T10:30"),
        ("tonight", "2026-03-02T20:00"),
        ("2026-12-24T18:00", "2026-12-24T18:00"),
        ("2026-12-24 18:00", "2026-12-24T18:00"),
        ("noon", "2026-03-02T12:00"),
        ("25:00", None),
        ("soon", None),
        ("13pm", None),
    ],
)
def test_moments_are_read_as_people_write_them(said: str, meant: str | None) -> None:
    found = read_moment(said, datetime.fromisoformat("2026-03-02T10:00"))
    assert (found.isoformat(timespec="minutes") if found else None) == meant


def test_a_city_names_its_timezone() -> None:
    assert [zone_named(one) for one in ("Lisbon", "new york", "Europe/Berlin", "Nowhere")] == [
        "Europe/Lisbon",
        "America/New_York",
        "Europe/Berlin",
        "",
    ]
