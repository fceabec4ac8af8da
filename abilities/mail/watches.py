"""The watched mailboxes, their workers, and how far each is read, in Postgres."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.db.database import Database
from core.json_types import JsonObject
from core.queue.wakeups import NOBODY, Later

DUE = "mail"
"""The kind of work in `sql/due.sql` for an unwatched mailbox."""
LEASE = timedelta(seconds=20)
"""How long the mailboxes of a dead worker stay unwatched."""


@dataclass(frozen=True, slots=True)
class MailWatch:
    """A watched mailbox. `revision` counts changes of the account's credentials."""

    tenant_id: str
    id: str
    revision: int = 0


@dataclass(frozen=True, slots=True)
class Position:
    """The account of a mailbox, and how far it is read.

    `mailbox` is empty until its first reading; it differs from the account's if that was replaced.

    Mail from before `since` is not new, nor, in a replaced mailbox, mail from before `changed_at`, the time of the
    replacement; `read_at` is when the mailbox was last read to its end.
    """

    service: str
    account_name: str
    since: datetime
    changed_at: datetime
    mailbox: str = ""
    validity: int = 0
    last_uid: int = 0
    read_at: datetime | None = None
    failures: int = 0


@dataclass(frozen=True, slots=True)
class NewEvents:
    """The stored events of a look: ids of new events, for each group that wants them."""

    by_group: dict[str, list[str]]
    count: int


@dataclass(frozen=True, slots=True)
class WatchCounts:
    """Mailboxes with the same problem, or without any: the numbers of watched and unwatched mailboxes."""

    problem: str
    watched: int
    unwatched: int
    ended: int


class MailWatches:
    """Watch mailboxes as the worker `owner`. Every call may be repeated, and raises `StoreUnavailable`."""

    def __init__(self, database: Database, owner: str, later: Later = NOBODY) -> None:
        self._database = database
        self._owner = owner
        self._later = later

    async def claim(self, limit: int) -> Sequence[MailWatch]:
        """Claim unwatched mailboxes."""
        rows = await self._database.rows("select * from claim_mail_watches($1,$2,$3)", self._owner, LEASE, limit)
        return [MailWatch(*row.values()) for row in rows]

    async def keep(self) -> Sequence[MailWatch]:
        """Renew the leases; return the mailboxes that are still to be watched here."""
        rows = await self._database.rows("select * from keep_mail_watches($1,$2)", self._owner, LEASE)
        return [MailWatch(*row.values()) for row in rows]

    async def leave(self) -> None:
        """Let other workers watch them."""
        await self._database.call("select leave_mail_watches($1)", self._owner)

    async def position(self, watch: MailWatch) -> Position | None:
        """Return how far a mailbox is read; None if it is no longer watched."""
        row = await self._database.tenant_row(
            watch.tenant_id,
            "select * from mail_watches where tenant_id = $1 and id = $2",
            watch.id,
        )
        if row is None:
            return None
        return Position(
            service=row["service"],
            account_name=row["account_name"],
            since=row["since"],
            changed_at=row["changed_at"] or row["since"],
            mailbox=row["mailbox"],
            validity=row["uid_validity"] or 0,
            last_uid=row["last_uid"] or 0,
            read_at=row["read_at"],
            failures=row["failures"],
        )

    async def language(self, tenant_id: str) -> str | None:
        """Return the language of a person, if it is known."""
        row = await self._database.tenant_row(
            tenant_id, "select nullif(language, '') as language from tenants where tenant_id = $1"
        )
        return row["language"] if row else None

    async def take(
        self, watch: MailWatch, mailbox: str, validity: int, uid: int, events: Sequence[JsonObject], *, whole: bool
    ) -> NewEvents:
        """Store events together with the position after them; raises `LeaseLost` if another worker watches."""
        rows = await self._database.rows(
            "select * from take_mail($1,$2,$3,$4,$5,$6,$7,$8)",
            watch.tenant_id,
            watch.id,
            self._owner,
            mailbox,
            validity,
            uid,
            whole,
            list(events),
        )
        by_group: dict[str, list[str]] = {}
        for row in rows:
            for group in row["groups"]:
                by_group.setdefault(group, []).append(row["event_id"])
        return NewEvents(by_group, len(rows))

    async def fail(
        self, watch: MailWatch, delay: timedelta, problem: str, *, ended: bool = False, refused: bool = False
    ) -> None:
        """Give a mailbox back: any worker tries again after `delay`, or, `ended`, once its account has changed.

        `refused`: its server does not accept the stored credentials, so the account must be connected again.
        """
        await self._database.call(
            "select fail_mail_watch($1,$2,$3,$4,$5,$6,$7,$8)",
            watch.tenant_id,
            watch.id,
            self._owner,
            watch.revision,
            delay,
            problem,
            ended,
            refused,
        )
        if not ended:
            self._later.come_due(DUE, "", delay)


async def count_watches(database: Database) -> Sequence[WatchCounts]:
    """Count the mailboxes of all people by problem."""
    rows = await database.rows("select * from count_mail_watches()")
    return [WatchCounts(row["problem"], row["watched"], row["unwatched"], row["ended"]) for row in rows]
