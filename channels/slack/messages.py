"""From a Slack message, in an event or a history, to our inbound types; pure.

Source of the shapes: docs.slack.dev, reference/events/message and its subtypes.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from channels.fields import text_at
from channels.slack.blocks import unread_in
from channels.slack.groups import addressed_words, said_in_group
from channels.slack.kinds import CHANGES, HAPPENED, TYPED, content_of
from channels.slack.payload_fields import CHANNEL, TS, USER, name_at, objects_at, optional_name
from channels.slack.shares import Authors, besides, messages_in, own_words, quoted_in, whose, words_of
from core.errors import RequestRefused
from core.json_types import JsonObject, objects_in
from core.language.catalogue import gettext_noop
from core.messaging.messages import Address, IgnoredMessage, IgnoreReason, InboundMessage, Media, Origin
from core.messaging.pointed import Pointed, unread
from core.replies import ONLY_TEXT_AND_FILES
from providers.slack.wire import CHANNEL_NAME, STUB, is_file_id

GROUP_REPLY = gettext_noop("I only answer in direct messages: write to me there.")

CLIPS = frozenset({"slack_audio", "slack_video"})
"""The subtypes of files that Slack's app records for the conversation."""
_SLACKBOT = "USLACKBOT"


@dataclass(frozen=True, slots=True)
class AppIdentity:
    """Our side, as far as it is known yet: each field is empty until then."""

    team: str = ""
    app: str = ""
    bot_user: str = ""
    bot_id: str | None = None


@dataclass(frozen=True, slots=True)
class _Content:
    """The content of a message: its words, their author, and the messages that it refers to."""

    text: str
    media: tuple[Media, ...]
    origin: Origin
    points: tuple[Pointed, ...] = ()
    pointed_media: tuple[Media, ...] = ()


def read_message(
    record: JsonObject, channel: str, ours: AppIdentity, *, direct: bool, keys: tuple[str, ...] = ()
) -> InboundMessage | IgnoredMessage:
    """Return the meaning of a message for us.

    `ours.team` must be known. `keys` are further dedupe keys, such as the event's. Raises `RequestRefused`.
    """
    ts = name_at(record, "ts", TS)
    subtype = text_at(record, "subtype")
    sender = optional_name(record, "user", USER)
    address = Address(CHANNEL_NAME, ours.team, channel, _thread(record, ts))
    all_keys = (*keys, *own_keys(record, channel, ts))
    reason = _reason(record, subtype, sender, ours)
    if reason is not None:
        # An edit or a deletion has an id of its own and is no second sight of the message.
        all_keys = all_keys if subtype in TYPED else keys or all_keys
        if reason is IgnoreReason.UNSUPPORTED and direct and subtype not in HAPPENED:
            return IgnoredMessage(address, sender, all_keys, reason, ONLY_TEXT_AND_FILES, subtype)
        return IgnoredMessage(address, sender, all_keys, reason)
    if not sender and direct:
        raise RequestRefused("user is missing")
    content = _read(record, Authors(sender, ours.bot_user, ours.bot_id))
    if not direct:
        return _in_group(record, _message(address, sender, all_keys, content, ts), ours)
    if not content.text.strip() and not content.media:
        if kind := _unread(record):
            return IgnoredMessage(address, sender, all_keys, IgnoreReason.UNSUPPORTED, ONLY_TEXT_AND_FILES, kind)
        return IgnoredMessage(address, sender, all_keys, IgnoreReason.EMPTY)
    return _message(address, sender, all_keys, content, ts)


def _message(address: Address, sender: str, keys: tuple[str, ...], content: _Content, ts: str) -> InboundMessage:
    return InboundMessage(
        address=address,
        sender=sender,
        keys=keys,
        text=content.text,
        media=content.media,
        sent_at=moment(ts),
        provider_id=ts,
        origin=content.origin,
        points=content.points,
        pointed_media=content.pointed_media,
    )


