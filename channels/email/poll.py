"""Reading the mailbox: IDLE, or a look every few seconds; the position moves only after the commit.

A single process reads at a time, by a lease. It opens the mailbox for reading only, and marks nothing as seen. Senders
are read side by side (`lanes`), so that none holds up another.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import aclosing
from functools import partial
from typing import NoReturn

import structlog

from channels.email.catchup import Position, position_in, renumbered
from channels.email.lanes import Lanes, Waiting
from channels.email.parse import REPORTS, Mail, sender_of
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
LOOK_MEANWHILE = 1.0
"""Seconds until the next look while mails are still being taken."""
PACE = 0.25
"""Seconds that further mails wait for those that were just begun, so that few wait in memory."""
REPORT_PATIENCE = 2.0
"""Seconds that later mails wait for a report about a mail that we sent."""

_log = structlog.get_logger()


class MailPoller:
    """Read new mails and hand each to `take`, those of a sender in order, until stopped.

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
        self._taken: Mapping[int, AbstractSet[int]] = {}
        """By UIDVALIDITY, the mails beyond the position that the last connection took."""

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
        async with (
            self._client.open() as mailbox,
            aclosing(Lanes(partial(self._take_waiting, mailbox), self._taken.get(mailbox.uid_validity, ()))) as lanes,
        ):
            try:
                await self._read(mailbox, lanes, await self._renewed())
            finally:
                self._taken = {mailbox.uid_validity: lanes.beyond}
                await self._keep_reached(mailbox, lanes)

    async def _read(self, mailbox: OwnMailbox, lanes: Lanes, known: int) -> NoReturn:
        """Take all that is new, and wait for more; the position moves over each mail once it is committed."""
        self._position = await position_in(mailbox, known)
        _log.info("mailbox_opened", first_time=not known, renumbered=self._position is None)
        if self._position is None:
            recent, position = await renumbered(mailbox, self._clock.now())
            await self._begin(mailbox, lanes, recent, moves=False)
            lanes.pass_over(position.uid)
            last = position.uid
        else:
            await self._loop.keep(self._position.packed())
            last = self._position.uid
        while True:
            uids = await mailbox.after(last)
            await self._begin(mailbox, lanes, uids)
            last = max([last, *uids])
            await lanes.wait(LOOK_MEANWHILE)
            if await self._keep_reached(mailbox, lanes) or not lanes.open:
                self._loop.went_well()
                await self._loop.tell("")
            if not (lanes.open or await mailbox.wait(IDLE_SECONDS)):
                await asyncio.sleep(LOOK_EVERY)
            await self._renewed()

    async def _begin(self, mailbox: OwnMailbox, lanes: Lanes, uids: Sequence[int], *, moves: bool = True) -> None:
        """Give mails to the lanes of their senders, hardly faster than most are taken."""
        for start in range(0, len(uids), AT_ONCE):
            await self._renewed()
            batch = uids[start : start + AT_ONCE]
            found = {mail.uid: mail for mail in await mailbox.beginnings(batch, BEGINNING)}
            patience = REPORT_PATIENCE
            for uid in batch:
                moves_to = uid if moves else 0
                if uid not in found:  # deleted since
                    lanes.pass_over(moves_to)
                    continue
                sender = sender_of(_mail(mailbox, found[uid]))
                lanes.add(sender, Waiting(uid, moves_to, found[uid], found[uid].size))
                if sender == REPORTS and patience:
                    # Its person is blocked by it, and no longer once they write: the order counts.
                    await lanes.wait(patience, sender)
                    patience = 0.0
            await lanes.wait(PACE)
            await self._keep_reached(mailbox, lanes)

    async def _keep_reached(self, mailbox: OwnMailbox, lanes: Lanes) -> bool:
        """Store the position if it has moved; return whether it has."""
        reached = lanes.reached()
        if reached:
            self._position = Position(mailbox.uid_validity, reached)
            await self._loop.keep(self._position.packed())
        return bool(reached)

    async def _take_waiting(self, mailbox: OwnMailbox, mail: Waiting) -> None:
        stored = mail.stored or next(iter(await mailbox.beginnings([mail.uid], BEGINNING)), None)
        if stored is not None:
            await self._take_one(mailbox, stored)

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


def _mail(mailbox: OwnMailbox, stored: StoredMail) -> Mail:
    return Mail(mailbox.uid_validity, stored.uid, stored.size, stored.data)
