"""Try a password against its servers before it is stored. Light, and by the standard library: `web` runs it."""

import asyncio
import imaplib
import smtplib
import socket
import ssl
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from core.credentials.types import OpenAccount
from core.dav.client import DavClient
from core.dav.discovery import discover
from core.dav.types import DavRefused, Kind
from core.errors import ToolFailed
from core.http.types import HttpClient
from core.language.catalogue import gettext
from core.mail.servers import MailServer, Security, connect, server_of, tls_context
from core.mail.types import MailFailed

SECONDS = 15.0
_NAMES = {"imap": "IMAP", "smtp": "SMTP"}


class Fault(StrEnum):
    """What is wrong about what was typed."""

    LOGIN = "login"
    IMAP = "imap"
    SMTP = "smtp"
    URL = "url"


class TrialFailed(ToolFailed):
    """What was typed opens nothing; the message is for the person."""

    def __init__(self, message: str, fault: Fault) -> None:
        super().__init__(message)
        self.fault = fault


async def try_mailbox(account: OpenAccount, http: HttpClient) -> None:
    """Log in at each server of a mailbox. Raises `TrialFailed`."""
    for kind, log_in in (("imap", _log_in_imap), ("smtp", _log_in_smtp)):
        if kind in account.servers:
            await _try_mail(account, http, kind, log_in)


async def dav_servers(account: OpenAccount, http: HttpClient) -> frozenset[str]:
    """Return which of an account's servers have calendars or contacts. Raises `TrialFailed` where none has."""
    found, failed = set(), list[TrialFailed]()
    for kind in Kind:
        try:
            await _try_dav(account, http, kind)
            found.add(kind.value)
        except TrialFailed as error:
            failed.append(error)
    if not found:
        raise next((error for error in failed if error.fault is Fault.LOGIN), failed[0])
    return frozenset(found)


async def _try_dav(account: OpenAccount, http: HttpClient, kind: Kind) -> None:
    nothing = gettext("There are no calendars or contacts at this address.")
    try:
        home = await discover(DavClient(http, account), kind)
    except DavRefused as error:
        if error.status in (401, 403):
            refused = gettext("The server does not accept this login or password.")
            raise TrialFailed(refused, Fault.LOGIN) from error
        is_theirs = error.status < 500
        raise TrialFailed(nothing if is_theirs else str(error), Fault.URL) from error
    except ToolFailed as error:
        raise TrialFailed(str(error), Fault.URL) from error
    if not home.collections and not home.url:
        raise TrialFailed(nothing, Fault.URL)


async def _try_mail(
    account: OpenAccount, http: HttpClient, kind: str, log_in: Callable[[socket.socket, MailServer, OpenAccount], None]
) -> None:
    fault = Fault(kind)
    try:
        server = server_of(account, kind)
        connected = await connect(server, http)
    except MailFailed as error:
        raise TrialFailed(str(error), fault) from error
    connected.setblocking(True)
    connected.settimeout(SECONDS)
    try:
        async with asyncio.timeout(2 * SECONDS):
            await asyncio.to_thread(log_in, connected, server, account)
    except ssl.SSLCertVerificationError as error:
        text = gettext("The certificate of {host} is not valid, so no password is sent there.", host=server.host)
        raise TrialFailed(text, fault) from error
    except imaplib.IMAP4.abort as error:
        raise _not_as_told(kind, server) from error
    except (imaplib.IMAP4.error, smtplib.SMTPAuthenticationError, UnicodeError) as error:
        text = gettext("The {kind} server does not accept this login or password.", kind=_NAMES[kind])
        raise TrialFailed(text, Fault.LOGIN) from error
    except (OSError, smtplib.SMTPException) as error:
        raise _not_as_told(kind, server) from error
    finally:
        connected.close()


def _not_as_told(kind: str, server: MailServer) -> TrialFailed:
    """Return the error for a server that answers, though not as its port and its protection say."""
    text = gettext(
        "{host} does not answer as an {kind} server on port {port} with this protection: check both.",
        host=server.host,
        kind=_NAMES[kind],
        port=server.port,
    )
    return TrialFailed(text, Fault(kind))


def _log_in_imap(connected: socket.socket, server: MailServer, account: OpenAccount) -> None:
    class Client(imaplib.IMAP4):
        def _create_socket(self, timeout: float | None) -> socket.socket:
            return _protected(connected, server)

    client: Any = Client(server.host, server.port, SECONDS)
    try:
        if server.security is Security.STARTTLS:
            client.starttls(tls_context())
        client.authenticate("PLAIN", lambda _: f"\0{account.login}\0{account.secret}".encode())
    except BaseException:
        client.shutdown()
        raise
    client.logout()  # which closes its socket


def _log_in_smtp(connected: socket.socket, server: MailServer, account: OpenAccount) -> None:
    class Client(smtplib.SMTP):
        def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
            return _protected(connected, server)

    client: Any = Client(local_hostname="localhost", timeout=SECONDS)
    client._host = server.host
    try:
        client.connect(server.host, server.port)
        if server.security is Security.STARTTLS:
            client.starttls(context=tls_context())
        if account.secret:
            client.login(account.login, account.secret)
        client.quit()
    finally:
        client.close()


def _protected(connected: socket.socket, server: MailServer) -> socket.socket:
    own = connected.dup()  # the first descriptor stays ours, to close it whatever happens
    return tls_context().wrap_socket(own, server_hostname=server.host) if server.security is Security.TLS else own
