"""What tools change of a person's own is taken back by one word: preferences, facts, memories, tasks, reminders."""

from collections.abc import AsyncIterator
from datetime import datetime

import pytest

from abilities.memory import tools as memory
from abilities.tasks import looking_after as tasks
from abilities.tasks.reminders import change_reminder, restore_plan, take_back_reminder
from agents import person
from core.json_types import JsonObject
from core.people.people import People
from core.people.preferences import PreferenceStore
from core.people.profile import FactSource
from core.tools.tool import Tool
from tests.abilities.memory.harness import make_momex
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.abilities.tasks.contract.test_proactive import BERLIN, repeats
from tests.contract.channel_harnesses import SmsHarness
from tests.core.builders import wants

AT_THREE: JsonObject = {"text": "call mum", "at": "15:00"}


@pytest.fixture
async def system(database_url: str, redis_url: str) -> AsyncIterator[Proactive]:
    """Yield a person in Berlin on SMS, with memory; it is Saturday, 21 November 2026, 13:00."""
    async with open_proactive(SmsHarness, database_url, redis_url) as system:
        momex = make_momex(system.delivery.store.database)
        ours = [item for room in (memory, person, tasks) for item in vars(room).values() if isinstance(item, Tool)]
        system.more = [*ours, change_reminder, restore_plan, take_back_reminder]
        system.options["momex"] = momex
        await system.delivery.store.db.tenants.change({"timezone": "Europe/Berlin"})
        yield system
        await momex.close()


async def does(system: Proactive, tool: str, **given: object) -> str:
    """Let the model call a tool; return what the person then reads of it."""
    return await system.hears("please", wants((tool, given)), repeats)  # type: ignore[arg-type]


async def undo(system: Proactive, word: str = "undo") -> str:
    """Let the person write a word of their own, to which no model answers."""
    [said] = await system.told(word)
    return said


async def test_each_preference_is_as_it_was(system: Proactive) -> None:
    store = PreferenceStore(system.delivery.store.database)
    before = await store.read(system.tenant)
    changes = {"name": "Ada", "language": "de", "timezone": "Lisbon", "quiet": "22-7", "busy": "queue", "mute": "price"}
    for name, value in changes.items():
        await does(system, "set_preference", name=name, value=value)
    changed = await store.read(system.tenant)
    assert (changed.name, changed.language, changed.timezone, changed.busy) == ("Ada", "de", "Europe/Lisbon", "queue")
    said = [await undo(system, f"undo {code}") for code in reversed("abcdef")]
    assert await store.read(system.tenant) == before
    assert "nicht gesetzt" in said[2], "the language is German still"
    assert said[5] == "Undone. It is again as it was: name: not set."


async def test_a_preference_that_was_changed_again_stays(system: Proactive) -> None:
    await does(system, "set_preference", name="timezone", value="Lisbon")
    await does(system, "set_preference", name="timezone", value="Rome")
    assert await undo(system, "undo A") == "I did not undo it: It has been changed again since."
    assert (await PreferenceStore(system.delivery.store.database).read(system.tenant)).timezone == "Europe/Rome"


async def test_a_fact_counts_again_that_was_taken_back(system: Proactive) -> None:
    people: People = system.options["people"]
    for home in ("Berlin", "Rome"):
        await people.profile.keep(system.tenant, "home", home, FactSource.TOLD, "", system.clock.now())
    assert "This counts again: Berlin." in await does(system, "undo_profile_fact", number=2)
    assert await undo(system) == "Undone: this counts again: home: Rome."
    assert [fact.value for fact in await people.profile.read(system.tenant)] == ["Rome"]
    await does(system, "undo_profile_fact", number=2)
    await people.profile.keep(system.tenant, "home", "Oslo", FactSource.TOLD, "", system.clock.now())
    assert await undo(system) == "I did not undo it: Something newer is known in its place now."


async def test_what_was_remembered_or_corrected_is_taken_back(system: Proactive) -> None:
    store = system.delivery.store
    holds = "select text from memories where valid_to is null order by number"
    await does(system, "remember", statement="I row on Tuesdays.")
    [number] = await store.db.memories.column("number")
    await does(system, "correct_memory", number=number, statement="I row on Wednesdays.")
    assert await store.column(holds) == ["I row on Wednesdays."]
    assert await undo(system, "undo A") == "I did not undo it: It has been corrected since."
    assert await undo(system) == 'Undone: I no longer remember "I row on Wednesdays.".'
    assert await store.column(holds) == ["I row on Tuesdays."]
    await undo(system, "undo A")
    assert await store.db.memories.column("text") == []
    momex = system.options["momex"]
    while job := await momex.work.claim(None, "w"):
        await momex.work.run(job)
    assert await store.db.memories.column("text") == [], "the talk does not bring it back"


