"""A mailbox by its app password: tried at once, stored only if it opens, never shown again."""

from collections.abc import AsyncIterator

import asyncpg
import pytest

from core.accounts.services import Services
from core.credentials.store import CredentialStore
from core.db.database import Database
from tests.channels.connect.harness import Browser, Pages, served
from tests.servers.dovecot import PASSWORD, Dovecot
from tests.servers.dovecot import dovecot as dovecot

type Admin = asyncpg.Connection[asyncpg.Record]


@pytest.fixture
async def mailboxes(database: Database, store: CredentialStore, dovecot: Dovecot) -> AsyncIterator[Pages]:
    """Yield the pages where servers on this machine may be reached."""
    async with served(database, store, Services.of(), f"127.0.0.1:{dovecot.imap}") as pages:
        yield pages


def typed(dovecot: Dovecot, address: str, password: str = PASSWORD) -> dict[str, str]:
    """Return what a person types."""
    return {
        "address": address,
        "password": password,
        "imap_host": "127.0.0.1",
        "imap_port": str(dovecot.imap),
        "imap_tls": "none",
    }


async def test_a_password_that_opens_is_stored_and_one_that_does_not_is_not(
    mailboxes: Pages, dovecot: Dovecot, phone: Browser
) -> None:
    address = "ann@mail.example"
    link = await mailboxes.link(service="email", account="home")
    await phone.get(link)
    again = await phone.submit(link, typed(dovecot, address, "wr0ng-pass"))
    assert phone.status == 422
    assert "IMAP server does not accept" in again
    assert address in again
    assert "wr0ng-pass" not in again
    done = await phone.submit(link, typed(dovecot, address))
    assert phone.status == 200, done
    opened = await mailboxes.connecting.accounts.open("ann", "mail.read")
    assert (opened.account.name, opened.login, opened.secret) == ("home", address, PASSWORD)
    assert opened.servers["imap"] == f"imap://127.0.0.1:{dovecot.imap}"


async def test_servers_inside_are_not_reached_and_what_is_missing_is_named(
    database: Database, store: CredentialStore, dovecot: Dovecot, phone: Browser
) -> None:
    async with served(database, store, Services.of()) as pages:
        link = await pages.link(service="email")
        await phone.get(link)
        said = await phone.submit(link, typed(dovecot, "ann@mail.example"))
        assert (phone.status, PASSWORD in said) == (422, False)
        assert 'role="alert"' in said
        for change, problem in (
            ({"address": "nobody"}, "is no email address"),
            ({"password": ""}, "Type the password"),
            ({"imap_host": "", "smtp_host": ""}, "Name the server"),
            ({"imap_port": "99999"}, "is no port"),
            ({"imap_host": "a@b"}, "is no name of a server"),
        ):
            assert problem in await phone.submit(link, typed(dovecot, "ann@mail.example") | change)
        assert not await pages.connecting.accounts.list("ann")


async def test_a_link_tries_so_many_passwords(mailboxes: Pages, phone: Browser, admin: Admin) -> None:
    link = await mailboxes.link(service="email")
    await phone.get(link)
    await admin.execute("update connect_links set tries = 8")
    said = await phone.submit(link, address="a@b.example", password="x", imap_host="127.0.0.1", imap_port="9")
    assert (phone.status, "Too many passwords" in said) == (409, True)


async def test_without_a_service_the_person_chooses_one(mailboxes: Pages, phone: Browser) -> None:
    link = await mailboxes.link(service="")
    assert "Which account" in await phone.get(link)
    assert "IMAP" in await phone.submit(link, go="", choose="email")
    await phone.get(link)
    assert "CalDAV" in await phone.submit(link, go="", choose="caldav")
