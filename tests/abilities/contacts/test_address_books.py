"""Cards that are written into a real address book: when the person says so, once, and never over another's change."""

from typing import Any

import pytest

from abilities.contacts.address_books import add_to_address_book, change_in_address_book, take_back_card
from abilities.contacts.book import Contact
from abilities.contacts.card_text import new_card
from abilities.contacts.keeping import add_contact, find_contacts
from abilities.contacts.vcards import read_cards
from core.errors import ToolFailed, ToolRetry
from tests.abilities.contacts.house import House, card

SAM = card(
    "sam",
    "Sam Miller",
    "item1.TEL;TYPE=CELL:+1 (415) 555-2671",
    "item1.X-ABLABEL:Mobile",
    "TEL:+14155552672",
    "EMAIL:sam@example.org",
    "NICKNAME:Sammy",
    "PHOTO;ENCODING=b;TYPE=JPEG:" + "QUJD" * 200,
    "X-CUSTOM:stays",
)


@pytest.fixture
def book(house: House) -> str:
    """Return an address book with Sam in it."""
    url = house.radicale.make_address_book("ann", "People")
    house.radicale.put("ann", f"{url}sam.vcf", SAM, "text/vcard")
    return url


def lines(house: House, book: str, name: str) -> list[str]:
    """Return the lines of the card with a name, without folds."""
    [text] = [text for text in house.radicale.texts(book) if f"FN:{name}" in text]
    return text.replace("\r\n ", "").splitlines()


async def test_somebody_new_is_put_into_the_address_book_and_taken_back(house: House, book: str) -> None:
    house.said.words = ["Add Ann-Marie O'Neil, +14155552680, ann@example.net to my address book"]
    given: dict[str, Any] = {"name": "Ann-Marie O'Neil", "addresses": ["+14155552680", "ann@example.net"]}
    for _ in range(2):  # as after a crash
        told = await house.told(add_to_address_book, key="turn.1.1", **given, organization="Acme; Inc, \\")
        assert told == "Ann-Marie O'Neil is now in your address book “People”."
    assert len(house.radicale.texts(book)) == 2
    assert "+14155552680" in await house.told(find_contacts, name="Ann-Marie")
    [read] = read_cards("\n".join(lines(house, book, "Ann-Marie O'Neil")).encode(), "US", "")
    assert (read.mails, read.organization) == (("ann@example.net",), "Acme; Inc, \\")
    with pytest.raises(ToolRetry, match="is in your address book already"):
        await house.told(add_to_address_book, **given)
    await house.told(add_to_address_book, key="turn.1.1", **given)
    assert await house.undo(take_back_card) == "Undone: Ann-Marie O'Neil is no longer in your address book."
    assert len(house.radicale.texts(book)) == 1


async def test_who_is_kept_here_goes_in_with_all_that_is_kept(house: House, book: str) -> None:
    house.said.words = ["Jo Park is +14155552681, works at Acme"]
    await house.told(add_contact, name="Jo Park", addresses=["+14155552681"], organization="Acme")
    house.said.words = ["put Jo into my address book"]
    assert "Jo Park is now in your address book" in await house.told(add_to_address_book, name="Jo")
    assert {"TEL;TYPE=CELL:+14155552681", "ORG:Acme", "N:Park;Jo;;;"} <= {*lines(house, book, "Jo Park")}


async def test_no_number_is_made_up(house: House, book: str) -> None:
    house.said.words = ["add Eve to my address book"]
    with pytest.raises(ToolRetry, match="given me here yourself"):
        await house.told(add_to_address_book, name="Eve", addresses=["+14155552699"])
    with pytest.raises(ToolRetry, match="given me here yourself"):
        await house.told(change_in_address_book, contact="Sam", add=["+14155552699"])
    with pytest.raises(ToolRetry, match="What is their name, and their number or address"):
        await house.told(add_to_address_book, name="Eve")
    assert len(house.radicale.texts(book)) == 1


