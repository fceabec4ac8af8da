"""A night in which nothing asks a model, over each channel: one look in the morning, and a word against it."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import pytest

from core.json_types import JsonObject
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.abilities.tasks.contract.test_proactive import BERLIN, on_its_mark, repeats
from tests.contract.canaries import marked
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.email_harness import also_by_mail
from tests.core.builders import says, wants

EVENING, MORNING = datetime(2026, 11, 21, 23, 0, tzinfo=BERLIN), datetime(2026, 11, 22, 7, 0, tzinfo=BERLIN)
QUARTER = timedelta(minutes=15)
NEWS = marked("The boiler is off. Shall I call somebody?")


@pytest.fixture
async def system(channel: str, database_url: str, redis_url: str) -> AsyncIterator[Proactive]:
    """Yield the system at 13:00 in Berlin: it looks each quarter of an hour, and eight hours of the night are quiet."""
    async with open_proactive(HARNESSES[channel], database_url, redis_url) as system:
        await system.delivery.store.db.tenants.change(
            {"timezone": "Europe/Berlin", "preferred_channel": channel, "quiet_from": "23:00", "quiet_until": "07:00"}
        )
        system.clock.at = EVENING - QUARTER
        await system.hears("look each quarter of an hour", wants(("set_heartbeat", {"every_minutes": 15})))
        await system.decides("Approve", repeats)
        yield system


@also_by_mail
async def test_a_night_of_looks_asks_no_model_and_the_morning_asks_once(system: Proactive) -> None:
    moment = EVENING
    while moment < MORNING:
        assert await system.is_at(moment) == ""
        moment += QUARTER
    spared = await system.runs("heartbeat")
    assert spared == ["SKIPPED"] * len(spared)
    assert len(spared) >= 31
    told = await system.is_at(MORNING, on_its_mark("[Scheduled Task] Look whether", NEWS))
    assert told in ("", NEWS), "it is of low urgency, so it may wait for the next digest"
    assert await system.is_at(MORNING + QUARTER) == "", "and nothing has changed since"


async def test_a_list_says_until_when_it_is_quiet_and_a_word_ends_that(system: Proactive) -> None:
    await system.is_at(EVENING + QUARTER)
    assert "; quiet until 07:00" in await system.hears("what is planned?", wants(("list_tasks", {})), repeats)
    system.model.script[:] = [says("NOTHING")]
    [answer] = await system.told("awake 1")
    assert system.model.script == [], "what was spared is made up for at once"
    assert "runs in your quiet hours too" in answer
    await system.is_at(EVENING + 2 * QUARTER, says("NOTHING"))
    assert "quiet until" not in await system.hears("what is planned?", wants(("list_tasks", {})), repeats)
    [answer] = await system.told("awake 1 off")
    assert "waits for the end of your quiet hours" in answer
    assert await system.is_at(EVENING + 3 * QUARTER) == ""
    why = await system.hears("why?", wants(("why_task", {"which": "1"})), repeats)
    assert "it waits for the end of your quiet hours" in why


async def test_a_task_at_an_hour_of_the_night_says_that_it_waits_and_how_not_to(system: Proactive) -> None:
    nightly: JsonObject = {"what": "tidy my lists", "cron": "0 3 * * *"}
    await system.hears("tidy my lists at 3 each night", wants(("ScheduleTask", nightly)))
    answer = await system.decides("Approve", repeats)
    assert "That is in your quiet hours: it waits for their end." in answer
    assert "awake 2" in answer
    by_day: JsonObject = {"what": "tidy my desk", "cron": "0 15 * * *"}
    await system.hears("tidy my desk at 3 each day", wants(("ScheduleTask", by_day)))
    assert "quiet hours" not in await system.decides("Approve", repeats)


@pytest.mark.parametrize(("word", "said"), [("awake 7", "You have no task 7."), ("awake 1 maybe", "for the assistant")])
async def test_a_word_that_names_no_task_or_more_than_one_says_so(system: Proactive, word: str, said: str) -> None:
    system.model.script[:] = [says("for the assistant")] if "maybe" in word else []
    [answer] = await system.told(word)
    assert said in answer
    assert system.model.script == []
