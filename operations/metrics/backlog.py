"""The backlog of the database, and its backups, as gauges: counts and ages over all people, no text and no person."""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import timedelta

from asyncpg import Record
from prometheus_client import CollectorRegistry, Gauge, generate_latest

from core.db.database import Database
from core.errors import StoreUnavailable
from core.json_types import JsonObject
from core.messaging.stalls import FRESH, OLDEST, POLLERS
from operations.worker_health import WorkerHealth, workers_seen

READ_WITHIN = 3.0
"""Seconds, less than Prometheus' limit of ten: a scrape must report that the database is away."""

_COUNTS = {
    "waiting_messages": ("onevalet_waiting_messages", "Messages that wait for a worker."),
    "running_turns": ("onevalet_running_turns", "Turns that a worker runs."),
    "open_outbound": ("onevalet_unsent_messages", "Messages to be sent, or whose outcome is looked up."),
    "ambiguous": ("onevalet_ambiguous_messages", "Messages of which nobody knows whether they arrived."),
    "failed": ("onevalet_undelivered_messages", "Messages that were given up."),
    "poison": ("onevalet_set_aside_turns", "Turns that were set aside, since processes died of them."),
}
_AGES = {
    "waiting": ("onevalet_oldest_waiting_seconds", "How long the oldest message waits for a worker; 0: none waits."),
    "to_send": ("onevalet_oldest_unsent_seconds", "How old the oldest message to be sent is; 0: there is none."),
}
_BACKUP_AGE = """
select coalesce(extract(epoch from clock_timestamp() - began_at), 'infinity')::float8 as seconds from last_backup()
"""


class Backlog:
    """Read the gauges. They are built afresh each time: an unreadable gauge is absent, and no old number stays."""

    def __init__(
        self,
        database: Database,
        now: Callable[[], float] = time.monotonic,
        *,
        backups_every: timedelta | None = None,
    ) -> None:
        self._database = database
        self._now = now
        self._backups_every = backups_every
        self._reading = asyncio.Lock()
        self._text = b""
        self._read_at = float("-inf")

    async def text(self) -> bytes:
        """Return the gauges in Prometheus' format."""
        async with self._reading:
            if self._now() - self._read_at > FRESH:
                self._text = await self._read()
                self._read_at = self._now()
            return self._text

    async def _read(self) -> bytes:
        registry = CollectorRegistry()
        is_up = Gauge("onevalet_database_up", "1 while Postgres answers, otherwise 0.", registry=registry)
        try:
            async with asyncio.timeout(READ_WITHIN):
                work = await self._database.one("select * from count_work()")
                oldest = await self._database.one(OLDEST)
                aside = await self._database.rows("select kind, number from find_set_aside_work()")
                workers = await workers_seen(self._database)
                pollers = await self._database.rows(POLLERS)
                backup = await self._database.one(_BACKUP_AGE)
        except (StoreUnavailable, TimeoutError, OSError):
            is_up.set(0)
        else:
            is_up.set(1)
            _add_counts(registry, work)
            _add_ages(registry, oldest)
            _add_set_aside(registry, aside)
            _add_workers(registry, workers)
            _add_pollers(registry, pollers)
            _add_backup(registry, backup, self._backups_every)
        return generate_latest(registry)


def _add_counts(registry: CollectorRegistry, work: Record) -> None:
    for column, (name, help_text) in _COUNTS.items():
        Gauge(name, help_text, registry=registry).set(work[column])


def _add_ages(registry: CollectorRegistry, oldest: Record) -> None:
    halted = Gauge("onevalet_halted", "1 while all work is halted by an owner, otherwise 0.", registry=registry)
    halted.set(int(oldest["halted"]))
    for column, (name, help_text) in _AGES.items():
        Gauge(name, help_text, registry=registry).set(oldest[column])


def _add_set_aside(registry: CollectorRegistry, aside: Sequence[Record]) -> None:
    gauge = Gauge("onevalet_set_aside", "What waits for an operator, by kind.", ("kind",), registry=registry)
    for row in aside:
        gauge.labels(f"{row['kind']}s").set(row["number"])


def _add_workers(registry: CollectorRegistry, workers: list[WorkerHealth]) -> None:
    Gauge("onevalet_workers", "Workers seen in the last minute.", registry=registry).set(len(workers))
    failing = Gauge(
        "onevalet_part_failures",
        "The most failures in a row of a part, over all workers; parts that run are absent.",
        ("part",),
        registry=registry,
    )
    most: dict[str, int] = {}
    for part in (part for worker in workers for part in worker.failing):
        name = str(part["part"])
        most[name] = max(most.get(name, 0), _failures(part))
    for name, failures in most.items():
        failing.labels(name).set(failures)


def _add_pollers(registry: CollectorRegistry, pollers: Sequence[Record]) -> None:
    stalled = Gauge(
        "onevalet_poller_stalled",
        "1 while a channel that is polled has a problem, such as another program with its token, or nobody polls it.",
        ("channel",),
        registry=registry,
    )
    for row in pollers:
        stalled.labels(row["channel"]).set(int(row["unpolled"] or row["troubled"]))


def _add_backup(registry: CollectorRegistry, backup: Record, every: timedelta | None) -> None:
    age = Gauge(
        "onevalet_backup_age_seconds",
        "How long ago the newest backup that succeeded was taken; +Inf: there is none.",
        registry=registry,
    )
    age.set(backup["seconds"])
    span = Gauge("onevalet_backup_every_seconds", "The span of the schedule of backups; 0: none.", registry=registry)
    span.set(every.total_seconds() if every else 0)


def _failures(part: JsonObject) -> int:
    return int(str(part["failures"]))
