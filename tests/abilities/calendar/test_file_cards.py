"""The card of a calendar file says all that is written: whatever of the file differs, both differ or neither does."""

import re
from collections.abc import Iterator

from abilities.calendar.places import uid_of
from abilities.calendar.tools import AddEventsFromFile
from core.errors import ToolFailed
from core.json_types import JsonObject
from tests.abilities.calendar.house import House
from tests.abilities.calendar.samples import event

ZONE = (
    "BEGIN:VTIMEZONE\r\nTZID:{name}\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nTZOFFSETFROM:{offset}\r\n"
    "TZOFFSETTO:{offset}\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n"
)
LINES = (
    "DTSTART;TZID=Europe/Berlin:20261125T140000",
    "DTEND;TZID=Europe/Berlin:20261125T150000",
    "RRULE:FREQ=WEEKLY;COUNT=4",
    "RDATE;TZID=Europe/Berlin:20261126T140000",
    "EXDATE;TZID=Europe/Berlin:20261202T140000",
    "SUMMARY:Review",
    "LOCATION:Room 1",
    "DESCRIPTION:Bring the plan\\nand a pen",
    "URL:https://meet.example.org/one",
    "TRANSP:OPAQUE",
    "SEQUENCE:0",
    "ORGANIZER;CN=Bob:mailto:bob@example.org",
    "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:ann@example.org",
    "ATTENDEE;CN=Carol;PARTSTAT=NEEDS-ACTION:mailto:carol@example.org",
)
CHANGES: dict[str, tuple[str, str]] = {
    "start": ("DTSTART;TZID=Europe/Berlin:20261125T140000", "DTSTART;TZID=Europe/Berlin:20261125T143000"),
    "end": ("DTEND;TZID=Europe/Berlin:20261125T150000", "DTEND;TZID=Europe/Berlin:20261125T160000"),
    "end as a length": ("DTEND;TZID=Europe/Berlin:20261125T150000", "DURATION:PT1H"),
    "no end": ("DTEND;TZID=Europe/Berlin:20261125T150000\r\n", ""),
    "zone": ("DTSTART;TZID=Europe/Berlin:", "DTSTART;TZID=Africa/Lagos:"),
    "zone of its end": ("DTEND;TZID=Europe/Berlin:", "DTEND;TZID=Africa/Lagos:"),
    "another clock behind a zone's name": ("BEGIN:VEVENT", ZONE.format(name="Europe/Berlin", offset="+0900")),
    "a zone of its own": ("", "Own zone"),
    "how often": ("COUNT=4", "COUNT=5"),
    "rule with days": ("FREQ=WEEKLY;COUNT=4", "FREQ=WEEKLY;COUNT=4;BYDAY=WE,FR"),
    "rule without an end": (";COUNT=4", ""),
    "rule until a time": ("COUNT=4", "UNTIL=20261216T140000Z"),
    "rule until another time": ("COUNT=4", "UNTIL=20261216T120000Z"),
    "second rule": ("RRULE:", "RRULE:FREQ=DAILY;COUNT=2\r\nRRULE:"),
    "no rule": ("RRULE:FREQ=WEEKLY;COUNT=4\r\n", ""),
    "one more day": ("20261126T140000", "20261127T140000"),
    "one day less": ("20261202T140000", "20261209T140000"),
    "a span more": ("RDATE;TZID=Europe/Berlin:20261126T140000", "RDATE;VALUE=PERIOD:20261126T140000Z/PT3H"),
    "title": ("SUMMARY:Review", "SUMMARY:Final review"),
    "long title": ("SUMMARY:Review", f"SUMMARY:{'very ' * 60}long"),
    "other long title": ("SUMMARY:Review", f"SUMMARY:{'very ' * 60}other"),
    "hidden letters": ("SUMMARY:Review", "SUMMARY:Re\u200bview\U000e0041"),
    "language of the title": ("SUMMARY:", 'SUMMARY;LANGUAGE=de;ALTREP="https://evil.example":'),
    "place": ("LOCATION:Room 1", "LOCATION:Room 2"),
    "place as a rule": ("LOCATION:Room 1", "LOCATION:Room 1; every day"),
    "notes": ("Bring the plan", "Bring the key"),
    "notes as a title": ("\\nand a pen", "\\n“Dinner”: Thu 26 Nov 2026"),
    "long notes": ("and a pen", "and " * 400 + "a pen"),
    "longer notes": ("and a pen", "and " * 500 + "a pencil"),
    "link": ("meet.example.org/one", "meet.example.org/two"),
    "link that runs": ("https://meet.example.org/one", "javascript:alert(1)"),
    "link too long": ("meet.example.org/one", "meet.example.org/" + "x" * 600),
    "cancelled": ("SEQUENCE:0", "SEQUENCE:0\r\nSTATUS:CANCELLED"),
    "tentative": ("SEQUENCE:0", "SEQUENCE:0\r\nSTATUS:TENTATIVE"),
    "confirmed": ("SEQUENCE:0", "SEQUENCE:0\r\nSTATUS:CONFIRMED"),
    "free": ("TRANSP:OPAQUE", "TRANSP:TRANSPARENT"),
    "organizer": ("bob@example.org", "eve@example.org"),
    "organizer's name": ("CN=Bob", "CN=Bobby"),
    "sent by another": ("ORGANIZER;CN=Bob", 'ORGANIZER;SENT-BY="mailto:eve@example.org";CN=Bob'),
    "guest": ("carol@example.org", "dave@example.org"),
    "guest's name": ("CN=Carol", "CN=Carola"),
    "guest's answer": ("CN=Carol;PARTSTAT=NEEDS-ACTION", "CN=Carol;PARTSTAT=ACCEPTED"),
    "own answer": ("PARTSTAT=NEEDS-ACTION:mailto:ann", "PARTSTAT=ACCEPTED:mailto:ann"),
    "guest's part": ("ATTENDEE;CN=Carol", "ATTENDEE;ROLE=CHAIR;CUTYPE=ROOM;RSVP=TRUE;CN=Carol"),
    "guest's server": ("ATTENDEE;CN=Carol", "ATTENDEE;SCHEDULE-AGENT=CLIENT;CN=Carol"),
    "many guests": ("SEQUENCE:0", "SEQUENCE:0" + "".join(f"\r\nATTENDEE:mailto:g{n}@example.org" for n in range(40))),
    "alarm": (
        "END:VEVENT",
        "BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT5M\r\nDESCRIPTION:x\r\nEND:VALARM\r\nEND:VEVENT",
    ),
    "attachment": ("SEQUENCE:0", "SEQUENCE:0\r\nATTACH:https://evil.example/x.exe"),
    "categories": ("SEQUENCE:0", "SEQUENCE:0\r\nCATEGORIES:WORK"),
    "conference": ("SEQUENCE:0", "SEQUENCE:0\r\nCONFERENCE;VALUE=URI:https://evil.example"),
    "conference of a program": ("SEQUENCE:0", "SEQUENCE:0\r\nX-GOOGLE-CONFERENCE:https://evil.example"),
    "description in HTML": ("SEQUENCE:0", "SEQUENCE:0\r\nX-ALT-DESC;FMTTYPE=text/html:<b>x</b>"),
    "place on a map": ("SEQUENCE:0", "SEQUENCE:0\r\nGEO:52.5;13.4"),
    "comment": ("SEQUENCE:0", "SEQUENCE:0\r\nCOMMENT:x\r\nCLASS:PRIVATE\r\nPRIORITY:1\r\nRELATED-TO:y"),
}
"""What of a file differs."""
BOOKKEEPING = {
    "UID": "which event it is: by it the card says what is there before",
    "DTSTAMP": "when the file was made, by which a newer one is told from an older",
    "SEQUENCE": "which state of the event it is, by which a newer one is told from an older",
    "X-ONEVALET-KEY": "the call of ours",
    "PRODID": "the program that wrote it",
}
"""What is written and not shown, each with its reason."""


