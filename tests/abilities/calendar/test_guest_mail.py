"""Those at an event are told by mail where the calendar's server tells nobody: invited, told of changes, answered."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from abilities.calendar.tools import AddEventsFromFile, AnswerInvitation, CancelEvent, ChangeEvent, CreateEvent
from core.agents.standard_agent import StandardAgent
from core.credentials.types import Ability, Account
from core.errors import ToolRetry
from core.json_types import Json
from tests.abilities.calendar.house import open_house
from tests.abilities.calendar.post import Post, open_post
from tests.servers.dovecot import Dovecot
from tests.servers.radicale import Radicale

WEEKLY = "RRULE:FREQ=WEEKLY;COUNT=5"
HEADERS = {"Subject", "From", "To", "Date", "Message-ID", "MIME-Version", "Content-Type"}


@pytest.fixture
async def post(radicale: Radicale, dovecot: Dovecot) -> AsyncIterator[Post]:
    async with open_post(radicale, dovecot) as opened:
        yield opened


def shown(agent: StandardAgent, name: str) -> str:
    """Return a detail of an agent's card."""
    value: Json = agent.approval_request().details[name]
    return str(value)


async def test_guests_are_invited_by_mail_once_the_person_agrees(post: Post) -> None:
    house, bob = post.house, post.bob
    given = {"title": "Lunch", "start": "tomorrow noon", "location": "Main St 1", "notes": "Bring numbers"}
    agent = await house.card(CreateEvent, **given, invite=[bob])
    assert shown(agent, "invitations") == f"An email goes from {post.ann} to {bob}."
    assert post.exchange.taken == []
    sent = house.last
    for _ in range(2):  # a kill comes after it
        said = await house.approved(agent)
    assert "1 person gets an email." in said
    assert "To take it back" not in said
    assert "Others have been notified" in str(sent.undo.offered[-1].arguments)
    [invitation] = post.got(bob)
    [stored] = house.radicale.texts(post.calendar)
    uid = stored.split("UID:")[1].split()[0]
    for line in ("METHOD:REQUEST", f"UID:{uid}", "SEQUENCE:0", "ORGANIZER:mailto:ann@example.org", "SUMMARY:Lunch"):
        assert f"\n{line}\n" in invitation.event, line
    assert f"mailto:{bob}" in invitation.event
    assert "X-ONEVALET" not in invitation.event
    assert invitation.subject == "Invitation: “Lunch”, Sun 22 Nov 2026, 12:00–13:00"
    when = "Sun 22 Nov 2026, 12:00–13:00 (Europe/Berlin)"
    assert invitation.text == f"“Lunch”\n{when}\nMain St 1\n\nBring numbers"
    assert str(invitation.mail["From"]) == post.ann
    assert post.filed == 1


async def test_a_change_tells_who_stays_who_comes_and_who_does_not(post: Post) -> None:
    house = post.house
    post.meeting(guests=(post.bob,))
    agent = await house.card(ChangeEvent, event="planning", start="16:00", invite=[post.carol], uninvite=[post.bob])
    assert shown(agent, "invitations") == f"An email goes from {post.ann} to {post.carol} and {post.bob}."
    for _ in range(2):
        said = await house.approved(agent)
    assert "2 people get an email." in said
    [request], [gone] = post.got(post.carol), post.got(post.bob)
    assert "DTSTART;TZID=Europe/Berlin:20261125T160000" in request.event
    assert post.bob not in request.event
    assert request.subject == "Changed event: “Planning”, Wed 25 Nov 2026, 16:00–17:00"
    assert "METHOD:CANCEL" in gone.event
    assert "STATUS:" not in gone.event
    assert post.carol not in gone.event
    assert gone.subject.startswith("Cancelled event: “Planning”")
    assert post.filed == 2


async def test_notes_that_go_out_stand_on_the_card(post: Post) -> None:
    post.meeting("DESCRIPTION:Ask about her salary")
    agent = await post.house.card(ChangeEvent, event="planning", invite=[post.carol])
    assert shown(agent, "notes") == "Ask about her salary"


