"""Feedback in its table: by the provider's order, of the person's own chat, and gone with the person."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.messaging.inbound import Reaction
from core.messaging.messages import Address
from tests.core.harness import Store

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANN, BOB = "+15550000001", "+15550000002"


async def answered(store: Store, sender: str = ANN) -> tuple[Address, str]:
    """Let somebody be answered; return where, and the provider's id of the answer."""
    await store.say("hello", sender=sender)
    lease, turn = await store.claim_turn()
    await store.finish(lease, turn, "Hello.")
    await store.send(await store.claim_sending("Hello."))
    row = await store.admin.fetchrow(
        "select c.channel, c.account, c.peer, e.provider_id from conversations c join outbound o"
        " on o.conversation_id = c.id join outbound_parts e on e.outbound_id = o.id where c.peer = $1",
        sender,
    )
    assert row is not None
    return Address(row["channel"], row["account"], row["peer"]), row["provider_id"]


async def kept(store: Store) -> list[tuple[str, bool]]:
    """Return the reactions as (emoji, given)."""
    rows = await store.admin.fetch("select emoji, given from feedback order by emoji")
    return [(row["emoji"], row["given"]) for row in rows]


async def test_a_change_that_comes_late_does_not_undo_a_newer_one(store: Store) -> None:
    address, message = await answered(store)
    later = Reaction(address, ANN, ("2",), removed=("👍",), message=message, at=NOON + timedelta(seconds=5))
    await store.inbox.accept(later)
    await store.inbox.accept(Reaction(address, ANN, ("1",), added=("👍",), message=message, at=NOON))
    assert await kept(store) == [("👍", False)]


async def test_one_change_may_put_a_reaction_in_place_of_another(store: Store) -> None:
    address, message = await answered(store)
    await store.inbox.accept(Reaction(address, ANN, ("1",), added=("👍",), message=message, at=NOON))
    changed = Reaction(address, ANN, ("2",), added=("👎",), removed=("👍",), message=message, at=NOON)
    await store.inbox.accept(changed)
    assert await kept(store) == [("👍", False), ("👎", True)]


@pytest.mark.parametrize("sender", [BOB, "+15550000009"])
async def test_promise_11_nobody_reacts_in_the_chat_of_another(store: Store, sender: str) -> None:
    address, message = await answered(store)
    await answered(store, BOB)
    received = await store.inbox.accept(Reaction(address, sender, ("k",), added=("👍",), message=message))
    assert (received.id, await kept(store)) == ("k", [])
    assert await store.db.ignored_messages.column("reason") == ["reaction"]
    assert await store.one("select count(*) from conversations") == 2, "none is opened for them there"


async def test_a_reaction_is_to_a_message_of_its_own_chat_only(store: Store) -> None:
    address, message = await answered(store)
    elsewhere = replace(address, peer="+15550000077")
    await store.inbox.accept(Reaction(elsewhere, ANN, ("k",), added=("👍",), message=message))
    assert (await kept(store), await store.db.ignored_messages.column("reason")) == ([], ["reaction"])


async def test_a_reaction_to_an_unknown_message_is_only_recorded(store: Store) -> None:
    address, _ = await answered(store)
    await store.inbox.accept(Reaction(address, ANN, ("k",), added=("👍",), message="gone"))
    assert (await kept(store), await store.db.ignored_messages.column("reason")) == ([], ["reaction"])


async def test_feedback_goes_with_its_person(store: Store) -> None:
    address, message = await answered(store)
    await store.inbox.accept(Reaction(address, ANN, ("k",), added=("👍",), message=message))
    await store.admin.execute("delete from tenants")
    assert await kept(store) == []
