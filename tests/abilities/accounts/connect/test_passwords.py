"""A mailbox by its app password: tried at once, stored only if it opens, never shown again."""

import re
from collections.abc import AsyncIterator
from html import unescape

import asyncpg
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from abilities.accounts.kinds import MAIL
from abilities.accounts.services import Services
from core.credentials.store import CredentialStore
from core.db.database import Database
from tests.abilities.accounts.connect.harness import Browser, Pages, served
from tests.servers.dovecot import PASSWORD, Dovecot, mail_exchange
from tests.servers.radicale import USERS, Radicale

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
    assert "IMAP server 127.0.0.1 does not accept" in again
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
            ({"address": "nobody"}, "is not an email address"),
            ({"password": ""}, "Type the password"),
            ({"imap_host": "", "smtp_host": ""}, "Name the server"),
            ({"imap_port": "99999"}, "is not a port"),
            ({"imap_host": "a@b"}, "is not the name of a server"),
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


def problem(page: str) -> tuple[str, str]:
    """Return the field that is marked as wrong, and the sentence at it."""
    field = re.search(r'<input name="(\w+)"[^>]*aria-invalid="true" aria-describedby="problem"', page)
    said = re.search(r'<p id="problem"[^>]*>([^<]+)</p>', page)
    assert said is not None, page
    return field[1] if field else "", unescape(said[1])


async def test_what_is_wrong_about_a_mail_server_is_said_at_its_field(
    database: Database, store: CredentialStore, dovecot: Dovecot, phone: Browser
) -> None:
    async with mail_exchange(dovecot) as exchange:
        hosts = [f"{host}:{port}" for host in ("127.0.0.1", "localhost") for port in (dovecot.imap, dovecot.imaps)]
        async with served(database, store, Services.of(), *hosts, f"127.0.0.1:{exchange.port}", "127.0.0.1:9") as pages:
            link, address = await pages.link(service="email"), dovecot.new("ann")
            await phone.get(link)
            smtp = {"smtp_host": "127.0.0.1", "smtp_port": str(exchange.port), "smtp_tls": "none"}
            alone = {"imap_host": "", "imap_port": ""} | smtp
            for changed, wrong, said in (
                ({"imap_port": "9"}, "imap_host", "The mail server 127.0.0.1 cannot be reached."),
                ({"imap_tls": "implicit"}, "imap_host", "127.0.0.1 does not answer as an IMAP server on port"),
                (
                    {"imap_host": "localhost", "imap_port": str(dovecot.imaps), "imap_tls": "implicit"},
                    "imap_host",
                    "The certificate of localhost is not valid, so no password is sent there.",
                ),
                (smtp | {"smtp_tls": "starttls"}, "smtp_host", "127.0.0.1 does not answer as an SMTP server on port"),
                (
                    alone | {"password": "wr0ng"},
                    "password",
                    "The SMTP server 127.0.0.1 does not accept this login",
                ),
            ):
                page = await phone.submit(link, typed(dovecot, address) | changed)
                assert phone.status == 422, page
                assert problem(page)[0] == wrong
                assert problem(page)[1].startswith(said), problem(page)
                assert address in page
            await phone.submit(link, typed(dovecot, address) | smtp)
            assert phone.status == 200
            [account] = await pages.connecting.accounts.list("ann")
            assert account.abilities == MAIL


async def test_a_calendar_server_is_tried_and_only_what_it_has_is_stored(
    database: Database, store: CredentialStore, radicale: Radicale, phone: Browser
) -> None:
    async with (
        TestServer(web.Application()) as other,
        served(database, store, Services.of(), radicale.host, "127.0.0.1:9", f"127.0.0.1:{other.port}") as pages,
    ):
        link = await pages.link(service="caldav", account="home")
        await phone.get(link)
        right = {"url": radicale.url, "user": "ann", "password": USERS["ann"]}
        for changed, wrong, said in (
            (
                {"password": "wr0ng"},
                "password",
                "127.0.0.1 does not accept this login or password.",
            ),
            ({"url": "http://127.0.0.1:9/"}, "url", "127.0.0.1 cannot be reached."),
            ({"url": "http://10.255.0.1/"}, "url", "That address is not"),
            ({"url": str(other.make_url("/"))}, "url", "There are no calendars or contacts at this address."),
            ({"url": "http://dav.example.org/"}, "url", "The address must begin with https://"),
            ({"user": " "}, "user", "Name your login at this server."),
        ):
            page = await phone.submit(link, right | changed)
            assert (phone.status, problem(page)[0]) == (422, wrong), page
            assert problem(page)[1].startswith(said), problem(page)
            assert USERS["ann"] not in page
        await phone.submit(link, right)
        assert phone.status == 200
        opened = await pages.connecting.accounts.open("ann", "calendar.read")
        assert (opened.login, opened.servers["caldav"]) == ("ann", radicale.url)
