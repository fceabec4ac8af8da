"""The fourth channel's harness: a mailbox at a real Dovecot, mail handed to a real SMTP server, nothing emulated.

Cases run over it where they are marked `also_by_mail`: most of the others are about webhooks, buttons and what an
emulated provider does wrong.
"""

import html
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import ClassVar

import pytest

from channels.email import poll
from channels.email.media import MailMedia
from channels.email.receive import EmailChannel
from core.db.database import Database
from core.messaging.channels import NotificationChannel
from core.messaging.messages import Address
from notify.email.send import EmailNotification, Security, SmtpServer
from providers.email.client import MailboxClient, MailboxLogin
from providers.email.wire import PART_HEADER, thread_of
from tests.contract.canaries import MARK, marked
from tests.contract.harness import Bubble, ChannelHarness, Request, Sink
from tests.patience import PATIENCE
from tests.servers.dovecot import PASSWORD, Dovecot, MailExchange, mail_exchange
from workbench.simulator.app import Simulator

AUTHSERV = "mx.example.org"
PROOF = f"{AUTHSERV}; dkim=pass header.d=example.org; dmarc=pass header.from=example.org"

also_by_mail = pytest.mark.also_by_mail
"""Marks a case that runs over email as well."""
only_by_mail = pytest.mark.only_by_mail
"""Marks a case that is about email alone."""


@dataclass(slots=True)
class MailWorld:
    """The servers of one case, and its people's addresses."""

    dovecot: Dovecot
    exchange: MailExchange
    database: Database
    valet: str = ""
    people: dict[str, str] = field(default_factory=dict)

    def address(self, person: str) -> str:
        """Return a person's address; nobody has a mailbox at "gone…", where the one lives who cannot be reached."""
        name = f"gone{MARK}" if person == "mortal" else f"{person}{MARK}"
        return self.people.setdefault(person, self.dovecot.new(name))


