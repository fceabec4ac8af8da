"""Notifications in Postgres: what people were, are and will be told unasked."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, time, timedelta
from typing import cast

import asyncpg

from core.db.database import Database
from core.ids import IdMaker
from core.json_types import JsonObject
from core.messaging.messages import Action, ActionStyle, Media
from core.notifications.types import Notification, Urgency
from core.people.preferences import QuietHours

DEDUPE_WINDOW = timedelta(hours=20)
"""How long the same news is one message: shorter than a day, so that what comes daily comes daily."""
STUCK = timedelta(minutes=5)
"""How long a message is tried in one place before it goes to another."""
RECENT = timedelta(hours=36)


@dataclass(frozen=True, slots=True)
class NotificationTarget:
    """Where a person can be told something: an identity of theirs, with the conversation on it if there is one."""

    identity_id: str
    channel: str
    account: str
    peer: str
    thread: str = ""
    conversation_id: str = ""
    last_inbound_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Recipient:
    """A person as the policy sees them. `recent`: when they were told something that counts for the daily cap."""

    timezone: str = ""
    preferred_channel: str = ""
    quiet: QuietHours | None = None
    muted: tuple[str, ...] = ()
    recent: tuple[datetime, ...] = ()
    places: tuple[NotificationTarget, ...] = ()


@dataclass(frozen=True, slots=True)
class RenderedNotification:
    """A place with what would be said there."""

    place: NotificationTarget
    text: str
    actions: tuple[Action, ...] = ()
    media: tuple[Media, ...] = ()

    def to_json(self) -> JsonObject:
        """Write it down for the database."""
        place = self.place
        return {
            "identity_id": place.identity_id,
            "channel": place.channel,
            "account": place.account,
            "peer": place.peer,
            "thread": place.thread,
            "text": self.text,
            "actions": [cast(JsonObject, asdict(action)) for action in self.actions],
            "media": [cast(JsonObject, asdict(media)) for media in self.media],
        }


@dataclass(frozen=True, slots=True)
class NotifyResult:
    """What became of a call: the notification's state, `duplicate` for known news, and where it is owed."""

    state: str
    id: str
    conversation_id: str = ""
    channel: str = ""


@dataclass(frozen=True, slots=True)
class StoredNotification:
    """A notification as it stands.

    `anew`: nobody has decided yet when it is said, or its person changed their mind about it. `aside`: it is said
    only where nobody can answer, since what it is about waits elsewhere.
    """

    id: str
    notification: Notification
    state: str
    at: datetime
    tried: tuple[str, ...] = ()
    anew: bool = False
    reason: str = ""
    digest_id: str = ""
    outbound_id: str = ""
    repeats: int = 0
    aside: bool = False