def file_of(name: str, *more: str) -> str:
    """Return the file with one difference."""
    text = event(*LINES, *more, uid="review").replace("VERSION:2.0", "VERSION:2.0\r\nMETHOD:REQUEST")
    if name == "a zone of its own":
        own = ZONE.format(name="Own", offset="+0530") + "BEGIN:VEVENT"
        return text.replace("TZID=Europe/Berlin", "TZID=Own").replace("BEGIN:VEVENT", own)
    old, new = CHANGES.get(name, ("", ""))
    if old == "BEGIN:VEVENT":
        new += old
    assert old in text
    return text.replace(old, new) if old else text


def written(house: House, url: str) -> list[str]:
    """Return what the calendar has, without what is bookkeeping."""
    found = []
    for text in house.radicale.texts(url):
        lines = text.replace("\r\n ", "").replace("\n ", "").splitlines()
        found += [line for line in lines if re.split("[;:]", line)[0] not in BOOKKEEPING]
    return sorted(found)


def shown(details: JsonObject) -> str:
    return "\n".join(f"{name}: {value}" for name, value in details.items())


async def card_and_wire(house: House, url: str, text: str) -> tuple[str, list[str]]:
    """Let a file be approved; return what the card said and what was written."""
    house.files.text = text
    try:
        agent = await house.card(AddEventsFromFile, file="f1")
    except ToolFailed as refused:
        return str(refused), written(house, url)
    said = shown(agent.approval_request().details)
    await house.approved(agent)
    return said, written(house, url)


