"""Answers that are held back, in Postgres: a person's choice, the end of the wait, and the limit."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial

import asyncpg

from abilities.cost.links import VALID, AnswerLink, AnswerLinks
from core.clock import Clock
from core.db.database import Database
from core.language.catalogue import gettext, speaking
from core.queue.rounds import take_each
from core.queue.wakeups import Wakeups

WAIT = timedelta(hours=1)
"""The time that a person has to choose."""
_LATER = timedelta(minutes=10)
_AT_ONCE = 50


class Way(StrEnum):
    """The ways in which a long answer comes."""

    SEND = "send"
    SHORT = "short"
    READ = "read"
    CHAT = "chat"


BECAME = {
    "": "waits for a choice",
    Way.SEND: "sent whole",
    Way.SHORT: "sent shortened",
    Way.READ: "read by a link",
    Way.CHAT: "sent to another chat",
    "lapsed": "nobody chose: sent shortened",
    "over": "over without a choice",
}
"""The ends of a held answer, for operators, by the way that the table names."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A choice that was made. `conversation_id` and `channel`: where the answer is queued; `url`: where it is read."""

    conversation_id: str
    channel: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class HeldAnswers:
    """The held answers of a person. `most`: the operator's limit in segments; no `links` without a public address."""

    database: Database
    clock: Clock
    tenant_id: str
    most: int
    links: AnswerLinks | None = None

    async def choose(self, conversation_id: str, turn_id: str, way: Way) -> Chosen | None:
        """Send the answer that the conversation's last question is about; None if there is none. Repeatable."""
        link = await self._link(conversation_id, turn_id) if way is Way.READ else None
        if way is Way.READ and link is None:
            return None
        row = await self.database.one(
            "select * from choose_answer($1,$2,$3,$4,$5,$6)",
            self.tenant_id,
            conversation_id,
            turn_id,
            way.value,
            link.token_hash if link else None,
            self.clock.now() + VALID if link else None,
        )
        if row["outbound_id"] is None:
            return None
        return Chosen(row["conversation_id"], row["channel"], link.url if link else "")

    async def ask_above(self, segments: int) -> int:
        """Store the number of segments from which the person wants to be asked; return the number in force."""
        kept = segments if segments < self.most else None
        await self.database.call("select keep_answer_limit($1,$2)", self.tenant_id, kept)
        return kept or self.most

    async def _link(self, conversation_id: str, turn_id: str) -> AnswerLink | None:
        if self.links is None:
            return None
        row = await self.database.one(
            "select open_question($1,$2,$3) as outbound_id", self.tenant_id, conversation_id, turn_id
        )
        return self.links.of(self.tenant_id, row["outbound_id"]) if row["outbound_id"] else None


async def end_waits(database: Database, clock: Clock, wakeups: Wakeups, links: AnswerLinks | None) -> None:
    """Send each answer about which nobody decided, shortened, and a link. Any number of workers may."""
    now = await clock.sound_now()
    if now is None:
        return
    lapsed = await database.rows("select * from claim_lapsed_answers($1,$2)", now, _AT_ONCE)
    await take_each(lapsed, partial(_end_wait, database, wakeups, links, now), "wait_not_ended")


async def _end_wait(
    database: Database, wakeups: Wakeups, links: AnswerLinks | None, now: datetime, held: asyncpg.Record
) -> None:
    tenant_id, outbound_id = held["tenant_id"], held["outbound_id"]
    person = await database.tenant_row(tenant_id, "select language from tenants where tenant_id = $1")
    link = links.of(tenant_id, outbound_id) if links else None
    with speaking(person["language"] if person else None):
        text = gettext("You can read all of it here for seven days: {link}", link=link.url) if link else ""
    row = await database.one(
        "select lapse_answer($1,$2,$3,$4,$5,$6,$7) as conversation_id",
        tenant_id,
        outbound_id,
        now,
        now + _LATER,
        text,
        link.token_hash if link else None,
        now + VALID if link else None,
    )
    if row["conversation_id"]:
        wakeups.wake_delivery(row["conversation_id"])