async def test_a_task_goes_on_as_it_was_before_it_was_stopped(system: Proactive) -> None:
    states = "select state from tasks"
    await does(system, "remind_me", **AT_THREE)
    for tool, done, undone in (
        ("pause_task", "PAUSED", "goes on"),
        ("stop_task", "COMPLETED", "goes on"),
    ):
        await does(system, tool, which="mum")
        assert await system.delivery.store.column(states) == [done]
        assert await undo(system) == f"Undone: task 1, call mum, {undone}."
    await does(system, "pause_task", which="mum")
    await does(system, "stop_task", which="mum")
    assert await undo(system) == "Undone: task 1, call mum, is paused."
    await does(system, "resume_task", which="mum")
    assert await system.is_at(datetime(2026, 11, 21, 15, tzinfo=BERLIN)) == "Reminder: call mum"


async def test_a_task_whose_time_is_over_is_not_restored(system: Proactive) -> None:
    await does(system, "remind_me", text="call mum", at="in 20 minutes")
    await does(system, "stop_task", which="mum")
    assert await system.is_at(datetime(2026, 11, 21, 13, 30, tzinfo=BERLIN)) == ""
    assert await undo(system) == "I did not undo it: Its time has passed: call mum."


async def test_a_reminder_is_moved_to_a_time_by_another_clock(system: Proactive) -> None:
    await does(system, "remind_me", **AT_THREE)
    said = await does(system, "change_reminder", which="mum", at="tomorrow 9am EST")
    assert "on Sun 22 Nov 2026, 15:00 (Europe/Berlin; 09:00 EST): call mum." in said
    assert "On which day" in await does(system, "change_reminder", which="mum", at="9am EST")


async def test_a_reminder_is_moved_and_moved_back(system: Proactive) -> None:
    await does(system, "remind_me", **AT_THREE)
    said = await does(system, "change_reminder", which="mum", at="4pm", text="call dad")
    assert "on Sat 21 Nov 2026, 16:00 (Europe/Berlin): call dad." in said
    assert "over already" in await does(system, "change_reminder", which="dad", at="noon")
    assert "Sun 22 Nov 2026, 16:00" in await does(system, "change_reminder", which="dad", at="tomorrow")
    assert await undo(system) == "Undone: I will remind you on Sat 21 Nov 2026, 16:00: call dad."
    assert await undo(system, "undo B") == "Undone: I will remind you on Sat 21 Nov 2026, 15:00: call mum."
    assert await system.is_at(datetime(2026, 11, 21, 14, 59, tzinfo=BERLIN)) == ""
    assert await system.is_at(datetime(2026, 11, 21, 15, tzinfo=BERLIN)) == "Reminder: call mum"
    assert await system.is_at(datetime(2026, 11, 21, 16, tzinfo=BERLIN)) == ""


async def test_what_was_agreed_to_is_undone_too(system: Proactive) -> None:
    active = "select number from tasks where state = 'ACTIVE'"
    for minutes in (60, 90):
        await system.hears("look by yourself", wants(("set_heartbeat", {"every_minutes": minutes})))
        await system.decides("Approve", repeats)
    assert await system.delivery.store.column(active) == [2]
    assert await undo(system) == "Undone: task 2, heartbeat, is stopped."
    assert await system.delivery.store.column(active) == [1]
    await does(system, "set_heartbeat", every_minutes=0)
    assert await undo(system) == "Undone: task 1, heartbeat, goes on."


async def test_the_number_of_a_task_is_never_that_of_another_thing(system: Proactive) -> None:
    await does(system, "set_preference", name="timezone", value="Rome")
    assert "It is task 1;" in await does(system, "remind_me", **AT_THREE)
    assert "It is task 2;" in await does(system, "remind_me", text="lock up", at="22:00")
    assert await undo(system) == 'Undone: I will not remind you of "lock up".'
    assert await undo(system) == (
        'That has been undone already: Reminder: lock up. To undo "Reminder: call mum", write "undo B".'
    )
    assert await undo(system, "undo 2") == (
        'I find nothing like that among the actions that I can undo. To undo "Reminder: call mum", write "undo B".'
    )
    assert await undo(system, "undo task 1") == 'Undone: I will not remind you of "call mum".'
    assert (await PreferenceStore(system.delivery.store.database).read(system.tenant)).timezone == "Europe/Rome"


async def test_where_more_was_done_to_a_task_its_number_asks_which(system: Proactive) -> None:
    await does(system, "remind_me", **AT_THREE)
    await does(system, "remind_me", text="lock up", at="22:00")
    await does(system, "change_reminder", which="1", at="16:00")
    asked = 'Several may be meant; write "undo" with its letter:\nC. Changed: call mum\nA. Reminder: call mum'
    assert await undo(system, "undo 1") == asked
    assert await undo(system, "undo c") == "Undone: I will remind you on Sat 21 Nov 2026, 15:00: call mum."
    assert await undo(system, "undo 1") == 'Undone: I will not remind you of "call mum".'
