"""From Slack's events about reactions to our inbound types; pure.

Source of the shapes: docs.slack.dev, reference/events/reaction_added and reaction_removed. They name no thread.
"""

from channels.fields import object_at, text_at
from channels.slack.messages import AppIdentity, moment
from channels.slack.payload_fields import CHANNEL, REACTION, TS, USER, WORD, name_at, optional_name
from core.json_types import JsonObject
from core.messaging.emoji import THUMB_DOWN, THUMB_UP
from core.messaging.inbound import Reaction
from core.messaging.messages import Address, IgnoredMessage, IgnoreReason
from providers.slack.wire import CHANNEL_NAME

ADDED, REMOVED = "reaction_added", "reaction_removed"
_EMOJI = {
    "+1": THUMB_UP,
    "thumbsup": THUMB_UP,
    "-1": THUMB_DOWN,
    "thumbsdown": THUMB_DOWN,
    "heart": "❤",
    "heart_eyes": "😍",
    "joy": "😂",
    "tada": "🎉",
    "fire": "🔥",
    "clap": "👏",
    "pray": "🙏",
    "100": "💯",
    "cry": "😢",
    "rage": "😡",
}
"""The reactions that mean something to us; others are kept by their names, with colons."""


def read_reaction(event: JsonObject, ours: AppIdentity, key: str) -> Reaction | IgnoredMessage | None:
    """Return the meaning of a reaction, None if it is on no message. Raises `RequestRefused`."""
    item = object_at(event, "item")
    user = optional_name(event, "user", USER)
    if text_at(item, "type") != "message":
        return None
    channel, ts = name_at(item, "channel", CHANNEL), name_at(item, "ts", TS)
    name, at = name_at(event, "reaction", REACTION), name_at(event, "event_ts", TS)
    added = name_at(event, "type", WORD) == ADDED
    address = Address(CHANNEL_NAME, ours.team, channel)
    keys = (key, f"reaction:{event['type']}:{user}:{name}:{channel}:{ts}:{at}")
    if reason := _reason(event, user, channel, ours):
        return IgnoredMessage(address, user, keys, reason)
    emoji = (_emoji(name),)
    return Reaction(
        address,
        user,
        keys,
        added=emoji if added else (),
        removed=() if added else emoji,
        message=ts,
        at=moment(at),
    )


def _reason(event: JsonObject, user: str, channel: str, ours: AppIdentity) -> IgnoreReason | None:
    """Return why a reaction is no person's in their own chat with us, None if it is."""
    if user and user == ours.bot_user:
        return IgnoreReason.OWN
    if not user or event.get("bot_id"):
        return IgnoreReason.BOT
    return None if channel.startswith("D") else IgnoreReason.GROUP


def _emoji(name: str) -> str:
    """Return the emoji of a reaction's name, without its skin tone (`+1::skin-tone-2`)."""
    plain = name.partition("::")[0]
    return _EMOJI.get(plain, f":{plain}:")
