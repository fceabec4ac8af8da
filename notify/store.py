"""Notifications in Postgres."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, time, timedelta

import asyncpg

from core import tracing
from core.db.database import Database
from core.ids import IdMaker
from core.json_types import JsonObject
from core.language.catalogue import speaking
from core.messaging.messages import Action, ActionStyle, Media
from core.notifications.types import Notification, NotificationStatus, Urgency
from core.people.tenant import QuietHours
from notify.system_notices import SystemNotice, notice_text, notice_title
from notify.types import NotificationTarget, NotifyResult, Recipient, RenderedNotification, StoredNotification, Timing

DEDUPE_WINDOW = timedelta(hours=20)
"""The time for which the same news is a single message: less than a day, so that daily news is sent daily."""
STUCK = timedelta(minutes=5)
"""The time for which a place is tried before another."""
RECENT = timedelta(hours=36)


@dataclass(frozen=True, slots=True)
class NotificationStore:
    """Store, queue, hold and find notifications. Every call that writes may be repeated."""

    database: Database
    make_id: IdMaker = field(repr=False)

    async def recipient(self, tenant_id: str, wanted: str | None, now: datetime) -> Recipient:
        """Return a person with the places to notify them; `wanted` is a conversation's id, None for any."""
        async with self.database.tenant(tenant_id) as connection:
            person = await connection.fetchrow(
                "select nullif(t.language, '') as language, t.timezone, t.preferred_channel, t.quiet_from,"
                " t.quiet_until, t.muted,"
                " array(select n.queued_at from notifications n where n.tenant_id = $1 and n.queued_at > $2"
                "  and n.urgency <> 'urgent') as recent from tenants t where t.tenant_id = $1",
                tenant_id,
                now - RECENT,
            )
            if person is None:
                return Recipient()
            rows = await connection.fetch(_PLACES, tenant_id, wanted)
        quiet = None
        if person["quiet_from"]:
            quiet = QuietHours(time.fromisoformat(person["quiet_from"]), time.fromisoformat(person["quiet_until"]))
        return Recipient(
            person["timezone"] or None,
            person["preferred_channel"] or None,
            quiet,
            tuple(person["muted"]),
            tuple(person["recent"]),
            tuple(NotificationTarget(**dict(row)) for row in rows),
            person["language"],
        )

    async def keep(
        self,
        tenant_id: str,
        id: str,
        notification: Notification,
        state: NotificationStatus,
        entries: Sequence[RenderedNotification],
        when: Timing,
        not_before: datetime | None = None,
    ) -> NotifyResult:
        """Store a notification as queued (to the first of the entries that may be written to), held or muted."""
        row = await self.database.one(
            "select * from keep_notification($1,$2,$3,$4,$5,$6,$7,$8)",
            tenant_id,
            _note(id, notification) | {"outbound": self.make_id("out"), "new_conversation": self.make_id("cv")},
            state,
            not_before,
            when.now - DEDUPE_WINDOW,
            [entry.to_json() for entry in entries],
            when.now,
            when.fall_back_at,
        )
        return _result_of(row)

    async def enqueue(
        self, tenant_id: str, id: str, before: NotificationStatus, entries: Sequence[RenderedNotification], when: Timing
    ) -> NotifyResult | None:
        """Queue a notification whose state is `before`; None when another worker did."""
        row = await self.database.call(
            "select * from enqueue_notification($1,$2,$3,$4,$5,$6,$7,$8)",
            tenant_id,
            id,
            before,
            [entry.to_json() for entry in entries],
            self.make_id("out"),
            self.make_id("cv"),
            when.now,
            when.fall_back_at,
        )
        return _result_of(row, id) if row else None

    async def enqueue_digest(
        self,
        tenant_id: str,
        ids: Sequence[str],
        digest: Notification,
        entries: Sequence[RenderedNotification],
        when: Timing,
    ) -> NotifyResult | None:
        """Queue a single notification in place of held notifications; None if another worker had any of them."""
        row = await self.database.call(
            "select * from enqueue_digest($1,$2,$3,$4,$5,$6,$7,$8)",
            tenant_id,
            list(ids),
            _note(self.make_id("ntf"), digest),
            [entry.to_json() for entry in entries],
            self.make_id("out"),
            self.make_id("cv"),
            when.now,
            when.fall_back_at,
        )
        return _result_of(row) if row else None

    async def find_held(self, now: datetime, without: Sequence[str]) -> list[str]:
        """Return the people whose held notifications are due, except those in `without`."""
        rows = await self.database.rows("select * from find_held($1,100,$2)", now, list(without))
        return [row["tenant_id"] for row in rows]

    async def held(self, tenant_id: str, now: datetime) -> list[StoredNotification]:
        """Return a person's held notifications that are due, the oldest first."""
        rows = await self.database.tenant_rows(
            tenant_id,
            "select n.*, nullif(p.language, '') as language, n.not_before = '-infinity' as unscheduled"
            " from notifications n join tenants p on p.tenant_id = n.tenant_id"
            " where n.tenant_id = $1 and n.state = 'held' and n.not_before <= $2 order by n.at, n.id limit 500",
            now,
        )
        return [_stored(row) for row in rows]

    async def hold(self, tenant_id: str, ids: Sequence[str], until: datetime) -> None:
        """Hold notifications until a time; sent ones fall back to no other place before it."""
        await self.database.tenant_rows(
            tenant_id,
            "update notifications set not_before = $3::timestamptz,"
            " state = case when state = 'failed' then 'held' else state end,"
            " fall_back_at = case when state = 'sent' then $3::timestamptz end"
            " where tenant_id = $1 and id = any ($2) and state in ('held', 'failed', 'sent')",
            list(ids),
            until,
        )

    async def mute(self, tenant_id: str, ids: Sequence[str]) -> None:
        await self.database.tenant_rows(
            tenant_id,
            "update notifications set state = 'muted' where tenant_id = $1 and id = any ($2) and state = 'held'",
            list(ids),
        )

    async def find_undelivered(self, now: datetime, without: Sequence[str]) -> list[tuple[str, str]]:
        """Return (tenant, notification) of those that failed, are stuck, or met no reaction, except `without`."""
        rows = await self.database.rows("select * from find_undelivered($1,$2,50,$3)", now, STUCK, list(without))
        return [(row["tenant_id"], row["notification_id"]) for row in rows]

    async def read(self, tenant_id: str, id: str) -> StoredNotification | None:
        row = await self.database.tenant_row(
            tenant_id,
            "select n.*, nullif(p.language, '') as language, false as unscheduled from notifications n"
            " join tenants p on p.tenant_id = n.tenant_id where n.tenant_id = $1 and n.id = $2",
            id,
        )
        return _stored(row) if row is not None else None

    async def withdraw(self, tenant_id: str, id: str) -> bool:
        """Withdraw a notification that is not being delivered, so that it can go elsewhere; return False when it is."""
        row = await self.database.call("select withdraw_notification($1,$2) as done", tenant_id, id)
        return bool(row and row["done"])

    async def is_urgent_run(self, tenant_id: str, run_id: str) -> bool:
        """Return whether the notifications of a run pass quiet hours."""
        row = await self.database.tenant_row(tenant_id, "select urgency_of_run($1,$2) as urgency", run_id)
        return row is not None and bool(row["urgency"] == Urgency.URGENT)

    async def held_cards(self) -> list[tuple[str, str, str]]:
        """Return (tenant, outbound, approval) of the cards that quiet hours hold."""
        rows = await self.database.rows("select * from find_held_cards(100)")
        return [(row["tenant_id"], row["outbound_id"], row["approval_id"]) for row in rows]

    async def release_card(self, tenant_id: str, outbound_id: str, approval_id: str) -> list[str]:
        """Release a held card; return the conversations to wake, none when it was not held."""
        row = await self.database.call("select release_outbound($1,$2) as released", tenant_id, outbound_id)
        # A card of high risk that goes by SMS or email is also shown in another chat, in which it can be approved.
        other = await self.database.call(
            "select show_elsewhere($1,$2,$3) as place", tenant_id, approval_id, self.make_id("out")
        )
        home = await self.database.tenant_row(
            tenant_id, "select conversation_id from outbound where tenant_id = $1 and id = $2", outbound_id
        )
        own = home["conversation_id"] if home and row and row["released"] else None
        return [conversation_id for conversation_id in (own, other and other["place"]) if conversation_id]

    async def prune(self, before: datetime, limit: int = 1000) -> int:
        """Delete old notifications that are over; return how many."""
        row = await self.database.call("select * from prune_notifications($1,$2)", before, limit)
        return int(row["pruned"]) if row else 0


