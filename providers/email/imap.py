"""Connections by IMAP: the only importer of imap_tools. Each has a thread of its own."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

from core.credentials.types import Ability, OpenAccount
from core.errors import RefusedLogin
from core.http.peer import Allowance, Hearing, LeftAlone, Pauses, PeerExceeded, Slots
from core.http.types import HttpClient
from core.language.catalogue import gettext
from providers.email.servers import MailServer, Security, connect, exceeded, server_of, tls_context, unreachable
from providers.email.types import MailFailed, MailFailure

if TYPE_CHECKING:
    from imap_tools import BaseMailBox

SILENCE = 20.0
"""Seconds that a server may take for each part of an answer."""
SECONDS = 60.0
"""Seconds of an operation."""
MAX_MESSAGE = 40 * 1024 * 1024
"""Bytes of a piece of an answer: a message with files of 25 MB, encoded."""
MAX_LINE = 4 * 1024 * 1024
"""Bytes of a line: a search that finds 500,000 messages."""
COMMAND = Allowance(MAX_MESSAGE + MAX_LINE, 200_000, 2 * SECONDS)
"""The limit of a server's answer to a call, all held at once: the largest message with its envelope, and lines for
folders,
or for flags that another program changes. The call has its own time limit; this limit only ends calls that outlive it.
"""
CONNECTION = Allowance(2 * 1024 * 1024 * 1024, 2_000_000, 3600.0)
"""The limit of its answers within an hour: a connection reads our own mailbox for days, with files of 25 MB."""
CONNECTIONS, OF_A_PERSON = 32, 4
"""How many of people's mailboxes are open at the same time in a process, each with a thread, and how many of a single
person: a call opens one at a time, and a turn makes several calls at once.
"""

_slots = Slots(CONNECTIONS, OF_A_PERSON)
_pauses = Pauses("imap")


class ImapConnection:
    """A connection that is logged in."""

    def __init__(self, connected: socket.socket, server: MailServer) -> None:
        self._connected = connected
        self._server = server
        self._threads = ThreadPoolExecutor(1, "imap")
        self._heard = Heard(server.host)
        self.has_exceeded = False
        self._box: BaseMailBox | None = None
        self._login: RefusedLogin | None = None

    async def log_in(self, account: OpenAccount) -> None:
        """Log in by the account's password, or by XOAUTH2. Raises `MailFailed`."""
        need = f"{account.account.service}:{Ability.MAIL_READ}"
        self._login = RefusedLogin(need, account.account.service, account.account.name, account.secret)
        self._box = await self._run(lambda: _log_in(self._connected, self._server, account, self._heard), SECONDS)

    async def call[T](self, work: "Callable[[BaseMailBox], T]", *, seconds: float = SECONDS) -> T:
        """Run something with imap_tools' mailbox in the connection's thread. Raises `MailFailed`."""
        box = self._box
        assert box is not None  # noqa: S101 - it is logged in
        return await self._run(lambda: work(box), seconds)

    def break_off(self) -> None:
        """End the connection at once, so that its thread ends."""
        with suppress(OSError):
            self._connected.shutdown(socket.SHUT_RDWR)

    async def close(self) -> None:
        """Log out, if the server still answers."""
        if self._box is not None:
            with suppress(MailFailed):
                await self.call(_log_out, seconds=SILENCE)
        self.break_off()
        self._connected.close()
        self._threads.shutdown(wait=False)

    async def _run[T](self, work: Callable[[], T], seconds: float) -> T:
        """Run a function in the thread. Errors leave here without the server's words, since errors are logged."""
        import imaplib

        from imap_tools.errors import ImapToolsError, MailboxFolderSelectError, MailboxLoginError

        self._heard.begin_call()
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except MailboxFolderSelectError:
            raise MailFailed(gettext("There is no such mail folder."), MailFailure.GONE) from None
        except (MailboxLoginError, _LoginRefused):
            sentence = gettext("The mail server {host} does not accept the stored login.", host=self._server.host)
            raise MailFailed(sentence, MailFailure.LOGIN, refused=self._login) from None
        except PeerExceeded as error:
            self.has_exceeded = True
            self.break_off()
            raise exceeded(self._server) from error
        except OSError as error:  # errors of TLS and time-outs among them
            self.break_off()
            raise unreachable(self._server) from error
        except imaplib.IMAP4.abort:
            self.break_off()
            raise unreachable(self._server) from None
        except (ImapToolsError, imaplib.IMAP4.error, ValueError, LookupError, *_MISREAD):
            sentence = gettext("The mail server {host} refuses that.", host=self._server.host)
            raise MailFailed(sentence, MailFailure.REFUSED) from None
        except asyncio.CancelledError:
            self.break_off()
            raise


