"""A card that was held, is sent again or goes to another place says what is true when it is sent."""

from collections.abc import AsyncIterator

import pytest

from core.json_types import JsonObject
from core.messaging.messages import DeliveryStatus, StatusUpdate
from operations.console.unsettled import Settlement, UnsettledMessages
from tests.clocks import StandingClock
from tests.contract.approving import Approving, open_approving
from tests.contract.channel_harnesses import HARNESSES
from tests.core.builders import says, wants

MAIL: JsonObject = {"to": "sam@example.com", "subject": "Lunch", "body": "Friday at noon?"}
_CARD = "select id from outbound where kind = 'card' order by created_at desc limit 1"


@pytest.fixture
async def system(channel: str, database_url: str) -> AsyncIterator[Approving]:
    """Yield the system on an empty database, at noon."""
    async with open_approving(HARNESSES[channel], database_url, StandingClock()) as system:
        system.model.script = [wants(("send_mail", MAIL)), says("I sent it.")]
        yield system


async def hold(system: Approving) -> str:
    """Have Ada ask for what needs her consent, and hold its card; return the card."""
    await system.delivery.channel.said("mail sam about lunch")
    await system.turn()
    store = system.delivery.store
    await store.db.outbound.change({"state": "held", "seq": None}, kind="card")
    return str(await store.one(_CARD))


async def release(system: Approving, card: str) -> None:
    store = system.delivery.store
    tenant = await store.db.outbound.one("tenant_id", id=card)
    assert await store.one("select release_outbound($1, $2)", tenant, card)
    await system.work()


async def test_a_card_that_was_lost_and_is_sent_again_says_until_when_it_is_open(system: Approving) -> None:
    await system.say("mail sam about lunch")
    assert "It stays open for 30 minutes." in system.card().text
    system.clock.move(minutes=10)
    store, channel = system.delivery.store, system.delivery.channel
    await channel.settled()  # a report of the provider's own that came later would outrank ours
    card = str(await store.one(_CARD))
    ref = str(await store.db.outbound_parts.one("ref", outbound_id=card))
    await store.db.outbound_parts.change({"status": "", "status_rank": -1})  # a phone that is off
    update = StatusUpdate(channel.name, channel.account, "", ref, DeliveryStatus.UNDELIVERED, "30003")
    await store.inbox.accept(update)
    tenant = str(await store.db.outbound.one("tenant_id", id=card))
    settlement, _ = await UnsettledMessages(store.database, store.make_id).resend(tenant, card)
    assert settlement is Settlement.RESENT
    await system.work()
    assert "It stays open until 12:30." in system.card().text
    assert "stays open for" not in system.card().text
    assert "sam@example.com" in system.card().text
    await system.decide("Approve")
    assert system.sent == [MAIL]


async def test_a_card_whose_time_runs_already_says_until_when(system: Approving) -> None:
    card = await hold(system)
    # Its first card was sent in another chat of hers.
    await system.delivery.store.admin.execute(
        "select start_approval(tenant_id, id, $1) from approvals", system.clock.now()
    )
    system.clock.move(minutes=10)
    await release(system, card)
    assert "It stays open until 12:30." in system.card().text


async def test_a_card_that_was_only_held_is_open_for_its_whole_time(system: Approving) -> None:
    card = await hold(system)
    system.clock.move(hours=9)
    await release(system, card)
    assert "It stays open for 30 minutes." in system.card().text


async def test_a_card_whose_request_has_ended_asks_for_nothing(system: Approving) -> None:
    card = await hold(system)
    await system.delivery.store.db.approvals.change(
        {"state": "cancelled", "decided_at": system.clock.now(), "decided_channel": "console"}
    )
    system.clock.move(minutes=10)
    await release(system, card)
    [shown] = [bubble for bubble in system.delivery.channel.bubbles() if "sam@example.com" in bubble.text]
    assert "Cancelled at 12:00." in shown.text
    assert "Reply OK" not in shown.text
    assert shown.buttons == ()