@asynccontextmanager
async def open_mail_world(
    dovecot: Dovecot, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[MailWorld]:
    """Serve mail, and have the mailbox looked at more often than a server need be asked."""
    monkeypatch.setattr(poll, "IDLE_SECONDS", 0.1)
    database = Database(database_url, patience=5.0, size=2)
    async with mail_exchange(dovecot) as exchange:
        world = MailWorld(dovecot, exchange, database, dovecot.new(f"valet{MARK}"))
        EmailHarness.world = world
        try:
            yield world
        finally:
            if EmailHarness.world is world:
                EmailHarness.world = None
            await database.close()


class EmailHarness(ChannelHarness):
    """A mailbox and our email channel. People answer in one thread, as mail programs make them."""

    name, provider, path, sending = "email", "email", "", ""
    proof: ClassVar[tuple[str, ...]] = ()
    account = ""
    has_buttons = False
    world: ClassVar[MailWorld | None] = None

    def __init__(self, simulator: Simulator, sink: Sink) -> None:
        self._delivered = 0
        self._last: dict[str, bytes] = {}
        super().__init__(simulator, sink)

    @property
    def mail(self) -> MailWorld:
        """Return the servers of this case."""
        assert self.world is not None, "the case is not marked also_by_mail"
        return self.world

    def make_channel(self, *, wrong_token: bool = False) -> EmailChannel:
        return EmailChannel(
            login=self._login(secret=f"{MARK}-wrong" if wrong_token else PASSWORD),
            authserv_id=AUTHSERV,
            sink=self.sink,
            database=self.mail.database,
        )

    def make_sender(self, *, api_url: str = "", seconds: float = PATIENCE) -> NotificationChannel:
        away = api_url and ":9/" in api_url
        server = SmtpServer(
            "127.0.0.1",
            f"Valet <news@{AUTHSERV}>",
            9 if away else self.mail.exchange.port,
            self.mail.valet,
            PASSWORD,
            Security.NONE,
        )
        return EmailNotification(server, mailbox=MailboxClient(self._login()))

    def media(self) -> MailMedia:
        """Return what fetches the files of mails."""
        return MailMedia(self._login())

    async def prepare(self) -> None:
        await self.settled()

    async def say(self, text: str, person: str = "ada") -> None:
        await self.send(self.letter(text, person), person)

    async def send(self, mail: EmailMessage, person: str = "ada") -> None:
        """Put a mail into the mailbox as a receiving server does; return at once."""
        self._last[person] = mail.as_bytes()
        self.arrive(self._last[person])

    def arrive(self, raw: bytes) -> None:
        """Put any mail into the mailbox."""
        self.mail.dovecot.deliver(self.mail.valet, raw)
        self._delivered += 1

    async def redeliver(self) -> None:
        self.arrive(self._last["ada"])
        await self.settled()

    async def send_file(self) -> None:
        mail = self.letter(marked("Look"))
        mail.add_attachment(b"words", maintype="text", subtype="csv", filename="notes.csv")
        await self.send(mail)
        await self.settled()

    def is_settled(self) -> bool:
        poller = self.channel._poller  # type: ignore[attr-defined]
        position = poller._position if poller else None
        return position is not None and position.uid >= self._delivered

    def address(self, person: str = "ada") -> Address:
        return Address(self.name, self.mail.valet, self.mail.address(person), thread_of(self._root(person)))

    def bubbles(self, person: str = "ada") -> list[Bubble]:
        return [_bubble(mail) for mail in self.got(person)]

    def signed(self, request: Request, secret: str = "") -> Request:
        raise AssertionError("no request brings mail")

    def got(self, person: str = "ada") -> list[EmailMessage]:
        """Return the mails that a person got."""
        found = self.mail.dovecot.mails(self.mail.address(person))
        return [mail for raw in found if isinstance(mail := message_from_bytes(raw, policy=default), EmailMessage)]

    def pages(self, person: str = "ada") -> str:
        """Return the HTML of the mails that a person got."""
        found = [part.get_content() for mail in self.got(person) if (part := mail.get_body(("html",)))]
        return html.unescape("\n".join(found))

    def letter(self, text: str, person: str = "ada", **headers: str) -> EmailMessage:
        """Write a person's mail: their first, or an answer to the last that they got."""
        address, got = self.mail.address(person), self.got(person)
        mail = EmailMessage()
        mail["Authentication-Results"] = PROOF
        mail["From"] = f"{person.title()} {MARK} <{address}>"
        mail["To"] = self.mail.valet
        if person not in self._last:
            mail["Message-ID"] = self._root(person)
        else:
            answered = str(got[-1]["Message-ID"]) if got else self._root(person)
            mail["Message-ID"] = f"<{self._delivered}.{address}>"
            mail["References"] = f"{self._root(person)} {answered}"
            mail["In-Reply-To"] = answered
        for name, value in headers.items():
            del mail[name.replace("_", "-")]
            mail[name.replace("_", "-")] = value
        mail.set_content(text)
        return mail

    def _root(self, person: str) -> str:
        return f"<root.{self.mail.address(person)}>"

    def _login(self, secret: str = PASSWORD) -> MailboxLogin:
        return MailboxLogin(self.mail.valet, f"imap://127.0.0.1:{self.mail.dovecot.imap}", self.mail.valet, secret)


def _bubble(mail: EmailMessage) -> Bubble:
    body = mail.get_body(("plain",))
    assert body is not None
    text = str(body.get_content()).replace("\r\n", "\n").removesuffix("\n")
    return Bubble(str(mail["Message-ID"]), text, code=re.sub(r"^```.*$", "", text))


def bounce(id: str, ref: str, recipient: str) -> bytes:
    """Return what a server reports of a mail that it could not deliver."""
    return (
        "From: MAILER-DAEMON@mx.example.org\nAuto-Submitted: auto-replied\n"
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\n\n'
        "--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.org\n\n"
        f"Final-Recipient: rfc822; {recipient}\nAction: failed\nStatus: 5.1.1\n\n"
        f"--b\nContent-Type: text/rfc822-headers\n\nMessage-ID: {id}\n{PART_HEADER}: {ref}\n\n--b--\n"
    ).encode()