# Each identity with the top-level conversation that the person wrote in last, and the wanted conversation, if it is
# theirs. If the person has not written yet, some providers deliver to the user key itself.
_PLACES = """
select i.id as identity_id, i.channel, i.account, coalesce(c.peer, i.user_key) as peer, '' as thread,
       case when c.thread = '' then c.id end as conversation_id, c.last_inbound_at
from identities i left join lateral (
    select * from conversations c where c.tenant_id = i.tenant_id and c.identity_id = i.id
    order by c.thread = '' desc, c.last_inbound_at desc nulls last limit 1) c on true
where i.tenant_id = $1 and i.state = 'active' and i.admitted <> ''
  and (c.id is not null or i.channel in ('sms', 'telegram', 'email') or is_one_way(i.channel, i.account))
union all
select i.id, i.channel, i.account, c.peer, c.thread, c.id, c.last_inbound_at
from conversations c join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
where c.tenant_id = $1 and c.id = $2 and c.thread <> '' and i.state = 'active' and i.admitted <> ''
"""


def _note(id: str, notification: Notification) -> JsonObject:
    stored = {name: "" if value is None else value for name, value in asdict(notification).items()}
    return stored | {"id": id} | tracing.carried()


def _result_of(row: asyncpg.Record, id: str | None = None) -> NotifyResult:
    """Return a call's result; a repeat of a call may find its notification sent or failed by now."""
    state = NotificationStatus(row["state"])
    if state in (NotificationStatus.SENT, NotificationStatus.FAILED, NotificationStatus.DIGESTED):
        state = NotificationStatus.QUEUED
    return NotifyResult(state, id or row["id"], row["conversation_id"], row["channel"] or None)


def _stored(row: asyncpg.Record) -> StoredNotification:
    notification = Notification(
        urgency=Urgency(row["urgency"]),
        conversation_id=row["wanted"] or None,
        task_id=row["task_id"] or None,
        run_id=row["run_id"] or None,
        actions=tuple(Action(a["label"], a["token"], ActionStyle(a.get("style", "plain"))) for a in row["actions"]),
        media=tuple(Media(**media) for media in row["media"]),
        outside=row["outside"],
        **{name: row[name] for name in ("text", "category", "dedupe_key", "title")},
    )
    if row["notice"]:
        notification = _noticed(notification, SystemNotice(row["notice"]), row["notice_channel"], row["language"])
    return StoredNotification(
        row["id"],
        notification,
        NotificationStatus(row["state"]),
        row["at"],
        tuple(row["tried"]),
        row["unscheduled"],
        row["reason"],
        row["repeats"],
        row["aside"],
    )


def _noticed(notification: Notification, notice: SystemNotice, channel: str, language: str | None) -> Notification:
    """Return a notification with the sentence that its row stands for."""
    with speaking(language):
        text = notice_text(notice, channel, notification.text, notification.title)
        return replace(notification, text=text, title=notice_title(notice) or notification.title)
