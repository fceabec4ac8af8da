"""Sending mail by SMTP: the only importer of aiosmtplib."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from core.credentials.types import Ability, OpenAccount
from core.errors import RefusedLogin
from core.http.types import HttpClient
from providers.email.compose import as_mailed
from providers.email.servers import MailServer, Security, connect, server_of, tls_context

if TYPE_CHECKING:
    from aiosmtplib import SMTP

TOTAL = 180.0
"""Seconds of a whole submission, in which a server may refuse to hurry for each of 50 recipients. aiosmtplib limits its
answer to a command: 32 KB in all (`MAX_RESPONSE_LENGTH`), and nothing unrequested.
"""


class SmtpFailure(StrEnum):
    """A failure of sending mail. Only `LOST` leaves open whether it was accepted."""

    CONNECTION = "connection"
    TIMEOUT = "timeout"
    LOGIN = "login"
    LACKS = "lacks"
    """The server does not offer TLS, or no way to log in that we know."""
    SENDER = "sender"
    RECIPIENT = "recipient"
    MESSAGE = "message"
    """The server refuses this message, or any message like it."""
    LOST = "lost"


class SmtpFailed(Exception):
    """Mail was not accepted, or its outcome is unknown. `code` is the server's own, 0 if it gave none."""

    def __init__(self, failure: SmtpFailure, code: int = 0, recipient: str = "") -> None:
        super().__init__(f"{failure.value} {code or ''}".strip())
        self.failure = failure
        self.code = code
        self.recipient = recipient
        self.refused: RefusedLogin | None = None
        """The account whose login the server refuses, if it is a person's own."""

    @property
    def passes(self) -> bool:
        """Return whether it may be accepted later (RFC 5321 4.2.1)."""
        return 400 <= self.code < 500


@dataclass(frozen=True, slots=True)
class SmtpLogin:
    """The login at a server: none, a password, or with `bearer` an OAuth access token."""

    user: str = ""
    secret: str = field(default="", repr=False)
    bearer: bool = False


class Submission:
    """A logged-in connection, for a single message. `ends`: its deadline on the loop's clock.

    Errors leave here with the server's codes and without its words, since errors are logged.
    """

    def __init__(self, client: "SMTP", ends: float) -> None:
        self._client = client
        self._ends = ends

    async def address(self, sender: str, recipients: Sequence[str]) -> None:
        """Name the sender and all recipients: a refused recipient fails all. Raises `SmtpFailed`; nothing was sent."""
        from aiosmtplib.errors import SMTPException

        try:
            async with asyncio.timeout_at(self._ends):
                await self._client.mail(sender)
                for recipient in recipients:
                    await self._client.rcpt(recipient)
        except (SMTPException, OSError, ValueError) as error:
            raise _before(error) from _wordless(error)

    async def send(self, message: bytes) -> None:
        """Send the message to those that were named. Raises `SmtpFailed`."""
        from aiosmtplib.errors import SMTPException, SMTPNotSupported, SMTPResponseException

        try:
            async with asyncio.timeout_at(self._ends):
                await self._client.data(message)
        except SMTPResponseException as error:
            if not _is_refusal(error.code):
                raise SmtpFailed(SmtpFailure.LOST) from None
            raise SmtpFailed(SmtpFailure.MESSAGE, error.code) from None
        except (ValueError, SMTPNotSupported) as error:
            raise SmtpFailed(SmtpFailure.MESSAGE) from error
        except (SMTPException, OSError) as error:
            raise SmtpFailed(SmtpFailure.LOST) from error
        with suppress(SMTPException, OSError):
            async with asyncio.timeout_at(self._ends):
                await self._client.quit()


