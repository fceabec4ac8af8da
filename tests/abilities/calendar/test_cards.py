"""What an agent writes into a calendar is on its card: where the call, and so what is written, differs, both do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from abilities.calendar.tools import AnswerInvitation, CancelEvent, ChangeEvent, CreateEvent
from core.agents.standard_agent import StandardAgent
from tests.abilities.calendar.house import House
from tests.abilities.calendar.samples import event

_BERLIN = "TZID=Europe/Berlin"
_OWN = "ORGANIZER:mailto:ann@example.org"
_GUEST = "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:bob@example.org"
_STORED = {
    "tea": ("20261125T140000", "SUMMARY:Tea", _OWN, _GUEST),
    "tea-later": ("20261127T150000", "SUMMARY:Tea", _OWN, _GUEST),
    "yoga": ("20261124T180000", "SUMMARY:Yoga", "RRULE:FREQ=DAILY;COUNT=30"),
    "review": ("20261126T100000", "SUMMARY:Review", "RRULE:FREQ=WEEKLY;COUNT=5", "ORGANIZER:mailto:bob@example.org",
               "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:ann@example.org"),
    "lunch": (
        "20261126T120000",
        "SUMMARY:Lunch",
        "ORGANIZER:mailto:bob@example.org",
        "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:ann@example.org",
    ),
    "lunch-later": (
        "20261127T120000",
        "SUMMARY:Lunch",
        "ORGANIZER:mailto:bob@example.org",
        "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:ann@example.org",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scene:
    """A call of an agent, and calls that differ from it in one field each."""

    kind: type[StandardAgent]
    call: Mapping[str, Any]
    others: Mapping[str, Any] = field(default_factory=dict)


SCENES = {
    "create_event": Scene(
        CreateEvent,
        {"title": "Visit", "start": "2026-11-25T15:00", "invite": ["bob@example.org"], "repeats": "weekly"},
        {
            "title": "Other visit",
            "start": "2026-11-25T16:00",
            "minutes": 90,
            "days": 2,
            "location": "Room 1",
            "notes": "Bring the plan",
            "repeats": "FREQ=WEEKLY;BYSETPOS=1",
            "invite": ["carol@example.org"],
            "calendar": "Work",
        },
    ),
    "change_event": Scene(
        ChangeEvent,
        {"event": "tea", "day": "2026-11-25", "location": "Room 9", "invite": ["dave@example.org"]},
        {
            "event": "yoga",
            "day": "2026-11-27",
            "start": "16:00",
            "minutes": 90,
            "title": "Coffee",
            "location": "Room 1",
            "notes": "Bring the plan",
            "invite": ["carol@example.org"],
            "uninvite": ["bob@example.org"],
        },
    ),
    "cancel_event": Scene(CancelEvent, {"event": "tea", "day": "2026-11-25"}, {"event": "yoga", "day": "2026-11-27"}),
    "answer_invitation": Scene(
        AnswerInvitation,
        {"event": "lunch", "answer": "accept", "day": "2026-11-26"},
        {"event": "review", "answer": "decline", "day": "2026-11-27"},
    ),
}
"""Of everything that works out first what it would do, by its name; `others`: what one field is instead."""
_WORDS = {"title", "location", "notes"}
_CHOOSES = {"account", "calendar"}
"""What only chooses the calendar, which the card names."""
SERIES: dict[str, tuple[Mapping[str, Any], tuple[str, ...]]] = {
    "change_event": ({"event": "yoga", "invite": ["carol@example.org"]}, ("this", "following", "all")),
    "cancel_event": ({"event": "yoga", "day": "2026-12-01"}, ("this", "following", "all")),
    "answer_invitation": ({"event": "review", "answer": "decline"}, ("this", "all")),
}
"""Where it matters how much of a series is meant."""


def stored(house: House, url: str) -> None:
    """Put the calendar as it is before each call."""
    for uid, (start, *lines) in _STORED.items():
        text = event(f"DTSTART;{_BERLIN}:{start}", "DURATION:PT1H", *lines, uid=uid)
        house.radicale.put("ann", f"{url}{uid}.ics", text)


def wire(house: House, *urls: str) -> list[str]:
    """Return what the calendars hold, without which call wrote it and when."""
    hidden = ("DTSTAMP", "LAST-MODIFIED", "X-ONEVALET-KEY", "UID", "SEQUENCE")
    texts = [(url, text) for url in urls for text in house.radicale.texts(url)]
    lines = [(url, line) for url, text in texts for line in text.replace("\r\n ", "").splitlines()]
    return sorted(f"{url} {line}" for url, line in lines if not line.startswith(hidden))


async def card_and_wire(house: House, scene: Scene, call: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Let a call be approved; return what its card said, and what was then written."""
    house.calls += 1
    home, work = (house.radicale.make_calendar("ann", f"{name} {house.calls}") for name in ("Home", "Work"))
    stored(house, home)
    named = {"calendar": f"{call.get('calendar', 'Home')} {house.calls}"}
    agent = await house.card(scene.kind, **{**call, **named})
    request = agent.approval_request()
    said = "\n".join([request.action_summary, *(f"{name}: {value}" for name, value in request.details.items())])
    await house.approved(agent)
    found = [line.replace(home, "home").replace(work, "work") for line in wire(house, home, work)]
    for url in (home, work):
        house.radicale.send("ann", "DELETE", url)
    return said.replace(named["calendar"], named["calendar"].split()[0]), found


def alike(told: Mapping[str, tuple[str, list[str]]]) -> list[tuple[str, str]]:
    """Return the calls of which the wire differs and the card does not."""
    names = list(told)
    pairs = [(one, other) for at, one in enumerate(names) for other in names[:at]]
    return [(a, b) for a, b in pairs if told[a][0] == told[b][0] and told[a][1] != told[b][1]]


@pytest.mark.parametrize("name", SCENES)
async def test_promise_9_what_is_written_differs_only_where_the_card_does(house: House, name: str) -> None:
    scene = SCENES[name]
    missing = set(scene.kind.valet.inputs) - {"series", *_CHOOSES} - set(scene.call) - set(scene.others)
    assert missing == set(), "each field is varied"
    told = {"": await card_and_wire(house, scene, scene.call)}
    for other, value in scene.others.items():
        told[other] = await card_and_wire(house, scene, {**scene.call, other: value})
        if other in _WORDS:  # a card that only tells that there are some is not enough
            told[f"{other} too"] = await card_and_wire(house, scene, {**scene.call, other: f"{value} too"})
    if name in SERIES:
        call, scopes = SERIES[name]
        told |= {scope: await card_and_wire(house, scene, {**call, "series": scope}) for scope in scopes}
    assert alike(told) == []
    assert len({said for said, _ in told.values()}) == len(told)