@dataclass(frozen=True, slots=True)
class Timing:
    """The moments of one call: now, and when to go elsewhere unless the person has reacted by then."""

    now: datetime
    fall_back_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class NotificationStore:
    """Keep, owe, hold and find notifications. Every call that writes may be repeated."""

    database: Database
    make_id: IdMaker = field(repr=False)

    async def recipient(self, tenant_id: str, wanted: str, now: datetime) -> Recipient:
        """Read a person, with the places where they can be told something; `wanted` is a conversation's id."""
        async with self.database.tenant(tenant_id) as connection:
            person = await connection.fetchrow(
                "select t.timezone, t.preferred_channel, t.quiet_from, t.quiet_until, t.muted,"
                " array(select n.owed_at from notifications n where n.tenant_id = $1 and n.owed_at > $2"
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
            person["timezone"],
            person["preferred_channel"],
            quiet,
            tuple(person["muted"]),
            tuple(person["recent"]),
            tuple(NotificationTarget(**dict(row)) for row in rows),
        )

    async def keep(
        self,
        tenant_id: str,
        id: str,
        notification: Notification,
        state: str,
        entries: Sequence[RenderedNotification],
        when: Timing,
        not_before: datetime | None = None,
    ) -> NotifyResult:
        """Keep news; `state` is `owed` (to the first of the entries that may be written to), `held` or `muted`."""
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
        return NotifyResult(row["state"], row["id"], row["conversation_id"], row["channel"])

    async def enqueue(
        self, tenant_id: str, id: str, before: str, entries: Sequence[RenderedNotification], when: Timing
    ) -> NotifyResult | None:
        """Owe a notification whose state is `before`; None when another worker did."""
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
        return NotifyResult(row["state"], id, row["conversation_id"], row["channel"]) if row else None

    async def owe_digest(
        self,
        tenant_id: str,
        ids: Sequence[str],
        digest: Notification,
        entries: Sequence[RenderedNotification],
        when: Timing,
    ) -> NotifyResult | None:
        """Owe one notification in place of several held ones; None when another worker had one of them."""
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
        return NotifyResult(row["state"], row["id"], row["conversation_id"], row["channel"]) if row else None

    async def find_held(self, now: datetime, limit: int = 100, without: Sequence[str] = ()) -> list[str]:
        """Find whose held news is due, but not that of the people in `without`."""
        rows = await self.database.rows("select * from find_held($1,$2,$3)", now, limit, list(without))
        return [row["tenant_id"] for row in rows]

    async def held(self, tenant_id: str, now: datetime, limit: int = 500) -> list[StoredNotification]:
        """Return a person's held news that is due, the oldest first."""
        async with self.database.tenant(tenant_id) as connection:
            rows = await connection.fetch(
                "select *, not_before = '-infinity' as anew from notifications"
                " where tenant_id = $1 and state = 'held' and not_before <= $2 order by at, id limit $3",
                tenant_id,
                now,
                limit,
            )
        return [_kept(row) for row in rows]

    async def hold(self, tenant_id: str, ids: Sequence[str], until: datetime) -> None:
        """Hold news, or hold it longer; what was sent already goes elsewhere only then, too."""
        async with self.database.tenant(tenant_id) as connection:
            await connection.execute(
                "update notifications set not_before = $3::timestamptz,"
                " state = case when state = 'failed' then 'held' else state end,"
                " fall_back_at = case when state = 'sent' then $3::timestamptz end"
                " where tenant_id = $1 and id = any ($2) and state in ('held', 'failed', 'sent')",
                tenant_id,
                list(ids),
                until,
            )

    async def mute(self, tenant_id: str, ids: Sequence[str]) -> None:
        """Let held news go unsaid."""
        async with self.database.tenant(tenant_id) as connection:
            await connection.execute(
                "update notifications set state = 'muted' where tenant_id = $1 and id = any ($2) and state = 'held'",
                tenant_id,
                list(ids),
            )

    async def find_undelivered(
        self, now: datetime, limit: int = 50, without: Sequence[str] = ()
    ) -> list[tuple[str, str]]:
        """Find (tenant, notification) of what failed, got stuck, or met no reaction in time, but none of `without`."""
        query = "select * from find_undelivered($1,$2,$3,$4)"
        rows = await self.database.rows(query, now, STUCK, limit, list(without))
        return [(row["tenant_id"], row["notification_id"]) for row in rows]

    async def read(self, tenant_id: str, id: str) -> StoredNotification | None:
        """Return one notification."""
        async with self.database.tenant(tenant_id) as connection:
            row = await connection.fetchrow(
                "select *, false as anew from notifications where tenant_id = $1 and id = $2", tenant_id, id
            )
        return _kept(row) if row is not None else None

    async def withdraw(self, tenant_id: str, id: str) -> bool:
        """Take back what is not under way, so that it can go elsewhere; False when it is."""
        row = await self.database.call("select withdraw_notification($1,$2) as done", tenant_id, id)
        return bool(row and row["done"])

    async def is_urgent_run(self, tenant_id: str, run_id: str) -> bool:
        """Return whether a task's run is one whose news passes quiet hours."""
        async with self.database.tenant(tenant_id) as connection:
            found = await connection.fetchval(
                "select t.output ->> 'urgency' from task_runs r join tasks t on t.tenant_id = r.tenant_id"
                " and t.id = r.task_id where r.tenant_id = $1 and r.id = $2",
                tenant_id,
                run_id,
            )
        return bool(found == Urgency.URGENT)

    async def held_cards(self, limit: int = 100) -> list[tuple[str, str, str]]:
        """Return (tenant, outbound, approval) of the cards that quiet hours hold."""
        rows = await self.database.rows("select * from find_held_cards($1)", limit)
        return [(row["tenant_id"], row["outbound_id"], row["approval_id"]) for row in rows]

    async def release_card(self, tenant_id: str, outbound_id: str, approval_id: str) -> list[str]:
        """Let a held card be sent; return the conversations that it is owed to, none when it was not held."""
        row = await self.database.call("select release_outbound($1,$2) as released", tenant_id, outbound_id)
        # One of high risk that goes by SMS stands in another chat, too: there it can be approved.
        other = await self.database.call(
            "select show_elsewhere($1,$2,$3) as place", tenant_id, approval_id, self.make_id("out")
        )
        async with self.database.tenant(tenant_id) as connection:
            home = await connection.fetchval(
                "select conversation_id from outbound where tenant_id = $1 and id = $2", tenant_id, outbound_id
            )
        return [place for place in (row and row["released"] and home, other and other["place"]) if place]

    async def prune(self, before: datetime, limit: int = 1000) -> int:
        """Delete old notifications that are over; return how many went."""
        row = await self.database.call("select * from prune_notifications($1,$2)", before, limit)
        return int(row["pruned"]) if row else 0