@asynccontextmanager
async def open_submission(
    server: MailServer,
    login: SmtpLogin,
    *,
    connected: socket.socket | None = None,
    our_name: str | None = None,
    seconds: float = 20.0,
    total: float = TOTAL,
) -> AsyncIterator[Submission]:
    """Yield a connection, logged in. Raises `SmtpFailed`.

    `connected` is a socket that passed the guard, for servers that people name. `our_name`: our name in EHLO. `seconds`
    are for each step, `total` for all of them.
    """
    from aiosmtplib import SMTP
    from aiosmtplib.errors import SMTPException

    async def token() -> str:
        return login.secret

    try:
        context = None if server.security is Security.NONE else await asyncio.to_thread(tls_context)
    except BaseException:
        if connected is not None:
            connected.close()
        raise
    client = SMTP(
        hostname=server.host,
        port=None if connected else server.port,
        sock=connected,
        username=login.user or None,
        password=None if login.bearer else login.secret or None,
        oauth_token_generator=token if login.bearer else None,
        use_tls=server.security is Security.TLS,
        start_tls=server.security is Security.STARTTLS,
        local_hostname=our_name or ("localhost" if connected else None),
        timeout=seconds,
        tls_context=context,
    )
    transport: asyncio.BaseTransport | None = None
    ends = asyncio.get_running_loop().time() + total
    try:
        try:
            async with asyncio.timeout_at(ends):
                await client.connect()
            transport = client.transport
        except (SMTPException, OSError, ValueError) as error:
            raise _before(error) from _wordless(error)
        yield Submission(client, ends)
    finally:
        client.close()
        # At once: unread data, or silence of the server after TLS, would keep the connection open.
        if isinstance(transport, asyncio.WriteTransport):
            transport.abort()
        if connected is not None:
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)


@asynccontextmanager
async def open_sending(account: OpenAccount, http: HttpClient) -> AsyncIterator[Submission]:
    """Yield a connection to the server by which an account sends. Raises `MailFailed` and `SmtpFailed`."""
    server = server_of(account, "smtp")
    login = SmtpLogin(account.login, account.secret, account.bearer) if account.secret else SmtpLogin()
    our_name = as_mailed(account.account.address).rpartition("@")[2] or None
    connected = await connect(server, http)
    try:
        async with open_submission(server, login, connected=connected, our_name=our_name) as submission:
            yield submission
    except SmtpFailed as error:
        if error.failure is SmtpFailure.LOGIN and not error.passes:
            known = account.account
            error.refused = RefusedLogin(
                f"{known.service}:{Ability.MAIL_SEND}", known.service, known.name, account.secret
            )
        raise


def _is_refusal(code: int) -> bool:
    """Return whether a code refuses (RFC 5321 4.2.1); aiosmtplib has -1 for an invalid or oversized answer."""
    return 400 <= code < 600


def _wordless(error: Exception) -> Exception | None:
    """Return an error as the cause of another; None if it repeats a server's words."""
    from aiosmtplib.errors import SMTPResponseException

    return None if isinstance(error, SMTPResponseException) else error


def _before(error: Exception) -> SmtpFailed:
    """Return the failure before any part of the message left."""
    from aiosmtplib import errors

    match error:
        case errors.SMTPResponseException() if not _is_refusal(error.code):
            return SmtpFailed(SmtpFailure.CONNECTION)
        case errors.SMTPAuthenticationError():
            return SmtpFailed(SmtpFailure.LOGIN, error.code)
        case errors.SMTPRecipientRefused():
            return SmtpFailed(SmtpFailure.RECIPIENT, error.code, error.recipient)
        case errors.SMTPConnectResponseError() | errors.SMTPHeloError():
            return SmtpFailed(SmtpFailure.CONNECTION, error.code)
        case errors.SMTPResponseException():
            return SmtpFailed(SmtpFailure.SENDER, error.code)
        case TimeoutError() | errors.SMTPTimeoutError():
            return SmtpFailed(SmtpFailure.TIMEOUT)
        case errors.SMTPException() if type(error) in (errors.SMTPException, errors.SMTPNotSupported):
            # aiosmtplib's error if STARTTLS or a way to log in is not offered.
            return SmtpFailed(SmtpFailure.LACKS)
    return SmtpFailed(SmtpFailure.CONNECTION)
