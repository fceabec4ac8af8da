"""conversations.open, .history, .replies, .info, .list."""

import base64
import binascii
import re
from collections.abc import Sequence

from workbench.simulator.slack.errors import Refusal
from workbench.simulator.slack.method import Hub, Method, find_channel, truth, whole
from workbench.simulator.slack.records import channel_record, message_record, rooted_record
from workbench.simulator.slack.shapes import Obj, text
from workbench.simulator.slack.state import Message, dm_id

_HISTORY_LIMIT, _HISTORY_MOST = 100, 999
_REPLIES_LIMIT, _LIST_LIMIT, _MOST = 1_000, 100, 1_000


def open_direct(hub: Hub, arguments: Obj) -> Obj:
    if arguments.get("channel"):
        channel = find_channel(hub, arguments)
        return {"ok": True, "channel": {"id": channel.id}}
    users = [name for name in text(arguments.get("users")).split(",") if name]
    if not users:
        raise Refusal("users_list_not_supplied")
    if any(hub.world.person(user) is None for user in users):
        raise Refusal("user_not_found")
    if any(user in hub.world.disabled for user in users):
        raise Refusal("user_disabled")
    if len(users) > 1:
        # Group conversations are not emulated: the product speaks only in direct conversations.
        raise Refusal("method_not_supported_for_channel_type")
    channel = hub.world.channels[dm_id(users[0])]
    shown: Obj = channel_record(hub.world, channel) if truth(arguments.get("return_im")) else {"id": channel.id}
    return {"ok": True, "no_op": True, "already_open": True, "channel": shown}


def history(hub: Hub, arguments: Obj) -> Obj:
    channel = find_channel(hub, arguments)
    roots = [message for message in channel.messages.values() if not message.thread_ts or message.broadcast]
    messages = sorted(_between(roots, arguments), key=lambda message: message.ts, reverse=True)
    limit = whole(arguments, "limit", _HISTORY_LIMIT, _HISTORY_MOST)
    page, rest = _page(messages, arguments, limit, newest_first=True)
    metadata = truth(arguments.get("include_all_metadata"))
    listed = [rooted_record(hub.world, channel, message, metadata=metadata) for message in page]
    return {"ok": True, "messages": [*listed], "pin_count": 0, **rest}


def replies(hub: Hub, arguments: Obj) -> Obj:
    channel = find_channel(hub, arguments)
    root = channel.messages.get(text(arguments.get("ts")))
    if root is None:
        raise Refusal("thread_not_found")
    thread = sorted(_between(channel.replies(root.ts), arguments), key=lambda message: message.ts)
    limit = whole(arguments, "limit", _REPLIES_LIMIT, _MOST)
    page, rest = _page(thread, arguments, limit, newest_first=False)
    metadata = truth(arguments.get("include_all_metadata"))
    listed = [message_record(hub.world, message, metadata=metadata) for message in page]
    return {"ok": True, "messages": [rooted_record(hub.world, channel, root, metadata=metadata), *listed], **rest}


def info(hub: Hub, arguments: Obj) -> Obj:
    return {"ok": True, "channel": channel_record(hub.world, find_channel(hub, arguments))}


def list_channels(hub: Hub, arguments: Obj) -> Obj:
    types = text(arguments.get("types")) or "public_channel"
    names = [name.strip() for name in types.split(",")]
    if any(name not in ("public_channel", "private_channel", "mpim", "im") for name in names):
        raise Refusal("invalid_types")
    kinds = {"im": "im", "public_channel": "channel", "mpim": "mpim"}
    wanted = {kinds[name] for name in names if name in kinds}
    whole(arguments, "limit", _LIST_LIMIT, _MOST)
    channels = [channel for channel in hub.world.channels.values() if channel.kind in wanted]
    shown = [channel_record(hub.world, channel) for channel in channels]
    return {"ok": True, "channels": [*shown], "response_metadata": {"next_cursor": ""}}


_HISTORY = ("im:history", "channels:history", "mpim:history")
_READ = ("im:read", "channels:read", "mpim:read")

METHODS = {
    "conversations.open": Method(open_direct, ("im:write",)),
    "conversations.history": Method(history, _HISTORY, ("channel",)),
    "conversations.replies": Method(replies, _HISTORY, ("channel", "ts"), json=False),
    "conversations.info": Method(info, _READ, ("channel",), json=False),
    "conversations.list": Method(list_channels, _READ, json=False),
}


def _between(messages: Sequence[Message], arguments: Obj) -> list[Message]:
    oldest, latest = _moment(arguments, "oldest", 0.0), _moment(arguments, "latest", float("inf"))
    inclusive = truth(arguments.get("inclusive"))

    def inside(message: Message) -> bool:
        at = float(message.ts)
        return oldest < at < latest or (inclusive and at in (oldest, latest))

    return [message for message in messages if inside(message)]


def _moment(arguments: Obj, name: str, default: float) -> float:
    # methods/conversations.history, errors invalid_ts_oldest and invalid_ts_latest.
    value = str(arguments.get(name) or "")
    if value and not re.fullmatch(r"\d+(\.\d+)?", value):
        raise Refusal(f"invalid_ts_{name}")
    return float(value) if value and (float(value) or name == "oldest") else default


def _page(messages: list[Message], arguments: Obj, limit: int, *, newest_first: bool) -> tuple[list[Message], Obj]:
    after = _read_cursor(text(arguments.get("cursor")))
    if after:
        messages = [message for message in messages if (message.ts < after if newest_first else message.ts > after)]
    page = messages[:limit]
    if len(messages) <= limit:
        return page, {"has_more": False}
    cursor = base64.b64encode(f"next_ts:{page[-1].ts}".encode()).decode()
    return page, {"has_more": True, "response_metadata": {"next_cursor": cursor}}


def _read_cursor(cursor: str) -> str:
    # apis/web-api/pagination, error invalid_cursor.
    if not cursor:
        return ""
    try:
        name, _, ts = base64.b64decode(cursor, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise Refusal("invalid_cursor") from None
    if name != "next_ts" or not re.fullmatch(r"\d+\.\d{6}", ts):
        raise Refusal("invalid_cursor")
    return ts
