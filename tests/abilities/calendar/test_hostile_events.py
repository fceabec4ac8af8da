"""Events that are made to break, fill or stop their reader: it goes on, within bounds, and reads the others."""

import resource
from datetime import datetime, timedelta
from itertools import count
from zoneinfo import ZoneInfo

import pytest

from abilities.calendar.ical import occurrences
from abilities.calendar.objects import Stamp, expand, read_event_file
from abilities.calendar.objects import make_event as make
from abilities.calendar.types import NewEvent
from core.children.kept_process import end_kept
from core.errors import ToolFailed
from tests.abilities.calendar.hostile_events import FILLING, SAYING
from tests.abilities.calendar.samples import event

BERLIN = ZoneInfo("Europe/Berlin")
SUNDAY = datetime(2026, 11, 22, tzinfo=BERLIN)
GOOD = event("DTSTART:20261122T120000Z", "DTEND:20261122T130000Z", "SUMMARY:Dentist", uid="good")
YOGA = event("DTSTART:20261101T080000Z", "RRULE:FREQ=WEEKLY", "SUMMARY:Yoga", uid="weekly")


def cpu() -> float:
    """Return the CPU that child processes have used, in seconds."""
    end_kept()  # what it and its jobs have used counts once it has ended
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.whole("it works until its limits are reached")
async def test_one_event_that_is_too_much_hides_no_other() -> None:
    before = cpu()
    told = await expand([*FILLING.values(), GOOD], SUNDAY, SUNDAY + timedelta(days=1), BERLIN)
    assert "Dentist" in [one.title for _, one in told.found]
    assert len(told.found) < 100
    unread = {name for number, name in enumerate(FILLING) if number in told.unread}
    assert unread >= {"every-second", "every-second-by-parts", "ten-megabytes", "nested", "no-start"}
    assert cpu() - before < 15


def hourly(number: int) -> list[str]:
    """Return so many series that come each hour."""
    return [event("DTSTART:20261101T000000Z", "RRULE:FREQ=HOURLY", uid=f"h{one}") for one in range(number)]


@pytest.mark.parametrize(("bound", "value"), [("MAX_FOUND", 500), ("process_time", count().__next__)])
def test_hourly_series_over_a_bound_hide_only_themselves(
    bound: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(occurrences, bound, value)
    told = occurrences.expand([*hourly(8), YOGA, GOOD], SUNDAY, SUNDAY + timedelta(days=7), BERLIN)
    assert {"Dentist", "Yoga"} <= {one["title"] for one in told["found"]}
    assert told["unread"]
    assert told["unread"].keys() <= {str(number) for number in range(8)}


@pytest.mark.slow  # it works until the limit of all is reached
async def test_two_thousand_hourly_series_hide_only_themselves() -> None:
    told = await expand([*hourly(2000), YOGA, GOOD], SUNDAY, SUNDAY + timedelta(days=7), BERLIN)
    assert {"Dentist", "Yoga"} <= {one.title for _, one in told.found}
    assert told.unread
    assert told.unread <= set(range(2000))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("every-second", marks=pytest.mark.whole("it works until its limit is reached")),
        pytest.param("no-start", marks=pytest.mark.whole("it starts a reader of its own, as the next does")),
        "ten-megabytes",
    ],
)
async def test_a_file_that_is_too_much_ends_in_a_sentence(name: str) -> None:
    before = cpu()
    with pytest.raises(ToolFailed, match="That event"):
        await read_event_file(FILLING[name], BERLIN, frozenset(), "k")
    assert cpu() - before < 8


async def test_a_file_that_would_invite_others_becomes_ones_own_event() -> None:
    lines = ["DTSTART:20261122T120000Z", "SUMMARY:Lunch", "ORGANIZER:mailto:ann@example.org"]
    guests = [f"ATTENDEE:mailto:victim{number}@example.org" for number in range(5)]
    alarm = "BEGIN:VALARM\r\nACTION:EMAIL\r\nATTENDEE:mailto:victim@example.org\r\nTRIGGER:-PT5M\r\nEND:VALARM"
    text = event(*lines, *guests, "ATTACH:http://169.254.169.254/", "X-ONEVALET-KEY:forged", alarm)
    [taken] = (await read_event_file(text, BERLIN, frozenset({"ann@example.org"}), "k")).events
    for gone in ("ATTENDEE", "ORGANIZER", "VALARM", "ATTACH", "victim", "forged"):
        assert gone not in taken.text
    assert taken.occurrence.title == "Lunch"
    assert "X-ONEVALET-KEY:k" in taken.text


async def test_what_events_say_stays_on_its_line() -> None:
    told = await expand([*SAYING.values()], SUNDAY, SUNDAY + timedelta(days=1), BERLIN)
    assert len(told.found) == len(SAYING)
    for _, one in told.found:
        assert one.title == " ".join(one.title.split())
        assert not set("\u200b\u2060\u202e\u202c\r") & set(one.title + one.text + one.location)


def test_twenty_events_are_hostile() -> None:
    assert len(SAYING) + len(FILLING) >= 20


async def test_an_event_is_made_in_the_child_process_too() -> None:
    start = datetime.fromisoformat("2027-03-28T09:00")
    new = NewEvent("Sync", start, start + timedelta(hours=1), "Europe/Berlin", rule="FREQ=WEEKLY")
    text = await make(new, "u1", Stamp("k1", SUNDAY))
    told = await expand([text], SUNDAY + timedelta(days=120), SUNDAY + timedelta(days=130), BERLIN)
    assert [f"{one.begins(BERLIN).astimezone(BERLIN):%d.%m. %H:%M}" for _, one in told.found] == ["28.03. 09:00"]
