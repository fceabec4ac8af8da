"""Try a password against its servers before it is stored. Light, and by the standard library: `web` runs it."""

import asyncio
import imaplib
import smtplib
import socket
from collections.abc import Callable
from typing import Any

from core.credentials.types import OpenAccount
from core.dav.client import DavClient
from core.dav.discovery import discover
from core.dav.types import DavRefused, Kind
from core.errors import ToolFailed
from core.http.types import HttpClient
from core.language.catalogue import gettext
from core.mail.servers import MailServer, Security, connect, server_of, tls_context, unreachable
from core.mail.types import MailFailed, MailFailure

SECONDS = 15.0
_NAMES = {"imap": "IMAP", "smtp": "SMTP"}


async def try_password(account: OpenAccount, http: HttpClient) -> None:
    """Log in at each server of an account. Raises `ToolFailed`, for the person, where one does not let us in."""
    for kind, log_in in (("imap", _log_in_imap), ("smtp", _log_in_smtp)):
        if kind in account.servers:
            await _try_mail(account, http, kind, log_in)
    for kind in Kind:
        if kind.value in account.servers:
            await _try_dav(account, http, kind)


async def dav_servers(account: OpenAccount, http: HttpClient) -> frozenset[str]:
    """Return which of an account's servers have calendars or contacts. Raises `ToolFailed` where none has."""
    found, failed = set(), ToolFailed(gettext("This account has no calendars or contacts."))
    for kind in Kind:
        try:
            await _try_dav(account, http, kind)
            found.add(kind.value)
        except ToolFailed as error:
            failed = error
    if not found:
        raise failed
    return frozenset(found)


async def _try_dav(account: OpenAccount, http: HttpClient, kind: Kind) -> None:
    try:
        home = await discover(DavClient(http, account), kind)
    except DavRefused as error:
        if error.status in (401, 403):
            raise ToolFailed(gettext("The server does not accept this login or password.")) from error
        raise
    if not home.collections and not home.url:
        raise ToolFailed(gettext("This account has no calendars or contacts."))


async def _try_mail(
    account: OpenAccount, http: HttpClient, kind: str, log_in: Callable[[socket.socket, MailServer, OpenAccount], None]
) -> None:
    server = server_of(account, kind)
    connected = await connect(server, http)
    connected.setblocking(True)
    connected.settimeout(SECONDS)
    try:
        async with asyncio.timeout(2 * SECONDS):
            await asyncio.to_thread(log_in, connected, server, account)
    except (imaplib.IMAP4.error, smtplib.SMTPAuthenticationError, UnicodeError) as error:
        text = gettext("The {kind} server does not accept this login or password.", kind=_NAMES[kind])
        raise MailFailed(text, MailFailure.LOGIN) from error
    except (OSError, smtplib.SMTPException) as error:
        raise unreachable(server) from error
    finally:
        connected.close()


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
