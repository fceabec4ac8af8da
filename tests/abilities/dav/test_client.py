"""The requests of CalDAV and CardDAV, against a real Radicale."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from abilities.dav.client import DavClient
from abilities.dav.discovery import discover
from abilities.dav.types import Changed, DavRefused, Kind, Missing, Resource
from abilities.dav.xml import CALDAV, DAV, element, prop
from core.credentials.types import Account, OpenAccount
from core.errors import ToolFailed
from core.http.guarded_client import GuardedClient
from tests.servers.radicale import Radicale

type ClientOf = Callable[[str], DavClient]

EVENT = """BEGIN:VCALENDAR\r
VERSION:2.0\r
PRODID:-//test//EN\r
BEGIN:VEVENT\r
UID:one\r
DTSTAMP:20261101T000000Z\r
DTSTART:20261123T150000Z\r
DTEND:20261123T160000Z\r
SUMMARY:Dentist\r
END:VEVENT\r
END:VCALENDAR\r
"""
ICAL = "text/calendar"


async def test_a_calendar_is_found(client_of: ClientOf, radicale: Radicale) -> None:
    ann = client_of("ann")
    home = await discover(ann, Kind.CALENDAR)
    assert home.collections == ()
    assert home.url == f"{radicale.url}ann/"
    radicale.make_calendar("ann", "Plans &amp; &lt;more>")
    [calendar] = (await discover(ann, Kind.CALENDAR)).collections
    assert (calendar.name, calendar.writable) == ("Plans & <more>", True)


async def test_address_books_and_calendars_are_kept_apart(client_of: ClientOf, radicale: Radicale) -> None:
    calendar, book = radicale.make_calendar("ann", "Home"), radicale.make_address_book("ann", "People")
    ann = client_of("ann")
    assert [one.url for one in (await discover(ann, Kind.CALENDAR)).collections] == [calendar]
    assert [one.url for one in (await discover(ann, Kind.ADDRESS_BOOK)).collections] == [book]


async def test_a_second_create_changes_nothing(client_of: ClientOf, radicale: Radicale) -> None:
    url = f"{radicale.make_calendar('ann', 'Home')}one.ics"
    ann = client_of("ann")
    assert await ann.create(url, EVENT, ICAL)
    with pytest.raises(Changed):
        await ann.create(url, EVENT.replace("Dentist", "Other"), ICAL)
    assert "SUMMARY:Dentist" in (await ann.get(url)).text


async def test_what_was_changed_elsewhere_is_not_overwritten(client_of: ClientOf, radicale: Radicale) -> None:
    url = f"{radicale.make_calendar('ann', 'Home')}one.ics"
    ann = client_of("ann")
    await ann.create(url, EVENT, ICAL)
    read = await ann.get(url)
    radicale.put("ann", url, EVENT.replace("Dentist", "Moved elsewhere"))
    for late in (ann.replace(read, EVENT, ICAL), ann.delete(read)):
        with pytest.raises(Changed, match="changed elsewhere"):
            await late
    again = await ann.get(url)
    assert "Moved elsewhere" in again.text
    assert await ann.replace(again, EVENT, ICAL) != again.etag
    await ann.delete(await ann.get(url))
    await ann.delete(again)  # gone already
    with pytest.raises(Missing):
        await ann.get(url)


async def test_a_query_by_time_finds_what_is_on(client_of: ClientOf, radicale: Radicale) -> None:
    calendar = radicale.make_calendar("ann", "Home")
    radicale.put("ann", f"{calendar}one.ics", EVENT)
    found = {}
    for day in ("20261123", "20261124"):
        during = element(f"{CALDAV}time-range", start=f"{day}T000000Z", end=f"{day}T235959Z")
        event = element(f"{CALDAV}comp-filter", during, name="VEVENT")
        query = element(
            f"{CALDAV}calendar-query",
            prop([f"{DAV}getetag", f"{CALDAV}calendar-data"]),
            element(f"{CALDAV}filter", element(f"{CALDAV}comp-filter", event, name="VCALENDAR")),
        )
        answered = await client_of("ann").report(calendar, query)
        found[day] = [answered.address(one.href) for one in answered.found]
        assert all("SUMMARY:Dentist" in one.text(f"{CALDAV}calendar-data") for one in answered.found)
    assert found == {"20261123": [f"{calendar}one.ics"], "20261124": []}


async def test_nobody_reads_with_anothers_account(client_of: ClientOf, radicale: Radicale) -> None:
    url = f"{radicale.make_calendar('ann', 'Home')}one.ics"
    radicale.put("ann", url, EVENT)
    with pytest.raises(DavRefused):
        await client_of("bob").get(url)
    with pytest.raises(DavRefused):
        await client_of("bob").delete(Resource(url, ""))
    assert len(radicale.texts(f"{radicale.url}ann/home/")) == 1


async def test_a_wrong_password_is_told(radicale: Radicale, http: GuardedClient) -> None:
    account = replace(radicale.account(), secret="wrong")
    with pytest.raises(DavRefused, match="Connect it again") as caught:
        await discover(DavClient(http, account), Kind.CALENDAR)
    assert caught.value.status == 401
    assert "wrong" not in repr(account)


async def test_a_token_is_sent_as_a_bearer() -> None:
    seen = []

    class Http:
        async def request(self, method: str, url: str, **given: object) -> object:
            seen.append(given["headers"])
            raise ToolFailed("away")

    account = OpenAccount(
        Account("google", "primary"), "ann", "tok", bearer=True, servers={"caldav": "https://dav.example.org/"}
    )
    with pytest.raises(ToolFailed, match="away"):
        await discover(DavClient(Http(), account), Kind.CALENDAR)  # type: ignore[arg-type]
    [headers] = seen
    assert headers["Authorization"] == "Bearer tok"  # type: ignore[index]


async def test_a_server_within_is_out_of_reach(radicale: Radicale) -> None:
    guarded = GuardedClient()
    with pytest.raises(ToolFailed, match="usual ports of the web"):
        await discover(DavClient(guarded, radicale.account()), Kind.CALENDAR)
    await guarded.close()
