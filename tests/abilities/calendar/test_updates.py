"""Invitations sent again: a newer state changes the event, an older one nothing, and its organizer cancels it."""

from dataclasses import replace

import pytest

from abilities.calendar.tools import AddEventsFromFile, AnswerInvitation
from abilities.mail.origins import note_origin
from core.credentials.types import Ability
from core.errors import ToolFailed
from providers.email.types import MailRef
from tests.abilities.calendar.house import House
from tests.abilities.calendar.samples import event


def invitation(hour: int, sequence: int, method: str = "REQUEST", organizer: str = "bob", *more: str) -> str:
    """Return an invitation to a review on Wednesday, 25 November."""
    text = event(
        f"DTSTART;TZID=Europe/Berlin:20261125T{hour:02}0000",
        f"DTEND;TZID=Europe/Berlin:20261125T{hour + 1:02}0000",
        "SUMMARY:Review",
        f"SEQUENCE:{sequence}",
        f"ORGANIZER;CN=Bob:mailto:{organizer}@example.org",
        "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:ann@example.org",
        *more,
        uid="review",
    )
    return text.replace("VERSION:2.0", f"VERSION:2.0\r\nMETHOD:{method}")


async def added(house: House, text: str) -> str:
    """Let the person send a calendar file and agree to what is shown; return what is said."""
    house.files.text = text
    return await house.approved(await house.card(AddEventsFromFile, file="f1"))


async def refused(house: House, text: str, reason: str) -> None:
    """Let the person send a calendar file that changes nothing."""
    house.files.text = text
    with pytest.raises(ToolFailed, match=reason):
        await house.card(AddEventsFromFile, file="f1")


async def test_a_newer_invitation_changes_the_event_and_is_undone(house: House) -> None:
    url = house.radicale.make_calendar("ann", "Home")
    await added(house, invitation(14, 0))
    await house.approved(await house.card(AnswerInvitation, event="review", answer="accept"))
    before = house.radicale.texts(url)
    house.files.text = invitation(16, 1)
    agent = await house.card(AddEventsFromFile, file="f1")
    request = agent.approval_request()
    assert request.action_summary == "Change 1 event as this file says"
    assert "14:00–15:00" in str(request.details["before"])
    assert "16:00–17:00" in str(request.details["after"])
    assert house.radicale.texts(url) == before
    sent = house.last
    assert (await house.approved(agent)).startswith("Changed 1 event.")
    [stored] = house.radicale.texts(url)
    assert "DTSTART;TZID=Europe/Berlin:20261125T160000" in stored
    assert "PARTSTAT=NEEDS-ACTION" in stored, "another time is to be answered again"
    await refused(house, invitation(14, 0), "newer than that file")
    await refused(house, invitation(16, 1), "in your calendar already")
    house.last = sent
    await house.undone()
    assert house.radicale.texts(url) == before


async def test_an_answer_stands_where_only_words_are_new(house: House) -> None:
    url = house.radicale.make_calendar("ann", "Home")
    await added(house, invitation(14, 0))
    await house.approved(await house.card(AnswerInvitation, event="review", answer="accept"))
    await added(house, invitation(14, 1).replace("SUMMARY:Review", "SUMMARY:Final review"))
    [stored] = house.radicale.texts(url)
    assert "SUMMARY:Final review" in stored
    assert "PARTSTAT=ACCEPTED:mailto:ann" in stored


async def test_its_organizer_cancels_an_event_and_nobody_else(house: House) -> None:
    url = house.radicale.make_calendar("ann", "Home")
    await refused(house, invitation(14, 1, "CANCEL"), "not in your calendar")
    await added(house, invitation(14, 1))
    for method, number in (("CANCEL", 2), ("REQUEST", 5)):
        await refused(house, invitation(14, number, method, "eve"), "Somebody else has organized")
    await refused(house, invitation(14, 0, "CANCEL"), "newer than that file")
    before = house.radicale.texts(url)
    house.files.text = invitation(14, 2, "CANCEL")
    agent = await house.card(AddEventsFromFile, file="f1")
    sent = house.last
    assert "“Review”: Wed 25 Nov 2026, 14:00–15:00" in str(agent.approval_request().details["cancelled"])
    for _ in range(2):  # a kill comes between
        said = await house.approved(agent)
    assert said.startswith("Deleted 1 event. To take it back")
    assert house.radicale.texts(url) == []
    house.last = sent
    await house.undone()
    assert house.radicale.texts(url) == before


