"""One-time reminders over each channel: set at once, undone by a word, and heard at their time, at night too."""

import re
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import pytest

from core.json_types import JsonObject
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.abilities.tasks.contract.test_proactive import BERLIN, repeats
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.email_harness import also_by_mail
from tests.core.builders import says, wants

AT_NIGHT: JsonObject = {"text": "call mum", "at": "23:15"}
BY_DAY: JsonObject = {"text": "call mum", "at": "15:00"}
NIGHT = datetime(2026, 11, 21, 23, 15, tzinfo=BERLIN)


@pytest.fixture
async def system(channel: str, database_url: str, redis_url: str) -> AsyncIterator[Proactive]:
    """Yield the system; it is Saturday, 21 November 2026, 13:00 in Berlin, and nights are quiet."""
    async with open_proactive(HARNESSES[channel], database_url, redis_url) as system:
        await system.delivery.store.db.tenants.change(
            {"timezone": "Europe/Berlin", "preferred_channel": channel, "quiet_from": "22:00", "quiet_until": "07:00"}
        )
        yield system


@also_by_mail
async def test_a_reminder_is_set_at_once_and_rings_in_quiet_hours(system: Proactive) -> None:
    answer = await system.hears("remind me at 23:15 to call mum", wants(("remind_me", AT_NIGHT)), repeats)
    assert "I will remind you on Sat 21 Nov 2026, 23:15 (Europe/Berlin): call mum." in answer
    assert "in your quiet hours" in answer
    assert "undo" in answer
    assert await system.delivery.store.db.approvals.count() == 0, "nobody is asked"
    assert await system.is_at(NIGHT - timedelta(seconds=1)) == ""
    assert await system.is_at(NIGHT) == "Reminder: call mum"
    assert await system.is_at(NIGHT + timedelta(hours=9)) == "", "it rang, so no digest has it"


@also_by_mail
async def test_a_clock_in_the_evening_is_set_and_read_back_as_it_was_said(system: Proactive) -> None:
    at_ten: JsonObject = {"text": "call Sam", "at": "tonight at 10pm"}
    answer = await system.hears("remind me tonight at 10pm to call Sam", wants(("remind_me", at_ten)), repeats)
    assert "I will remind you on Sat 21 Nov 2026, 22:00 (Europe/Berlin): call Sam." in answer
    assert await system.is_at(datetime(2026, 11, 21, 22, 0, tzinfo=BERLIN)) == "Reminder: call Sam"


async def test_a_zone_that_was_named_is_read_back_with_its_clock(system: Proactive) -> None:
    there: JsonObject = {"text": "call Sam", "at": "tomorrow 9am EST"}
    answer = await system.hears("remind me tomorrow 9am EST to call Sam", wants(("remind_me", there)), repeats)
    assert "I will remind you on Sun 22 Nov 2026, 15:00 (Europe/Berlin; 09:00 EST): call Sam." in answer


@pytest.mark.parametrize(("at", "words"), [("tomorrow around 9", '"around ... 9"'), ("tomorrow 9am PDT", '"PDT"')])
async def test_words_of_a_moment_that_are_not_understood_are_named(system: Proactive, at: str, words: str) -> None:
    given: JsonObject = {"text": "call Sam", "at": at}
    answer = await system.hears(f"remind me {at} to call Sam", wants(("remind_me", given)), repeats)
    plain = answer.translate(str.maketrans("“”", '""')).replace("…", "...")  # a channel may have no such marks
    assert f'I cannot tell when "{at}" is: I do not understand {words}.' in plain
    assert await system.delivery.store.db.tasks.count() == 0


async def test_undo_takes_back_the_reminder_that_was_just_set(system: Proactive) -> None:
    answer = await system.hears("remind me at 3 to call mum", wants(("remind_me", BY_DAY)), repeats)
    assert "quiet hours" not in answer
    [undone] = await system.told("Undo.")  # no model is asked
    assert re.fullmatch('Undone: I will not remind you of [“"]call mum[”"].', undone)
    assert await system.told("undo") == ["That has been undone already: Reminder: call mum."]
    assert await system.is_at(NIGHT) == ""
    assert await system.delivery.store.db.tasks.column("state") == ["COMPLETED"]


async def test_undo_after_other_words_names_what_it_takes_back(system: Proactive) -> None:
    await system.hears("remind me at 3 to call mum", wants(("remind_me", BY_DAY)), repeats)
    await system.hears("and buy milk", says("Noted: milk."))
    system.model.script[:] = [says("Which milk?")]
    assert await system.told("undo the milk") == ["Which milk?"]
    [undone] = await system.told("/undo" if system.delivery.channel.name == "telegram" else "undo")
    assert "call mum" in undone
    assert await system.delivery.store.db.tasks.column("state") == ["COMPLETED"]


