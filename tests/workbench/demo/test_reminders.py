"""Reminders for the demo model, in the orders of words in which people ask for them."""

import json

import pytest

from core.json_types import JsonObject
from tests.workbench.demo.test_languages import TOOLS, prompt
from tests.workbench.demo.test_model import says
from workbench.demo.model import answer


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


@pytest.mark.parametrize(
    ("said", "cron"),
    [
        ("remind me to pay the rent on the last Friday of each month", "0 9 * * 5L"),
        ("on the first Monday of every month at 8am, remind me to pay the rent", "0 8 * * 1#1"),
        ("remind me every second Tuesday of the month to pay the rent", "0 9 * * 2#2"),
        ("remind me on the last day of each month at 17:30 to pay the rent", "30 17 L * *"),
    ],
)
def test_a_reminder_may_come_on_a_day_of_each_month(said: str, cron: str) -> None:
    assert _called(said) == [("ScheduleTask", {"what": "pay the rent", "cron": cron, "remind_only": True})]


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("remind me at 3", {"at": "at 3"}),
        ("remind me tomorrow", {"at": "tomorrow"}),
        ("remind me to call mum", {"text": "call mum"}),
    ],
)
def test_what_a_reminder_lacks_is_left_to_be_asked_for(said: str, known: JsonObject) -> None:
    assert _called(said) == [("remind_me", known)]


def test_what_comes_again_is_no_reminder_that_comes_once() -> None:
    assert _called("remind me at 8 to take a walk each third morning") == []


def test_what_is_no_moment_before_remind_me_is_no_reminder() -> None:
    assert _called("my wife said remind me to call mum") == []


def _called(said: str) -> list[tuple[str, JsonObject]]:
    calls = answer([prompt(), says(said)], TOOLS).tool_calls
    return [(call.name, json.loads(call.arguments)) for call in calls]
