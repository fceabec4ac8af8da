"""The way in by email: mails read from the assistant's mailbox, proven, parsed, committed."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import structlog

from channels.email.bounce import HEADERS, is_report, read_bounce
from channels.email.catchup import catch_up
from channels.email.parse import Account, Mail, headers_of, ignore_mail, parse_headers, parse_mail
from channels.email.poll import MailPoller
from channels.poll_lease import PollLease
from core.clock import Clock
from core.db.database import Database
from core.errors import ConfigError
from core.ids import make_id
from core.messaging.channels import WHOLE, Change, Check, InboundSink, Sweep
from core.messaging.inbound import Inbound
from core.messaging.messages import IgnoreReason, InboundMessage
from providers.email.client import MailboxClient, MailboxLogin
from providers.email.messages import read_message, read_part_headers
from providers.email.wire import CHANNEL

if TYPE_CHECKING:
    from aiohttp import web

_GRACE = 2.0
_log = structlog.get_logger()


class EmailChannel:
    """Accept people's mails to a mailbox.

    `authserv_id`: the name by which the server that receives for it signs its Authentication-Results. Reading needs
    `database`, for its lease.
    """

    name = CHANNEL

    def __init__(
        self,
        *,
        login: MailboxLogin,
        authserv_id: str,
        sink: InboundSink,
        database: Database | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.account = login.address
        self._account = Account(login.address, authserv_id)
        self._client = MailboxClient(login)
        self._sink = sink
        self._clock = clock or Clock()
        self._lease = (
            PollLease(database, channel=CHANNEL, account=login.address, owner=make_id("poll")) if database else None
        )
        self._poller: MailPoller | None = None
        self._reading: asyncio.Task[None] | None = None

    def routes(self) -> "Sequence[web.RouteDef]":
        return ()

    @property
    def stall(self) -> str:
        return self._poller.stall if self._poller is not None else ""

    async def identify(self) -> None: ...

    async def start(self) -> None:
        if self._lease is None:
            raise ConfigError("Reading the mailbox needs a database: set DATABASE_URL.")
        self._poller = MailPoller(self._client, self._lease, self._take, self._leave_out, self._clock)
        self._reading = asyncio.create_task(self._poller.run())

    async def stop(self) -> None:
        if self._poller is not None and self._reading is not None:
            self._poller.stop()
            await asyncio.wait({self._reading}, timeout=_GRACE)
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        await self._client.close()

    async def catch_up(self, since: datetime, sweep: Sweep = WHOLE) -> int:
        return await catch_up(since)

    async def setup(self) -> Sequence[Change]:
        return ()

    async def check(self) -> Sequence[Check]:
        from channels.email.setup import check_mailbox

        return await check_mailbox(self._client, self._account, self._lease)

    async def _take(self, mail: Mail, whole: Callable[[], Awaitable[Mail | None]]) -> None:
        """Commit a mail's meaning. If its headers prove nothing, only they are read."""
        ignored = parse_headers(mail, self._account)
        if ignored is not None:
            await self._sink.accept(ignored)
            return
        read = await whole()
        if read is None:  # deleted since
            _log.info("mail_gone", uid=mail.uid)
            return
        items = await read_mail(read, self._account)
        messages = [item for item in items if isinstance(item, InboundMessage)]
        if len(messages) > 1:  # together, so that the same turn takes both
            await asyncio.gather(*(self._sink.accept(message) for message in messages))
            return
        for item in items:
            await self._sink.accept(item)

    async def _leave_out(self, mail: Mail) -> None:
        await self._sink.accept(ignore_mail(mail, self._account, IgnoreReason.BROKEN))


async def read_mail(mail: Mail, account: Account) -> Sequence[Inbound]:
    """Return the reading of a whole mail; all below its headers is read in a child process."""
    ignored = parse_headers(mail, account)
    if ignored is not None:
        return (ignored,)
    if is_report(headers_of(mail)):
        update = read_bounce(await read_part_headers(mail.raw, HEADERS), account.address, account.domain)
        return (update or ignore_mail(mail, account, IgnoreReason.BOT),)
    return await asyncio.to_thread(parse_mail, mail, account, await read_message(mail.raw))
