"""The inbox: the one door in. What it returned for is committed; what it raised for may be sent again."""

from dataclasses import asdict

import structlog

from core.bell import Bell
from core.channel import Received
from core.database import Database
from core.ids import IdMaker
from core.json_types import storable
from core.messages import (
    AddressChange,
    IgnoredMessage,
    Inbound,
    InboundMessage,
    ReachabilityChange,
    StatusUpdate,
)

_log = structlog.get_logger()


class Inbox:
    """Take in whatever a channel parsed: one transaction each, then the bell."""

    def __init__(self, database: Database, bell: Bell, make_id: IdMaker) -> None:
        self._database = database
        self._bell = bell
        self._make_id = make_id

    async def accept(self, inbound: Inbound) -> Received:
        """Commit it (promise 1), once (promise 2). Raises `StoreUnavailable` when it may not be kept."""
        match inbound:
            case InboundMessage():
                return await self._receive(inbound)
            case IgnoredMessage():
                return await self._ignore(inbound)
            case StatusUpdate():
                return await self._apply_status(inbound)
            case ReachabilityChange():
                return await self._change_reachability(inbound)
            case AddressChange():
                return await self._change_address(inbound)

    async def _receive(self, message: InboundMessage) -> Received:
        address = message.address
        row = await self._database.call(
            "select * from receive_message($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17)",
            self._make_id("msg"),
            address.channel,
            address.account,
            storable(address.peer),
            storable(address.thread),
            storable(message.sender),
            storable(message.keys),
            storable(message.text),
            [asdict(media) for media in message.media],
            asdict(message.command) if message.command else None,
            storable(message.provider_id),
            message.sent_at,
            storable(message.sender_name),
            storable(message.sender_timezone),
            self._make_id("tn"),
            self._make_id("idn"),
            self._make_id("cv"),
        )
        assert row is not None  # noqa: S101 - the function always returns one row
        if row["lane_id"]:
            self._bell.turn(row["lane_id"])
        _log.info(
            "message_received",
            channel=address.channel,
            message=row["inbound_id"],
            duplicate=row["duplicate"],
        )
        return Received(row["inbound_id"], row["duplicate"])

    async def _ignore(self, message: IgnoredMessage) -> Received:
        address = message.address
        row = await self._database.call(
            "select ignore_message($1,$2,$3,$4) as added",
            address.channel,
            address.account,
            storable(message.keys),
            message.reason.value,
        )
        _log.info("message_ignored", channel=address.channel, reason=message.reason.value)
        return Received(message.keys[0] if message.keys else "", duplicate=not (row and row["added"]))

    async def _apply_status(self, update: StatusUpdate) -> Received:
        row = await self._database.call(
            "select * from apply_status($1,$2,$3,$4,$5,$6,$7)",
            update.channel,
            update.account,
            storable(update.ref),
            storable(update.provider_id),
            update.status.value,
            update.status.rank,
            storable(update.error_code),
        )
        if row and row["resolved"]:
            self._bell.delivery(row["conversation_id"])
        return Received(update.provider_id, duplicate=row is None)

    async def _change_reachability(self, change: ReachabilityChange) -> Received:
        state = "active" if change.reachable else ("stopped" if change.reason == "stopped" else "blocked")
        row = await self._database.call(
            "select change_reachability($1,$2,$3,$4,$5,$6) as changed",
            change.channel,
            change.account,
            storable(change.sender),
            state,
            storable(change.reason),
            storable(change.keys),
        )
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
