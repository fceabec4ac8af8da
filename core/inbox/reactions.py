"""Reactions at the door: to a card, in the way of presses; to anything else, kept for abilities."""

import re
from dataclasses import dataclass, replace

import structlog

from core.approvals.exact_replies import button
from core.approvals.reactions import ReactedCard, read_reactions
from core.clock import Clock
from core.db.database import Database
from core.ids import IdMaker
from core.inbox.approval_decisions import Decisions
from core.inbox.arrival import named, of_press
from core.inbox.ignored import Ignored
from core.json_types import JsonObject
from core.messaging.channels import Received
from core.messaging.inbound import Reaction
from core.messaging.messages import IgnoredMessage, IgnoreReason, Press
from core.people.access_policy import Access
from core.queue.wakeups import Wakeups

MOST_MISSED = 5
"""Quotes of an hour that fitted none of our messages; after so many, a quote decides nothing there."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Reactions:
    """Receive reactions. Statements may be repeated: their keys make a repeat change nothing."""

    database: Database
    wakeups: Wakeups
    make_id: IdMaker
    access: Access
    clock: Clock
    decisions: Decisions
    ignored: Ignored

    async def receive(self, reaction: Reaction) -> Received:
        """Record a reaction, as a decision if it is one; one to any other message than ours is ignored.

        Raises `RequestRefused` if it names no sender.
        """
        sender = named(reaction.sender)
        if received := await self._receive(reaction, sender):
            return received
        return await self.ignored.record(IgnoredMessage(reaction.address, sender, reaction.keys, IgnoreReason.REACTION))

    async def _receive(self, reaction: Reaction, sender: str) -> Received | None:
        press = Press(reaction.address, sender, reaction.keys, token="", provider_id=reaction.message)
        arrival = of_press(press, sender, self.access, self.make_id)
        quote = " ".join(reaction.quote.split())
        met = await self.database.call(
            "select * from reacted_message($1,$2,$3,$4)", arrival, reaction.message, quote, reaction.cut
        )
        if met is None and not quote:
            return None
        verb, taken_back = read_reactions(reaction.added, reaction.removed)
        tokens: list[str] = met["tokens"] if met else []
        if met is not None:
            address = replace(reaction.address, thread=met["thread"])
            press = replace(press, address=address, provider_id=met["provider_id"])
        if met is not None and verb is not None and len(tokens) == 1:
            card = ReactedCard(
                taken_back=taken_back,
                at_end=met["at_end"],
                names_code=not quote or (_names(quote, met["codes"][0]) and met["missed"] < MOST_MISSED),
                redrawn=not quote,
                decided_how=met["hows"][0],
            )
            return await self.decisions.press(replace(press, token=button(verb, tokens[0])), sender, card)
        decides = verb is not None and not taken_back
        why = "unknown" if met is None else "kept" if not tokens else "several" if decides else "other"
        change: JsonObject = {
            "why": why,
            "tokens": [*tokens],
            "added": [*reaction.added],
            "removed": [*reaction.removed],
            "at": reaction.at.isoformat() if reaction.at else None,
        }
        row = await self.database.one(
            "select * from receive_reaction($1,$2,$3,$4)",
            of_press(press, sender, self.access, self.make_id),
            met["outbound_id"] if met else None,
            change,
            self.clock.now(),
        )
        if row["conversation_id"]:
            self.wakeups.wake_delivery(row["conversation_id"])
        _log.info("reacted", channel=reaction.address.channel, outcome=why, duplicate=row["duplicate"])
        return Received(row["inbound_id"], row["duplicate"])


def _names(quote: str, code: str) -> bool:
    """Return whether a quote of a card has its code: by a text, the code proves that its sender has the card."""
    return re.search(rf"\b{re.escape(code)}\b", quote) is not None
