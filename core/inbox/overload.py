"""Messages that are stored but refused, because too many wait: their senders are told."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import asyncpg
import structlog

from core.db.database import Database
from core.ids import IdMaker
from core.messaging.messages import InboundMessage
from core.queue.limits import BacklogLimits
from core.queue.wakeups import Wakeups

type Refusal = Mapping[str, Any]
"""The result of `refuse_beyond`: the notice's conversation, if any, whose backlog is full, the person's language."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Overload:
    """Refuse messages beyond the limits, and tell their senders."""

    database: Database
    wakeups: Wakeups
    make_id: IdMaker
    limits: BacklogLimits

    async def refuse(self, row: asyncpg.Record) -> Refusal | None:
        """Refuse an exact word that decided nothing, like any other text, if too many messages wait."""
        if row["duplicate"] or not row["lane_id"]:
            return None
        refused = await self.database.one(
            "select refuse_overload($1,$2,$3,$4) as refused",
            row["tenant_id"],
            row["inbound_id"],
            self.limits.of_person,
            self.limits.of_all,
        )
        refusal: Refusal | None = refused["refused"]
        return refusal

    async def tell(self, message: InboundMessage, row: asyncpg.Record, refusal: Refusal) -> None:
        """Tell the sender of a message that it was refused, once for a backlog, and wake the delivery."""
        channel = message.address.channel
        _log.warning("message_refused", channel=channel, message=row["inbound_id"], reason="overload")
        conversation = refusal["conversation"]
        if not conversation:
            return
        text = self.limits.refusal(full=refusal["full"], language=refusal["language"])
        told = await self.database.one(
            "select tell_overload($1,$2,$3,$4) as told", row["tenant_id"], conversation, self.make_id("out"), text
        )
        if told["told"]:
            self.wakeups.wake_delivery(conversation)