# Of each identity the conversation at top level that the person wrote in last; and the wanted one, if it is theirs.
# Where nobody has written yet, some providers deliver to the user key itself.
_PLACES = """
select i.id as identity_id, i.channel, i.account, coalesce(c.peer, i.user_key) as peer, '' as thread,
       case when c.thread = '' then c.id else '' end as conversation_id, c.last_inbound_at
from identities i left join lateral (
    select * from conversations c where c.tenant_id = i.tenant_id and c.identity_id = i.id
    order by c.thread = '' desc, c.last_inbound_at desc nulls last limit 1) c on true
where i.tenant_id = $1 and i.state = 'active' and i.admitted <> ''
  and (c.id is not null or i.channel in ('sms', 'telegram', 'push', 'email'))
union all
select i.id, i.channel, i.account, c.peer, c.thread, c.id, c.last_inbound_at
from conversations c join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id
where c.tenant_id = $1 and c.id = $2 and c.thread <> '' and i.state = 'active' and i.admitted <> ''
"""


def _note(id: str, notification: Notification) -> JsonObject:
    return {
        "id": id,
        "category": notification.category,
        "urgency": notification.urgency.value,
        "title": notification.title,
        "text": notification.text,
        "dedupe_key": notification.dedupe_key,
        "task_id": notification.task_id,
        "run_id": notification.run_id,
        "conversation_id": notification.conversation_id,
        "actions": [cast(JsonObject, asdict(action)) for action in notification.actions],
        "media": [cast(JsonObject, asdict(media)) for media in notification.media],
    }


def _kept(row: asyncpg.Record) -> StoredNotification:
    notification = Notification(
        text=row["text"],
        category=row["category"],
        urgency=Urgency(row["urgency"]),
        dedupe_key=row["dedupe_key"],
        title=row["title"],
        task_id=row["task_id"],
        run_id=row["run_id"],
        conversation_id=row["wanted"],
        actions=tuple(Action(a["label"], a["token"], ActionStyle(a.get("style", "plain"))) for a in row["actions"]),
        media=tuple(Media(**media) for media in row["media"]),
    )
    return StoredNotification(
        row["id"],
        notification,
        row["state"],
        row["at"],
        tuple(row["tried"]),
        row["anew"],
        row["reason"],
        row["digest_id"] or "",
        row["outbound_id"] or "",
        row["repeats"],
        row["aside"],
    )
