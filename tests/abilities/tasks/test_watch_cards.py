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
from onevalet.testing import make_context
from tests.agents.services import no_loop

WATCH: JsonObject = {
    "what": "Tell me when flights get cheap", "expression": "value < 300", "tool": "FlightSearchAgent",
    "tool_arguments": {"origin": "SFO"}, "path": "$.cheapest.price", "every_minutes": 60.0, "reset": "value > 320",
}  # fmt: skip
EVENT: JsonObject = {
    "what": "Tell me of parcels", "event_source": "mail", "event_type": "mail.received",
    "event_filter": {"from": {"contains": "amazon"}},
}  # fmt: skip


class Tasks:
    """What words a trigger, without a database."""

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
