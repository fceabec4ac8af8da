"""The way out by email, over SMTP: one message, one recipient."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from email.header import Header
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from email.utils import format_datetime, parseaddr
from enum import StrEnum
from urllib.parse import quote

from aiosmtplib import SMTP
from aiosmtplib.errors import (
    SMTPAuthenticationError,
    SMTPException,
    SMTPNotSupported,
    SMTPRecipientRefused,
    SMTPRecipientsRefused,
    SMTPResponseException,
    SMTPSenderRefused,
)

from core.clock import Clock
from core.errors import Ambiguous, CredentialsRejected, DeliveryError, Rejected, Unavailable, Unreachable
from core.messaging.channels import Part, Receipt, Target
from core.messaging.messages import Address, OutboundMessage
from notify.email.render import render

SECONDS = 8.0
"""For each step of the talk with the server."""

_SHORT = 66
"""Characters of a subject that need no folding."""
_POLICY = SMTP_POLICY.clone(cte_type="7bit")


class Security(StrEnum):
    """How the connection to the server is protected."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"
    """In the clear: for a server on the same machine only."""


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """Where mail is handed in. `sender`: the From, such as `Valet <valet@example.org>`."""

    host: str
    sender: str
    port: int = 587
    user: str = ""
    password: str = field(default="", repr=False)
    security: Security = Security.STARTTLS


class EmailNotification:
    """Send emails. A copy sent after a lost answer carries the same Message-ID, so that mail programs show one."""

    name = "email"
    can_find = False
    resend_unknown = True

    def __init__(self, server: SmtpServer, clock: Clock | None = None) -> None:
        self._server = server
        self._clock = clock or Clock()

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        return render(message)

    async def send(self, part: Part, to: Target) -> Receipt:
        message_id, message = self._write(part, to)
        async with self._connected() as client:
            try:
                await client.sendmail(parseaddr(self._server.sender)[1], to.address.peer, message)
            except (SMTPException, OSError, TimeoutError, ValueError) as error:
                raise _after(error) from error
        return Receipt(message_id)

    async def log_in(self) -> None:
        """Connect and log in, and send nothing. Raises `DeliveryError`."""
        async with self._connected():
            pass

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[SMTP]:
        server = self._server
        client = SMTP(
            hostname=server.host,
            port=server.port,
            username=server.user or None,
            password=server.password or None,
            use_tls=server.security is Security.TLS,
            start_tls=server.security is Security.STARTTLS,
            timeout=SECONDS,
        )
        try:
            try:
                await client.connect()
            except (SMTPException, OSError, TimeoutError, ValueError) as error:
                raise _before(error) from error
            yield client
            with suppress(SMTPException, OSError, TimeoutError):
                await client.quit()
        finally:
            client.close()

    async def find(self, part: Part, to: Target, since: datetime) -> Receipt | None:
        raise Unavailable("email cannot be looked up")

    async def show_working(self, to: Address) -> None: ...

    async def close(self) -> None: ...

    def _write(self, part: Part, to: Target) -> tuple[str, bytes]:
        """Return the email and its Message-ID. Raises `Rejected`."""
        message = EmailMessage(policy=_POLICY)
        try:
            message["From"] = self._server.sender
            message["To"] = to.address.peer
        except ValueError as error:
            raise Rejected("an address cannot be written into an email") from error
        message["Date"] = format_datetime(self._clock.now())
        message_id = f"<{to.ref}@{parseaddr(self._server.sender)[1].rpartition('@')[2] or 'onevalet'}>"
        message["Message-ID"] = message_id
        # RFC 3834: nobody's out-of-office notice answers this.
        message["Auto-Submitted"] = "auto-generated"
        # RFC 2369: to the From, whose reader takes the address out by `notify delete`. A link for one press (RFC 8058)
        # would need a page.
        unsubscribe = f"mailto:{quote(parseaddr(self._server.sender)[1], safe='@')}?subject=unsubscribe"
        message["List-Unsubscribe"] = f"<{unsubscribe}>"
        message.set_content(part.text)
        return message_id, _subject_line(str(part.data.get("subject", ""))) + message.as_bytes()


def _subject_line(subject: str) -> bytes:
    # EmailMessage folds a text in several encoded words so that spaces get lost (CPython 3.12).
    is_plain = subject.isascii() and len(subject) <= _SHORT and "=?" not in subject
    written = Header(subject, "us-ascii" if is_plain else "utf-8", header_name="Subject").encode(linesep="\r\n")
    return f"Subject: {written}\r\n".encode("ascii")


def _before(error: Exception) -> DeliveryError:
    """Return what went wrong before anything of the email left."""
    match error:
        case SMTPAuthenticationError():
            return CredentialsRejected("the mail server refuses our login", str(error.code))
        case SMTPException() if type(error) in (SMTPException, SMTPNotSupported):
            # What aiosmtplib says where STARTTLS or a way to log in is not offered.
            return CredentialsRejected("the mail server lacks what our settings ask for")
    return Unavailable(f"no connection: {type(error).__name__}")


def _after(error: Exception) -> DeliveryError:
    """Return what became of an email whose sending failed. A 5xx is final, a 4xx may pass (RFC 5321 4.2.1)."""
    match error:
        case SMTPRecipientsRefused() if error.recipients:
            return _after(error.recipients[0])
        case SMTPResponseException() if 400 <= error.code < 500:
            return Unavailable("the mail server will not take it now", str(error.code))
        case SMTPRecipientRefused():
            return Unreachable("the mail server refuses this recipient", str(error.code))
        case SMTPSenderRefused():
            return CredentialsRejected("the mail server refuses our sender", str(error.code))
        case SMTPResponseException():
            return Rejected("the mail server refuses this email", str(error.code))
        case ValueError() | SMTPNotSupported():
            return Rejected("the mail server cannot take this email")
    return Ambiguous(f"answer lost: {type(error).__name__}")
