"""Conversations and their messages, in pages: each begins after the end of the previous page."""

from dataclasses import dataclass
from datetime import UTC, datetime

import asyncpg

from core.db.database import Connection
from core.messaging.states import SendState
from core.people.chat_names import masked
from operations.console.access import Scope

PAGE = 30
MESSAGES = 50
_SHOWN = (
    "select c.id, c.channel, c.peer, coalesce(nullif(t.name, ''), i.name, '') as person,"
    " coalesce(c.last_inbound_at, c.created_at) as last_at,"
    " (select count(*) from inbound w where w.tenant_id = $1 and w.conversation_id = c.id and w.state = 'waiting')"
    "  as waiting,"
    " (select r.state from turns r where r.tenant_id = $1 and r.conversation_id = c.id"
    "  and r.state in ('running', 'waiting') order by r.started_at desc limit 1) as turn,"
    " (select coalesce(nullif(m.text, ''), nullif(m.heard, ''), '/' || (m.command ->> 'name')) from inbound m"
    "  where m.tenant_id = $1 and m.conversation_id = c.id and m.reason not like 'edited%'"
    "  order by m.seq desc limit 1) as last_text"
    " from conversations c join tenants t on t.tenant_id = c.tenant_id"
    " left join identities i on i.tenant_id = c.tenant_id and i.id = c.identity_id"
)