async def test_a_cancelled_event_is_cancelled_at_its_guests(post: Post) -> None:
    post.meeting("SEQUENCE:2", guests=(post.bob, post.carol))
    agent = await post.house.card(CancelEvent, event="planning")
    assert shown(agent, "invitations") == f"An email goes from {post.ann} to {post.bob} and {post.carol}."
    for _ in range(2):
        said = await post.house.approved(agent)
    assert "2 people get an email." in said
    assert post.house.radicale.texts(post.calendar) == []
    assert len(post.exchange.taken) == 1, "they are one group"
    for guest in (post.bob, post.carol):
        [cancelled] = post.got(guest)
        for line in ("METHOD:CANCEL", "UID:planning", "STATUS:CANCELLED", "SEQUENCE:3"):
            assert f"\n{line}\n" in cancelled.event, line


async def test_an_answer_goes_to_who_invites(post: Post) -> None:
    post.meeting("SEQUENCE:2", guests=("ann@example.org", post.carol), organizer=post.bob)
    agent = await post.house.card(AnswerInvitation, event="planning", answer="accept")
    assert shown(agent, "invitations") == f"An email goes from {post.ann} to {post.bob}."
    for _ in range(2):
        said = await post.house.approved(agent)
    assert said.endswith("(Europe/Berlin). 1 person gets an email.")
    [reply] = post.got(post.bob)
    assert post.got(post.carol) == []
    for line in ("METHOD:REPLY", "UID:planning", "SEQUENCE:2", "ATTENDEE;PARTSTAT=ACCEPTED:mailto:ann@example.org"):
        assert f"\n{line}\n" in reply.event, line
    assert reply.event.count("ATTENDEE") == 1
    assert reply.subject == "Accepted: “Planning”, Wed 25 Nov 2026, 14:00–15:00"


@pytest.mark.parametrize("series", ["this", "following", "all"])
async def test_of_a_series_as_much_goes_out_as_is_changed(post: Post, series: str) -> None:
    post.meeting(WEEKLY)
    agent = await post.house.card(ChangeEvent, event="planning", day="2026-12-09", start="16:00", series=series)
    for _ in range(2):
        await post.house.approved(agent)
    got = post.got(post.bob)
    assert len(got) == len(post.exchange.taken) == (2 if series == "following" else 1)
    if series == "this":
        assert "RECURRENCE-ID;TZID=Europe/Berlin:20261209T140000" in got[0].event
        assert "FREQ=WEEKLY" not in got[0].event
    elif series == "following":
        assert "FREQ=WEEKLY;UNTIL=20261209T125959Z" in got[0].event
        assert "FREQ=WEEKLY;COUNT=3" in got[1].event
        assert "UID:planning\n" not in got[1].event
    else:
        assert "DTSTART;TZID=Europe/Berlin:20261125T160000" in got[0].event
        assert "FREQ=WEEKLY;COUNT=5" in got[0].event


async def test_one_occurrence_is_cancelled_alone_and_the_rest_as_a_change(post: Post) -> None:
    post.meeting(WEEKLY)
    for series, day in (("this", "2026-12-02"), ("following", "2026-12-16")):
        agent = await post.house.card(CancelEvent, event="planning", day=day, series=series)
        await post.house.approved(agent)
    one, rest = post.got(post.bob)
    assert "METHOD:CANCEL" in one.event
    assert "RECURRENCE-ID;TZID=Europe/Berlin:20261202T140000" in one.event
    assert "METHOD:REQUEST" in rest.event
    assert "FREQ=WEEKLY;UNTIL=20261216T125959Z" in rest.event
    assert "EXDATE;TZID=Europe/Berlin:20261202T140000" in rest.event


async def test_what_is_mailed_is_taken_over_by_another_assistant(post: Post, radicale: Radicale) -> None:
    theirs = radicale.make_calendar("bob", "Home")
    agent = await post.house.card(CreateEvent, title="Lunch", start="tomorrow noon", invite=["bob@example.org"])
    await post.house.approved(agent)
    move = await post.house.card(ChangeEvent, event="lunch", start="1pm")
    await post.house.approved(move)
    end = await post.house.card(CancelEvent, event="lunch")
    await post.house.approved(end)
    times = []
    async with open_house(radicale) as other:
        other.connected.opened = [radicale.account("bob")]
        for invitation in post.got("bob@example.org")[-3:]:
            other.files.text = invitation.event
            await other.approved(await other.card(AddEventsFromFile, file="f1"))
            times.append([text.split("DTSTART;")[1].split()[0] for text in radicale.texts(theirs)])
    assert times == [["TZID=Europe/Berlin:20261122T120000"], ["TZID=Europe/Berlin:20261122T130000"], []]


