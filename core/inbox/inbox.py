"""The inbox: the one door in. What it returned for is committed; what it raised for may be sent again."""

from dataclasses import replace
from typing import Protocol

import asyncpg
import structlog

from core.approvals.exact_replies import parse_exact_reply
from core.clock import Clock
from core.db.database import Database
from core.errors import RequestRefused
from core.ids import IdMaker
from core.inbox.arrival import from_address, of_message
from core.inbox.decisions import Decisions
from core.inbox.link_requests import LinkStrangers
from core.json_types import storable
from core.messaging.channels import Received
from core.messaging.commands import own_words
from core.messaging.messages import (
    AddressChange,
    IgnoredMessage,
    IgnoreReason,
    Inbound,
    InboundMessage,
    Origin,
    Press,
    ReachabilityChange,
    SenderProfile,
    StatusUpdate,
)
from core.people.access_policy import Access, Policy
from core.people.pairing import (
    MAX_GUESSES_PER_ACCOUNT,
    MAX_GUESSES_PER_SENDER,
    VALID,
    code_hash,
    new_code,
    pairing_sentence,
)
from core.queue.limits import BUSY, BacklogLimits
from core.queue.wakeups import Wakeups

_log = structlog.get_logger()


class CodeMaker(Protocol):
    """Make a pairing code by chance."""

    def __call__(self) -> str: ...


