"""From a changed or deleted Slack message to our inbound types; pure.

Source: docs.slack.dev, reference/events/message/message_changed and message_deleted.
"""

from channels.fields import object_at, text_at
from channels.slack.messages import AppIdentity, moment, own_keys, read_message
from channels.slack.payload_fields import TS, USER, name_at, optional_name
from core.json_types import JsonObject, object_of
from core.messaging.inbound import Amendment
from core.messaging.messages import Address, IgnoredMessage, IgnoreReason, InboundMessage
from providers.slack.wire import CHANNEL_NAME

_WHOSE = (IgnoreReason.OWN, IgnoreReason.BOT, IgnoreReason.GROUP)


def read_change(
    event: JsonObject, channel: str, ours: AppIdentity, *, direct: bool, keys: tuple[str, ...]
) -> Amendment | IgnoredMessage:
    """Return the meaning of a change for us. `keys` are those of the event. Raises `RequestRefused`."""
    if text_at(event, "subtype") == "message_deleted":
        return _deleted(event, channel, ours, direct=direct, keys=keys, ts=name_at(event, "deleted_ts", TS))
    record = object_at(event, "message")
    if text_at(record, "subtype") == "tombstone":  # what is left of a deleted message with replies
        return _deleted(event, channel, ours, direct=direct, keys=keys, ts=name_at(record, "ts", TS))
    return read_edit(record, channel, ours, direct=direct, keys=keys)


def read_edit(
    record: JsonObject, channel: str, ours: AppIdentity, *, direct: bool = True, keys: tuple[str, ...] = ()
) -> Amendment | IgnoredMessage:
    """Return a message that its author changed, from an event or a history. Raises `RequestRefused`.

    Any other change is Slack's own, such as the preview of a link.
    """
    if "ts" not in record:
        return IgnoredMessage(Address(CHANNEL_NAME, ours.team, channel), "", keys, IgnoreReason.EDITED)
    read = read_message(record, channel, ours, direct=direct)
    edited = record.get("edited")
    author = optional_name(record, "user", USER)
    if not isinstance(edited, dict) or text_at(edited, "user") != author or not isinstance(read, InboundMessage):
        reason = read.reason if isinstance(read, IgnoredMessage) and read.reason in _WHOSE else IgnoreReason.EDITED
        return IgnoredMessage(read.address, read.sender, keys, reason)
    changed_at = name_at(edited, "ts", TS)
    own = f"edit:{channel}:{name_at(record, 'ts', TS)}:{changed_at}"
    return Amendment(read.address, author, (*keys, own), read.keys, read, moment(changed_at), read.sent_at)


def _deleted(
    event: JsonObject, channel: str, ours: AppIdentity, *, direct: bool, keys: tuple[str, ...], ts: str
) -> Amendment | IgnoredMessage:
    """Return a deletion. The message that was deleted comes with it, but for its author nothing of it is needed."""
    before = object_of(event.get("previous_message"))
    author, root = optional_name(before, "user", USER), optional_name(before, "thread_ts", TS)
    address = Address(CHANNEL_NAME, ours.team, channel, "" if root == ts else root)
    if before.get("bot_id") or author == ours.bot_user != "":
        return IgnoredMessage(address, author, keys, IgnoreReason.OWN if author == ours.bot_user else IgnoreReason.BOT)
    if not direct:
        return IgnoredMessage(address, author, keys, IgnoreReason.GROUP)
    deleted_at = moment(optional_name(event, "event_ts", TS) or ts)
    return Amendment(address, author, keys, own_keys(before, channel, ts), None, deleted_at, moment(ts))