async def test_an_event_stands_where_its_guests_cannot_be_told(post: Post) -> None:
    gone = post.dovecot.new("gone")
    agent = await post.house.card(CreateEvent, title="Lunch", start="tomorrow noon", invite=[gone])
    said = await post.house.approved(agent)
    assert "“Lunch” is in your calendar Home" in said
    assert f"Not everybody could be notified by email. Nothing was sent: 127.0.0.1 refuses {gone}." in said
    assert "To take it back, write “undo”." in said, "nobody knows of it"
    assert len(post.house.radicale.texts(post.calendar)) == 1


def mailbox(post: Post, name: str, service: str = "email", *, preferred: bool = False, address: str = "") -> None:
    """Connect one more mailbox of the same server."""
    opened = post.dovecot.account(post.ann, smtp=post.exchange.port)
    account = Account(service, name, address or post.ann, frozenset({Ability.MAIL_SEND}), preferred)
    post.house.connected.opened.append(replace(opened, account=account))


async def test_the_calendars_own_account_sends_else_the_default(post: Post) -> None:
    async def sender() -> str:
        agent = await post.house.card(CreateEvent, title="Lunch", start="tomorrow noon", invite=[post.bob])
        return shown(agent, "invitations")

    mailbox(post, "work", address="work@example.org")
    assert f"from {post.ann} to" in await sender(), "the default"
    post.house.connected.opened = [one for one in post.house.connected.opened if one.account.service != "email"]
    for name in ("one", "two"):
        mailbox(post, name, address=f"{name}@example.org")
    with pytest.raises(ToolRetry, match=r"Which account: one or two\?"):
        await sender()
    mailbox(post, "three", address="ann@example.org")
    assert "from ann@example.org to" in await sender(), "the calendar knows the person by this address"
    mailbox(post, "primary", "caldav", address="same@example.org")
    assert "from same@example.org to" in await sender(), "the account of the calendar itself"


async def test_words_and_guests_of_an_event_add_no_headers_and_no_lines(post: Post) -> None:
    eve = post.dovecot.new("eve")
    added = f"\r\nBcc: {eve}\r\nATTENDEE:mailto:{eve}\r\nEND:VEVENT"
    escaped = added.replace("\r\n", "\\n")
    text = post.meeting(
        f"LOCATION:Room 1{escaped}",
        f"DESCRIPTION:Notes{escaped}",
        f'ATTENDEE;CN="Eve{added.replace("\r\n", "^n")}":mailto:{post.carol}',
        f"ATTENDEE:mailto:mallory@example.org%0D%0ABcc:%20{eve}",
        f"ATTENDEE:mailto:mallory@example.org\\nBcc: {eve}",
        f"ATTENDEE:mailto:mallory@example.org>\t<{eve}",
    )
    hostile = text.replace("SUMMARY:Planning", f"SUMMARY:Planning{escaped}")
    post.house.radicale.put("ann", f"{post.calendar}planning.ics", hostile)
    change = await post.house.card(ChangeEvent, event="planning", start="16:00")
    assert shown(change, "invitations") == f"An email goes from {post.ann} to {post.bob} and {post.carol}."
    await post.house.approved(change)
    words = {"title": f"Lunch{added}", "location": f"Room 2{added}", "notes": added}
    create = await post.house.card(CreateEvent, start="tomorrow noon", invite=[post.bob], **words)
    await post.house.approved(create)
    for got, guests in zip(post.got(post.bob), (5, 1), strict=True):
        assert set(got.mail.keys()) <= HEADERS
        assert f"Bcc: {eve}" in got.subject, "as words of it"
        lines = got.event.split("\n")
        assert [line for line in lines if line.startswith("Bcc")] == []
        assert [line for line in lines if line == f"ATTENDEE:mailto:{eve}"] == []
        assert (lines.count("END:VEVENT"), sum(line.startswith("ATTENDEE") for line in lines)) == (1, guests)
    assert post.got(eve) == []
