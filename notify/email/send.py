"""The way out by email, over SMTP: one message, one recipient."""

from dataclasses import dataclass, field
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP as SMTP_POLICY
from email.utils import format_datetime, parseaddr
from urllib.parse import quote

from core.clock import Clock
from core.errors import Ambiguous, CredentialsRejected, DeliveryError, Rejected, Unavailable, Unreachable
from core.mail.compose import subject_header
from core.mail.servers import MailServer
from core.mail.servers import Security as Security
from core.mail.smtp import SmtpFailed, SmtpFailure, SmtpLogin, open_submission
from core.messaging.channels import Part, Receipt, Target
from core.messaging.messages import Address, OutboundMessage
from notify.email.render import render

SECONDS = 8.0
"""For each step of the talk with the server."""

_POLICY = SMTP_POLICY.clone(cte_type="7bit")


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
        try:
            async with open_submission(*self._server_and_login(), seconds=SECONDS) as submission:
                await submission.address(parseaddr(self._server.sender)[1], [to.address.peer])
                await submission.send(message)
        except SmtpFailed as error:
            raise _delivery_error(error) from error
        return Receipt(message_id)

    async def log_in(self) -> None:
        """Connect and log in, and send nothing. Raises `DeliveryError`."""
        try:
            async with open_submission(*self._server_and_login(), seconds=SECONDS):
                pass
        except SmtpFailed as error:
            raise _delivery_error(error) from error

    async def find(self, part: Part, to: Target, since: datetime) -> Receipt | None:
        raise Unavailable("email cannot be looked up")

    async def show_working(self, to: Address) -> None: ...

    async def close(self) -> None: ...

    def _server_and_login(self) -> tuple[MailServer, SmtpLogin]:
        server = self._server
        return MailServer(server.host, server.port, server.security), SmtpLogin(server.user, server.password)

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
        return message_id, subject_header(str(part.data.get("subject", ""))) + message.as_bytes()


def _delivery_error(error: SmtpFailed) -> DeliveryError:
    """Return what became of an email. A 5xx is final, a 4xx may pass (RFC 5321 4.2.1)."""
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