async def sent_by(house: House, *senders: str) -> None:
    """Let the file come with mails from these senders."""
    mailbox = replace(house.connected.opened[0].account, service="email", abilities=frozenset({Ability.MAIL_READ}))
    house.connected.opened.append(replace(house.connected.opened[0], account=mailbox))
    for sender in senders:
        await note_origin(house.context(), "f1", MailRef("email", mailbox.name, "INBOX", 1, 2), sender)


@pytest.mark.parametrize(
    ("senders", "said"),
    [
        ((), "It is unknown who made this file."),
        (("bob@example.org",), "bob@example.org, the organizer, as the email says; that is not proven"),
        (("eve@example.org",), "eve@example.org; the organizer is bob@example.org, somebody else"),
        (("bob@example.org", "eve@example.org"), "the organizer is bob@example.org, somebody else"),
    ],
)
@pytest.mark.parametrize("method", ["REQUEST", "CANCEL"])
async def test_a_card_says_who_sent_a_file_and_not_that_its_organizer_did(
    house: House, method: str, senders: tuple[str, ...], said: str
) -> None:
    house.radicale.make_calendar("ann", "Home")
    await added(house, invitation(14, 0))
    await sent_by(house, *senders)
    house.files.text = invitation(16, 1, method)
    request = (await house.card(AddEventsFromFile, file="f1")).approval_request()
    assert "organizer" not in request.action_summary
    assert said in str(request.details["sent by"])


@pytest.mark.parametrize(
    ("senders", "said"),
    [
        ((), "It is unknown who made this file."),
        (("bob@example.org",), "bob@example.org, the organizer, as the email says; that is not proven"),
        (("eve@example.org",), "eve@example.org; the organizer is bob@example.org, somebody else"),
    ],
)
async def test_promise_9_the_card_of_a_new_invitation_says_who_sent_it(
    house: House, senders: tuple[str, ...], said: str
) -> None:
    house.radicale.make_calendar("ann", "Home")
    await sent_by(house, *senders)
    house.files.text = invitation(14, 0)
    assert str((await house.card(AddEventsFromFile, file="f1")).approval_request().details["sent by"]) == said


async def test_one_occurrence_of_a_series_is_moved_and_cancelled(house: House) -> None:
    url = house.radicale.make_calendar("ann", "Home")
    await added(house, invitation(14, 0, "REQUEST", "bob", "RRULE:FREQ=WEEKLY;COUNT=4"))
    one = "RECURRENCE-ID;TZID=Europe/Berlin:20261202T140000"
    moved = invitation(9, 1, "REQUEST", "bob", one).replace("20261125T", "20261203T").replace(one, one)
    await added(house, moved)
    [stored] = house.radicale.texts(url)
    assert "RRULE:FREQ=WEEKLY;COUNT=4" in stored
    assert "DTSTART;TZID=Europe/Berlin:20261203T090000" in stored
    third = "RECURRENCE-ID;TZID=Europe/Berlin:20261209T140000"
    await added(house, invitation(14, 1, "CANCEL", "bob", third).replace("20261125T", "20261209T"))
    [stored] = house.radicale.texts(url)
    assert "EXDATE;TZID=Europe/Berlin:20261209T140000" in stored
    assert "DTSTART;TZID=Europe/Berlin:20261203T090000" in stored


async def test_what_is_sent_of_ones_own_event_changes_nothing(house: House) -> None:
    url = house.radicale.make_calendar("ann", "Home")
    own = invitation(14, 0, "REQUEST", "ann").replace("METHOD:REQUEST\r\n", "")
    house.radicale.put("ann", f"{url}review.ics", own)
    before = house.radicale.texts(url)
    await refused(house, invitation(18, 9, "REQUEST", "ann"), "in your calendar already")
    await refused(house, invitation(18, 9, "CANCEL", "ann"), "is your own")
    assert house.radicale.texts(url) == before
