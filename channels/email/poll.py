"""Reading the mailbox: IDLE, or a look every few seconds; the position moves only after the commit.

One process reads at a time, by a lease. It opens the mailbox for reading only, and marks nothing as seen.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

import structlog

from channels.email.catchup import Position, position_in, renumbered
from channels.email.parse import Mail
from core.clock import Clock
from core.db.outages import is_store_error
from core.errors import LeaseLost, StoreUnavailable
from core.mail.types import MailFailed, StoredMail
from core.messaging.poll_lease import PollLease
from providers.email.client import MailboxClient, OwnMailbox

IDLE_SECONDS = 6.0
"""How long the server is listened to before the lease is renewed."""
LOOK_EVERY = 5.0
"""Seconds between two looks at a server that cannot tell of new mail."""
BEGINNING = 48 * 1024
"""Bytes that are read of each mail: its headers decide whether there is need of the rest."""
AT_ONCE = 50
FIRST_PAUSE, MAX_PAUSE = 0.5, 60.0
TRIES = 5
"""How often a mail that breaks us is tried before it is left out, which is recorded."""
_NOT_OURS_PAUSE = 3.0

_log = structlog.get_logger()


class MailPoller:
    """Read new mails and hand each to `take`, in order, until stopped.

    `take` is given a mail's beginning, and a function that reads all of it; it returns when what came of it is
    committed. `leave_out` records a mail that breaks us again and again, so that later ones come in.
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
        self._lease = lease
        self._take = take
        self._leave_out = leave_out
        self._clock = clock
        self._stopping = asyncio.Event()
        self._position: Position | None = None
        self._pause = 0.0
        self._problem = self._shown = ""
        self._broken: Counter[int] = Counter()

    def stop(self) -> None:
        self._stopping.set()

    async def run(self) -> None:
        """Read until stopped; failures are tried again with growing pauses."""
        while not self._stopping.is_set():
            try:
                pause = await self._unless_stopped(self._session())
            except LeaseLost:
                pause = _NOT_OURS_PAUSE
            except StoreUnavailable:
                pause = self._later()
            except MailFailed as error:
                pause = self._later()
                await self._tell(error.failure.value)
            except Exception:
                # The outermost loop: whatever it is, the people's mails wait in the mailbox until it passes.
                _log.exception("mailbox_reading_failed")
                pause = self._later()
            await self._rest(pause or 0.0)
        await self._release()

    async def _session(self) -> float:
        """Hold the lease, and read from one connection until that ends; return the seconds to wait after it."""
        known = await self._lease.claim()
        if known is None:
            return _NOT_OURS_PAUSE
        async with self._client.open() as mailbox:
            known = await self._renewed()
            self._position = await position_in(mailbox, known)
            _log.info("mailbox_opened", first_time=not known, renumbered=self._position is None)
            if self._position is None:
                uids, position = await renumbered(mailbox, self._clock.now())
                await self._take_all(mailbox, uids)
                self._position = position
            await self._keep("")
            while True:
                await self._take_all(mailbox, await mailbox.after(self._position.uid))
                self._pause = 0.0
                await self._tell("")
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
                await self._keep(self._shown)

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
        except (StoreUnavailable, MailFailed):
            raise
        except Exception as error:
            if is_store_error(error):
                raise  # it says nothing of this mail: the next one would be left out just so
            # Ours to mend, but it must not hold up everybody's mails indefinitely.
            self._broken[stored.uid] += 1
            if self._broken[stored.uid] < TRIES:
                raise
            await self._leave_out(mail)
            _log.exception("mail_left_out", uid=stored.uid)
        self._broken.pop(stored.uid, None)

    async def _renewed(self) -> int:
        """Renew the lease; return the stored position. Raises `LeaseLost` where another process reads by now."""
        known = await self._lease.claim()
        if known is None:
            raise LeaseLost
        return known

    async def _keep(self, problem: str) -> None:
        if self._position is not None and not await self._lease.keep(self._position.packed(), problem):
            raise LeaseLost

    async def _tell(self, problem: str) -> None:
        """Store the problem where `doctor` finds it; log it when it changes."""
        if problem == self._problem:
            return
        if problem:
            _log.warning("mailbox_disturbed", reason=problem)
        else:
            _log.info("mailbox_goes_on")
        self._problem = problem
        self._shown = f"{problem} (since {self._clock.now():%Y-%m-%d %H:%M} UTC)" if problem else ""
        try:
            position = await self._renewed()
            await self._lease.keep(self._position.packed() if self._position else position, self._shown)
        except (StoreUnavailable, LeaseLost):
            _log.info("mailbox_problem_not_kept")

    async def _unless_stopped(self, session: Awaitable[float]) -> float | None:
        """Run a session; end it at once when stopped."""
        running = asyncio.ensure_future(session)
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                return running.result()
            return None
        finally:
            stopping.cancel()
            if not running.done():
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)

    def _later(self) -> float:
        self._pause = min(MAX_PAUSE, max(FIRST_PAUSE, self._pause * 2))
        return self._pause

    async def _rest(self, seconds: float) -> None:
        if not seconds or self._stopping.is_set():
            return
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return

    async def _release(self) -> None:
        try:
            await self._lease.release()
        except StoreUnavailable:
            _log.info("poll_lease_left_to_end")


def _mail(mailbox: OwnMailbox, stored: StoredMail) -> Mail:
    return Mail(mailbox.uid_validity, stored.uid, stored.size, stored.data)
