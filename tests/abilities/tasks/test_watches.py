"""Watches that are asked for in words: what could never be looked at is refused at once, and no card is shown."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from abilities.events.types import Event
from core.json_types import JsonObject
from core.llm.types import ModelRequest
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.abilities.tasks.contract.test_proactive import repeats
from tests.contract.channel_harnesses import SmsHarness
from tests.core.builders import says, wants

PUBLIC = "not on the public internet"


@pytest.fixture
async def system(database_url: str, redis_url: str) -> AsyncIterator[Proactive]:
    """Yield a worker's parts, with a person in Berlin."""
    async with open_proactive(SmsHarness, database_url, redis_url) as system:
        await system.delivery.store.db.tenants.change({"timezone": "Europe/Berlin"})
        yield system


@pytest.mark.parametrize(
    ("watched", "why"),
    [
        ({"url": "http://127.0.0.1/"}, PUBLIC),
        ({"url": "http://169.254.169.254/latest/meta-data/"}, PUBLIC),
        ({"url": "http://[::1]/"}, PUBLIC),
        ({"url": "http://localhost/"}, PUBLIC),
        ({"url": "https://user:pw@shop.example/"}, "user name"),
        ({"url": "http://203.0.113.9:22/"}, "usual ports"),
        ({"tool": "stop_task"}, "cannot use stop_task, because it does more than read"),
        ({"tool": "RemindMe"}, "no tool RemindMe"),
        ({"tool": "look_around"}, "no tool look_around"),
        ({"url": "{page}", "path": "$..*..*"}, "more than one"),
        ({"url": "{page}", "path": "$.cost"}, 'finds nothing in the result. The result is now: {"price":320}'),
        ({"url": "{page}"}, "does not work: “value < 3” could not be evaluated on the result."),
        ({"url": "{page}/nothing"}, "The server answered 404"),
        ({"tool": "FlightSearchAgent"}, "origin: missing; destination: missing; date: missing"),
        ({"tool": "set_heartbeat"}, "cannot use set_heartbeat, because it does more than read"),
        ({"url": "{page}", "expression": "len('%099d' % value) > 1"}, "only numbers"),
    ],
)
async def test_a_watch_that_may_not_be_is_refused_before_any_card(
    system: Proactive, watched: dict[str, str], why: str
) -> None:
    given: dict[str, Any] = {"what": "tell me", "expression": "value < 3", **watched}
    given |= {name: text.replace("{page}", f"{system.web.url}/flight") for name, text in watched.items()}
    refusals: list[str] = []

    def then(request: ModelRequest) -> Any:
        refusals.extend(message.text for message in request.messages)
        return says("That cannot be watched.")

    answer = await system.hears(f"watch {given.get('url')}", wants(("ScheduleTask", given)), then)
    assert answer == "That cannot be watched."
    assert why in refusals[-1]
    assert await system.delivery.store.db.approvals.count() == 0
    assert await system.delivery.store.db.tasks.count() == 0


async def test_a_watch_that_may_be_gets_its_card(system: Proactive) -> None:
    given: JsonObject = {
        "what": "tell me",
        "expression": "value < 3",
        "url": f"{system.web.url}/flight",
        "path": "$.price",
    }
    card = await system.hears(f"watch {system.web.url}/flight", wants(("ScheduleTask", given)))
    assert "When: when it becomes true" in card
    assert "Now: 320" in card


async def test_a_flights_price_is_watched_from_card_to_message(system: Proactive) -> None:
    flight: JsonObject = {"origin": "BER", "destination": "LIS", "date": "2026-12-24"}
    given: JsonObject = {
        "what": "say it",
        "expression": "value < 3 or value < previous or value > 100",
        "tool": "FlightSearchAgent",
        "tool_arguments": flight,
        "path": "$.cheapest.price",
        "remind_only": True,
    }
    card = await system.hears("watch the flight", wants(("ScheduleTask", given)))
    price = re.search(r"Now: (\d+) USD, so you are told at once", card)
    assert price, card
    answer = await system.decides("Approve", repeats)
    assert f"Now: {price[1]} USD" in answer
    assert f"Now: {price[1]}." in answer + await system.is_at(system.clock.at + timedelta(minutes=1))


@pytest.mark.parametrize(
    ("source", "type", "why"),
    [
        ("gmail", "email.received", "There is no event source “gmail”. There are: home (nothing came yet); sms ("),
        ("sms", "email.received", "No event of the type “email.received” comes from sms."),
    ],
)
async def test_an_event_that_can_never_come_is_refused(system: Proactive, source: str, type: str, why: str) -> None:
    refusals: list[str] = []

    def then(request: ModelRequest) -> Any:
        refusals.append(request.messages[-1].text)
        return says("That cannot be.")

    given: JsonObject = {"what": "tell me", "event_source": source, "event_type": type}
    assert await system.hears("tell me", wants(("ScheduleTask", given)), then) == "That cannot be."
    assert why in refusals[-1]


async def test_an_event_that_has_not_come_yet_is_said_on_its_card(system: Proactive) -> None:
    await system.engine.events.keep(Event("home", "opened", {}, "1", system.tenant))
    given: JsonObject = {"what": "tell me", "event_source": "home", "event_type": "rang"}
    card = await system.hears("tell me", wants(("ScheduleTask", given)))
    assert "Now: none has come yet; so far: opened" in card
