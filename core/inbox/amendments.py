"""Messages that their senders changed or deleted: amended in the inbox's own transaction, without any lease."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace

import structlog

from core.approvals.exact_replies import parse_exact_reply
from core.clock import Clock
from core.db.database import Database
from core.db.decided import decide_and_write
from core.ids import IdMaker
from core.inbox.amendment_rules import CORRECTED_WITHIN, AmendmentFacts, Edit, EditReason, Ruling, RulingKind, rule
from core.inbox.arrival import from_address, named, of_message
from core.inbox.overload import Overload
from core.json_types import storable
from core.language.catalogue import gettext, gettext_noop, speaking
from core.messaging.channels import Received
from core.messaging.chat_reader import chat_words
from core.messaging.inbound import Amendment
from core.messaging.messages import InboundMessage
from core.messaging.pointed import EDITED
from core.people.access_policy import Access
from core.queue.wakeups import Wakeups

DECIDES_NOTHING = gettext_noop("An edited message decides nothing. Send it as a new message if you mean it.")
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Amendments:
    """Receive changes and deletions. Statements may be repeated: their keys make a repeat change nothing.

    `receive` takes in a changed message of which nothing else is known.
    """

    database: Database
    wakeups: Wakeups
    make_id: IdMaker
    access: Access
    clock: Clock
    overload: Overload
    receive: Callable[[InboundMessage], Awaitable[Received]]

    async def take(self, change: Amendment) -> Received:
        """Amend the message that was changed, or take back the message that was deleted."""
        message = change.message
        if message is None:
            return await self._delete(change)
        received = await self._change(change, message)
        # The message itself may have come in the meantime.
        return received or await self._change(change, message) or Received(change.keys[0], duplicate=True)

    async def _change(self, change: Amendment, message: InboundMessage) -> Received | None:
        """Amend a message; return None if it came in only now, and has to be looked at again."""
        sender, of = named(message.sender), list(change.of)
        edit = Edit(
            message.text,
            tuple(asdict(media) for media in (*message.media, *message.pointed_media)),
            _decides(message),
            change.changed_at,
            change.sent_at,
        )
        amended = replace(message, keys=change.keys, sent_at=change.changed_at, command=None, goes_on=None)
        arrival = of_message(amended, sender, self.access, self.make_id)
        ruling, row = await decide_and_write(
            self.database,
            ("select amendment_facts($1,$2) as facts", (arrival, of)),
            lambda facts: rule(AmendmentFacts.from_json(facts), edit),
            lambda facts, made: (
                "select * from receive_amendment($1,$2,$3,$4,$5)",
                (arrival, of, facts, made.to_json(_said(made, str(facts.get("language") or ""))), self.clock.now()),
            ),
        )
        reason = ruling.reason.value if ruling.reason else ""
        _log.info("message_changed", channel=change.address.channel, fate=ruling.kind.value, reason=reason)
        if ruling.kind is RulingKind.MESSAGE:
            first = replace(message, keys=change.of, command=None, goes_on=None, points=(EDITED, *message.points))
            received = await self.receive(first)
            return None if received.duplicate else received
        refusal = await self.overload.refuse(row)
        if refusal is not None:
            await self.overload.tell(message, row, refusal)
        elif row["lane_id"]:
            self.wakeups.wake_turn(row["lane_id"])
            if row["interrupts"]:
                self.wakeups.interrupt_turn(row["lane_id"])
        for lane in row["lanes_to_wake"]:
            self.wakeups.wake_turn(lane)
        if row["conversation_id"]:
            self.wakeups.wake_delivery(row["conversation_id"])
        return Received(row["inbound_id"], row["duplicate"] or ruling.reason is EditReason.SAME)

    async def _delete(self, change: Amendment) -> Received:
        sent_at = change.sent_at or change.changed_at
        row = await self.database.call(
            "select * from receive_deletion($1,$2,$3)",
            from_address(change, storable(change.sender), self.make_id),
            list(change.of),
            change.changed_at - sent_at <= CORRECTED_WITHIN,
        )
        _log.info("message_deleted", channel=change.address.channel)
        return Received(row["inbound_id"] if row else None, duplicate=bool(row and row["duplicate"]))


def _decides(message: InboundMessage) -> bool:
    """Return whether a message would be a decision or a chat word if it were new."""
    if message.command or chat_words().read(message.text, message.address.channel):
        return True
    return not message.media and parse_exact_reply(message.text) is not None


def _said(ruling: Ruling, language: str) -> str:
    if not ruling.says:
        return ""
    with speaking(language):
        return gettext(DECIDES_NOTHING)
