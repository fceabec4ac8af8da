"""The console's page of feedback: the answers that people liked and disliked; people see their own words only."""

from collections.abc import AsyncIterator

import pytest

from core.messaging.inbound import Reaction
from core.messaging.messages import Address
from tests.core.harness import opened
from tests.operations.console.harness import ANN, BOB, Console, open_console

PAGE = "/console/feedback"


@pytest.fixture
async def console(database_url: str) -> AsyncIterator[Console]:
    """Yield the console, in which Ann liked an answer and Bob did not like one."""
    async with opened(database_url) as store, open_console(store) as console:
        for sender, emoji in ((ANN, "👍"), (BOB, "👎")):
            row = await store.admin.fetchrow(
                "select c.channel, c.account, c.peer, e.provider_id from conversations c join outbound o"
                " on o.conversation_id = c.id join outbound_parts e on e.outbound_id = o.id where c.peer = $1",
                sender,
            )
            assert row is not None
            address = Address(row["channel"], row["account"], row["peer"])
            await store.inbox.accept(
                Reaction(address, sender, (f"react {sender}",), added=(emoji,), message=row["provider_id"])
            )
        yield console


async def test_a_person_sees_their_own_reactions_with_the_answers(console: Console) -> None:
    async with console.browser(BOB) as browser:
        await browser.get(PAGE)
        assert "Noted." in browser.text
        assert "Not liked (1)" in browser.text
        assert "Liked (0)" in browser.text
        assert "The dentist." not in browser.text
        await browser.get(f"{PAGE}?view=liked")
        assert "Nothing is here." in browser.text


async def test_an_operator_sees_everybodys_reactions_without_others_words(console: Console) -> None:
    async with console.browser(ANN) as browser:
        await browser.get(PAGE)
        assert "The dentist." in browser.text
        assert "Noted." not in browser.text
        assert "Liked (1)" in browser.text
        assert "Not liked (1)" in browser.text


async def test_a_reaction_stands_on_the_page_of_its_turn(console: Console) -> None:
    async with console.browser(ANN) as browser:
        turn = await console.store.admin.fetchval(
            "select o.turn_id from feedback f join outbound o on o.id = f.outbound_id where f.emoji = '👍'"
        )
        await browser.get(f"/console/turns/{turn}")
        assert "Reacted 👍" in browser.text