def _in_group(record: JsonObject, said: InboundMessage, ours: AppIdentity) -> IgnoredMessage:
    """Return a message in a channel: ignored, unless an ability takes part there."""
    # A mention comes as two events, in any order, of which the first counts.
    mentioned = text_at(record, "type") == "app_mention" or addressed_words(said.text, ours.bot_user) is not None
    reply, group = GROUP_REPLY if mentioned else "", None
    if said.sender and (read := said_in_group(record, said, ours.team, ours.bot_user)):
        group = replace(read[0], message=replace(said, text=read[1]))
    return IgnoredMessage(said.address, said.sender, said.keys, IgnoreReason.GROUP, reply, group=group)


def read_files(record: JsonObject) -> tuple[Media, ...]:
    """Return references to a message's files: fetched later, with the bot's token.

    If a file came over Slack Connect, or Slack withholds it, the message has only its id (docs:
    reference/objects/file-object, `file_access`): its type and name are requested with the file.
    """
    media = []
    for item in objects_at(record, "files"):
        url = text_at(item, "url_private")
        if not url.startswith(("https://", "http://")):
            if text_at(item, "mode") == "tombstone" or not is_file_id(text_at(item, "id")):  # it was deleted
                continue
            url = f"{STUB}{text_at(item, 'id')}"
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
    if subtype in CHANGES:
        return IgnoreReason.EDITED if subtype == "message_changed" else IgnoreReason.DELETED
    if subtype not in TYPED:
        return IgnoreReason.UNSUPPORTED
    return None


def _thread(record: JsonObject, ts: str) -> str:
    """Return the thread's root; a root message itself is at the top level."""
    root = optional_name(record, "thread_ts", TS)
    return "" if root == ts else root


def own_keys(record: JsonObject, channel: str, ts: str) -> tuple[str, ...]:
    """Return the keys of a message itself: the same gesture has been seen under two `ts`."""
    client = text_at(record, "client_msg_id")
    return (*((f"client:{client}",) if client else ()), f"ts:{channel}:{ts}")


def _read(record: JsonObject, authors: Authors) -> _Content:
    """Return the content of a message; without words or files of its own, the content that it quotes.

    A message that an app sends with a person's token names the app: the person did not type it.
    """
    text, files = own_words(record), read_files(record)
    if not text.strip() and not files:
        quoted = quoted_in(record)
        text = "\n\n".join(words for item in quoted if (words := words_of(item)).strip())
        files = tuple(file for item in quoted for file in _files_of(item))
        return _Content(text, files, Origin.FORWARDED if text or files else Origin.OWN)
    origin = Origin.VIA_BOT if text_at(record, "app_id") else Origin.OWN
    points: list[Pointed] = []
    pointed_media: list[Media] = []
    for item in besides(record):
        theirs = _files_of(item)
        words = words_of(item) or ("" if theirs else "(something that cannot be shown here)")
        points.append(Pointed(words, whose(item, authors), files=len(theirs)))
        pointed_media += theirs
    blocks = [block for block in objects_in(record.get("blocks")) if block.get("type") != "divider"]
    if kind := unread_in([*blocks]) or _lost_file(record):
        points.append(unread(kind))
    return _Content(text, files, origin, tuple(points), tuple(pointed_media))


def _files_of(item: JsonObject) -> tuple[Media, ...]:
    """Return the files of a shared message, each once; they were not sent to us directly."""
    files = {file.url: replace(file, voice=False) for message in messages_in(item) for file in read_files(message)}
    return tuple(files.values())


def _unread(record: JsonObject) -> str:
    """Return the kind of content in a message with nothing readable; empty for an empty message."""
    blocks = unread_in(record.get("blocks"))
    return blocks or ("attachment" if record.get("attachments") else "") or _lost_file(record) or content_of(record)


def _lost_file(record: JsonObject) -> str:
    """Return "file" if a message has a file without a description, else ""; a deleted file does not count."""
    files = [item for item in objects_at(record, "files") if text_at(item, "mode") != "tombstone"]
    return "file" if len(files) > len(read_files({"files": [*files]})) else ""
