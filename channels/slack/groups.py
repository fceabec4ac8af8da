"""Messages and events in channels and group conversations; pure.

Source: docs.slack.dev, reference/events: app_mention, message.channels, member_joined_channel, channel_rename.
"""

import re

from channels.fields import text_at
from channels.slack.payload_fields import CHANNEL, TEAM, USER, name_at, optional_name
from core.json_types import JsonObject
from core.messaging.messages import Address, IgnoredMessage, IgnoreReason, InboundMessage, InGroup, Origin
from providers.slack.wire import CHANNEL_NAME

JOINED, LEFT = "member_joined_channel", "member_left_channel"
RENAMED = ("channel_rename", "group_rename")


def addressed_words(text: str, bot_user: str) -> str | None:
    """Return the words of a text without our mention; None if it does not mention us."""
    if not bot_user:
        return None
    words, found = re.subn(rf"(?<![\w@])@{re.escape(bot_user)}(?!\w)[,:]?", "", text)
    return words.strip() if found else None


def said_in_group(record: JsonObject, said: InboundMessage, team: str, bot_user: str) -> tuple[InGroup, str] | None:
    """Return words in a group, and their text without our mention; None for a person of another workspace."""
    if optional_name(record, "user_team", TEAM) not in ("", team):
        return None
    words = addressed_words(said.text, bot_user)
    ours = bool(bot_user) and text_at(record, "parent_user_id") == bot_user
    addressed = said.origin is Origin.OWN and (words is not None or ours or text_at(record, "type") == "app_mention")
    return InGroup("", addressed=addressed), said.text if words is None else words


def read_membership(event: JsonObject, key: str, team: str, bot_user: str) -> IgnoredMessage | None:
    """Return our own coming or going, or a group's new name; None for anything else."""
    kind = text_at(event, "type")
    if kind in RENAMED:
        channel = event.get("channel")
        renamed = channel if isinstance(channel, dict) else {}
        address = Address(CHANNEL_NAME, team, name_at(renamed, "id", CHANNEL))
        group = InGroup(text_at(renamed, "name"))
        return IgnoredMessage(address, "", (key,), IgnoreReason.GROUP, group=group)
    if not bot_user or optional_name(event, "user", USER) != bot_user:
        return None
    address = Address(CHANNEL_NAME, team, name_at(event, "channel", CHANNEL))
    return IgnoredMessage(address, "", (key,), IgnoreReason.GROUP, group=InGroup("", inside=kind == JOINED))
