"""The page about tools for mail, calendars and contacts: its code runs, on real servers."""

import json
from email.message import EmailMessage
from pathlib import Path

import pytest

from tests.documents.blocks import blocks_of, write_files
from tests.documents.reader import make_reader
from tests.servers.dovecot import PASSWORD, Dovecot, mail_exchange
from tests.servers.radicale import USERS, Radicale

PAGE = "docs/account-tools.md"


@pytest.mark.slow
async def test_the_code_of_the_page_about_accounts_in_tools_runs(
    tmp_path: Path, dovecot: Dovecot, radicale: Radicale
) -> None:
    ann = dovecot.new()
    dovecot.deliver(ann, invoice(ann))
    radicale.make_calendar("ann", "Calendar")
    radicale.make_address_book("ann", "Contacts")
    async with mail_exchange(dovecot) as exchange:
        smtp = {"host": "127.0.0.1", "port": exchange.port, "tls": "none", "user": ann, "password": PASSWORD}
        mailbox = smtp | {"from": ann, "imap": {"host": "127.0.0.1", "port": dovecot.imap, "tls": "none"}}
        calendar = {"user": "ann", "password": USERS["ann"], "caldav": radicale.url, "carddav": radicale.url}
        accounts = {"TEST_MAILBOX": json.dumps(mailbox), "TEST_CALENDAR": json.dumps(calendar | {"from": ann})}
        reader = make_reader(tmp_path, accounts)
        write_files(PAGE, reader.folder)
        [command] = [command for block in blocks_of(PAGE) for command in block.commands]
        await reader.type(command)
        thanks, forwarded, accepted = [envelope.content for envelope in exchange.taken]
    assert isinstance(thanks, bytes)
    assert b"Subject: Re: Invoice 17" in thanks
    assert b"In-Reply-To: <invoice-17@shop.example>" in thanks
    assert isinstance(forwarded, bytes)
    filed = {sent.replace(b"\n", b"\r\n") for sent in dovecot.mails(ann, "Sent")}
    assert filed == {thanks, forwarded}
    assert b"Subject: Fwd: Invoice 17" in forwarded
    assert isinstance(accepted, bytes)
    assert b"METHOD:REPLY" in accepted
    assert len(dovecot.mails(ann, "Archive")) == 1
    assert "FN:Bob" in radicale.texts(f"{radicale.url}ann/contacts/")[0]


def invoice(to: str) -> bytes:
    """Return a mail with a file."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "The shop <shop@example.org>", to, "Invoice 17"
    message["Message-ID"] = "<invoice-17@shop.example>"
    message.set_content("Please pay.")
    message.add_attachment(b"%PDF-1.4 nothing", maintype="application", subtype="pdf", filename="invoice.pdf")
    return message.as_bytes()
