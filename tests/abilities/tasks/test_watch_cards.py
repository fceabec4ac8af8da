"""Cards of watches, and of tasks that wait for events: in words, and still all that was asked for (promise 9)."""

from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from abilities.tasks.codec import trigger_from_json
from abilities.tasks.descriptions import in_words
from abilities.tasks.scheduling import ScheduleTask, SetHeartbeat
from core.agents.consent import agent_consent
from core.agents.standard_agent import StandardAgent
from core.agents.valet import valet_of
from core.approvals.rendering import render_arguments
from core.json_types import JsonObject
from core.language.catalogue import speaking
from onevalet.testing import make_context
from tests.agents.services import no_loop

WATCH: JsonObject = {
    "what": "Tell me when flights get cheap", "expression": "value < 300", "tool": "FlightSearchAgent",
    "tool_arguments": {"origin": "SFO"}, "path": "$.cheapest.price", "every_minutes": 60.0, "reset": "value > 320",
}  # fmt: skip
AT_THE_OFFICE: JsonObject = {
    "what": "buy stamps", "expression": "value", "tool": "at_place", "tool_arguments": {"place": "the office"},
    "path": "$.here", "every_minutes": 2.0,
}  # fmt: skip
EVENT: JsonObject = {
    "what": "Tell me of parcels", "event_source": "mail", "event_type": "mail.received",
    "event_filter": {"from": {"contains": "amazon"}},
}  # fmt: skip


class Tasks:
    """What words a trigger, without a database."""

    async def cost(self, _: JsonObject) -> str:
        return ""

    def describe(self, trigger: JsonObject, timezone: str | None = None) -> str:
        values = {name: value for name, value in trigger.items() if name != "kind"}
        return in_words(trigger_from_json(str(trigger["kind"]), values), ZoneInfo("Europe/Berlin"))


async def card_of(kind: type[StandardAgent], fields: JsonObject) -> dict[str, str]:
    """Return what a card shows of an agent's fields, by label."""
    marked = valet_of(kind)
    assert marked is not None
    context: Any = replace(make_context(), tasks=Tasks())  # type: ignore[arg-type]

    async def make(given: JsonObject) -> StandardAgent:
        return kind(context, no_loop, values=given)

    described = await agent_consent("c", marked, fields, make).describe(fields)
    return dict(render_arguments(fields, described))


@pytest.mark.parametrize(
    ("kind", "fields", "shown"),
    [
        (ScheduleTask, WATCH, {
            "When": "when it becomes true that value is under 300, looking at flight search (cheapest price) every "
            "hour, told again after value is over 320",
            "What": "Tell me when flights get cheap",
            "Tool arguments": "origin: SFO",
        }),
        (ScheduleTask, AT_THE_OFFICE, {"When": "when you are at the office", "What": "buy stamps"}),
        (ScheduleTask, AT_THE_OFFICE | {"expression": "not value", "every_minutes": 5.0, "min_gap_minutes": 60.0}, {
            "When": "when you are not at the office any more, looked at every 5 minutes, at most every hour",
            "What": "buy stamps",
        }),
        (ScheduleTask, AT_THE_OFFICE | {"tool_arguments": {"place": "the office, once"}}, {
            "When": "when it becomes true that value, looking at at place (here) every 2 minutes",
            "What": "buy stamps", "Tool arguments": "place: the office, once",
        }),
        (ScheduleTask, EVENT, {
            "When": "when mail comes in, and the sender contains amazon", "What": "Tell me of parcels",
        }),
        (SetHeartbeat, {"every_minutes": 60}, {"When": "every hour (Europe/Berlin)"}),
    ],
)  # fmt: skip
async def test_a_card_says_a_trigger_once_and_in_words(
    kind: type[StandardAgent], fields: JsonObject, shown: dict[str, str]
) -> None:
    assert await card_of(kind, fields) == shown


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (AT_THE_OFFICE, {"expression": "not value"}),
        (AT_THE_OFFICE, {"expression": "value is True"}),
        (AT_THE_OFFICE, {"every_minutes": 2.01}),
        (AT_THE_OFFICE, {"every_minutes": None}),
        (AT_THE_OFFICE, {"path": "$.distance_m"}),
        (AT_THE_OFFICE, {"reset": "value"}),
        (AT_THE_OFFICE, {"count": 1}),
        (AT_THE_OFFICE, {"tool_arguments": {"place": "The office"}}),
        (AT_THE_OFFICE, {"tool_arguments": {"place": "the office", "more": "1"}}),
        (WATCH, {"path": "$['cheapest price']"}),
        (WATCH, {"path": "$.cheapest_price"}),
        (WATCH, {"every_minutes": 60.01}),
        (WATCH, {"min_gap_minutes": 5.0}),
        (WATCH, {"tool": "get_weather"}),
        (WATCH, {"expression": "value <= 300"}),
        (WATCH, {"reset": "value > 321"}),
        (WATCH, {"until": "2027-01-31T15:00:30"}),
        (WATCH | {"until": "2027-01-31T15:00"}, {"until": "2027-01-31T15:00:30"}),
        (WATCH, {"count": 1}),
        (WATCH, {"tool_arguments": {"origin": "OAK"}}),
        (EVENT, {"event_filter": {"from": {"contains": "a" * 300}}}),
        (EVENT | {"event_filter": {"from": {"contains": "a" * 300}}},
         {"event_filter": {"from": {"contains": "a" * 301}}}),
        (EVENT | {"event_filter": {"total": 100}}, {"event_filter": {"total": "100"}}),
        (EVENT | {"event_filter": {"paid": True}}, {"event_filter": {"paid": "true"}}),
        (EVENT | {"event_filter": {"paid": None}}, {"event_filter": {"paid": "nothing"}}),
        (EVENT | {"event_source": "shop"}, {"event_source": "shop", "event_type": "*"}),
        (EVENT | {"event_source": "shop"}, {"event_source": "*"}),
    ],
)  # fmt: skip
async def test_promise_9_what_is_asked_for_otherwise_is_shown_otherwise(one: JsonObject, other: JsonObject) -> None:
    assert await card_of(ScheduleTask, one) != await card_of(ScheduleTask, one | other)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("de", "wenn du bei „the office“ bist"),
        ("en", "when you are at the office"),
        ("es", "cuando estés en «the office»"),
        ("fr", "quand vous serez à « the office »"),
        ("pt", "quando estiver em “the office”"),
        ("zh", "当你在“the office”时"),
    ],
)
def test_a_reminder_at_a_place_is_said_in_each_language(language: str, words: str) -> None:
    watch: JsonObject = {"expression": "value", "tool": "at_place", "path": "$.here", "every_minutes": 2}
    trigger = trigger_from_json("condition", {**watch, "arguments": {"place": "the office"}})
    with speaking(language):
        assert in_words(trigger, ZoneInfo("UTC")) == words
