"""Connections to mailboxes by IMAP: the number open, the limit of a server's answer, and our errors for its own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from core.credentials.types import Ability, OpenAccount
from core.errors import RefusedLogin
from core.http.peer import Allowance, LeftAlone, Pauses, Slots
from core.http.types import HttpClient
from core.language.catalogue import gettext
from providers.email import imap_wire
from providers.email.imap_answers import found_messages
from providers.email.imap_wire import (
    ImapError,
    ImapExceeded,
    ImapRefused,
    ImapUnavailable,
    ImapWire,
    LoginRefused,
    log_in,
    wire_on,
)
from providers.email.servers import MailServer, connect, exceeded, server_of, unreachable
from providers.email.types import MailFailed, MailFailure

MAX_MESSAGE = 40 * 1024 * 1024
"""Bytes of a message that is read: files of 25 MB, encoded."""
COMMAND = Allowance(MAX_MESSAGE + imap_wire.MAX_LINE, 200_000, 2 * imap_wire.SECONDS)
"""The limit of a server's answer to a command, all held at once: the largest message with its envelope, and lines for
folders, or for flags that another program changes. A command has its own time limit; this limit only ends commands that
outlive it.
"""
CONNECTIONS, OF_A_PERSON = 32, 4
"""The number of people's mailboxes that are open at the same time in a process, and for a single person: a call opens
a single mailbox at a time, and a turn makes several calls at once.
"""

_BEGINS = 20
"""Bytes of a line that name its subject."""

_slots = Slots(CONNECTIONS, OF_A_PERSON)
_pauses = Pauses("imap")


class ImapConnection:
    """A connection that is logged in."""

    def __init__(self, wire: ImapWire, server: MailServer, capabilities: frozenset[str]) -> None:
        self.capabilities = capabilities
        """Of the server, in capital letters."""
        self.has_exceeded = False
        self._wire = wire
        self._server = server
        self._turn = asyncio.Lock()

    async def call[T](self, work: Callable[[ImapWire], Awaitable[T]]) -> T:
        """Run a task's commands; other tasks wait. Raises `MailFailed`, without the server's words: errors are logged.

        A connection whose answer was not read to its end is broken off.
        """
        async with self._turn:
            return await self._call(work)

    async def _call[T](self, work: Callable[[ImapWire], Awaitable[T]]) -> T:
        try:
            return await work(self._wire)
        except ImapError as error:
            self._wire.break_off()
            self.has_exceeded = isinstance(error, ImapExceeded)
            raise (exceeded if self.has_exceeded else unreachable)(self._server) from error
        except (ImapRefused, ValueError):
            raise _refuses(self._server) from None
        except asyncio.CancelledError:
            self._wire.break_off()
            raise


async def search(wire: ImapWire, criteria: bytes) -> Sequence[int]:
    """Return the UIDs that a search of the open folder finds. Raises `ImapError` and `ImapRefused`."""
    lines = await wire.gather(
        lambda answer: answer.text if answer.text[:_BEGINS].upper().split()[1:2] == [b"SEARCH"] else None,
        b"UID SEARCH " + criteria,
    )
    try:
        # In a thread: a line of 4 MB would hold up all other work.
        return await asyncio.to_thread(found_messages, lines)
    except ValueError as error:
        raise ImapError(str(error)) from error


@asynccontextmanager
async def open_connection(account: OpenAccount, http: HttpClient) -> AsyncIterator[ImapConnection]:
    """Yield a connection to an account's mailbox. Raises `MailFailed`."""
    server = server_of(account, "imap")
    key = (account.person, account.login, server.host, str(server.port))
    async with _slot_of(account):
        try:
            _pauses.check(*key, host=server.host)
        except LeftAlone as error:
            raise exceeded(server) from error
        async with AsyncExitStack() as stack:
            try:
                connection = await _log_in(stack, account, server, http)
            except ImapExceeded as error:
                _pauses.exceeded(*key)
                raise exceeded(server) from error
            try:
                yield connection
            finally:
                if connection.has_exceeded:
                    _pauses.exceeded(*key)
            if not connection.has_exceeded:
                _pauses.kept_to_it(*key)


def _refuses(server: MailServer) -> MailFailed:
    sentence = gettext("The mail server {host} refuses that.", host=server.host)
    return MailFailed(sentence, MailFailure.REFUSED)


async def _log_in(stack: AsyncExitStack, account: OpenAccount, server: MailServer, http: HttpClient) -> ImapConnection:
    """Return a connection that `stack` closes. Raises `MailFailed` and `ImapExceeded`."""
    connected = await connect(server, http)
    try:
        async with asyncio.timeout(imap_wire.SECONDS):
            wire = await stack.enter_async_context(wire_on(connected, server, COMMAND))
            return ImapConnection(wire, server, await log_in(wire, account, server.host))
    except LoginRefused as error:
        need = f"{account.account.service}:{Ability.MAIL_READ}"
        refused = RefusedLogin(need, account.account.service, account.account.name, account.secret)
        raise MailFailed(str(error), MailFailure.LOGIN, refused=refused) from None
    except ImapExceeded:
        raise
    except ImapUnavailable:
        raise _refuses(server) from None
    except (ImapError, OSError) as error:  # errors of TLS and time-outs among them
        raise unreachable(server) from error


@asynccontextmanager
async def _slot_of(account: OpenAccount) -> AsyncIterator[None]:
    """Hold a slot of the account's person; the assistant's own mailbox does not wait for a slot."""
    if not account.person:
        yield
        return
    async with _slots.of(account.person):
        yield
