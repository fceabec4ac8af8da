"""Opt-outs: STOP and START of a person, and a chat that blocks us. The command /stop is an interrupt instead."""

from dataclasses import dataclass

import structlog

from core.db.database import Database
from core.ids import IdMaker
from core.inbox.arrival import named
from core.inbox.languages import language_at
from core.language.catalogue import gettext, speaking
from core.messaging.channels import Received
from core.messaging.messages import Address, ReachabilityChange, ReachabilityReason
from core.messaging.states import IdentityState
from core.queue.wakeups import Wakeups

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class OptOuts:
    """Record whether people can be reached at an address."""

    database: Database
    wakeups: Wakeups
    make_id: IdMaker

    async def change(self, change: ReachabilityChange) -> Received:
        lost = IdentityState.OPTED_OUT if change.reason is ReachabilityReason.OPTED_OUT else IdentityState.BLOCKED
        state = IdentityState.ACTIVE if change.reachable else lost
        reply = await self._in_their_language(change) if change.reply else ""
        row = await self.database.call(
            "select * from change_reachability($1,$2,$3,$4)",
            {
                "channel": change.channel,
                "account": change.account,
                "user_key": named(change.sender),
                "keys": list(change.keys),
                "sent_at": change.said_at.isoformat() if change.said_at else None,
                "outbound": self.make_id("out"),
                "new_conversation": self.make_id("cv"),
            },
            state.value,
            change.reason.value,
            reply,
        )
        if row and row["conversation_id"]:
            self.wakeups.wake_delivery(row["conversation_id"])
        _log.info("reachability_changed", channel=change.channel, state=state.value, reason=change.reason.value)
        return Received(change.keys[0] if change.keys else None, duplicate=not (row and row["changed"]))

    async def _in_their_language(self, change: ReachabilityChange) -> str:
        address = Address(change.channel, change.account, change.sender)
        with speaking(await language_at(self.database, address, named(change.sender))):
            return gettext(change.reply)
