"""The periodic work of workers, in two tables. Every worker may do all of it, since each chore is safe to repeat.

arq gives each tick of a chore to a single worker (jobs.later). A chore with `due` is also done by each worker whenever
the watch finds such work, with or without Redis. Only a worker's report of its own health is no arq job.

Chores that delete or expire by the time of day pause while the clock is wrong (`Clock.sound_now` returns None).
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

import structlog

from core.agents.pool import Pool
from core.approvals.store import ApprovalStore
from core.clock import Clock
from core.db.database import Database
from core.errors import StoreUnavailable
from core.files.store import FileStore
from core.ids import IdMaker
from core.queue.batches import in_batches
from core.queue.due import ASK_ANYWAY, DueWork
from core.queue.quarantine import quarantine_waits
from jobs.later.cron import Chore
from jobs.supervision import Part, PartSupervisor, stalls_seen
from jobs.upkeep import catchup
from jobs.upkeep.catchup import CatchUp
from jobs.upkeep.clock_check import CheckedClock
from jobs.upkeep.retention import Retention, RetentionPeriods
from notify.service import NotificationService

CONSENTS_KEPT = timedelta(days=90)
"""The time for which a standing consent is still listed after its end."""
IGNORED_KEPT = timedelta(days=30)
"""The time for which an ignored message is remembered: no provider resends it, and no sweep looks back, so late."""
DUE_ANYWAY = timedelta(seconds=ASK_ANYWAY)
BEAT = 10.0
"""Seconds between two reports of a worker's health."""
MAX_IGNORED = 5000
"""Ignored messages deleted at a time: a bot in a busy group leaves many behind."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintenance:
    """The stores and services for the chores."""

    database: Database
    clock: CheckedClock
    make_id: IdMaker
    worker: str
    supervisor: PartSupervisor
    pool: Pool
    approvals: ApprovalStore
    notifications: NotificationService
    catch_up: CatchUp
    files: FileStore
    kept: RetentionPeriods
    ask_for_process: Callable[[], None] | None = None
    """Starts a private process for quarantined turns."""
    note_stalls: Callable[[Sequence[str]], None] | None = None
    """Gets the present stalls every ten seconds, for the worker's health file."""

    def table(self) -> tuple[Chore, ...]:
        """Return the chores that continue while Redis is away, then in each worker."""
        database, clock, service = self.database, self.clock, self.notifications
        table = [
            # Quiet hours end, and channels fail, whether Redis is there or not: the watch finds both within seconds.
            Chore(
                "held and undelivered notifications",
                DUE_ANYWAY,
                lambda: release_notifications(service, clock),
                DueWork.NOTIFICATIONS,
            ),
            # A person's chance to decide depends on it: the watch has it done within seconds of each end.
            Chore(
                "approvals",
                DUE_ANYWAY,
                lambda: advance_approvals(self.approvals, clock, self.make_id),
                DueWork.APPROVALS,
            ),
            # By people's time, of which the watch knows.
            Chore("waiting agents", DUE_ANYWAY, lambda: expire_agents(self.pool, clock), DueWork.AGENTS),
            # A person who waits for a provider gets a message, even in an outage of Redis.
            Chore("delayed answers", timedelta(seconds=20), service.tell_delays),
            # Codes and strangers end by themselves; they are only cleared away here.
            Chore("tidying", timedelta(minutes=1), lambda: forget_expired(database, clock)),
            # Nothing is missed (promise 3): at each worker's start too, and a single worker holds the lease of an
            # account.
            Chore("catch-up", catchup.EVERY, self.catch_up.once),
        ]
        if self.ask_for_process is not None:
            # The process is this worker's own: the watch tells each worker.
            table.append(Chore("quarantine", DUE_ANYWAY, self._ask_for_process, DueWork.QUARANTINE))
        return tuple(table)

    def chores(self) -> tuple[Chore, ...]:
        """Return the rare chores that any worker does for all; without Redis they pause, at the cost of disk space."""
        retention = Retention(self.database, self.clock, self.make_id, self.kept)
        return (
            Chore("old files", timedelta(minutes=10), lambda: prune_files(self.files, self.clock), for_all=True),
            *retention.chores(),
        )

    def parts(self) -> tuple[Part, ...]:
        """Return the parts that each worker runs for itself, with or without Redis."""
        return (Part("health", self._beat),)

    async def _beat(self) -> None:
        while True:
            try:
                await self._report_health()
            except StoreUnavailable as error:
                _log.warning("upkeep_delayed", part="health", cause=str(error))
            # Jitter keeps the workers of an installation from asking the database at the same moment.
            await asyncio.sleep(BEAT * (0.75 + random.random() / 2))

    async def _ask_for_process(self) -> None:
        if self.ask_for_process is not None and await quarantine_waits(self.database):
            self.ask_for_process()

    async def _report_health(self) -> None:
        try:
            await report_health(self.database, self.worker, self.clock, self.supervisor)
        finally:
            if self.note_stalls is not None:
                self.note_stalls(await stalls_seen(self.database, self.supervisor))


