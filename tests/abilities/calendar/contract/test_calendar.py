"""Calendars on every channel, with a real Radicale: kept over a change of the clocks, undone, added to."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.http.guarded_client import GuardedClient
from core.json_types import Json
from tests.abilities.calendar.contract.calendar_house import give_calendar
from tests.abilities.calendar.samples import event
from tests.abilities.tasks.contract.proactive import Proactive, open_proactive
from tests.abilities.tasks.contract.test_proactive import repeats
from tests.contract.channel_harnesses import HARNESSES
from tests.contract.person_files import Sender, open_sender
from tests.core.builders import Step, says, wants
from tests.servers.dovecot import PASSWORD, Dovecot, mail_exchange
from tests.servers.radicale import Radicale

BUSY = event("DTSTART:20270329T080000Z", "DTEND:20270329T140000Z", "SUMMARY:Workshop", uid="workshop")
INVITATION = event(
    "DTSTART;TZID=Europe/Berlin:20261125T140000",
    "DTEND;TZID=Europe/Berlin:20261125T150000",
    "SUMMARY:Review",
    "ORGANIZER;CN=Bob:mailto:bob@example.org",
    "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:ann@example.org",
    uid="review-1",
).replace("VERSION:2.0", "VERSION:2.0\r\nMETHOD:REQUEST")

YOGA = event(
    "DTSTART;TZID=Europe/Berlin:20261123T180000",
    "DTEND;TZID=Europe/Berlin:20261123T190000",
    "RRULE:FREQ=WEEKLY;COUNT=5",
    "SUMMARY:Yoga",
    uid="yoga",
)


@pytest.fixture
async def system(channel: str, database_url: str, redis_url: str, radicale: Radicale) -> AsyncIterator[Proactive]:
    """Yield a person with two accounts; it is Saturday, 21 November 2026, 13:00 in Berlin."""
    async with AsyncExitStack() as stack:
        opened = await stack.enter_async_context(open_proactive(HARNESSES[channel], database_url, redis_url))
        http = GuardedClient(allowed_hosts=[radicale.host])
        stack.push_async_callback(http.close)
        await give_calendar(opened, radicale, http, opened.tenant, home="ann", work="bob")
        yield opened


def plain(text: str) -> str:
    """Return a text as every channel has it: SMS writes dashes as GSM-7 has them."""
    return text.replace("–", "-")


async def hears(system: Proactive, text: str, *steps: Step) -> str:
    """Let the person write; return what they then read."""
    return plain(await system.hears(text, *steps))


async def test_a_calendar_is_read_and_kept(system: Proactive, radicale: Radicale) -> None:
    home, team = radicale.make_calendar("ann", "Home"), radicale.make_calendar("bob", "Team")
    said = await hears(
        system,
        "dentist on 26 March at 9",
        wants(("create_event", {"title": "Dentist", "start": "2027-03-26T09:00"})),
        repeats,
    )
    assert "Fri 26 Mar 2027, 09:00-10:00 (Europe/Berlin)" in said
    assert await system.states() == [], "nobody is asked about an event of one's own"
    moved: dict[str, Json] = {"event": "dentist", "start": "2027-03-29"}
    said = await hears(system, "move the dentist to the Monday after", wants(("change_event", moved)), repeats)
    assert "Mon 29 Mar 2027, 09:00-10:00" in said, "the clocks have changed between the two"
    assert "DTSTART;TZID=Europe/Berlin:20270329T090000" in radicale.texts(home)[0]
    said = await hears(system, "what is on that day?", wants(("list_events", {"day": "2027-03-29"})), repeats)
    assert "Mon 29 Mar 2027, 09:00-10:00" in said
    radicale.put("bob", f"{team}x.ics", BUSY)
    free: dict[str, Json] = {"minutes": 60, "day": "2027-03-29", "days": 1}
    said = await hears(system, "when am I free for an hour?", wants(("find_free_time", free)), repeats)
    assert "Mon 29 Mar 2027: 16:00-17:00" in said
    [undone] = await system.told("undo")
    assert "your calendar is as it was" in undone
    assert "DTSTART;TZID=Europe/Berlin:20270326T090000" in radicale.texts(home)[0]
    await system.hears("cancel the dentist", wants(("cancel_event", {"event": "dentist", "day": "2027-03-26"})))
    assert "Fri 26 Mar 2027, 09:00-10:00" in plain(system.card().text)
    assert len(radicale.texts(home)) == 1
    assert "Deleted: " in await system.decides("Approve", repeats)
    assert radicale.texts(home) == []
    [undone] = await system.told("undo")
    assert len(radicale.texts(home)) == 1, "what was deleted is there again"


@dataclass(frozen=True, slots=True)
class Mailing:
    """A person with a calendar and a mailbox, `address`."""

    system: Proactive
    dovecot: Dovecot
    address: str


@pytest.fixture
async def mailing(
    channel: str, database_url: str, redis_url: str, radicale: Radicale, dovecot: Dovecot
) -> AsyncIterator[Mailing]:
    async with AsyncExitStack() as stack:
        exchange = await stack.enter_async_context(mail_exchange(dovecot))
        opened = await stack.enter_async_context(open_proactive(HARNESSES[channel], database_url, redis_url))
        http = dovecot.http(radicale.host, f"127.0.0.1:{exchange.port}")
        stack.push_async_callback(http.close)
        options, address = await give_calendar(opened, radicale, http, opened.tenant, home="ann"), dovecot.new("ann")
        server: dict[str, Json] = {"host": "127.0.0.1", "tls": "none"}
        login: dict[str, Json] = {"user": address, "password": PASSWORD, "from": address}
        imap: Json = server | {"port": dovecot.imap}
        stored = server | login | {"port": exchange.port, "imap": imap}
        await options["credentials"].save(opened.tenant, "email", stored)
        yield Mailing(opened, dovecot, address)


async def test_guests_are_invited_by_mail_to_whom_the_card_names(mailing: Mailing, radicale: Radicale) -> None:
    system, bob = mailing.system, mailing.dovecot.new("bob")
    radicale.make_calendar("ann", "Home")
    lunch: dict[str, Json] = {"title": "Lunch", "start": "2026-11-26T12:00", "invite": [bob]}
    await system.hears(f"lunch with {bob} on Thursday", wants(("create_event", lunch)))
    card = system.card().text.replace("\\", "")
    assert f"An email goes from {mailing.address} to {bob}." in card
    assert card.count("Invite:") == card.count("Start:") == 1
    assert mailing.dovecot.mails(bob) == []
    assert "1 person gets an email." in await system.decides("Approve", repeats)
    [mail] = mailing.dovecot.mails(bob)
    assert b'method="REQUEST"' in mail
    [told] = await system.told("undo")
    assert "Others have been notified." in told


async def test_the_card_of_a_change_says_each_thing_once(system: Proactive, radicale: Radicale) -> None:
    home = radicale.make_calendar("ann", "Home")
    radicale.put("ann", f"{home}yoga.ics", YOGA)
    later: dict[str, Json] = {"event": "yoga", "day": "2026-12-07", "start": "20:00", "series": "following"}
    await system.hears("yoga at 8 from 7 December on", wants(("change_event", later)))
    card = plain(system.card().text)
    assert "18:00-19:00" in card
    assert "20:00-21:00" in card
    assert card.count("Series:") == card.count("Before:") == card.count("After:") == 1
    assert "this one and all that follow" in card
    for label in ("Event:", "Day:", "Start:"):
        assert label not in card


@pytest.fixture
async def sender(channel: str, database_url: str, tmp_path: Path, radicale: Radicale) -> AsyncIterator[Sender]:
    async with AsyncExitStack() as stack:
        opened = await stack.enter_async_context(open_sender(channel, database_url, tmp_path / "files"))
        http = GuardedClient(allowed_hosts=[radicale.host])
        stack.push_async_callback(http.close)
        await opened.system.delivery.meet()
        tenant = await opened.system.delivery.store.db.person()
        await give_calendar(opened.system, radicale, http, tenant, home="ann")
        yield opened


async def test_an_event_that_somebody_sent_is_added_once_the_person_agrees(sender: Sender, radicale: Radicale) -> None:
    home, file = radicale.make_calendar("ann", "Home"), ""

    def add(request: object) -> object:
        nonlocal file
        file = sender.shown.text.split("sent a file: ")[1][:11]
        return wants(("add_events_from_file", {"file": file}))

    await sender.sends(INVITATION.encode(), "invite.ics", "text/calendar", add, text="add this")  # type: ignore[arg-type]
    card = plain(sender.system.card().text)
    assert "Review" in card
    assert "Wed 25 Nov 2026, 14:00-15:00" in card
    assert radicale.texts(home) == []
    sender.system.model.script[:] = [says("It is added.")]
    await sender.system.decide("Approve")
    [stored] = radicale.texts(home)
    assert "UID:review-1" in stored
    assert "METHOD" not in stored
    assert "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:ann@example.org" in stored
