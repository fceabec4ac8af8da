"""The inbox: the only door in. A call that returns has committed; a call that raises may be retried."""

from dataclasses import replace

import asyncpg
import structlog

from core.approvals.exact_replies import parse_exact_reply
from core.clock import Clock
from core.db.database import Database
from core.db.groups import GroupedStatement
from core.ids import IdMaker
from core.inbox.addresses import Addresses
from core.inbox.amendments import Amendments
from core.inbox.approval_decisions import Decisions
from core.inbox.arrival import named, of_message
from core.inbox.ignored import Ignored
from core.inbox.opt_outs import OptOuts
from core.inbox.overload import Overload, Refusal
from core.inbox.overview import Overviews
from core.inbox.reactions import Reactions
from core.inbox.statuses import Statuses
from core.inbox.strangers import Strangers
from core.messaging.channels import Received
from core.messaging.chat_reader import chat_words
from core.messaging.inbound import Amendment, Inbound, PlaceMove, Reaction
from core.messaging.messages import (
    AddressChange,
    IgnoredMessage,
    IgnoreReason,
    InboundMessage,
    Origin,
    Press,
    ReachabilityChange,
    SenderProfile,
    StatusUpdate,
)
from core.messaging.pointed import EDITED
from core.messaging.talk_words import INTERRUPT
from core.messaging.word_buttons import word_pressed
from core.people.access_policy import Access
from core.queue.limits import BacklogLimits
from core.queue.wakeups import Wakeups

_log = structlog.get_logger()


class Inbox(Overviews):
    """Commit all that channels parsed, and wake a worker. Messages that come together share a commit.

    `access`: the policy for strangers; by default they are given a code. A message beyond the limits `waiting` is
    stored but refused. On the channels in `codes_only` approvals are decided by their codes only.
    """

    def __init__(
        self,
        database: Database,
        wakeups: Wakeups,
        make_id: IdMaker,
        access: Access | None = None,
        *,
        clock: Clock | None = None,
        waiting: BacklogLimits | None = None,
        codes_only: frozenset[str] = frozenset(),
    ) -> None:
        access, clock, waiting = access or Access(), clock or Clock(), waiting or BacklogLimits()
        super().__init__(database, clock)
        self._wakeups = wakeups
        self._make_id = make_id
        self._access = access
        self._messages = GroupedStatement(
            database, "select * from receive_messages($1,$2,$3,$4)", (waiting.of_person, waiting.of_all)
        )
        self._overload = Overload(database, wakeups, make_id, waiting)
        self._decisions = Decisions(database, wakeups, make_id, access, clock, codes_only)
        self._strangers = Strangers(database, wakeups, make_id, access, clock)
        self._ignored = Ignored(database, wakeups, make_id, access)
        self._reactions = Reactions(database, wakeups, make_id, access, clock, self._decisions, self._ignored)
        self._statuses = Statuses(database, wakeups)
        self._opt_outs = OptOuts(database, wakeups, make_id)
        self._addresses = Addresses(database)
        self._amendments = Amendments(database, wakeups, make_id, access, clock, self._overload, self._receive)

    async def accept(self, inbound: Inbound) -> Received:
        """Commit it (promise 1), once (promise 2).

        Raises `StoreUnavailable` if it may not be stored, and `RequestRefused` if it names no sender.
        """
        match inbound:
            case InboundMessage():
                return await self._receive(inbound)
            case Amendment():
                return await self._amendments.take(inbound)
            case Press():
                return await self._press(inbound)
            case Reaction():
                return await self._reactions.receive(inbound)
            case IgnoredMessage():
                return await self._ignored.record(inbound)
            case StatusUpdate():
                return await self._statuses.apply(inbound)
            case ReachabilityChange():
                return await self._opt_outs.change(inbound)
            case AddressChange() | SenderProfile() | PlaceMove():
                return await self._addresses.record(inbound)

    async def _receive(self, message: InboundMessage) -> Received:
        address, sender = message.address, named(message.sender)
        # An edit decides nothing and commands nothing: a sweep may find a message that was edited meanwhile.
        own = message.origin is Origin.OWN and EDITED not in message.points
        command = message.command or chat_words().read(message.text, address.channel)
        message = replace(message, command=command if own else None)
        exact = parse_exact_reply(message.text) if own and command is None and not message.media else None
        if exact is not None:
            decided = await self._decisions.exact(message, sender, exact)
            return await self._received(message, sender, decided, await self._overload.refuse(decided))
        row = await self._messages.write(
            (address.channel, address.account, sender),
            (address.channel, address.account, address.peer, address.thread),
            of_message(message, sender, self._access, self._make_id),
        )
        return await self._received(message, sender, row, row["refused"])

    async def _received(
        self, message: InboundMessage, sender: str, row: asyncpg.Record, refusal: Refusal | None
    ) -> Received:
        """Wake a worker for an accepted message, or for the reply to a refused message."""
        if row["inbound_id"] is None:
            return await self._strangers.meet(message, sender) or await self._receive(message)
        if refusal is not None:
            await self._overload.tell(message, row, refusal)
        elif row["lane_id"]:
            self._wakeups.wake_turn(row["lane_id"])
            if row.get("interrupts") or (message.command and message.command.name == INTERRUPT.name):
                self._wakeups.interrupt_turn(row["lane_id"])
        # Each sweep hands in known messages again, every few minutes: they would be most of the log.
        tell = _log.debug if row["duplicate"] else _log.info
        tell("message_received", channel=message.address.channel, message=row["inbound_id"], duplicate=row["duplicate"])
        return Received(row["inbound_id"], row["duplicate"])

    async def _press(self, press: Press) -> Received:
        """Receive a press as a decision, an answer or a typed word; a press of a foreign button is only recorded."""
        if typed := word_pressed(press):
            return await self._receive(typed)
        foreign = IgnoredMessage(press.address, press.sender, press.keys, IgnoreReason.UNSUPPORTED)
        return await self._decisions.press(press, named(press.sender)) or await self._ignored.record(foreign)
