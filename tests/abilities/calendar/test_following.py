"""Reminders before events go with them: moved, cancelled, and back again."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import datetime

import pytest

from core.http.guarded_client import GuardedClient
from tests.abilities.calendar.contract.calendar_house import give_calendar
from tests.abilities.calendar.samples import event
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.abilities.tasks.contract.test_proactive import BERLIN, repeats
from tests.contract.channel_harnesses import SmsHarness
from tests.core.builders import wants
from tests.servers.radicale import Radicale

WEEKLY = event(
    "DTSTART;TZID=Europe/Berlin:20261123T180000",
    "DTEND;TZID=Europe/Berlin:20261123T190000",
    "RRULE:FREQ=WEEKLY;COUNT=5",
    "SUMMARY:Yoga",
    uid="yoga",
)
ACTIVE = (
    "select title || ' ' || to_char(next_at at time zone 'Europe/Berlin', 'DD HH24:MI') from tasks"
    " where state = 'ACTIVE'"
)


@pytest.fixture
async def system(database_url: str, redis_url: str, radicale: Radicale) -> AsyncIterator[Proactive]:
    """Yield a person with a calendar; it is Saturday, 21 November 2026, 13:00 in Berlin."""
    async with AsyncExitStack() as stack:
        opened = await stack.enter_async_context(open_proactive(SmsHarness, database_url, redis_url))
        http = GuardedClient(allowed_hosts=[radicale.host])
        stack.push_async_callback(http.close)
        await give_calendar(opened, radicale, http, opened.tenant, home="ann")
        yield opened


async def does(system: Proactive, tool: str, **given: object) -> str:
    """Let the model call a tool; return what the person then reads of it."""
    return await system.hears("please", wants((tool, given)), repeats)  # type: ignore[arg-type]


async def rings(system: Proactive) -> list[str]:
    """Return what active tasks say, and when."""
    titles = await system.delivery.store.column(ACTIVE)
    return [str(title).replace("“", '"').replace("”", '"') for title in titles]


async def test_a_reminder_moves_with_its_event_and_back(system: Proactive, radicale: Radicale) -> None:
    radicale.make_calendar("ann", "Home")
    await does(system, "create_event", title="Dentist", start="tomorrow at 3")
    await does(system, "remind_before_event", event="dentist", minutes=30)
    first, moved = ['"dentist" begins at 15:00. 22 14:30'], ['"dentist" begins at 17:00. 23 16:30']
    assert await rings(system) == first
    said = await does(system, "change_event", event="dentist", start="monday 17:00")
    assert "Its reminder now comes on Mon 23 Nov 2026, 16:30." in said
    await does(system, "change_event", event="dentist", location="Main St 1")
    assert await rings(system) == moved
    await system.told("undo")
    await system.hears("cancel it", wants(("cancel_event", {"event": "dentist"})))
    assert "Its reminder is stopped." in await system.decides("Approve", repeats)
    assert await rings(system) == []
    await system.told("undo")
    assert await rings(system) == moved
    await system.told("undo C")
    assert await rings(system) == first
    assert "begins at 15:00" in await system.is_at(datetime(2026, 11, 22, 14, 30, tzinfo=BERLIN))


async def test_reminders_of_a_series_go_with_what_moves(system: Proactive, radicale: Radicale) -> None:
    url = radicale.make_calendar("ann", "Home")
    radicale.put("ann", f"{url}yoga.ics", WEEKLY)
    times = "select to_char(next_at at time zone 'Europe/Berlin', 'DD HH24:MI') from tasks order by number"
    store = system.delivery.store
    for day in ("2026-11-23", "2026-11-30", "2026-12-07"):
        await does(system, "remind_before_event", event="yoga", day=day, minutes=60)
    await does(system, "change_event", event="yoga", day="2026-11-30", start="19:00")
    assert await store.column(times) == ["23 17:00", "30 18:00", "07 17:00"]
    await system.hears(
        "rather",
        wants(("change_event", {"event": "yoga", "day": "2026-12-07", "start": "20:00", "series": "following"})),
    )
    await system.decides("Approve", repeats)
    assert await store.column(times) == ["23 17:00", "30 18:00", "07 19:00"]


def at(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 11, day, hour, minute, tzinfo=BERLIN)


async def test_a_reminder_tells_what_the_calendar_has_by_then(system: Proactive, radicale: Radicale) -> None:
    url = radicale.make_calendar("ann", "Home")

    def stands(title: str, begins: datetime, *lines: str) -> None:
        when = f"DTSTART;TZID=Europe/Berlin:{begins:%Y%m%dT%H%M%S}"
        text = event(when, "DURATION:PT1H", f"SUMMARY:{title}", *lines, uid=title)
        radicale.put("ann", f"{url}{title}.ics", text)

    weekly = "RRULE:FREQ=WEEKLY;COUNT=5"
    stands("Yoga", at(23, 18), weekly)
    stands("Book", at(24, 18))
    for hour, title in ((10, "Dentist"), (12, "Lunch"), (14, "Call"), (16, "Tea")):
        stands(title, at(22, hour))
    for title in ("Dentist", "Lunch", "Call", "Tea", "Yoga", "Book"):
        await does(system, "remind_before_event", event=title, minutes=30)
    stands("Dentist", at(23, 15))
    radicale.send("ann", "DELETE", f"{url}Lunch.ics")
    stands("Call", at(22, 12, 45))
    stands("Tea", at(22, 15, 50))
    stands("Yoga", at(23, 19), weekly)
    assert await system.is_at(at(22, 9, 30)) == ""
    assert await system.is_at(at(22, 11, 30)) == ""
    assert "was moved, and began on Sun 22 Nov 2026, 12:45." in await system.is_at(at(22, 13, 30))
    assert "begins at 15:50" in await system.is_at(at(22, 15, 30))
    assert '"Dentist" begins at 15:00. 23 14:30' in await rings(system)
    assert "begins at 15:00" in await system.is_at(at(23, 14, 30))
    assert await system.is_at(at(23, 17, 30)) == ""
    assert "begins at 19:00" in await system.is_at(at(23, 18, 30))
    stands("Book", at(24, 20))
    await system.options["credentials"].delete(system.tenant, "caldav", "home")
    assert "begins at 18:00" in await system.is_at(at(24, 17, 30)), "as it was planned, where nobody can look"
    assert "its event is no longer in the calendar" in await does(system, "why_task", which="lunch")
