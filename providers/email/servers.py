"""The servers of a mail account: their URLs read, and safe connections to them."""

import socket
import ssl
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from core.credentials.types import OpenAccount
from core.http.address_guard import Barred, is_public, read_host
from core.http.types import HttpClient, SocketAccess
from core.language.catalogue import gettext
from providers.email.types import MailFailed, MailFailure

IMAP_PORTS = frozenset({143, 993})
SMTP_PORTS = frozenset({25, 465, 587, 2525})


class Security(StrEnum):
    """Protection of a connection to a server."""

    TLS = "tls"
    STARTTLS = "starttls"
    NONE = "none"
    """In the clear: for a server on this machine or in a network of the operator's only."""


_SCHEMES = {
    "imaps": (Security.TLS, 993),
    "imap+starttls": (Security.STARTTLS, 143),
    "imap": (Security.NONE, 143),
    "smtps": (Security.TLS, 465),
    "smtp+starttls": (Security.STARTTLS, 587),
    "smtp": (Security.NONE, 25),
}


@dataclass(frozen=True, slots=True)
class MailServer:
    """A server for reading or sending mail."""

    host: str
    port: int
    security: Security


def server_of(account: OpenAccount, kind: str) -> MailServer:
    """Return an account's server; `kind` is `imap` or `smtp`. Raises `MailFailed`."""
    url = account.servers.get(kind, "")
    try:
        parts = urlsplit(url)
        security, usual = _SCHEMES[parts.scheme]
        if not parts.hostname or not parts.scheme.startswith(kind):
            raise ValueError
        return MailServer(read_host(parts.hostname), parts.port or usual, security)
    except (KeyError, ValueError) as error:
        name = account.account.name
        sentence = gettext("The stored data of the mail account {account} is incomplete.", account=f"“{name}”")
        raise MailFailed(sentence, MailFailure.WRONG) from error


async def connect(server: MailServer, http: HttpClient) -> socket.socket:
    """Return a socket connected to an address that passed the guard; raises `MailFailed`.

    Nothing is sent in the clear over the public internet.
    """
    if not isinstance(http, SocketAccess):
        raise MailFailed("This assistant has no access to mail servers.", MailFailure.BARRED)
    ports = IMAP_PORTS | SMTP_PORTS
    try:
        connected = await http.connect(server.host, server.port, ports)
    except Barred as error:
        raise MailFailed(error.in_words(), MailFailure.BARRED) from error
    except OSError as error:
        raise unreachable(server) from error
    try:
        address = str(connected.getpeername()[0])
    except OSError as error:  # reset by now
        connected.close()
        raise unreachable(server) from error
    if server.security is Security.NONE and is_public(address):
        connected.close()
        sentence = gettext("I do not connect to the mail server {host} without encryption.", host=server.host)
        raise MailFailed(sentence, MailFailure.BARRED)
    return connected


def unreachable(server: MailServer) -> MailFailed:
    """Return the error for a server without an answer, or without a safe connection."""
    sentence = gettext("The mail server {host} cannot be reached.", host=server.host)
    return MailFailed(sentence, MailFailure.UNREACHABLE)


def exceeded(server: MailServer) -> MailFailed:
    """Return the error for a server that sends more than it may."""
    sentence = gettext("The mail server {host} sends too much data, so I leave it alone for now.", host=server.host)
    return MailFailed(sentence, MailFailure.EXCEEDED)


def tls_context() -> ssl.SSLContext:
    """Return the context that checks a server's certificate; it is read from disk."""
    return ssl.create_default_context()
