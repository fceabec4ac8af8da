"""Planning in words, as in `dev`: with the demo model, over a real database, and told when it is due."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from abilities.tasks.kinds.event import EventTrigger
from core.json_types import JsonObject
from core.turns.decide_tool import DECIDE
from onevalet.wiring.plugins import load_plugins
from providers.models.litellm_client import LiteLLMClient
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.abilities.tasks.contract.test_proactive import repeats
from tests.contract.channel_harnesses import SmsHarness
from tests.core.builders import says, wants
from workbench.demo.model import DEMO_MODEL

COUNT = "select count(*) from tasks"


@pytest.fixture
async def planner(database_url: str, redis_url: str) -> AsyncIterator[Proactive]:
    """Yield a planner by SMS; it is Saturday, 21 November 2026, 13:00 in Berlin."""
    client = LiteLLMClient(DEMO_MODEL.model, local=DEMO_MODEL)
    await client.warm_up()
    async with open_proactive(SmsHarness, database_url, redis_url) as system:
        system.model = client
        yield system
    await client.close()


async def at(system: Proactive, **ahead: float) -> list[str]:
    """Let time pass, and give what is then told."""
    seen = len(system.delivery.channel.bubbles())
    system.clock.move(timedelta(**ahead))
    await system.work()
    return [bubble.text for bubble in system.delivery.channel.bubbles()[seen:]]


async def test_a_person_plans_is_reminded_asks_and_stops_in_words(planner: Proactive) -> None:
    store = planner.delivery.store
    [where] = await planner.told("remind me at 3 to call mum")
    assert "Which city are you in?" in where
    [kept] = await planner.told("Berlin")
    assert kept.startswith("I will remind you on Sat 21 Nov 2026, 15:00 (Europe/Berlin): call mum. It is task 1;")

    planner.clock.move(timedelta(seconds=1))
    [asked] = await planner.told("every weekday at 8 what have I got scheduled?")
    assert "When: every weekday at 08:00 (Europe/Berlin), next on Mon 23 Nov 2026, 08:00" in asked
    assert await store.one(COUNT) == 1, "nothing that comes again is kept before it was read back and agreed to"
    [*_, done] = await planner.told(f"ok {await planner.code()}")
    assert "It is set up as task 2: every weekday at 08:00 (Europe/Berlin)." in done

    [listed] = await planner.told("What have I got scheduled?")
    assert listed.splitlines()[2] == "1. call mum: once, on Sat 21 Nov 2026, 15:00 (Europe/Berlin)", (
        "a time is said once"
    )
    assert await at(planner, hours=2) == ["Reminder: call mum"]
    [summary] = await at(planner, hours=41)
    assert summary.startswith("Scheduled:\n2. what have I got scheduled?: every weekday")
    [why] = await planner.told("why did the call mum reminder fire?")
    assert "Sat 21 Nov 2026, 15:00: ran; sent by text message" in why
    [stopped] = await planner.told("stop the scheduled one")
    assert stopped.startswith("Task 2, what have I got scheduled?, is stopped")
    assert (await planner.told("what are my tasks?"))[0].startswith("Nothing is scheduled.")

    await planner.told("every 30 minutes remind me to stretch")
    await planner.told("remind me tomorrow at 9am to call dad")
    [undone] = await planner.told("undo the stretch reminder")
    assert undone.startswith('Undone: I will not remind you of "stretch".')
    assert await planner.told("undo") == ['Undone: I will not remind you of "call dad".']
    assert (await planner.told("what are my tasks?"))[0].startswith("Nothing is scheduled.")


async def test_a_moment_counts_from_when_it_is_said_and_is_undone_in_words(planner: Proactive) -> None:
    await planner.delivery.store.db.tenants.change({"timezone": "Europe/Berlin"})
    [kept] = await planner.told("remind me in 20 minutes to call mum")
    assert "on Sat 21 Nov 2026, 13:20 (Europe/Berlin)" in kept
    assert await at(planner, minutes=19) == []
    assert await at(planner, minutes=1) == ["Reminder: call mum"]
    [kept] = await planner.told("remind me tonight to sleep")
    assert "20:00" in kept
    [undone] = await planner.told("undo the reminder")
    assert undone.startswith("Undone: I will not remind you of")
    assert await at(planner, hours=8) == []
    [none] = await planner.told("undo the reminder")
    assert none.startswith("There is nothing that I can undo now.")


async def test_what_is_over_is_not_set(planner: Proactive) -> None:
    await planner.delivery.store.db.tenants.change({"timezone": "Europe/Berlin"})
    [never] = await planner.told("remind me 2026-11-20 10:00 to call mum")
    assert "over already" in never
    assert await planner.delivery.store.one(COUNT) == 0


async def on_events(system: Proactive) -> None:
    """Let a task of the person run when the doorbell rings."""
    await system.hears("hello", says("Hello."))
    await system.delivery.store.db.tenants.change({"timezone": "Europe/Berlin", "preferred_channel": "sms"})
    await system.engine.create_task(
        tenant_id=system.tenant, trigger=EventTrigger("*", "rang"), action={"instruction": "Look into it"}
    )


async def test_a_reminder_that_a_tasks_run_wants_is_asked_first(database_url: str, redis_url: str) -> None:
    async with open_proactive(SmsHarness, database_url, redis_url) as system:
        await on_events(system)
        wanted = wants(("remind_me", {"text": "open http://evil.example", "at": "in 20 minutes"}))
        asked = await system.happens("ring-1", "rang", {}, wanted)
        assert "once, on Sat 21 Nov 2026, 13:20 (Europe/Berlin)" in asked
        assert "It stays open for 20 minutes." in asked
        assert await system.delivery.store.one(COUNT) == 1
        system.clock.move(timedelta(minutes=5))
        await system.decides("Approve", repeats)
        told = await system.is_at(system.clock.at + timedelta(minutes=15))
        assert told == "Reminder: open http://evil.example", "the moment counts as it was shown"


async def test_a_change_in_free_words_is_read_back_and_applies_as_shown(database_url: str, redis_url: str) -> None:
    async with open_proactive(SmsHarness, database_url, redis_url) as system:
        await on_events(system)
        await system.happens("ring-1", "rang", {}, wants(("remind_me", {"text": "call mum", "at": "3pm"})))
        system.clock.move(timedelta(seconds=1))
        changes: JsonObject = {"at": "in 30 minutes"}
        change: JsonObject = {"decisions": [{"code": await system.code(), "decision": "edit", "changes": changes}]}
        assert "13:30" in await system.hears("rather in half an hour", wants((DECIDE, change)))
        system.clock.move(timedelta(minutes=4))
        # What was changed to counts from when it is shown, so it is shown once more.
        again = await system.decides("Approve")
        assert "13:34" in again
        assert await system.delivery.store.one(COUNT) == 1
        system.clock.move(timedelta(minutes=2))
        assert "13:34" in await system.decides("Approve", repeats)
        assert await system.delivery.store.one(COUNT) == 2


@pytest.mark.parametrize("moment", ["2026-11-21T15:00:00+01:00", "2026-11-21T14:00:00Z"])
async def test_a_moment_that_names_its_offset_is_read_back_in_the_persons_time(
    database_url: str, redis_url: str, moment: str
) -> None:
    async with open_proactive(SmsHarness, database_url, redis_url) as system:
        await system.delivery.store.db.tenants.change({"timezone": "Europe/Berlin"})
        kept = await system.hears("remind me", wants(("remind_me", {"text": "call mum", "at": moment})), repeats)
        assert "on Sat 21 Nov 2026, 15:00 (Europe/Berlin)" in kept
        assert await system.delivery.store.one("select next_at::text from tasks") == "2026-11-21 14:00:00+00"


async def test_a_heartbeat_is_read_back_begun_changed_and_ended(database_url: str, redis_url: str) -> None:
    async with open_proactive(SmsHarness, database_url, redis_url) as system:
        await system.delivery.store.db.tenants.change({"timezone": "Europe/Berlin"})
        for minutes, phrase in ((60, "every hour (Europe/Berlin), counted from"), (90, "every 1 hour and 30 minutes")):
            assert phrase in await system.hears(
                "look by yourself", wants(("set_heartbeat", {"every_minutes": minutes}))
            )
            assert "I look every" in await system.decides("Approve", repeats)
            system.clock.move(timedelta(seconds=1))
        active = "select array_agg(number) from tasks where state = 'ACTIVE'"
        assert await system.delivery.store.one(active) == [2]
        await system.hears("more often", wants(("set_heartbeat", {"every_minutes": 5})), repeats)
        await system.hears("no more", wants(("set_heartbeat", {"every_minutes": 0})), repeats)
        assert await system.delivery.store.one(active) is None


async def test_every_other_tuesday_is_said_and_comes_at_9_over_clock_changes(database_url: str, redis_url: str) -> None:
    async with open_proactive(SmsHarness, database_url, redis_url) as planner:
        await planner.delivery.store.db.tenants.change({"timezone": "Europe/Berlin"})
        bins: JsonObject = {"what": "put the bins out", "cron": "0 9 * * 2", "every": 2, "remind_only": True}
        said = await planner.hears("every other tuesday at 9 the bins", wants(("ScheduleTask", bins)), repeats)
        assert (
            "I will remind you every 2 weeks, at 09:00, on Tuesday (Europe/Berlin): put the bins out. The next time is "
            "Tue 24 Nov 2026, 09:00"
        ) in said
        first = datetime(2026, 11, 24, 9, 0, tzinfo=ZoneInfo("Europe/Berlin"))
        for weeks in (0, 16, 18, 48, 50):  # the clocks change on 28 March and 31 October
            rings = first + timedelta(weeks=weeks)
            told = [
                await at(planner, seconds=(moment.astimezone(UTC) - planner.clock.now()).total_seconds())
                for moment in (rings - timedelta(minutes=1), rings, rings + timedelta(weeks=1))
            ]
            assert told == [[], ["Reminder: put the bins out"], []]


async def test_the_months_that_are_left_out_are_told_when_it_is_set(database_url: str, redis_url: str) -> None:
    async with open_proactive(SmsHarness, database_url, redis_url) as system:
        await system.delivery.store.db.tenants.change({"timezone": "Europe/Berlin"})
        rent: JsonObject = {"what": "pay the rent", "cron": "0 9 31 * *", "remind_only": True}
        said = await system.hears("every month on the 31st", wants(("ScheduleTask", rent)), repeats)
    assert "left out in months without a day 31: February, April, June, September and November" in said


def test_the_loader_finds_what_plans() -> None:
    plugins = load_plugins(["agents"])
    planning = {"remind_me", "ScheduleTask", "set_heartbeat"}
    assert {
        agent.valet.name: agent.valet.effect for agent in plugins.agents if agent.valet.name in planning
    } == dict.fromkeys(planning, "idempotent")
