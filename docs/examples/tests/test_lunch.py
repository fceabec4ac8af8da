from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from lunch.cancel import drop_lunch, order_again
from lunch.invitations import lunch_invitations
from lunch.menu import todays_menu
from lunch.order import OrderLunchAgent
from lunch.orders import count_lunches
from lunch.sheet import menu_as_file
from lunch.words import receipt
from onevalet import AgentStatus
from onevalet.testing import MemoryAccounts, MemoryFiles, make_context, rehearse, speaking


async def test_the_menu_leaves_out_what_is_too_dear() -> None:
    assert await todays_menu(make_context(), most=8) == "Friday: soup: 6 €, salad: 8 €"


async def test_the_menu_is_sent_as_a_file() -> None:
    files = MemoryFiles()
    await menu_as_file(make_context(files=files))
    assert files.sent["menu.csv"].splitlines()[:2] == [b"dish,euros", b"soup,6"]


async def test_invitations_are_looked_for_in_the_connected_mailbox() -> None:
    accounts = MemoryAccounts("ann@example.org", imap="imaps://imap.example.org:993")
    context = make_context(accounts=accounts)
    assert await lunch_invitations(context) == "ann@example.org is read at imaps://imap.example.org:993."


def test_what_is_missing_or_wrong_is_asked_for() -> None:
    lunch = rehearse(OrderLunchAgent, dish="Soup", portions=20)
    assert lunch.question == "For which day?\nThe portions cannot be used: from 1 to 8. How many portions?"
    assert lunch.fields == {"dish": "soup"}


async def test_lunch_is_ordered_once_it_is_approved() -> None:
    context = make_context()
    lunch = rehearse(OrderLunchAgent, context, dish="soup", day="2027-01-04")
    assert lunch.approval is not None
    assert lunch.approval.action_summary == "Order 1 x soup"
    assert lunch.approval.details == {"dish": "soup", "day": "2027-01-04", "portions": 1}
    assert await context.storage.list("lunches") == []

    result = await lunch.go_on()
    assert (result.status, result.outputs) == (AgentStatus.COMPLETED, {"number": 1})
    assert result.raw_message == "Ordered 1 x soup for 2027-01-04."

    await rehearse(OrderLunchAgent, context, dish="soup", day="2027-01-04").go_on()
    assert len(await context.storage.list("lunches")) == 1  # the same call, again
    await drop_lunch(context.idempotency_key, context)
    [offer] = context.undo.offered
    assert (offer.title, offer.tool) == ("Dropped lunch", "order_again")
    await order_again(context=context, **offer.arguments)
    with speaking("de-AT"):
        counted = await count_lunches(context)
    assert (counted, counted.data) == ("Du hast 1 Mittagessen bestellt.", {"count": 1})


def test_a_receipt_is_written_as_people_write() -> None:
    noon = datetime(2027, 1, 4, 12, tzinfo=UTC)
    with speaking("de"):
        words = receipt(noon, ZoneInfo("Europe/Berlin"))
    assert words.startswith("Mo., 4. Jan. 2027, 13:00")
    assert "4. Januar: 6,50\xa0€" in words
    assert "1.234,5; 2 lunches are left" in words  # not in the catalogue above
