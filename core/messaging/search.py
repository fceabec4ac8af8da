"""Search the messages of a person, both theirs and ours, by words."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.db.database import Connection, Database

_READ = (
    "select m.id, m.conversation_id, m.inward, m.at, m.text, m.turn_id, c.channel,"
    " case when c.recipient_id is null then null else coalesce(nullif(r.name, ''), r.user_key) end as recipient from ("
    " select i.id, i.conversation_id, true as inward, i.received_at as at,"
    "  coalesce(nullif(i.text, ''), i.heard) as text, i.turn_id from inbound i"
    "  where i.tenant_id = $1 and i.id = any ($2)"
    " union all select o.id, o.conversation_id, false, o.created_at, o.text, o.turn_id from outbound o"
    "  where o.tenant_id = $1 and o.id = any ($2)) m"
    " join conversations c on c.tenant_id = $1 and c.id = m.conversation_id"
    " left join recipients r on r.tenant_id = $1 and r.id = c.recipient_id order by m.at desc, m.id desc"
)

_AROUND = 120
"""Characters of an excerpt before and after the word."""
_CUT_WORD = re.compile(r"^\S{1,20}\s+")
"""The rest of a cut word at the beginning of an excerpt."""


@dataclass(frozen=True, slots=True)
class SaidMessage:
    """A found message. `inward`: the person wrote it. `recipient`: the other person to whom we wrote for them."""

    id: str
    conversation_id: str
    channel: str
    inward: bool
    at: datetime
    text: str
    turn_id: str | None = None
    recipient: str | None = None

    def around(self, words: str) -> str:
        """Return the part of the text around the first of the words."""
        return "".join(excerpt(self.text, words))


@dataclass(frozen=True, slots=True)
class FoundAfter:
    """The message after which a page begins."""

    at: datetime
    id: str


class ConversationAccess(Protocol):
    """The conversations of a person, on all their channels."""

    async def search(self, words: str, limit: int = 10) -> Sequence[SaidMessage]:
        """Return messages that have all of the words, the newest first."""
        ...


@dataclass(frozen=True, slots=True)
class PersonMessages:
    """Search in a person's messages. Implements `ConversationAccess`.

    A message can be found once its turn has ended, or once it was sent: only workers index words, so that webhooks pay
    nothing for it.
    """

    database: Database
    tenant_id: str

    async def search(self, words: str, limit: int = 10) -> Sequence[SaidMessage]:
        """Return messages that have all of the words, the newest first."""
        async with self.database.tenant(self.tenant_id) as connection:
            return await find_said(connection, self.tenant_id, words, limit)


async def find_said(
    connection: Connection, tenant_id: str, words: str, limit: int, after: FoundAfter | None = None
) -> list[SaidMessage]:
    """Return messages of a person that have all of the words, the newest first. `after`: the one before the page."""
    found = await connection.fetch(
        "select message_id from find_messages($1, $2, $3, $4)",
        words,
        after.at if after else None,
        after.id if after else "",
        limit,
    )
    return await read_said(connection, tenant_id, [row["message_id"] for row in found])


async def read_said(connection: Connection, tenant_id: str, ids: Sequence[str]) -> list[SaidMessage]:
    """Return messages of a person by their ids, the newest first."""
    rows = await connection.fetch(_READ, tenant_id, ids) if ids else []
    return [
        SaidMessage(
            row["id"],
            row["conversation_id"],
            row["channel"],
            row["inward"],
            row["at"],
            row["text"],
            row["turn_id"],
            row["recipient"],
        )
        for row in rows
    ]


def excerpt(text: str, words: str) -> tuple[str, str, str]:
    """Return an excerpt around the first of the words: the text before it, the word as written, the text after it."""
    place = _first_place(text, words)
    start, end = place if place else (0, 0)
    before, after = text[max(start - _AROUND, 0) : start], text[end : end + _AROUND]
    if start > _AROUND:
        before = "…" + _CUT_WORD.sub("", before)
    return before, text[start:end], after + ("…" if end + _AROUND < len(text) else "")


def _first_place(text: str, words: str) -> tuple[int, int] | None:
    found = (re.search(rf"{re.escape(word)}\w*", text, re.IGNORECASE) for word in _stems(words))
    places = [match.span() for match in found if match]
    return min(places, default=None)


def _stems(words: str) -> Iterable[str]:
    """Return the words without plural endings, so that a search for "boilers" also marks "boiler"."""
    for word in re.findall(r"\w+", words):
        yield word[:-1] if len(word) > 4 and word.endswith("s") else word
