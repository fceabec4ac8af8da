"""The way out by email, over SMTP: each message to a single recipient."""

from dataclasses import dataclass, field
from datetime import datetime
from email.utils import formataddr, parseaddr
from typing import TYPE_CHECKING

from core.clock import Clock
from core.errors import Ambiguous, CredentialsRejected, DeliveryError, Rejected, Unavailable, Unreachable
from core.messaging.channels import Part, Receipt, Target
from core.messaging.files import OutgoingFile
from core.messaging.messages import Address, Media, OutboundMessage
from notify.addresses import is_one_way
from notify.email.compose import WrittenMail, compose
from notify.email.render import render
from providers.email.servers import MailServer
from providers.email.servers import Security as Security
from providers.email.smtp import SmtpFailed, SmtpFailure, SmtpLogin, open_submission
from providers.email.types import MailFailed
from providers.email.wire import MAX_ATTACHED

if TYPE_CHECKING:
    from providers.email.client import MailboxClient

SECONDS = 8.0
"""For each step of the talk with the server."""


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """The server that takes mail from us. `sender`: the From, such as `Valet <valet@example.org>`."""

    host: str
    sender: str
    port: int = 587
    user: str = ""
    password: str = field(default="", repr=False)
    security: Security = Security.STARTTLS


class EmailNotification:
    """Send emails: answers from the assistant's mailbox, if it has one, and news to addresses that only get news.

    A copy sent after a lost answer carries the same Message-ID, so that mail programs show a single mail. With a
    mailbox, its Sent folder is checked first, which avoids most copies; not every server stores sent mail there.
    """

    name = "email"
    can_find = False
    resend_unknown = True

    def __init__(self, server: SmtpServer, clock: Clock | None = None, mailbox: "MailboxClient | None" = None) -> None:
        self._server = server
        self._clock = clock or Clock()
        self._mailbox = mailbox
        self.can_find = mailbox is not None

    def render(self, message: OutboundMessage) -> tuple[Part, ...]:
        return render(message)

    def carries(self, file: Media, to: Address) -> bool:
        return not is_one_way(to.channel, to.account) and 0 < (file.size or 0) <= MAX_ATTACHED

    async def send(self, part: Part, to: Target) -> Receipt:
        mail = await self._composed(part, to)
        try:
            async with open_submission(*self._server_and_login(), seconds=SECONDS) as submission:
                await submission.address(mail.sender, [mail.recipient])
                await submission.send(mail.data)
        except SmtpFailed as error:
            raise _delivery_error(error) from error
        return Receipt(mail.id)

    async def log_in(self) -> None:
        """Connect and log in, and send nothing. Raises `DeliveryError`."""
        try:
            async with open_submission(*self._server_and_login(), seconds=SECONDS):
                pass
        except SmtpFailed as error:
            raise _delivery_error(error) from error

    async def find(self, part: Part, to: Target, since: datetime) -> Receipt | None:
        if self._mailbox is None:
            raise Unavailable("email cannot be looked up")
        id = compose(part, to, self._sender(to.address), self._clock.now()).id
        try:
            async with self._mailbox.open() as mailbox:
                return Receipt(id) if await mailbox.is_sent(id) else None
        except MailFailed as error:
            raise Unavailable(f"the mailbox cannot tell: {error.failure.value}") from error

    async def show_working(self, to: Address) -> None: ...

    async def close(self) -> None:
        if self._mailbox is not None:
            await self._mailbox.close()

    async def _composed(self, part: Part, to: Target) -> WrittenMail:
        """Write the mail with its files; a file that has been deleted is named in the text. Raises `Rejected`."""
        kept, gone = list[tuple[OutgoingFile, bytes]](), list[str]()
        listed = part.data.get("attached")
        for data in listed if isinstance(listed, list) else ():
            file = OutgoingFile.from_json(data) if isinstance(data, dict) else None
            if file is None:
                continue
            content = await to.content_of(file)
            if content is None:
                gone.append(file.gone)
            else:
                kept.append((file, content))
        if gone:
            # The HTML would not say so.
            data = {name: value for name, value in part.data.items() if name != "html"}
            part = Part("\n\n".join(filter(None, (part.text, *gone))), data)
        return compose(part, to, self._sender(to.address), self._clock.now(), kept)

    def _sender(self, to: Address) -> str:
        """Return the From: the mailbox that a person wrote to, under the name that news have."""
        if is_one_way(to.channel, to.account):
            return self._server.sender
        return formataddr((parseaddr(self._server.sender)[0], to.account))

    def _write(self, part: Part, to: Target) -> tuple[str, bytes]:
        mail = compose(part, to, self._sender(to.address), self._clock.now())
        return mail.id, mail.data

    def _server_and_login(self) -> tuple[MailServer, SmtpLogin]:
        server = self._server
        return MailServer(server.host, server.port, server.security), SmtpLogin(server.user, server.password)


def _delivery_error(error: SmtpFailed) -> DeliveryError:
    """Return the delivery error of an email. A 5xx is final, a 4xx may pass (RFC 5321 4.2.1)."""
    code = str(error.code or "")
    match error.failure:
        case SmtpFailure.LOST:
            return Ambiguous("answer lost")
        case SmtpFailure.LOGIN:
            return CredentialsRejected("the mail server refuses our login", code)
        case SmtpFailure.LACKS:
            return CredentialsRejected("the mail server lacks what our settings ask for")
        case SmtpFailure.CONNECTION | SmtpFailure.TIMEOUT:
            return Unavailable(f"no connection: {error.failure.value}", code)
    if error.passes:
        return Unavailable("the mail server will not take it now", code)
    if error.failure is SmtpFailure.RECIPIENT:
        return Unreachable("the mail server refuses this recipient", code)
    if error.failure is SmtpFailure.SENDER:
        return CredentialsRejected("the mail server refuses our sender", code)
    return Rejected("the mail server refuses this email", code)