async def test_one_text_sets_a_reminder_that_comes_again(system: Proactive) -> None:
    watering: JsonObject = {"what": "water the plants", "cron": "0 9 * * 1", "remind_only": True}
    wanted = wants(("ScheduleTask", watering))
    answer = await system.hears("remind me every Monday at 9 to water the plants", wanted, repeats)
    assert "I will remind you every Monday at 09:00 (Europe/Berlin): water the plants." in answer
    assert "The next time is Mon 23 Nov 2026, 09:00." in answer
    assert await system.delivery.store.db.approvals.count() == 0, "nobody is asked"
    monday = datetime(2026, 11, 23, 9, 0, tzinfo=BERLIN)
    for week in range(2):
        rung = await system.is_at(monday + timedelta(weeks=week))
        assert rung == "Reminder: water the plants"


async def test_what_acts_again_and_again_still_asks(system: Proactive) -> None:
    acting: JsonObject = {"what": "water the plants", "cron": "0 9 * * 1"}
    watching: JsonObject = {"what": "say it", "event_source": "*", "event_type": "rang", "remind_only": True}
    for given in (acting, watching):
        await system.hears("please", wants(("ScheduleTask", given)))
    assert await system.delivery.store.db.tasks.count() == 0
    assert await system.states() == ["pending", "pending"]


async def test_a_repeated_reminder_is_undone(system: Proactive) -> None:
    watering: JsonObject = {"what": "drink", "every_minutes": 120, "remind_only": True}
    answer = await system.hears("every 2 hours remind me to drink", wants(("ScheduleTask", watering)), repeats)
    assert "every 2 hours" in answer
    [undone] = await system.told("undo")
    assert re.fullmatch('Undone: I will not remind you of [“"]drink[”"].', undone)
    assert await system.is_at(system.clock.at + timedelta(hours=2)) == ""


async def test_a_reminder_that_has_rung_is_not_undone(system: Proactive) -> None:
    await system.hears("remind me at 3 to call mum", wants(("remind_me", BY_DAY | {"at": "in 20 minutes"})), repeats)
    assert await system.is_at(system.clock.at + timedelta(minutes=20)) == "Reminder: call mum"
    assert await system.told("undo") == ["I did not undo it: It has rung already: call mum."]


@pytest.mark.parametrize(
    ("language", "kept", "word", "undone", "rung"),
    [
        (
            "de",
            r"Ich erinnere dich am Sa\., 21\. Nov\. 2026, 23:15( Uhr)? \(Europe/Berlin\): ",
            "rückgängig",
            "Zurück",
            "Erinnerung: ",
        ),
        ("zh", r"我会在2026年11月21日周六 23:15（Europe/Berlin）提醒你：", "撤销", "已撤销：", "提醒："),
    ],
    ids=["de", "zh"],
)
async def test_a_reminder_is_set_undone_and_rings_in_the_persons_language(
    system: Proactive, language: str, kept: str, word: str, undone: str, rung: str
) -> None:
    await system.delivery.store.db.tenants.change({"language": language, "language_from": ""})
    for _ in range(2):
        answer = await system.hears("remind me", wants(("remind_me", AT_NIGHT)), repeats)
        assert re.match(f"{kept}call mum", answer), answer
        assert "quiet" not in answer
        assert word in answer, "the word is the person's own"
        if await system.delivery.store.db.tasks.count() == 1:
            assert undone in await system.hears("take that back", wants(("undo_last", {})), repeats)
    assert await system.is_at(NIGHT) == f"{rung}call mum"


async def test_one_moment_given_in_two_ways_is_one_reminder_of_a_turn(system: Proactive) -> None:
    with_offset = BY_DAY | {"at": "2026-11-21T15:00+01:00"}
    later = BY_DAY | {"at": "16:00"}
    three = wants(("remind_me", BY_DAY), ("remind_me", with_offset), ("remind_me", later))
    await system.hears("remind me at 3 and at 4 to call mum", three, says("Both are set."))
    assert await system.delivery.store.db.tasks.count() == 2
    assert await system.is_at(datetime(2026, 11, 21, 15, 0, tzinfo=BERLIN)) == "Reminder: call mum"
    # In a later turn it is wanted anew.
    at_four = wants(("remind_me", later))
    await system.hears("remind me at 4 again", at_four, repeats)
    assert await system.delivery.store.db.tasks.count() == 3


async def test_a_reminder_that_a_turn_has_taken_back_is_set_again_by_it(system: Proactive) -> None:
    await system.hears(
        "remind me at 3, no, stop it, yes, do",
        wants(("remind_me", BY_DAY)),
        wants(("stop_task", {"which": "1"})),
        wants(("remind_me", BY_DAY)),
        says("It is set."),
    )
    assert await system.is_at(datetime(2026, 11, 21, 15, 0, tzinfo=BERLIN)) == "Reminder: call mum"