async def test_a_card_is_changed_and_all_else_on_it_stays(house: House, book: str) -> None:
    before = lines(house, book, "Sam Miller")
    house.said.words = ["Sam Miller has +14155552690 now, not +14155552671, and works at Acme"]
    for _ in range(2):
        told = await house.told(
            change_in_address_book,
            key="turn.1.1",
            contact="Sam",
            organization="Acme",
            add=["+14155552690", "Sammo"],
            remove=["+14155552671"],
        )
    assert told == "The card of Sam Miller in your address book is changed."
    after = lines(house, book, "Sam Miller")
    assert {*before} - {*after} == {"item1.TEL;TYPE=CELL:+1 (415) 555-2671"}
    assert {*after} - {*before} == {"TEL;TYPE=CELL:+14155552690", "NICKNAME:Sammo", "ORG:Acme"}
    assert "X-CUSTOM:stays" in after
    assert await house.undo(take_back_card) == "Undone: the card of Sam Miller is as it was."
    assert sorted(lines(house, book, "Sam Miller")) == sorted(before)


async def test_what_others_change_meanwhile_is_not_overwritten(house: House, book: str) -> None:
    house.said.words = ["Sam's new address is s@example.net, not sam@example.org"]
    await house.told(change_in_address_book, contact="Sam", add=["s@example.net"], remove=["sam@example.org"])
    offered = house.last.undo.offered[0].arguments
    text = "\r\n".join(lines(house, book, "Sam Miller")).replace("s@example.net", "other@example.org") + "\r\n"
    house.radicale.put("ann", f"{book}sam.vcf", text, "text/vcard")
    with pytest.raises(ToolFailed, match="changed elsewhere"):
        await house.told(take_back_card, **offered)
    assert "other@example.org" in house.radicale.texts(book)[0]
    text = text.replace("X-CUSTOM:stays", "X-CUSTOM:theirs")
    house.radicale.put("ann", f"{book}sam.vcf", text, "text/vcard")
    house.said.words.append("remove other@example.org")
    await house.told(change_in_address_book, contact="Sam", remove=["other@example.org"])
    assert "X-CUSTOM:theirs" in lines(house, book, "Sam Miller")


async def test_a_name_that_fits_several_cards_changes_none(house: House, book: str) -> None:
    house.radicale.put("ann", f"{book}2.vcf", card("2", "Sam Jones", "TEL:+14155552675"), "text/vcard")
    with pytest.raises(ToolRetry, match="Several contacts fit Sam"):
        await house.told(change_in_address_book, contact="Sam", organization="Acme")
    with pytest.raises(ToolRetry, match="There is no Maria in your address books"):
        await house.told(change_in_address_book, contact="Maria", organization="Acme")
    await house.told(change_in_address_book, contact="Sam +14155552675", organization="Acme")
    assert "ORG:Acme" in lines(house, book, "Sam Jones")


async def test_a_new_name_and_birthday_are_written_and_taken_back(house: House, book: str) -> None:
    await house.told(change_in_address_book, contact="Sam", name="Samuel Miller", birthday="--05-31")
    assert {"N:Miller;Samuel;;;", "BDAY:--05-31"} <= {*lines(house, book, "Samuel Miller")}
    await house.undo(take_back_card)
    assert "N:Sam Miller;;;;" in lines(house, book, "Sam Miller")


def test_a_card_cannot_be_broken_out_of() -> None:
    name = "Eve\r\nTEL:+14155550000\nEND:VCARD\u2028X"
    text = new_card(Contact(name, phones=("+14155552671",), nicknames=("a,b", "ü" * 100), organization="x;y\n"), "u")
    [read] = read_cards(text.encode(), "US", "")
    assert read.phones == ("+14155552671",)
    assert read.nicknames == ("a,b", "ü" * 100)
    assert all(len(line.encode()) <= 75 for line in text.split("\r\n"))
