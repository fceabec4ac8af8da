"""A token that a provider grants opens the mailbox there: nanoidp's, at a Dovecot and an SMTP server that ask it."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import aiohttp
import pytest

from abilities.accounts.services import Services, openid
from abilities.accounts.types import OAuthClient
from core.credentials.store import CredentialStore
from core.db.database import Database
from providers.email.mailbox import open_mailbox
from providers.email.smtp import SmtpFailed, SmtpFailure, open_sending
from providers.email.types import MailFailed, MailFailure, MailQuery
from tests.abilities.accounts.connect.harness import Browser, Pages, served
from tests.servers.dovecot import Dovecot, MailExchange, mail_exchange, running_dovecot
from tests.servers.nanoidp import CLIENT, SECRET, Nanoidp

pytestmark = pytest.mark.slow
ANN = "ann@idp.example"


@pytest.fixture
def mail_server(nanoidp: Nanoidp) -> Iterator[Dovecot]:
    """Run a Dovecot that believes nanoidp's tokens."""
    with running_dovecot(f"{nanoidp.url}/userinfo") as server:
        yield server


@pytest.fixture
async def exchange(mail_server: Dovecot, nanoidp: Nanoidp) -> AsyncIterator[MailExchange]:
    """Take mail from whom nanoidp's tokens name."""

    async def owner(token: str) -> str:
        headers = {"Authorization": f"Bearer {token}"}
        async with aiohttp.ClientSession() as session, session.get(f"{nanoidp.url}/userinfo", headers=headers) as said:
            return str((await said.json()).get("email", "")) if said.status == 200 else ""

    async with mail_exchange(mail_server) as exchange:
        exchange.owner = owner
        yield exchange


@pytest.fixture
async def pages(
    database: Database,
    store: CredentialStore,
    nanoidp: Nanoidp,
    mail_server: Dovecot,
    exchange: MailExchange,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Pages]:
    """Yield the pages of a service with a mail server."""
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")  # the test server speaks plain HTTP
    client = OAuthClient(CLIENT, SECRET, nanoidp.url, always=("openid", "email", "offline_access"))
    servers = {"imap": f"imap://127.0.0.1:{mail_server.imap}", "smtp": f"smtp://127.0.0.1:{exchange.port}"}
    async with served(database, store, Services.of([openid("work", "Work", client, servers)]), nanoidp.host) as pages:
        yield pages


async def test_a_granted_token_reads_and_sends_mail_of_its_person_alone(
    pages: Pages, nanoidp: Nanoidp, phone: Browser, mail_server: Dovecot, exchange: MailExchange
) -> None:
    mail_server.deliver(ANN, b"Subject: Hello\r\n\r\nHello\r\n")
    link = await pages.link()
    await phone.get(link)
    await phone.get(await nanoidp.log_in(await phone.submit(link, mail="on")))
    opened = await pages.connecting.accounts.open("ann", "mail.read")
    assert (opened.bearer, opened.login) == (True, ANN)
    http = mail_server.http(f"127.0.0.1:{exchange.port}")
    async with open_mailbox(opened, http) as box:
        assert list(await box.search("INBOX", MailQuery(subject="Hello"))) == [1]
    async with open_sending(opened, http) as submission:
        await submission.address(ANN, ["bob@example.org"])
        await submission.send(b"Subject: Hi\r\n\r\nHi\r\n")
    assert [(mail.mail_from, mail.rcpt_tos) for mail in exchange.taken] == [(ANN, ["bob@example.org"])]
    for wrong, failure in (
        (replace(opened, login="bob@idp.example"), MailFailure.LOGIN),
        # Nanoidp cannot say anything about what is no token, so that Dovecot answers UNAVAILABLE, which passes.
        (replace(opened, secret=f"{opened.secret}x"), MailFailure.REFUSED),
    ):
        with pytest.raises(MailFailed) as refused:
            async with open_mailbox(wrong, http):
                pass
        assert refused.value.failure is failure
        with pytest.raises(SmtpFailed) as failed:
            async with open_sending(wrong, http):
                pass
        assert failed.value.failure is SmtpFailure.LOGIN
    await http.close()