@dataclass(frozen=True, slots=True)
class Cursor:
    """The place at which a page of conversations begins: after this conversation."""

    at: datetime
    id: str

    @classmethod
    def read(cls, text: str) -> "Cursor | None":
        """Read a cursor from an address; None for an empty or invalid text."""
        at, _, conversation = text.partition("~")
        try:
            return cls(datetime.fromisoformat(at).astimezone(UTC), conversation) if conversation else None
        except (ValueError, OverflowError):
            return None

    def __str__(self) -> str:
        return f"{self.at.isoformat()}~{self.id}"


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """A conversation in the list. `turn`: running or waiting, if a turn is open."""

    tenant_id: str
    id: str
    channel: str
    person: str
    place: str
    last_at: datetime
    waiting: int
    turn: str
    last_text: str

    @property
    def cursor(self) -> Cursor:
        return Cursor(self.last_at, self.id)


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a conversation. `inward`: the person wrote it. `note`: its outcome."""

    id: str
    at: datetime
    inward: bool
    kind: str
    text: str
    note: str
    failed: bool
    turn_id: str
    files: int


@dataclass(frozen=True, slots=True)
class MessagePage:
    """Messages in order of time; `before` is the place of the page before, or empty."""

    messages: tuple[Message, ...]
    before: str


async def list_conversations(scope: Scope, *, channel: str = "", after: Cursor | None = None) -> list[ConversationRow]:
    """Return a page of conversations, those with the newest messages first."""
    at, last = (after.at, after.id) if after else (None, "")
    viewer = scope.viewer
    if not viewer.operator:
        rows = await scope.tenant_rows(
            viewer.tenant_id,
            f"{_SHOWN} where c.tenant_id = $1 and c.last_inbound_at is not null"
            " and ($2 = '' or c.channel = $2)"
            " and ($3::timestamptz is null or (c.last_inbound_at, c.id) < ($3, $4))"
            " order by c.last_inbound_at desc, c.id desc limit $5",
            channel,
            at,
            last,
            PAGE,
        )
        return [_row(viewer.tenant_id, row) for row in rows]
    found = await scope.everybody().rows("select * from console_conversations($1,$2,$3,$4)", channel, at, last, PAGE)
    shown: dict[str, ConversationRow] = {}
    for tenant_id in dict.fromkeys(row["tenant_id"] for row in found):
        ids = [row["conversation_id"] for row in found if row["tenant_id"] == tenant_id]
        for row in await scope.tenant_rows(tenant_id, f"{_SHOWN} where c.tenant_id = $1 and c.id = any ($2)", ids):
            shown[row["id"]] = _row(tenant_id, row)
    return [shown[row["conversation_id"]] for row in found if row["conversation_id"] in shown]


async def find_conversation(connection: Connection, tenant_id: str, wanted: str) -> ConversationRow | None:
    """Return a conversation of a person."""
    row = await connection.fetchrow(f"{_SHOWN} where c.tenant_id = $1 and c.id = $2", tenant_id, wanted)
    return _row(tenant_id, row) if row else None


async def read_messages(connection: Connection, tenant_id: str, conversation: str, before: str = "") -> MessagePage:
    """Return the newest messages of a conversation, or those before a place."""
    received_below, sent_below = _places(before)
    received = await connection.fetch(
        "select id, seq, received_at as at, text, heard, command, state, reason, outcome, turn_id,"
        " points @> '[{\"whose\": \"changed\"}]' or reason like 'edited%' as edits,"
        " jsonb_array_length(media) as files from inbound where tenant_id = $1 and conversation_id = $2"
        " and seq < coalesce($3::bigint, 9223372036854775807) order by seq desc limit $4",
        tenant_id,
        conversation,
        received_below,
        MESSAGES,
    )
    sent = await connection.fetch(
        "select id, seq, created_at as at, kind, text, state, reason, turn_id, jsonb_array_length(media) as files,"
        " (select concat_ws(' ', p.status, nullif(p.error_code, '')) from outbound_parts p where p.tenant_id = $1"
        "  and p.outbound_id = o.id and p.status in ('undelivered', 'failed') order by p.part limit 1) as lost"
        " from outbound o where tenant_id = $1 and conversation_id = $2 and seq is not null"
        " and seq < coalesce($3::bigint, 9223372036854775807) order by seq desc limit $4",
        tenant_id,
        conversation,
        sent_below,
        MESSAGES,
    )
    # The cursor must lie below the shown messages of both directions.
    newest = sorted([*received, *sent], key=lambda row: (row["at"], row["id"]))[-MESSAGES:]
    shown = {row["id"] for row in newest}
    more = len(received) + len(sent) > len(newest)
    lows = [
        min((row["seq"] for row in rows if row["id"] in shown), default=below or (rows[0]["seq"] + 1 if rows else 0))
        for rows, below in ((received, received_below), (sent, sent_below))
    ]
    of_sent = {row["id"] for row in sent}
    messages = tuple(_sent(row) if row["id"] in of_sent else _received(row) for row in newest)
    return MessagePage(messages, f"{lows[0]}.{lows[1]}" if more else "")


def _places(before: str) -> tuple[int | None, int | None]:
    received, _, sent = before.partition(".")
    if received.isdecimal() and sent.isdecimal() and len(before) < 40:
        return int(received), int(sent)
    return None, None


def _row(tenant_id: str, row: asyncpg.Record) -> ConversationRow:
    return ConversationRow(
        tenant_id,
        row["id"],
        row["channel"],
        row["person"],
        masked(row["peer"]),
        row["last_at"],
        row["waiting"],
        row["turn"] or "",
        row["last_text"] or "",
    )


def _received(row: asyncpg.Record) -> Message:
    text = row["text"] or row["heard"] or (f"/{row['command']['name']}" if row["command"] else "")
    note = row["reason"] or row["outcome"] or row["state"]
    kind = "edit" if row["edits"] else "message"
    return Message(row["id"], row["at"], True, kind, text, note, False, row["turn_id"] or "", row["files"])


def _sent(row: asyncpg.Record) -> Message:
    # A provider may take a message and find later that the recipient cannot be reached.
    failed = bool(row["lost"]) or SendState(row["state"]) in (SendState.FAILED, SendState.AMBIGUOUS)
    note = row["lost"] or row["state"]
    return Message(
        row["id"], row["at"], False, row["kind"], row["text"], note, failed, row["turn_id"] or "", row["files"]
    )
