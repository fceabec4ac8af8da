"""Reading the mailbox: IDLE, or a look every few seconds; the position moves only after the commit.

A single process reads at a time, by a lease. It opens the mailbox for reading only, and marks nothing as seen.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog

from channels.email.catchup import Position, position_in, renumbered
from channels.email.parse import Mail
from channels.poll_lease import PollLease
from channels.polling import NOT_OURS_PAUSE, PollLoop
from core.clock import Clock
from core.errors import LeaseLost
from providers.email.client import MailboxClient, OwnMailbox
from providers.email.types import MailFailed, StoredMail

IDLE_SECONDS = 6.0
"""How long IDLE lasts before the lease is renewed."""
LOOK_EVERY = 5.0
"""Seconds between two looks at a server that cannot tell of new mail."""
BEGINNING = 48 * 1024
"""Bytes that are read of each mail: its headers decide whether there is need of the rest."""
AT_ONCE = 50
MAX_PAUSE = 60.0

_log = structlog.get_logger()


class MailPoller:
    """Read new mails and hand each to `take`, in order, until stopped.

    `take` gets a mail's beginning, and a function that reads all of it; it returns when the result is committed.
    `leave_out` records a mail that fails again and again, so that later mails come in.
    """

    def __init__(
        self,
        client: MailboxClient,
        lease: PollLease,
        take: Callable[[Mail, Callable[[], Awaitable[Mail | None]]], Awaitable[None]],
        leave_out: Callable[[Mail], Awaitable[None]],
        clock: Clock,
    ) -> None:
        self._client = client
        self._loop = PollLoop(lease, clock, source="mailbox", max_pause=MAX_PAUSE)
        self._take = take
        self._leave_out = leave_out
        self._clock = clock
        self._position: Position | None = None

    @property
    def stall(self) -> str:
        """Return why this process reads nothing; empty if it does, or if another process reads."""
        return self._loop.stall

    def stop(self) -> None:
        self._loop.stop()

    async def run(self) -> None:
        """Read until stopped; failures are tried again with growing pauses."""
        await self._loop.run(self._step)

    async def _step(self) -> float:
        """Read from a connection until it ends; return the seconds to wait afterwards."""
        try:
            return await self._loop.unless_stopped(self._session()) or 0.0
        except MailFailed as error:
            await self._loop.tell(error.failure.value)
            return self._loop.later()

    async def _session(self) -> float:
        """Hold the lease, and read from a connection for as long as the lease lasts."""
        if await self._loop.claim() is None:
            return NOT_OURS_PAUSE
        async with self._client.open() as mailbox:
            known = await self._renewed()
            self._position = await position_in(mailbox, known)
            _log.info("mailbox_opened", first_time=not known, renumbered=self._position is None)
            if self._position is None:
                uids, position = await renumbered(mailbox, self._clock.now())
                await self._take_all(mailbox, uids)
                self._position = position
            await self._keep()
            while True:
                await self._take_all(mailbox, await mailbox.after(self._position.uid))
                self._loop.went_well()
                await self._loop.tell("")
                if not await mailbox.wait(IDLE_SECONDS):
                    await asyncio.sleep(LOOK_EVERY)
                await self._renewed()

    async def _take_all(self, mailbox: OwnMailbox, uids: Sequence[int]) -> None:
        """Commit mails in order, moving the position over each only then."""
        for start in range(0, len(uids), AT_ONCE):
            await self._renewed()
            batch = uids[start : start + AT_ONCE]
            found = {mail.uid: mail for mail in await mailbox.beginnings(batch, BEGINNING)}
            try:
                for uid in batch:
                    if uid in found:
                        await self._take_one(mailbox, found[uid])
                    self._move_to(uid)
            finally:
                await self._keep()

    def _move_to(self, uid: int) -> None:
        if self._position is not None:
            self._position = Position(self._position.uid_validity, max(uid, self._position.uid))

    async def _take_one(self, mailbox: OwnMailbox, stored: StoredMail) -> None:
        mail = _mail(mailbox, stored)

        async def whole() -> Mail | None:
            if stored.whole:
                return mail
            found = await mailbox.whole(stored.uid)
            return None if found is None else _mail(mailbox, found)

        try:
            await self._take(mail, whole)
        except MailFailed:
            raise
        except Exception as error:
            # Our fault, but it must not hold up all people's mails indefinitely.
            if not self._loop.gives_up(stored.uid, error):
                raise
            await self._leave_out(mail)
            _log.exception("mail_left_out", uid=stored.uid)
        self._loop.taken(stored.uid)

    async def _renewed(self) -> int:
        """Renew the lease; return the stored position. Raises `LeaseLost` if another process reads by now."""
        known = await self._loop.claim()
        if known is None:
            raise LeaseLost
        return known

    async def _keep(self) -> None:
        if self._position is not None:
            await self._loop.keep(self._position.packed())


def _mail(mailbox: OwnMailbox, stored: StoredMail) -> Mail:
    return Mail(mailbox.uid_validity, stored.uid, stored.size, stored.data)