def differing(told: dict[str, tuple[str, list[str]]]) -> Iterator[str]:
    """Yield the pairs of which the card differs and the wire does not, or the other way round."""
    names = list(told)
    for at, one in enumerate(names):
        for other in names[:at]:
            if (told[one][0] == told[other][0]) != (told[one][1] == told[other][1]):
                yield f"{one} / {other}"


async def test_whatever_of_a_new_event_differs_is_on_its_card_or_not_written(house: House) -> None:
    url, told = house.radicale.make_calendar("ann", "Home"), {}
    for name in ("", *CHANGES):
        told[name] = await card_and_wire(house, url, file_of(name))
        if told[name][1]:
            house.radicale.send("ann", "DELETE", f"{url}{uid_of('review')}.ics")
        assert house.radicale.texts(url) == []
    assert list(differing(told)) == []
    assert len({said for said, _ in told.values()}) >= 30, "what people look at is on the card"


async def test_whatever_an_update_changes_is_on_its_card_or_not_written(house: House) -> None:
    url, told = house.radicale.make_calendar("ann", "Home"), {}
    for name in ("", *CHANGES):
        await card_and_wire(house, url, file_of(""))
        newer = file_of(name).replace("SEQUENCE:0", "SEQUENCE:1")
        told[name] = await card_and_wire(house, url, newer)
        house.radicale.send("ann", "DELETE", f"{url}{uid_of('review')}.ics")
    told = {name: one for name, one in told.items() if "Somebody else" not in one[0] and "broken" not in one[0]}
    assert list(differing(told)) == []
    assert "Link: https://meet.example.org/one" in told["link"][0]
    assert "Link: https://meet.example.org/two" in told["link"][0]


async def test_every_day_of_a_series_that_an_update_changes_is_shown(house: House) -> None:
    url = house.radicale.make_calendar("ann", "Home")
    await card_and_wire(house, url, file_of(""))
    whole = file_of("").replace("RRULE:FREQ=WEEKLY;COUNT=4\r\n", "").replace("SEQUENCE:0", "SEQUENCE:1")
    whole = re.sub("(RDATE|EXDATE).*\r\n", "", whole)
    days = [
        whole.replace("20261125T", f"{day}T")
        .replace("DTSTART;", f"RECURRENCE-ID;TZID=Europe/Berlin:{day}T140000\r\nDTSTART;")
        .replace("meet.example.org/one", f"meet.example.org/{day}")
        for day in ("20261209", "20261216")
    ]
    components = [text[text.index("BEGIN:VEVENT") : text.index("END:VCALENDAR")] for text in days]
    said, wire = await card_and_wire(house, url, days[0].replace(components[0], "".join(components)))
    for day in ("20261209", "20261216"):
        assert f"Link: https://meet.example.org/{day}" in said
        assert f"URL:https://meet.example.org/{day}" in wire
    assert "Instead of: Wed 9 Dec 2026, 14:00" in said
    assert "Instead of: Wed 16 Dec 2026, 14:00" in said


async def test_what_a_card_has_no_room_for_is_not_written_and_said(house: House) -> None:
    url = house.radicale.make_calendar("ann", "Home")
    events = [event(*LINES[:2], f"SUMMARY:Visit {number}", uid=f"visit-{number}") for number in range(50)]
    components = [text[text.index("BEGIN:VEVENT") : text.index("END:VCALENDAR")] for text in events]
    house.files.text = events[0].replace(components[0], "".join(components))
    for round_ in range(3):
        agent = await house.card(AddEventsFromFile, file="f1")
        details, count = agent.approval_request().details, len(house.radicale.texts(url))
        named = str(details["events"]).count("Visit")
        said = await house.approved(agent)
        assert len(house.radicale.texts(url)) == count + named
        if round_ < 2:
            assert named == 20
            assert "do not fit on one card and are left out" in str(details["left out"])
            assert "do not fit on one card and are left out" in said
    assert len(house.radicale.texts(url)) == 50


async def test_what_the_person_has_set_at_an_event_stays_through_an_update(house: House) -> None:
    url = house.radicale.make_calendar("ann", "Home")
    await card_and_wire(house, url, file_of(""))
    [stored] = house.radicale.texts(url)
    own = stored.replace("SUMMARY:Review", "SUMMARY:Review\r\nCATEGORIES:WORK\r\nCOLOR:red")
    house.radicale.put("ann", f"{url}{uid_of('review')}.ics", own)
    _, wire = await card_and_wire(house, url, file_of("title").replace("SEQUENCE:0", "SEQUENCE:1"))
    assert {"CATEGORIES:WORK", "COLOR:red", "SUMMARY:Final review"} <= set(wire)
