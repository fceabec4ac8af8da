"""People in a connected address book, over each channel: written to, put in, and taken back; on a real server."""

from collections.abc import AsyncIterator

import pytest

from abilities.accounts.accounts import Accounts
from abilities.accounts.services import Services
from abilities.contacts.tools import (
    add_to_address_book,
    change_in_address_book,
    find_contacts,
    take_back_card,
    take_back_contacts,
)
from core.http.guarded_client import GuardedClient
from core.json_types import JsonObject
from tests.abilities.contacts.house import card
from tests.abilities.outreach.contract.test_outreach import LATE, write
from tests.abilities.outreach.writing import Writing, open_writing
from tests.core.builders import FakeModel, says, wants
from tests.core.credentials.harness import new_key, store_with
from tests.servers.radicale import USERS, Radicale

WAYS = {"sms": "TEL:{}", "slack": "IMPP;X-SERVICE-TYPE=Slack:slack:{}", "telegram": "IMPP:telegram:{}"}


@pytest.fixture
async def system(channel: str, database_url: str, radicale: Radicale) -> AsyncIterator[Writing]:
    """Yield Ada's assistant, with her address book connected."""
    http = GuardedClient(allowed_hosts=[radicale.host])
    async with open_writing(channel, database_url) as system:
        credentials = store_with(system.delivery.store.database, new_key())
        tenant = await system.delivery.store.db.person(system.key("ada"))
        stored: JsonObject = {"user": "ann", "password": USERS["ann"], "carddav": radicale.url}
        await credentials.save(str(tenant), "caldav", stored)
        system.more += [add_to_address_book, change_in_address_book, find_contacts, take_back_card, take_back_contacts]
        system.more = list({tool.name: tool for tool in system.more}.values())
        system.options |= {
            "credentials": credentials,
            "accounts": Accounts(credentials, Services()),
            "http": http,
        }
        yield system
    await http.close()


async def test_somebody_of_the_address_book_is_written_to(system: Writing, radicale: Radicale) -> None:
    book, channel = radicale.make_address_book("ann", "People"), system.delivery.channel.name
    ways = {person: WAYS[channel].format(system.key(person)) for person in ("grace", "lena")}
    radicale.put("ann", f"{book}1.vcf", card("1", "Grace Hopper", ways["grace"]), "text/vcard")
    await write(system, "Grace")
    assert system.key("grace") in system.card().text
    await system.decide("Approve")
    assert LATE in system.read()[-1]
    radicale.put("ann", f"{book}2.vcf", card("2", "Grace Kelly", ways["lena"]), "text/vcard")
    await write(system, "Grace")
    assert system.last() == "Which one: Grace Hopper or Grace Kelly?"
    assert len(system.read()) == 1
    assert system.read("lena") == []


async def test_somebody_is_put_into_the_address_book_and_taken_back(system: Writing, radicale: Radicale) -> None:
    book = radicale.make_address_book("ann", "People")
    given: JsonObject = {"name": "Jo Park", "addresses": ["+14155552681"]}
    system.model = FakeModel([wants(("add_to_address_book", given)), says("Done.")])
    await system.say("put Jo Park, +14155552681, into my address book")
    assert "Jo Park is now in your address book “People”." in system.model.told()[-1]
    assert await system.states() == [], "it is her own: nobody has to approve it"
    [stored] = radicale.texts(book)
    assert "+14155552681" in stored
    await system.say("undo")
    assert system.last() == "Undone: Jo Park is no longer in your address book."
    assert radicale.texts(book) == []
    system.model = FakeModel(
        [wants(("find_contacts", {"name": "Jo"})), wants(("add_to_address_book", given)), says("Done.")]
    )
    await system.say("is Jo in it? put Jo Park, +14155552681, in again")
    assert radicale.texts(book) == [], "after what others may have written, she is asked"
    assert "+14155552681" in system.card().text
    await system.decide("Approve")
    assert len(radicale.texts(book)) == 1
