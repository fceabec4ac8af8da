"""Retention: chores that delete the data that is older than its period, some rows at a time.

Nothing is deleted while the clock is wrong (`Clock.sound_now` returns None).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from core.clock import Clock
from core.db.database import Database
from core.ids import IdMaker
from core.queue.batches import in_batches
from jobs.later.cron import Chore
from notify.store import NotificationStore

MESSAGES_KEPT = timedelta(days=365)
"""Messages with their history and approvals. Never under a month: within it a provider may send a message again."""
JOURNALS_KEPT = timedelta(days=90)
AUDIT_KEPT = timedelta(days=730)
USAGE_KEPT = timedelta(days=730)
NOTIFICATIONS_KEPT = timedelta(days=90)
"""The time for which the reason of a notification, or of its absence, can be looked up."""
TOKENS_KEPT = timedelta(days=30)
"""The time for which a program's token is listed after its end."""
MAX_PROMPTS = 1000
"""Prompts deleted at a time: each may be hundreds of kilobytes."""
MAX_TURNS = 200
"""Turns deleted at a time, with all that belongs to them: tens of milliseconds for each transaction."""
MAX_ROWS = 2000

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class RetentionPeriods:
    """The retention period of each kind of data."""

    messages: timedelta = MESSAGES_KEPT
    journals: timedelta = JOURNALS_KEPT
    audit: timedelta = AUDIT_KEPT
    usage: timedelta = USAGE_KEPT
    notifications: timedelta = NOTIFICATIONS_KEPT
    prompts: timedelta = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Retention:
    """Delete data whose retention period is over."""

    database: Database
    clock: Clock
    make_id: IdMaker
    kept: RetentionPeriods = RetentionPeriods()

    def chores(self) -> tuple[Chore, ...]:
        """Return the rare work that a single worker does for all."""
        news = NotificationStore(self.database, self.make_id)
        clock, kept, hour = self.clock, self.kept, timedelta(hours=1)
        return (
            Chore("old messages", hour, self.prune_messages, for_all=True),
            Chore("old journals", hour, self.prune_journals, for_all=True),
            Chore("old audit", hour, self.prune_audit, for_all=True),
            Chore("old usage", hour, self.prune_usage, for_all=True),
            Chore(
                "old notifications", hour, lambda: prune_notifications(news, clock, kept.notifications), for_all=True
            ),
            Chore("old tokens", hour, self.prune_tokens, for_all=True),
            Chore(
                "old prompts",
                timedelta(minutes=10),
                lambda: prune_prompts(self.database, clock, kept.prompts),
                for_all=True,
            ),
        )

    async def prune_messages(self) -> int:
        """Delete old messages with all that belongs to them. Return the number of turns and messages."""
        kept = self.kept.messages
        turns = await self._prune("select prune_messages($1,$2) as pruned", kept, MAX_TURNS)
        return self._told("messages", turns + await self._prune("select prune_messages_apart($1,$2) as pruned", kept))

    async def prune_journals(self) -> int:
        """Delete the journals of old turns. Return the number of turns."""
        pruned = await self._prune("select prune_journals($1,$2) as pruned", self.kept.journals, MAX_TURNS)
        return self._told("journals", pruned)

    async def prune_audit(self) -> int:
        """Delete old audit records. Return their number."""
        return self._told("audit", await self._prune("select prune_audit($1,$2) as pruned", self.kept.audit))

    async def prune_tokens(self) -> int:
        """Delete the tokens of people's programs that ended long ago. Return their number."""
        return self._told("tokens", await self._prune("select prune_client_tokens($1,$2) as pruned", TOKENS_KEPT))

    async def prune_usage(self) -> int:
        """Delete people's old daily figures. Return their number."""
        statement = "select prune_usage(($1::timestamptz at time zone 'UTC')::date,$2) as pruned"
        return self._told("usage", await self._prune(statement, self.kept.usage))

    async def _prune(self, statement: str, kept: timedelta, limit: int = MAX_ROWS) -> int:
        async def once(now: datetime) -> int:
            return int((await self.database.one(statement, now - kept, limit))["pruned"])

        return await in_batches(self.clock, once)

    @staticmethod
    def _told(kind: str, count: int) -> int:
        if count:
            _log.info("kept_long_enough", kind=kind, count=count)
        return count


async def prune_notifications(store: NotificationStore, clock: Clock, kept: timedelta = NOTIFICATIONS_KEPT) -> int:
    """Delete notifications older than `kept`. Return their number."""
    return await in_batches(clock, lambda now: store.prune(now - kept))


async def prune_prompts(database: Database, clock: Clock, kept: timedelta) -> int:
    """Delete prompts that were sent longer than `kept` ago. Return their number."""

    async def prune(now: datetime) -> int:
        row = await database.call("select prune_prompts($1,$2) as pruned", now - kept, MAX_PROMPTS)
        return int(row["pruned"]) if row else 0

    return await in_batches(clock, prune)
