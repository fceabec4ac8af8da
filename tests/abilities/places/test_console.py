"""Places in the console: a person sees their own and nobody else's, and the path of a turn names none."""

from dataclasses import replace
from datetime import timedelta

from abilities.places.places import Places
from abilities.places.types import SavedPlace
from core.messaging.messages import Address, InboundMessage
from core.messaging.places import PIN, SentPlace
from tests.core.harness import ACCOUNT, CHANNEL
from tests.operations.console.conftest import console as console
from tests.operations.console.harness import ANN, BOB, Console

HERE = "/console/places"
OFFICE = SentPlace(52.520008, 13.404954, 12.0, name="Café <b>Evil</b>")


async def _send(console: Console, sender: str, place: SentPlace, number: str = "p1") -> None:
    """Let somebody send a place."""
    address = Address(CHANNEL, ACCOUNT, sender)
    keys = (f"{sender} {number}",)
    sent = InboundMessage(address, sender, keys, PIN, sent_at=console.clock.now(), provider_id=number, place=place)
    await console.store.inbox.accept(sent)


async def test_a_person_sees_where_they_were_and_nobody_else_does(console: Console) -> None:
    bob = await console.tenant(BOB)
    live = replace(OFFICE, name="", live_until=console.clock.now() + timedelta(hours=1))
    await _send(console, BOB, OFFICE)
    await _send(console, BOB, live, "p2")
    await Places(console.store.database, console.clock, bob).save(SavedPlace("gym", 1.5, 2.5))
    async with console.browser(BOB) as phone:
        assert await phone.get(HERE) == 200
        assert "52.52001, 13.40495" in phone.text
        assert "Café <b>Evil</b>" in phone.text
        assert "<b>Evil" not in phone.page
        assert "known to 12 m" in phone.text
        assert "shared live" in phone.text
        assert "gym" in phone.text
    async with console.browser(ANN) as owner:
        assert await owner.get(HERE) == 200
        assert "Nowhere is known." in owner.text
        assert "52.5" not in owner.page


async def test_an_open_page_changes_with_the_place(console: Console) -> None:
    await console.tenant(BOB)
    async with console.browser(BOB) as phone:
        await phone.get(HERE)
        before = phone.version
        await _send(console, BOB, OFFICE)
        await phone.get(HERE)
        assert phone.version != before


async def test_the_page_of_a_turn_says_how_a_place_came_and_not_which(console: Console) -> None:
    await console.tenant(BOB)
    await _send(console, BOB, OFFICE)
    _, turn = await console.store.claim_turn()
    async with console.browser(BOB) as phone:
        assert await phone.get(f"/console/turns/{turn.turn_id}") == 200
        assert "named, known to 12 m" in phone.text
        assert "52.5" not in phone.page
