"""Calendars, taken back: what was created, changed, cancelled or answered is as it was, also after a kill."""

import pytest

from abilities.calendar.tools import AnswerInvitation, CancelEvent, ChangeEvent, CreateEvent
from core.agents.standard_agent import AgentStatus
from core.errors import ToolFailed
from tests.abilities.calendar.house import House
from tests.abilities.calendar.samples import event
from tests.abilities.calendar.test_calendar import INVITATION

UNDONE = "Undone: your calendar is as it was."
WEEKLY = event(
    "DTSTART;TZID=Europe/Berlin:20261123T180000",
    "DTEND;TZID=Europe/Berlin:20261123T190000",
    "RRULE:FREQ=WEEKLY;COUNT=5",
    "SUMMARY:Yoga",
    uid="yoga",
)


@pytest.mark.parametrize("runs", [1, 2], ids=["once", "after a kill"])
async def test_what_was_created_and_changed_is_as_it_was(house: House, runs: int) -> None:
    url = house.radicale.make_calendar("ann", "Home")
    for _ in range(runs):
        await house.does(CreateEvent, key="turn.1.1", title="Dentist", start="tomorrow at 3")
    create = house.last
    before = house.radicale.texts(url)
    for _ in range(runs):
        said = await house.does(ChangeEvent, key="turn.2.1", event="dentist", start="5pm")
    assert said.endswith("To take it back, write “undo”.")
    assert await house.undone() == UNDONE
    assert house.radicale.texts(url) == before
    house.last = create
    assert await house.undone() == UNDONE
    assert house.radicale.texts(url) == []


async def test_what_was_changed_elsewhere_since_is_not_undone(house: House) -> None:
    url = house.radicale.make_calendar("ann", "Home")
    await house.does(CreateEvent, title="Dentist", start="tomorrow at 3")
    [stored] = house.radicale.texts(url)
    name = stored.split("UID:")[1].split()[0]
    house.radicale.put("ann", f"{url}{name}.ics", stored.replace("SUMMARY:Dentist", "SUMMARY:Surgeon"))
    with pytest.raises(ToolFailed, match="changed elsewhere"):
        await house.undone()
    assert "SUMMARY:Surgeon" in house.radicale.texts(url)[0]


@pytest.mark.parametrize("runs", [1, 2], ids=["once", "after a kill"])
@pytest.mark.parametrize("series", ["this", "following", "all"])
async def test_a_series_that_was_cancelled_or_moved_is_as_it_was(house: House, series: str, runs: int) -> None:
    url = house.radicale.make_calendar("ann", "Home")
    house.radicale.put("ann", f"{url}yoga.ics", WEEKLY)
    before = house.radicale.texts(url)
    for kind, given in ((ChangeEvent, {"start": "20:00"}), (CancelEvent, {})):
        agent = house.agent(kind, event="yoga", day="2026-12-07", series=series, **given)
        begun = house.last
        result = await agent.on_running("")
        asks = result.status is AgentStatus.WAITING_FOR_APPROVAL
        for _ in range(runs if asks else runs - 1):
            result = await (house.approval(agent) if asks else agent.on_running(""))
        said = result.raw_message
        house.last = begun
        assert "To take it back" in said
        assert house.radicale.texts(url) != before
        assert await house.undone() == UNDONE
        assert house.radicale.texts(url) == before


@pytest.mark.parametrize("runs", [1, 2], ids=["once", "after a kill"])
async def test_an_answer_of_which_nobody_was_told_is_taken_back(house: House, runs: int) -> None:
    url = house.radicale.make_calendar("ann", "Home")
    house.radicale.put("ann", f"{url}review.ics", INVITATION)
    before = house.radicale.texts(url)
    agent = await house.card(AnswerInvitation, event="review", answer="accept")
    begun = house.last
    for _ in range(runs):
        await house.approved(agent)
    house.last = begun
    assert "PARTSTAT=ACCEPTED:mailto:ann" in house.radicale.texts(url)[0]
    assert await house.undone() == UNDONE
    assert house.radicale.texts(url) == before
