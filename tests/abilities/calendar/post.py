"""A person with a calendar whose server tells nobody, and a mailbox: Radicale, Dovecot and an SMTP server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

from tests.abilities.calendar.house import House, open_house
from tests.abilities.calendar.samples import event
from tests.servers.dovecot import Dovecot, MailExchange, mail_exchange
from tests.servers.radicale import Radicale


@dataclass(frozen=True, slots=True)
class Invitation:
    """A mail about an event, as its recipient got it."""

    mail: EmailMessage

    @property
    def subject(self) -> str:
        return str(self.mail["Subject"])

    @property
    def text(self) -> str:
        """Return what somebody reads whose program shows no calendar."""
        part = self.mail.get_body(("plain",))
        assert part is not None
        return str(part.get_content()).replace("\r\n", "\n").rstrip("\n")

    @property
    def event(self) -> str:
        """Return what a calendar program reads, its lines unfolded."""
        [part] = [part for part in self.mail.walk() if part.get_content_type() == "text/calendar"]
        text = str(part.get_content()).replace("\r\n", "\n").replace("\n ", "")
        assert f"METHOD:{part.get_param('method')}\n" in text
        return text


@dataclass(slots=True)
class Post:
    """The person is Ann; her mailbox is `ann`, and `bob` and `carol` are addresses of others that have mailboxes."""

    house: House
    dovecot: Dovecot
    exchange: MailExchange
    calendar: str
    ann: str
    bob: str
    carol: str

    def got(self, address: str) -> list[Invitation]:
        """Return what somebody got, the oldest first."""
        raws = self.dovecot.mails(address)
        read = [message_from_bytes(raw, policy=default) for raw in raws]
        return [Invitation(mail) for mail in read if isinstance(mail, EmailMessage)]

    @property
    def filed(self) -> int:
        """Return how many copies are among the sent mail."""
        return len(self.dovecot.mails(self.ann, "Sent"))

    def meeting(self, *lines: str, guests: tuple[str, ...] = (), organizer: str = "ann@example.org") -> str:
        """Put a meeting on Wednesday, 25 November, 14:00, into the calendar; return its object."""
        people = [f"ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:{guest}" for guest in guests or (self.bob,)]
        text = event(
            "DTSTART;TZID=Europe/Berlin:20261125T140000",
            "DTEND;TZID=Europe/Berlin:20261125T150000",
            "SUMMARY:Planning",
            f"ORGANIZER:mailto:{organizer}",
            *people,
            *lines,
            uid="planning",
        )
        self.house.radicale.put("ann", f"{self.calendar}planning.ics", text)
        return text


@asynccontextmanager
async def open_post(radicale: Radicale, dovecot: Dovecot) -> AsyncIterator[Post]:
    """Connect Ann's calendar and her mailbox."""
    async with mail_exchange(dovecot) as exchange:
        hosts = [f"127.0.0.1:{port}" for port in (dovecot.imap, exchange.port)]
        async with open_house(radicale, *hosts) as house:
            ann, bob, carol = (dovecot.new(name) for name in ("ann", "bob", "carol"))
            house.connected.opened.append(dovecot.account(ann, smtp=exchange.port))
            yield Post(house, dovecot, exchange, radicale.make_calendar("ann", "Home"), ann, bob, carol)