class Inbox:
    """Take in whatever a channel parsed: one transaction each, then a wakeup.

    `access` says who may come in; unless told otherwise, strangers are given a code. Past `waiting` a message is
    kept and refused. On the channels in `codes_only` approvals are decided by their codes only.
    """

    def __init__(
        self,
        database: Database,
        wakeups: Wakeups,
        make_id: IdMaker,
        access: Access | None = None,
        *,
        clock: Clock | None = None,
        make_code: CodeMaker = new_code,
        waiting: BacklogLimits | None = None,
        codes_only: frozenset[str] = frozenset(),
    ) -> None:
        self._database = database
        self._wakeups = wakeups
        self._make_id = make_id
        self._access = access or Access()
        self._clock = clock or Clock()
        self._make_code = make_code
        self._waiting = waiting or BacklogLimits()
        self._decisions = Decisions(database, wakeups, make_id, self._access, self._clock, codes_only)
        self._links = LinkStrangers(database, wakeups, make_id, self._clock)

    async def accept(self, inbound: Inbound) -> Received:
        """Commit it (promise 1), once (promise 2).

        Raises `StoreUnavailable` when it may not be kept, and `RequestRefused` when nobody is named as its sender.
        """
        match inbound:
            case InboundMessage():
                return await self._receive(inbound)
            case Press():
                return await self._press(inbound)
            case IgnoredMessage():
                return await self._ignore(inbound)
            case StatusUpdate():
                return await self._apply_status(inbound)
            case ReachabilityChange():
                return await self._change_reachability(inbound)
            case AddressChange():
                return await self._change_address(inbound)
            case SenderProfile():
                return await self._note_sender(inbound)

    async def _receive(self, message: InboundMessage) -> Received:
        address = message.address
        sender = _named(message.sender)
        own = message.origin is Origin.OWN
        command = message.command or own_words(message.text, address.channel)
        message = replace(message, command=command if own else None)
        exact = parse_exact_reply(message.text) if own and command is None and not message.media else None
        if exact is not None:
            decided = await self._decisions.exact(message, sender, exact)
            return await self._received(message, sender, decided, await self._refused(decided))
        row = await self._database.one(
            "select r.*, note_reply_to(r.tenant_id, r.inbound_id, $1 ->> 'reply_to'),"
            " note_origin(r.tenant_id, r.inbound_id, $1 ->> 'origin'),"
            " refuse_overload(r.tenant_id, case when not r.duplicate then r.inbound_id end, $2,$3,$4,$5,$6) as refused"
            " from receive_message($1::jsonb) r",
            of_message(message, sender, self._access, self._make_id),
            *self._bounds(),
        )
        return await self._received(message, sender, row, row["refused"])

    def _bounds(self) -> tuple[int, int, str, str, str]:
        return self._waiting.of_person, self._waiting.of_all, self._waiting.full, BUSY, self._make_id("out")

    async def _refused(self, row: asyncpg.Record) -> str | None:
        """Refuse an exact word that decided nothing where too much waits, as any other text."""
        if row["duplicate"] or not row["lane_id"]:
            return None
        said = await self._database.call(
            "select refuse_overload($1,$2,$3,$4,$5,$6,$7) as refused",
            row["tenant_id"],
            row["inbound_id"],
            *self._bounds(),
        )
        return said["refused"] if said else None

    async def _received(
        self, message: InboundMessage, sender: str, row: asyncpg.Record, refused: str | None
    ) -> Received:
        """Ring for what was taken in; `refused`: where something is owed about a refusal, None where it is none."""
        address = message.address
        if row["inbound_id"] is None:
            return await self._meet_stranger(message, sender)
        if refused is not None:
            _log.warning("message_refused", channel=address.channel, message=row["inbound_id"], reason="overload")
            if refused:
                self._wakeups.wake_delivery(refused)
        elif row["lane_id"]:
            self._wakeups.wake_turn(row["lane_id"])
        _log.info(
            "message_received",
            channel=address.channel,
            message=row["inbound_id"],
            duplicate=row["duplicate"],
        )
        return Received(row["inbound_id"], row["duplicate"])

    async def _press(self, press: Press) -> Received:
        """Let a press decide; one that is not of ours is recorded, and nothing else."""
        if received := await self._decisions.press(press, _named(press.sender)):
            return received
        return await self._ignore(IgnoredMessage(press.address, press.sender, press.keys, IgnoreReason.UNSUPPORTED))

    async def _meet_stranger(self, message: InboundMessage, sender: str) -> Received:
        """Keep it without its text; where the policy says so, owe the sentence with a code, once (promise 12)."""
        address, now = message.address, self._clock.now()
        if self._access.policy is Policy.PAIRING and (linked := await self._links.take(message, sender)):
            return linked
        code = self._make_code() if self._access.policy is Policy.PAIRING else ""
        row = await self._database.one(
            "select * from meet_stranger($1,$2,$3,$4,$5,$6,$7)",
            of_message(message, sender, self._access, self._make_id),
            code_hash(code) if code else None,
            pairing_sentence(code) if code else "",
            now,
            now + VALID,
            MAX_GUESSES_PER_SENDER,
            MAX_GUESSES_PER_ACCOUNT,
        )
        if row["conversation_id"]:
            self._wakeups.wake_delivery(row["conversation_id"])
        _log.info(
            "message_ignored",
            channel=address.channel,
            reason=IgnoreReason.UNKNOWN.value,
            code_given=bool(row["conversation_id"]),
        )
        return Received(message.keys[0] if message.keys else "", duplicate=row["duplicate"])

    async def _ignore(self, message: IgnoredMessage) -> Received:
        address = message.address
        row = await self._database.call(
            "select ignore_message($1,$2,$3,$4) as added",
            address.channel,
            address.account,
            message.keys,
            message.reason.value,
        )
        _log.info("message_ignored", channel=address.channel, reason=message.reason.value)
        added = bool(row and row["added"])
        if added and message.reply and message.sender:
            await self._say_once(message)
        return Received(message.keys[0] if message.keys else "", duplicate=not added)

    async def _say_once(self, message: IgnoredMessage) -> None:
        """Owe a sentence about it, once per place and reason, to somebody whom we know."""
        row = await self._database.call(
            "select say_once($1,$2,$3) as conversation",
            from_address(message, message.sender, self._make_id),
            message.reason.value,
            message.reply,
        )
        if row and row["conversation"]:
            self._wakeups.wake_delivery(row["conversation"])

    async def _apply_status(self, update: StatusUpdate) -> Received:
        row = await self._database.call(
            "select * from apply_status($1,$2,$3,$4,$5,$6,$7)",
            update.channel,
            update.account,
            update.ref,
            update.provider_id,
            update.status.value,
            update.status.rank,
            update.error_code,
        )
        if row and row["resolved"]:
            self._wakeups.wake_delivery(row["conversation_id"])
        return Received(update.provider_id, duplicate=row is None)

    async def _change_reachability(self, change: ReachabilityChange) -> Received:
        state = "active" if change.reachable else ("stopped" if change.reason == "stopped" else "blocked")
        row = await self._database.call(
            "select * from change_reachability($1,$2,$3,$4)",
            {
                "channel": change.channel,
                "account": change.account,
                "user_key": _named(change.sender),
                "keys": list(change.keys),
                "sent_at": change.said_at.isoformat() if change.said_at else None,
                "outbound": self._make_id("out"),
                "new_conversation": self._make_id("cv"),
            },
            state,
            change.reason,
            change.reply,
        )
        if row and row["conversation_id"]:
            self._wakeups.wake_delivery(row["conversation_id"])
        _log.info("reachability_changed", channel=change.channel, state=state, reason=change.reason)
        return Received(change.keys[0] if change.keys else "", duplicate=not (row and row["changed"]))

    async def _change_address(self, change: AddressChange) -> Received:
        row = await self._database.call(
            "select change_address($1,$2,$3,$4) as moved",
            change.channel,
            change.account,
            change.old_peer,
            change.new_peer,
        )
        return Received(change.keys[0] if change.keys else "", duplicate=not (row and row["moved"]))

    async def _note_sender(self, profile: SenderProfile) -> Received:
        row = await self._database.call(
            "select note_sender($1,$2,$3,$4,$5) as known",
            profile.channel,
            profile.account,
            _named(profile.sender),
            profile.name,
            profile.timezone,
        )
        return Received(profile.sender, duplicate=not (row and row["known"]))


def _named(sender: str) -> str:
    """Return the sender as stored. Raises `RequestRefused` where nobody is named: that is not somebody."""
    stored = storable(sender)
    if not stored.strip():
        raise RequestRefused("no sender")
    return stored
