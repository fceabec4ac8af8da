"""What is absent is None in values, and empty in rows and in what callers hand in."""

from typing import Any

import pytest

from abilities.tasks.codec import trigger_from_json, trigger_to_json
from abilities.tasks.kinds.condition import ConditionTrigger
from abilities.tasks.kinds.event import EventTrigger
from abilities.tasks.kinds.schedule import ScheduleTrigger, TriggerError
from abilities.tasks.types import NoticeState, TaskOutput
from core.json_types import JsonObject
from core.notifications.types import NotificationStatus
from core.turns.beginnings import begin_run
from tests.abilities.tasks.harness import Harness

PAGE = "https://x.example"


def test_texts_that_callers_leave_empty_are_none() -> None:
    read = trigger_from_json("condition", {"expression": "value < 3", "url": PAGE, "tool": "", "path": ""})
    assert read == ConditionTrigger("value < 3", url=PAGE)
    assert trigger_to_json(read).keys().isdisjoint({"tool", "path"})
    assert trigger_from_json("schedule", {"cron": "0 9 * * *", "timezone": ""}) == ScheduleTrigger(cron="0 9 * * *")


def test_whole_numbers_with_a_decimal_point_are_whole() -> None:
    read = trigger_from_json("schedule", {"cron": "0 9 * * *", "count": 3.0, "jitter_seconds": 5.0})
    assert isinstance(read, ScheduleTrigger)
    assert [read.count, read.jitter_seconds] == [3, 5]
    assert [type(value) for value in (read.count, read.jitter_seconds)] == [int, int]


@pytest.mark.parametrize(
    "looked_at", [{}, {"url": ""}, {"tool": ""}, {"url": "", "tool": "t"}, {"url": PAGE, "tool": "t"}]
)
def test_a_condition_looks_at_one_of_the_two(looked_at: dict[str, Any]) -> None:
    with pytest.raises(TriggerError, match="either at a tool or at a web address"):
        ConditionTrigger("value < 3", **looked_at)


def test_an_empty_path_is_no_path() -> None:
    with pytest.raises(TriggerError, match="leave it out"):
        ConditionTrigger("value < 3", url=PAGE, path="")


def test_an_output_without_a_channel_keeps_its_stored_form() -> None:
    stored: list[JsonObject] = [{}, {"channel": ""}, {"channel": None}]
    for kept in stored:
        read = TaskOutput.from_json(kept)
        assert (read.channel, read.to_json()["channel"]) == (None, "")
    assert TaskOutput.from_json({"channel": "sms"}).to_json()["channel"] == "sms"


async def test_a_notice_has_no_fate_until_the_notifier_has_it(harness: Harness) -> None:
    task = await harness.engine.create_task(
        tenant_id=harness.tenant, trigger=EventTrigger("shop", "order"), action={"instruction": "Tea"}
    )
    await harness.engine.run_now(harness.tenant, task.id, "k")
    while lease := await harness.turns.claim(None):
        await harness.turns.run(lease)
    [run] = await harness.runs(task)
    assert [(notice.state, notice.fate, notice.place) for notice in run.notices] == [(NoticeState.OPEN, None, None)]
    await harness.work()
    [run] = await harness.runs(task)
    [told] = run.notices
    assert (told.state, told.fate, told.place) == (NoticeState.HANDED_OVER, NotificationStatus.QUEUED, "sms")


@pytest.mark.parametrize(("on", "channel"), [("telegram", None), ("sms", "sms")])
async def test_a_run_without_a_conversation_has_no_channel(harness: Harness, on: str, channel: str | None) -> None:
    task = await harness.engine.create_task(
        tenant_id=harness.tenant, trigger=EventTrigger("shop", "order"), action={"instruction": "Tea"}
    )
    await harness.engine.run_now(harness.tenant, task.id, "k")
    [run] = await harness.runs(task)
    assert run.turn_id is not None
    async with harness.store.database.tenant(harness.tenant) as connection:
        turn = await begin_run(connection, harness.tenant, run.turn_id, [on])
    assert (turn["channel"], turn["conversation_id"] is None) == (channel, channel is None)
