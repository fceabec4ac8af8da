"""Try a password at the servers of a mailbox before it is stored, on the event loop of `web`: no thread waits."""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable

from core.credentials.trial import Fault, TrialFailed
from core.credentials.types import OpenAccount
from core.http.peer import Allowance
from core.http.types import HttpClient
from core.language.catalogue import gettext
from providers.email.imap_wire import ImapError, LoginRefused, log_in, wire_on
from providers.email.servers import MailServer, connect, server_of
from providers.email.smtp import SmtpFailed, SmtpFailure, SmtpLogin, open_submission
from providers.email.types import MailFailed

SECONDS = 30.0
"""Time limit of all commands to a server."""
TRIAL = Allowance(256 * 1024, 1000, 2 * SECONDS)
"""The limit of a server's answers to a login: real greetings and refusals are a few lines. For SMTP it is less (`TOTAL`
in `providers.email.smtp`).
"""
_NAMES = {"imap": "IMAP", "smtp": "SMTP"}
type _LogIn = Callable[[socket.socket, MailServer, OpenAccount], Awaitable[None]]


async def try_mailbox(account: OpenAccount, http: HttpClient) -> frozenset[str]:
    """Log in at each server of a mailbox, and return all of them. Raises `TrialFailed`."""
    for kind, attempt in (("imap", _log_in_imap), ("smtp", _log_in_smtp)):
        if kind in account.servers:
            await _try_mail(account, http, kind, attempt)
    return frozenset(account.servers)


async def _try_mail(account: OpenAccount, http: HttpClient, kind: str, attempt: _LogIn) -> None:
    fault = Fault(kind)
    try:
        server = server_of(account, kind)
        connected = await connect(server, http)
    except MailFailed as error:
        raise TrialFailed(str(error), fault) from error
    try:
        async with asyncio.timeout(SECONDS):
            await attempt(connected, server, account)
    except (OSError, ImapError, SmtpFailed) as error:  # time-outs among them
        if _is_certificates(error):
            text = gettext("The certificate of {host} is not valid, so no password is sent there.", host=server.host)
            raise TrialFailed(text, fault) from error
        raise _not_as_told(kind, server) from error


def _not_as_told(kind: str, server: MailServer) -> TrialFailed:
    """Return the error for a server that answers, though not as its port and its protection say."""
    text = gettext(
        "{host} does not answer as an {kind} server on port {port} with this protection: check both.",
        host=server.host,
        kind=_NAMES[kind],
        port=server.port,
    )
    return TrialFailed(text, Fault(kind))


async def _log_in_imap(connected: socket.socket, server: MailServer, account: OpenAccount) -> None:
    async with wire_on(connected, server, TRIAL) as wire:
        try:
            await log_in(wire, account, server.host)
        except LoginRefused as error:
            raise _refused("imap", server) from error


async def _log_in_smtp(connected: socket.socket, server: MailServer, account: OpenAccount) -> None:
    login = SmtpLogin(account.login, account.secret) if account.secret else SmtpLogin()
    try:
        async with open_submission(server, login, connected=connected, our_name="localhost"):
            pass
    except SmtpFailed as error:
        if error.failure is SmtpFailure.LOGIN or isinstance(error.__cause__, UnicodeError):
            raise _refused("smtp", server) from error
        raise


def _refused(kind: str, server: MailServer) -> TrialFailed:
    text = gettext(
        "The {kind} server {host} does not accept this login or password.", kind=_NAMES[kind], host=server.host
    )
    return TrialFailed(text, Fault.LOGIN)


def _is_certificates(error: BaseException | None) -> bool:
    """Return whether a certificate that is not valid is at the bottom of an error."""
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__
    return error is not None
