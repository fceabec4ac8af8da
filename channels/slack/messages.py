"""From one Slack message, in an event or a history, to our inbound types; pure.

Source of the shapes: docs.slack.dev, reference/events/message and its subtypes.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from channels.slack.payload_fields import CHANNEL, TS, USER, name_at, objects_at, optional_name, text_at
from channels.slack.text import typed_text
from core.errors import RequestRefused
from core.json_types import JsonObject
from core.language.catalogue import gettext_noop
from core.messaging.messages import Address, Command, IgnoredMessage, IgnoreReason, InboundMessage, Media, Origin
from providers.slack.wire import CHANNEL_NAME

GROUP_REPLY = gettext_noop("I only answer in direct messages: write to me there.")
COMMANDS = {"new": "new", "halt": "stop", "stop": "stop"}
"""Words that are commands when they are the whole message."""

CLIPS = frozenset({"slack_audio", "slack_video"})
"""The subtypes of files that Slack's app records for the conversation."""
_TYPED_SUBTYPES = ("", "file_share", "thread_broadcast", "me_message")
_SLACKBOT = "USLACKBOT"


@dataclass(frozen=True, slots=True)
class AppIdentity:
    """Our side, as far as Slack has told it yet: each is empty until then."""

    team: str = ""
    app: str = ""
    bot_user: str = ""
    bot_id: str | None = None


def read_message(
    record: JsonObject, channel: str, ours: AppIdentity, *, direct: bool, keys: tuple[str, ...] = ()
) -> InboundMessage | IgnoredMessage:
    """Decide what a message means to us.

    `ours.team` must be known. `keys` are further dedupe keys, such as the event's. Raises `RequestRefused`.
    """
    ts = name_at(record, "ts", TS)
    subtype = text_at(record, "subtype")
    sender = optional_name(record, "user", USER)
    address = Address(CHANNEL_NAME, ours.team, channel, _thread(record, ts))
    all_keys = (*keys, *_own_keys(record, channel, ts))
    reason = _reason(record, subtype, sender, ours)
    if reason is not None:
        # An edit or a deletion has an id of its own and is no second sight of the message.
        return IgnoredMessage(address, sender, all_keys if subtype in _TYPED_SUBTYPES else keys or all_keys, reason)
    if not direct:
        reply = GROUP_REPLY if text_at(record, "type") == "app_mention" else ""
        return IgnoredMessage(address, sender, all_keys, IgnoreReason.GROUP, reply)
    if not sender:
        raise RequestRefused("user is missing")
    written, origin = _text(record)
    text, media = typed_text(written), read_files(record)
    if not text.strip() and not media:
        return IgnoredMessage(address, sender, all_keys, IgnoreReason.EMPTY)
    command = COMMANDS.get(text.strip().lower())
    return InboundMessage(
        address=address,
        sender=sender,
        keys=all_keys,
        text=text,
        media=media,
        command=Command(command) if command else None,
        sent_at=moment(ts),
        provider_id=ts,
        origin=origin,
    )


def read_files(record: JsonObject) -> tuple[Media, ...]:
    """Return references to a message's files: fetched later, with the bot's token."""
    media = []
    for item in objects_at(record, "files"):
        url = text_at(item, "url_private")
        if not url.startswith(("https://", "http://")):  # deleted, or not yet shown to us
            continue
        size = item.get("size")
        media.append(
            Media(
                url=url,
                content_type=text_at(item, "mimetype"),
                name=text_at(item, "name"),
                size=size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None,
                voice=text_at(item, "subtype") in CLIPS,
            )
        )
    return tuple(media)


def channel_at(record: JsonObject) -> str:
    """Return the conversation that an event is about. Raises `RequestRefused`."""
    return name_at(record, "channel", CHANNEL)


def moment(ts: str) -> datetime:
    """Return the time that a message's `ts` states."""
    return datetime.fromtimestamp(float(ts), UTC)


def _reason(record: JsonObject, subtype: str, sender: str, ours: AppIdentity) -> IgnoreReason | None:
    inner = record.get("message")
    own = {"bot_id": ours.bot_id, "user": ours.bot_user, "app_id": ours.app}
    for source in (record, inner if isinstance(inner, dict) else {}):
        if any(source.get(name) and source[name] == value for name, value in own.items()):
            return IgnoreReason.OWN
    if record.get("bot_id") or subtype == "bot_message" or sender == _SLACKBOT:
        return IgnoreReason.BOT
    if subtype == "message_changed":
        return IgnoreReason.EDITED
    if subtype not in _TYPED_SUBTYPES:
        return IgnoreReason.UNSUPPORTED
    return None


def _thread(record: JsonObject, ts: str) -> str:
    """Return the thread's root; a message that is itself a root stands at the top level."""
    root = optional_name(record, "thread_ts", TS)
    return "" if root == ts else root


def _own_keys(record: JsonObject, channel: str, ts: str) -> tuple[str, ...]:
    """Return the keys of a message itself: one gesture has been seen under two `ts`."""
    client = text_at(record, "client_msg_id")
    return (*((f"client:{client}",) if client else ()), f"ts:{channel}:{ts}")


def _text(record: JsonObject) -> tuple[str, Origin]:
    """Return the text and whose words they are; of a message that was only forwarded, what it quotes.

    What an app writes with a person's token names the app: nobody typed it.
    """
    written = text_at(record, "text")
    if written.strip():
        return written, Origin.VIA_BOT if text_at(record, "app_id") else Origin.OWN
    quoted = [text_at(item, "text") or text_at(item, "fallback") for item in objects_at(record, "attachments")]
    passed_on = "\n\n".join(text for text in quoted if text.strip())
    return passed_on, Origin.FORWARDED if passed_on else Origin.OWN
