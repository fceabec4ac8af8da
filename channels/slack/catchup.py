"""Messages missed while away: the histories of our direct conversations, through the same parser and inbox.

Slack gives up on an event after three retries in six minutes, and keeps nothing for sockets that are closed, so
the histories are the only way back. Source: docs.slack.dev, reference/methods/conversations.history.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import structlog

from channels.slack.changes import read_edit
from channels.slack.messages import AppIdentity, read_message
from channels.slack.payload_fields import CHANNEL, TS, name_at, objects_at, optional_name
from channels.sweep import bring
from core.errors import RequestRefused, Unavailable
from core.json_types import JsonObject
from core.messaging.channels import InboundSink, Sweep
from core.messaging.inbound import Amendment
from core.messaging.messages import IgnoredMessage, InboundMessage
from core.messaging.pointed import EDITED
from providers.slack.client import SlackApi, next_cursor

OVERLAP = timedelta(minutes=5)
"""Read this much further back than requested: clocks differ."""
ACTIVE = timedelta(days=7)
"""How far back a thread's root may lie: a history shows only roots, by the root's own time."""

_PAGE = 200
_MAX_PAGES = 50
_log = structlog.get_logger()


async def catch_up(api: SlackApi, sink: InboundSink, ours: AppIdentity, since: datetime, sweep: Sweep) -> int:
    """Hand in people's messages since then, oldest first in each conversation; return how many were new.

    Slack allows about 50 calls of a method a minute, so a sweep over many people takes long: conversations are read in
    the order of their ids, and the place reached is the last conversation that was read to its end. Raises
    `Unavailable` when Slack does not answer, `StoreUnavailable` when nothing can be stored.
    """
    if not ours.team:
        raise Unavailable("Slack has not told our team yet")
    start = since.astimezone(UTC) - OVERLAP
    new = 0
    for channel in sorted(await _conversations(api)):
        if channel > sweep.place:
            new += await _bring(api, sink, channel, ours, start)
            await sweep.reached(channel)
    return new


async def _bring(api: SlackApi, sink: InboundSink, channel: str, ours: AppIdentity, start: datetime) -> int:
    new = 0
    for record in await _missed(api, channel, start):
        for inbound in _read(record, channel, ours):
            received = await bring(sink, inbound)
            new += not received.duplicate and not isinstance(inbound, Amendment)
    return new


async def _conversations(api: SlackApi) -> list[str]:
    channels = await _all(api, "conversations.list", "channels", types="im", exclude_archived="true")
    alive = [channel for channel in channels if not channel.get("is_user_deleted") and not channel.get("is_archived")]
    return [name_at(channel, "id", CHANNEL) for channel in alive]


async def _missed(api: SlackApi, channel: str, start: datetime) -> list[JsonObject]:
    """Return the records that were written or edited since then, replies included, in the order of their `ts`."""
    roots = await _all(
        api, "conversations.history", "messages", channel=channel, oldest=_stamp(start - ACTIVE), inclusive="true"
    )
    records = {}
    for root in roots:
        ts = name_at(root, "ts", TS)
        records[ts] = root
        if float(optional_name(root, "latest_reply", TS) or 0) >= start.timestamp():
            thread = await _all(
                api, "conversations.replies", "messages", channel=channel, ts=ts, oldest=_stamp(start), inclusive="true"
            )
            records |= {name_at(reply, "ts", TS): reply for reply in thread}
    return [records[ts] for ts in sorted(records, key=float) if _newest(records[ts], ts) >= start.timestamp()]


def _newest(record: JsonObject, ts: str) -> float:
    edited = record.get("edited")
    return max(float(ts), float(optional_name(edited, "ts", TS) or 0) if isinstance(edited, dict) else 0)


def _read(record: JsonObject, channel: str, ours: AppIdentity) -> list[InboundMessage | Amendment | IgnoredMessage]:
    """Return a message, and its author's change of it: the change may be new even if the message is known."""
    try:
        message = read_message(record, channel, ours, direct=True)
        change = read_edit(record, channel, ours) if "edited" in record else None
    except RequestRefused as error:
        _log.warning("slack_message_not_readable", reason=error.reason)
        return []
    if isinstance(message, InboundMessage) and isinstance(change, Amendment):
        # If it was never received it is known as it was changed only, and an edit decides nothing.
        message = replace(message, points=(EDITED, *message.points))
    # Our own answers stand in the history too: they were never missed.
    read = [message] if isinstance(message, InboundMessage) or message.reply else []
    return [*read, change] if isinstance(change, Amendment) else [*read]


async def _all(api: SlackApi, method: str, name: str, **arguments: str) -> list[JsonObject]:
    """Return the items of all pages of a listing, at most `_MAX_PAGES`. Raises `Unavailable`."""
    items: list[JsonObject] = []
    query: JsonObject = {"limit": _PAGE, **arguments}
    for _ in range(_MAX_PAGES):
        page = await api.read(method, query)
        try:
            items += objects_at(page, name)
        except RequestRefused as error:
            raise Unavailable(f"{method}: {error.reason}") from error
        cursor = next_cursor(page)
        if cursor is None:
            break
        query["cursor"] = cursor
    return items


def _stamp(moment: datetime) -> str:
    return f"{moment.timestamp():.6f}"
