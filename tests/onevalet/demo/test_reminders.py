"""Reminders for the demo model, in the orders of words in which people ask for them."""

import json

import pytest

from core.json_types import JsonObject
from onevalet.demo.model import answer
from tests.onevalet.demo.test_languages import TOOLS, prompt
from tests.onevalet.demo.test_model import says


@pytest.mark.parametrize(
    ("said", "at", "text"),
    [
        ("tomorrow morning remind me to take the bins out", "tomorrow at 8:00", "take the bins out"),
        ("the day after tomorrow at noon, remind me to call", "the day after tomorrow at noon", "call"),
        ("remind me on Friday evening to water the plants", "on Friday at 19:00", "water the plants"),
        ("remind me to call Sam tomorrow evening at 8", "tomorrow evening at 8", "call Sam"),
    ],
)
def test_a_reminder_is_understood_in_the_order_in_which_people_say_it(said: str, at: str, text: str) -> None:
    assert _called(said) == [("remind_me", {"at": at, "text": text})]


def test_a_reminder_may_come_every_other_week() -> None:
    every = {"what": "put the bins out", "every": 2, "cron": "0 9 * * 2", "remind_only": True}
    assert _called("remind me every other Tuesday to put the bins out") == [("ScheduleTask", every)]


def test_what_is_no_moment_before_remind_me_is_no_reminder() -> None:
    assert _called("my wife said remind me to call mum") == []


def _called(said: str) -> list[tuple[str, JsonObject]]:
    calls = answer([prompt(), says(said)], TOOLS).tool_calls
    return [(call.name, json.loads(call.arguments)) for call in calls]