_MISREAD = (AttributeError, TypeError, AssertionError, ArithmeticError)
"""Errors by which imaplib and imap_tools end over answers of another form than they know."""


class Heard:
    """A server's answers on a connection, counted in its thread: for each call, and for an hour."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._connection = Hearing(CONNECTION, host=host)
        self.begin_call()

    def begin_call(self) -> None:
        """Restart the count for a call."""
        if self._connection.seconds_left < COMMAND.seconds:
            self._connection = Hearing(CONNECTION, host=self._host)
        self._call = Hearing(COMMAND, self._connection)

    def room_for(self, size: int) -> int:
        """Return a size that may be read. Raises `PeerExceeded` if there is no room for it."""
        if size > self._call.size_left:
            self._call.count(size)
        return size

    def count(self, size: int) -> None:
        """Count a piece that was read. Raises `PeerExceeded`."""
        self._call.count(size, 1)


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
        connection = ImapConnection(await connect(server, http), server)
        try:
            await connection.log_in(account)
            yield connection
            if not connection.has_exceeded:
                _pauses.kept_to_it(*key)
        except asyncio.CancelledError:
            connection.break_off()
            raise
        finally:
            await connection.close()
            if connection.has_exceeded:
                _pauses.exceeded(*key)


@asynccontextmanager
async def _slot_of(account: OpenAccount) -> AsyncIterator[None]:
    """Hold a slot of the account's person; the assistant's own mailbox does not wait for a slot."""
    if not account.person:
        yield
        return
    async with _slots.of(account.person):
        yield


def expect_ok(answer: tuple[str, list[Any]]) -> list[Any]:
    """Return the answer to a command of imaplib; raise an error of imap_tools for a refusal."""
    from imap_tools.errors import UnexpectedCommandStatusError

    if answer[0] != "OK":
        raise UnexpectedCommandStatusError(answer, "OK")
    return answer[1]


def folder_argument(name: str) -> str:
    """Return a folder's name as commands carry it (RFC 3501 5.1.3)."""
    from imap_tools.utils import encode_folder

    return encode_folder(name).decode("ascii")


class _LoginRefused(Exception):
    """The server does not accept the account's credentials."""


def _log_in(connected: socket.socket, server: MailServer, account: OpenAccount, heard: Heard) -> "BaseMailBox":
    import imaplib

    from imap_tools import BaseMailBox

    class Connection(imaplib.IMAP4):
        """A client on the socket that passed the guard, which reads no endless answer."""

        def _create_socket(self, timeout: float | None) -> socket.socket:
            connected.setblocking(True)
            connected.settimeout(SILENCE)
            # A second descriptor: the first stays ours, to break the connection off.
            own = connected.dup()
            return tls_context().wrap_socket(own, server_hostname=server.host) if is_tls else own

        def read(self, size: int) -> bytes:
            if size > MAX_MESSAGE:
                raise PeerExceeded("bytes", server.host)
            read = super().read(heard.room_for(size))
            heard.count(len(read))
            return read

        def readline(self) -> bytes:
            line = cast("bytes", self.file.readline(MAX_LINE + 1))
            heard.count(len(line))
            if len(line) > MAX_LINE:
                raise PeerExceeded("bytes", server.host)
            return line

    class Box(BaseMailBox):
        def _get_mailbox_client(self) -> imaplib.IMAP4:
            client = Connection(server.host, server.port, SILENCE)
            try:
                if server.security is Security.STARTTLS:
                    client.starttls(tls_context())
            except BaseException:
                client.shutdown()
                raise
            return client

    is_tls = server.security is Security.TLS
    if not (account.login.isprintable() and account.secret.isprintable()):
        raise _LoginRefused
    box = Box()
    try:
        _authenticate(box, account)
        # Many servers list further abilities (MOVE, UIDPLUS) only after the login, and imaplib asks before it.
        box.client._get_capabilities()
    except BaseException:
        box.client.shutdown()
        raise
    return box


def _authenticate(box: "BaseMailBox", account: OpenAccount) -> None:
    import imaplib

    try:
        if account.bearer:
            box.xoauth2(account.login, account.secret, initial_folder=None)
        elif account.login.isascii() and account.secret.isascii():
            box.login(account.login, account.secret, initial_folder=None)
        else:
            box.login_utf8(account.login, account.secret, initial_folder=None)
    except imaplib.IMAP4.abort:
        raise
    except imaplib.IMAP4.error:
        raise _LoginRefused from None


def _log_out(box: "BaseMailBox") -> None:
    try:
        box.client.logout()
    finally:
        box.client.shutdown()