async def release_notifications(service: NotificationService, clock: Clock) -> int:
    """Send held notifications that are due, and failed notifications elsewhere. Return the number of new messages."""
    if await clock.sound_now() is None:
        return 0  # the quiet hours are unknown without a sound clock
    return await service.fall_back() + await service.release_held()


async def advance_approvals(store: ApprovalStore, clock: Clock, make_id: IdMaker) -> None:
    """Start the time limit of approvals whose card was sent, remind before its end, and expire them at its end."""
    now = await clock.sound_now()
    if now is None:
        return  # an approval that expires by a wrong clock never comes back
    await store.sweep_cards(now)
    await store.remind(make_id, now)
    await store.scrub(now)
    if ended := await store.expire(now):
        _log.info("approvals_expired", count=ended)


async def report_health(database: Database, worker: str, clock: CheckedClock, supervisor: PartSupervisor) -> None:
    """Record for `doctor` that a worker lives, the error of its clock, and its failing parts."""
    await clock.sound_now()
    failing = [
        {"part": part.name, "failures": part.failures, "cause": part.cause, "at": part.at.isoformat()}
        for part in supervisor.failing()
    ]
    await database.call("select note_worker($1,$2,$3)", worker, clock.ahead, failing)


async def prune_files(store: FileStore, clock: Clock) -> None:
    """Delete files that were not used for long, and the bytes of all deleted files."""
    if (now := await clock.sound_now()) is not None and (count := await store.expire(now)):
        _log.info("files_expired", count=count)
    try:
        while await store.delete_bytes():
            pass
        await store.blobs.sweep()
    except OSError as error:
        _log.error("file_store_unreachable", cause=type(error).__name__)


async def expire_agents(pool: Pool, clock: Clock) -> None:
    """End the agents that have waited in the pool for too long."""
    if ended := await in_batches(clock, pool.expire):
        _log.info("agents_expired", count=ended)


async def forget_expired(database: Database, clock: Clock) -> None:
    """Delete expired rows: strangers' codes, link codes, old records of ignored messages, undo, and consents."""
    now = await clock.sound_now()
    if now is None:
        return
    strangers = await database.call("select * from drop_strangers($1)", now)
    codes = await database.call("select * from drop_link_codes($1)", now)
    ignored = await database.call("select * from drop_ignored($1,$2)", now - IGNORED_KEPT, MAX_IGNORED)
    undo = await database.call("select * from drop_undo($1)", now)
    consents = await database.call("select * from tidy_consents($1,$2)", now, now - CONSENTS_KEPT)
    counts = {
        "strangers": strangers["strangers"] if strangers else 0,
        "link_codes": codes["codes"] if codes else 0,
        "ignored": ignored["messages"] if ignored else 0,
        "undo": undo["records"] if undo else 0,
        "consents": consents["expired"] if consents else 0,
    }
    if any(counts.values()):
        _log.info("tidied", **counts)
