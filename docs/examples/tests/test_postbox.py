import json
import os
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from onevalet import MailFailed, MailFailure, OneValet, ToolExecutionContext, ToolFailed, new_turn
from postbox.cards import note_number
from postbox.invitations import accept_invitation
from postbox.invoices import find_invoices, keep_invoice
from postbox.thanks import answer_mail
from postbox.visits import list_visits, plan_visit, postpone_visit, put_visit_back

MAILBOX, CALENDAR = json.loads(os.environ["TEST_MAILBOX"]), json.loads(os.environ["TEST_CALENDAR"])
PORTS = [MAILBOX["port"], MAILBOX["imap"]["port"]]
SETTINGS = {"ONEVALET_MEMORY": "off", "ONEVALET_FETCH_HOSTS": ",".join(f"127.0.0.1:{port}" for port in PORTS)}
DAY = datetime(2027, 1, 4, tzinfo=ZoneInfo("Europe/London"))
INVITATION = """\
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//shop//EN
METHOD:REQUEST
BEGIN:VEVENT
UID:opening
DTSTAMP:20261201T000000Z
DTSTART:20270105T090000Z
DTEND:20270105T100000Z
SUMMARY:Opening
ORGANIZER:mailto:{organizer}
ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:{guest}
END:VEVENT
END:VCALENDAR
"""


async def test_the_persons_accounts_are_worked_in() -> None:
    SETTINGS["ONEVALET_FETCH_HOSTS"] += f",{CALENDAR['caldav'].split('/')[2]}"
    async with OneValet(SETTINGS) as valet:
        ann = await valet.tenant_id("ann", timezone="Europe/London")
        await valet.credentials.save(ann, "email", MAILBOX)
        await valet.credentials.save(ann, "caldav", CALENDAR)
        await mail_is_found_kept_and_answered(valet, ann)
        await visits_are_planned_postponed_and_put_back(valet, ann)
        await an_invitation_is_accepted(valet, ann)
        assert await note_number("Bob", "+441632960001", context_of(valet, ann, "7")) == "Contacts has 1 cards."
        await valet.credentials.save(ann, "email", MAILBOX | {"password": "wrong"})
        assert "does not accept" in await find_invoices("shop", context_of(valet, ann, "8"))


def context_of(valet: OneValet, person: str, key: str) -> ToolExecutionContext:
    return valet.orchestrator.tool_context(new_turn("", person, timezone="Europe/London"), "test", key)


async def mail_is_found_kept_and_answered(valet: OneValet, ann: str) -> None:
    context = context_of(valet, ann, "1")
    [line] = (await find_invoices("shop", context)).splitlines()
    words, _, mail = line.removesuffix(")").partition(" (")
    assert words == "Invoice 17"
    assert await answer_mail(mail, "Thank you!", context) == "Sent to shop@example.org."
    with pytest.raises(ToolFailed, match="nobody is not an address"):
        await answer_mail(mail, "Look!", context, pass_on_to="nobody")
    assert await answer_mail(mail, "Look!", context_of(valet, ann, "9"), pass_on_to="bob@müller.de") == (
        "Sent to bob@xn--mller-kva.de."
    )
    kept = await keep_invoice(mail, context)
    assert kept.startswith("Kept invoice.pdf as f")
    with pytest.raises(MailFailed) as gone:
        await keep_invoice(mail, context)
    assert gone.value.failure is MailFailure.GONE
    assert await find_invoices("shop", context) == "There are none."


async def visits_are_planned_postponed_and_put_back(valet: OneValet, ann: str) -> None:
    planning, moving = context_of(valet, ann, "2"), context_of(valet, ann, "3")
    nine = datetime(2027, 1, 4, 9)
    for _ in range(2):  # the same call, again
        assert await plan_visit("the plumber", nine, planning) == "The visit of the plumber is in Calendar."
    assert await postpone_visit("plumber", DAY, 30, moving) == "It begins at 09:30."
    assert await list_visits(DAY, moving) == ["09:30 Visit of the plumber (Calendar)"]
    [offer] = moving.undo.offered
    assert await put_visit_back(context=context_of(valet, ann, "4"), **offer.arguments) == "Undone."
    assert await list_visits(DAY, moving) == ["09:00 Visit of the plumber (Calendar)"]


async def an_invitation_is_accepted(valet: OneValet, ann: str) -> None:
    file = INVITATION.format(organizer="shop@example.org", guest=MAILBOX["user"])
    assert await accept_invitation(file, context_of(valet, ann, "5")) == "Opening is accepted."
    assert await accept_invitation(file, context_of(valet, ann, "6")) == "Nothing in it is new."
