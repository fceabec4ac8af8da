"""Contacts that are added, changed, forgotten and saved from files, and taken back; repeats change nothing more."""

import pytest

from abilities.contacts.changes import take_back_contacts
from abilities.contacts.keeping import add_contact, change_contact, forget_contact, list_contacts
from core.errors import ToolFailed
from tests.abilities.contacts.house import House

SAM = "1. Sam Miller: brother; +14155552671"


@pytest.fixture
async def sam(house: House) -> House:
    """Return a person who has told of Sam, and whose address book nobody asks."""
    house.connected.opened = []
    house.said.words = ["Sam Miller is my brother, +14155552671, and his work number is +14155552672"]
    for _ in range(2):  # as after a crash
        said = await house.told(
            add_contact, key="first", name="Sam Miller", relation="brother", addresses=["+14155552671"]
        )
        assert said == "Kept as contact 1: Sam Miller: brother; +14155552671"
    return house


async def test_a_new_contact_is_taken_back(sam: House) -> None:
    assert sam.last.undo.offered[0].title == "Contact: Sam Miller: brother; +14155552671"
    assert await sam.undo(take_back_contacts) == "Undone: Sam Miller is no longer kept."
    assert await sam.told(list_contacts) == "No contacts are kept."


async def test_a_change_is_taken_back_also_where_the_call_was_repeated(sam: House) -> None:
    for _ in range(2):
        said = await sam.told(
            change_contact, key="second", contact="Sam", name="Samuel Miller", add=["+14155552672"], relation=""
        )
        assert said == "Contact 1 is now: Samuel Miller: +14155552671; +14155552672"
    assert await sam.undo(take_back_contacts) == f"Undone. Contact 1 is again: {SAM[3:]}"
    assert await sam.told(list_contacts) == SAM


async def test_what_was_added_to_a_contact_is_taken_back(sam: House) -> None:
    assert "Added to contact 1" in await sam.told(add_contact, name="sam miller", addresses=["+14155552672"])
    await sam.undo(take_back_contacts)
    assert await sam.told(list_contacts) == SAM


async def test_a_forgotten_contact_is_brought_back_once(sam: House) -> None:
    for _ in range(2):
        said = await sam.told(forget_contact, key="second", contact="1")
        assert said == f"The contact is forgotten: {SAM[3:]}"
    [offer] = sam.last.undo.offered
    for _ in range(2):
        assert SAM[3:] in await sam.told(take_back_contacts, key="third", **offer.arguments)
    assert await sam.told(list_contacts) == SAM


async def test_nothing_that_was_changed_since_is_taken_back(sam: House) -> None:
    await sam.told(change_contact, contact="Sam", relation="twin brother")
    first = sam.last.undo.offered[0]
    await sam.told(change_contact, contact="Sam", organization="Acme")
    with pytest.raises(ToolFailed, match="Sam Miller was changed after that"):
        await sam.told(take_back_contacts, **first.arguments)
    assert "twin brother; Acme" in await sam.told(list_contacts)
    await sam.told(change_contact, contact="Sam", organization="")
    await sam.told(take_back_contacts, **first.arguments)
    assert await sam.told(list_contacts) == SAM


async def test_a_repeat_undoes_no_later_change(sam: House) -> None:
    await sam.told(change_contact, key="second", contact="Sam", relation="twin")
    await sam.told(change_contact, contact="Sam", relation="friend")
    await sam.told(change_contact, key="second", contact="Sam", relation="twin")
    assert "friend" in await sam.told(list_contacts)


async def test_a_call_without_a_change_offers_nothing(sam: House) -> None:
    await sam.told(add_contact, name="Sam Miller", relation="brother")
    assert sam.last.undo.offered == ()
