"""Slack's own JSON for the world's contents: messages, users, channels, views."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from workbench.simulator.config import Person
from workbench.simulator.journal import Json
from workbench.simulator.slack.shapes import Obj, copy, items, obj, text
from workbench.simulator.slack.state import Channel, Message, View, World, block_token

_LOCALES = {"en": "en-GB", "de": "de-DE", "es": "es-ES", "fr": "fr-FR", "pt": "pt-BR", "zh-hans": "zh-CN"}


def message_record(world: World, message: Message, *, metadata: bool = False) -> Obj:
    """Return a message as history and events show it; metadata only if requested."""
    slack = world.config.slack
    record: Obj = {"type": "message", "user": message.user, "ts": message.ts, "team": slack.team_id}
    record["text"] = message.text
    if message.client_msg_id:
        record["client_msg_id"] = message.client_msg_id
    if message.blocks:
        record["blocks"] = list(message.blocks)
    if message.attachments:
        record["attachments"] = list(message.attachments)
    if message.bot_id:
        profile: Obj = {"id": message.bot_id, "app_id": message.app_id, "deleted": False}
        record |= {"bot_id": message.bot_id, "app_id": message.app_id, "bot_profile": profile}
    if message.thread_ts:
        record["thread_ts"] = message.thread_ts
        record["parent_user_id"] = world.channels[message.channel].messages[message.thread_ts].user
        if message.broadcast:
            record["subtype"] = "thread_broadcast"
    if message.edited_ts:
        record["edited"] = {"user": message.edited_by, "ts": message.edited_ts}
    if message.files:
        # reference/events/message/file_share: a person's message with files is of this subtype.
        record |= {"files": list(message.files), "upload": False, "subtype": "file_share"}
    record |= _happened_to(message)
    if message.streamed is not None:
        record["streaming_state"] = "in_progress"
    if metadata and message.metadata:
        record["metadata"] = message.metadata
    return record


def _happened_to(message: Message) -> Obj:
    """Return who let somebody in, and the reactions; empty for a message without either."""
    # reference/events/message/channel_join
    joined: Obj = {"subtype": "channel_join", "inviter": message.inviter} if message.inviter else {}
    reactions: list[Json] = [
        {"name": name, "users": list(users), "count": len(users)} for name, users in message.reactions.items()
    ]
    return joined | ({"reactions": reactions} if reactions else {})


def rooted_record(world: World, channel: Channel, message: Message, *, metadata: bool) -> Obj:
    """Return a message as history shows it: a root has its replies."""
    record = message_record(world, message, metadata=metadata)
    replies = channel.replies(message.ts)
    if replies:
        record |= {
            "thread_ts": message.ts,
            "reply_count": len(replies),
            "reply_users": list(dict.fromkeys(reply.user for reply in replies)),
            "latest_reply": replies[-1].ts,
        }
    return record


def locale_of(person: Person) -> str:
    """Return a user's locale, which names a region too."""
    return _LOCALES.get(person.language, person.language)


def user_record(world: World, person: Person) -> Obj:
    """Return a user as users.info shows them without a requested locale."""
    zone = datetime.fromtimestamp(world.now(), UTC).astimezone(ZoneInfo(person.timezone))
    offset = zone.utcoffset()
    gone = person.slack_user in world.disabled
    # A profile has the address for apps with users:read.email only.
    mail: Obj = {"email": person.mail} if "users:read.email" in world.switches.scopes else {}
    return {
        "id": person.slack_user,
        "team_id": world.config.slack.team_id,
        "name": person.key,
        "deleted": gone,
        "real_name": person.name,
        "tz": person.timezone,
        "tz_label": zone.tzname() or "",
        "tz_offset": int(offset.total_seconds()) if offset else 0,
        "profile": {"real_name": person.name, "display_name": person.key, **mail},
        "is_bot": False,
        "is_app_user": False,
        "updated": int(world.now()),
    }


def bot_record(world: World) -> Obj:
    """Return the app's bot user as users.info shows it."""
    slack = world.config.slack
    return {
        "id": slack.bot_user,
        "team_id": slack.team_id,
        "name": slack.bot_name,
        "deleted": False,
        "real_name": slack.bot_name,
        "tz": "America/Los_Angeles",
        "tz_offset": -28800,
        "profile": {"real_name": slack.bot_name, "bot_id": slack.bot_id, "api_app_id": slack.app_id},
        "is_bot": True,
    }


def channel_record(world: World, channel: Channel) -> Obj:
    """Return a channel as conversations.info shows it."""
    base: Obj = {"id": channel.id, "created": 1, "is_archived": channel.user in world.disabled}
    if channel.user:
        gone = channel.user in world.disabled
        return base | {"is_im": True, "user": channel.user, "is_user_deleted": gone, "is_channel": False}
    is_mpim = channel.kind == "mpim"
    shown: Obj = {"is_im": False, "is_channel": not is_mpim, "is_member": True, "name": channel.name}
    shown |= {"is_mpim": is_mpim}
    return base | shown | {"creator": channel.creator}


def view_record(world: World, view: View) -> Obj:
    """Return a view as views.open answers it and interactions carry it."""
    slack = world.config.slack
    defaults: Obj = {
        "private_metadata": "",
        "callback_id": "",
        "external_id": "",
        "title": None,
        "close": None,
        "submit": None,
        "clear_on_close": False,
        "notify_on_close": False,
    }
    return {
        **defaults,
        **view.body,
        "id": view.id,
        "team_id": slack.team_id,
        "state": {"values": view.values},
        "hash": view.hash,
        "previous_view_id": view.previous or None,
        "root_view_id": view.root or view.id,
        "app_id": slack.app_id,
        "app_installed_team_id": slack.team_id,
        "bot_id": slack.bot_id,
    }


def with_ids(blocks: list[Json]) -> list[Json]:
    """Copy blocks and fill in each block_id and action_id that the app left out, as Slack does."""
    filled: list[Json] = []
    for block in blocks:
        record = obj(copy(block))
        record["block_id"] = text(record.get("block_id")) or block_token()
        for element in interactive(record):
            element["action_id"] = text(element.get("action_id")) or block_token()
        filled.append(record)
    return filled


def interactive(block: Obj) -> list[Obj]:
    """Return a block's elements that a person can use."""
    inside = items(block.get("elements")) if block.get("type") == "actions" else [block.get("element")]
    return [element for element in inside if isinstance(element, dict)]
