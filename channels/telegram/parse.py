"""From a Bot API Update to our inbound types; pure.

Source of names and shapes: core.telegram.org/bots/api#update. Only the fields in use are read, and strictly: PTB's
`Update.de_json` checks no types, and refuses a whole update for a single new or odd field that we do not need, which
would hold up its chat. Tests compare the two readings.
"""

from dataclasses import dataclass

from channels.fields import object_at, text_at
from channels.telegram.fields import integer_at, moment, required_text_at, without_nulls
from channels.telegram.groups import addressed_words, is_named
from channels.telegram.kinds import content_of, happened
from channels.telegram.media import read_media
from channels.telegram.places import names_of, place_of
from channels.telegram.pointed import read_origin, read_points
from channels.telegram.reactions import read_reaction
from channels.telegram.words import words_of
from core.errors import RequestRefused
from core.json_types import JsonObject
from core.language.catalogue import gettext_noop
from core.language.tags import read_tag
from core.messaging.chat_reader import chat_words
from core.messaging.inbound import Amendment, Inbound, PlaceMove
from core.messaging.messages import (
    Address,
    AddressChange,
    Command,
    IgnoredMessage,
    IgnoreReason,
    InboundMessage,
    InGroup,
    Media,
    Origin,
    Press,
    ReachabilityChange,
    ReachabilityReason,
)
from core.messaging.places import PIN
from core.messaging.pointed import unread
from core.replies import ONLY_TEXT_AND_FILES
from providers.telegram.wire import MAX_UNITS, is_token
from providers.utf16 import units

CHANNEL = "telegram"
ONLY_DIRECT = gettext_noop("I answer in direct chats only. Write to me there.")

_READ = ("message", "edited_message", "callback_query", "my_chat_member", "message_reaction")


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """Our side: the bot's numeric id, and its username as far as it is known."""

    id: str
    username: str = ""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The meaning of an update. `query` is the id of a press, ours or not, which also has to be answered."""

    inbound: Inbound
    query: str | None = None


def read_update_id(update: JsonObject) -> int:
    """Return the update's number. Raises `RequestRefused` if there is none."""
    return integer_at(update, "update_id", at_least=0)


def parse_update(update: JsonObject, bot: BotIdentity) -> Parsed:
    """Return the meaning of an update for us. Raises `RequestRefused` if it is malformed."""
    update = without_nulls(update)
    key = f"update:{read_update_id(update)}"
    kinds = [name for name in _READ if name in update]
    if len(kinds) > 1:
        raise RequestRefused("update is of two kinds")
    match kinds:
        case ["message"]:
            return Parsed(_read_message(object_at(update, "message"), key, bot))
        case ["edited_message"]:
            return Parsed(_read_edit(object_at(update, "edited_message"), key, bot))
        case ["callback_query"]:
            return _read_press(object_at(update, "callback_query"), key, bot)
        case ["my_chat_member"]:
            return Parsed(_read_membership(object_at(update, "my_chat_member"), key, bot))
        case ["message_reaction"]:
            return Parsed(read_reaction(object_at(update, "message_reaction"), key, bot.id))
    return Parsed(ignore_update(update, bot))


def may_mention(update: JsonObject) -> bool:
    """Return whether an update came from a group and mentions a name; only our @name tells whether it is ours."""
    message = update.get("message")
    chat = message.get("chat") if isinstance(message, dict) else None
    return isinstance(chat, dict) and chat.get("type") != "private" and "@" in str(message)


def ignore_update(
    update: JsonObject, bot: BotIdentity, reason: IgnoreReason = IgnoreReason.UNSUPPORTED
) -> IgnoredMessage:
    """Return an update as ignored, regardless of its content; it needs only a number."""
    key = f"update:{read_update_id(update)}"
    return IgnoredMessage(Address(CHANNEL, bot.id, ""), "", (key,), reason)


@dataclass(frozen=True, slots=True)
class _Place:
    """The chat and the sender of a message."""

    address: Address
    kind: str
    sender: str
    is_bot: bool
    name: str
    language: str


def _read_message(message: JsonObject, key: str, bot: BotIdentity) -> Inbound:
    place = _place(message, bot)
    number = integer_at(message, "message_id", at_least=0)
    keys = (key, f"message:{place.address.peer}:{number}")
    if "migrate_to_chat_id" in message:
        moved_to = str(integer_at(message, "migrate_to_chat_id"))
        return AddressChange(CHANNEL, bot.id, place.address.peer, moved_to, keys)
    if place.is_bot:
        reason = IgnoreReason.OWN if place.sender == bot.id else IgnoreReason.BOT
        return IgnoredMessage(place.address, place.sender, keys, reason)
    media = read_media(message)
    if place.kind != "private":
        return _read_in_group(message, media, place, keys, bot)
    sent = place_of(message) if read_origin(message) is Origin.OWN else None
    text, kind = PIN if sent else words_of(message), content_of(message)
    if not text.strip() and not media:
        if "text" in message:
            return IgnoredMessage(place.address, place.sender, keys, IgnoreReason.EMPTY)
        reply = "" if happened(message) else ONLY_TEXT_AND_FILES
        return IgnoredMessage(place.address, place.sender, keys, IgnoreReason.UNSUPPORTED, reply=reply, kind=kind)
    command, addressed = _read_command(message, text)
    if addressed and bot.username and addressed.casefold() != bot.username.casefold():
        return IgnoredMessage(place.address, place.sender, keys, IgnoreReason.OTHER_ACCOUNT)
    points, pointed_media = read_points(message, place.sender, bot.id)
    if kind and "caption" in message and not media:  # the caption of unreadable content
        points = (*points, unread(kind))
    if sent:
        points = (*points, *names_of(sent))
    return InboundMessage(
        address=place.address,
        sender=place.sender,
        keys=keys,
        text=text,
        media=media,
        command=command,
        sent_at=moment(integer_at(message, "date", at_least=0)),
        sender_name=place.name,
        sender_language=place.language,
        provider_id=str(number),
        reply_to=_replied(message, bot),
        origin=read_origin(message),
        points=points,
        pointed_media=pointed_media,
        goes_on=None if command or media else _cut(message),
        place=sent,
    )


def _read_in_group(
    message: JsonObject, media: tuple[Media, ...], place: _Place, keys: tuple[str, ...], bot: BotIdentity
) -> IgnoredMessage:
    """Return a message or an event in a group: ignored, unless an ability takes part there."""
    text, kind, title = words_of(message), content_of(message), text_at(object_at(message, "chat"), "title")
    if not (text or media or kind):  # a person joined, the group got a new title
        happened_there = InGroup(title)
        return IgnoredMessage(place.address, place.sender, keys, IgnoreReason.UNSUPPORTED, group=happened_there)
    command, named = _read_command(message, text)
    said = addressed_words(text, bot.username)
    known = command is not None and chat_words().find(command.name) is not None
    ours = is_named(named, bot.username) if named else known
    points, pointed_media = read_points(message, place.sender, bot.id)
    own = read_origin(message) is Origin.OWN
    inbound = InboundMessage(
        address=place.address,
        sender=place.sender,
        keys=keys,
        text=text if said is None else said,
        media=media,
        command=command if ours and own else None,
        sent_at=moment(integer_at(message, "date", at_least=0)),
        sender_name=place.name,
        sender_language=place.language,
        provider_id=keys[-1].rpartition(":")[2],
        reply_to=_replied(message, bot),
        origin=read_origin(message),
        points=points,
        pointed_media=pointed_media,
    )
    addressed = own and (said is not None or ours or bool(inbound.reply_to))
    group = InGroup(title, inbound, addressed=addressed)
    reply = ONLY_DIRECT if place.sender else ""
    return IgnoredMessage(place.address, place.sender, keys, IgnoreReason.GROUP, reply=reply, group=group)


def _read_edit(message: JsonObject, key: str, bot: BotIdentity) -> Inbound:
    """Return a person's edit of a message, its words or files; or their new position, if they share it live.

    Telegram also reports an edit if others answer a poll or a checklist, and, without `edit_date`, if fields that no
    person writes change.
    """
    place = _place(message, bot)
    own = place.kind == "private" and not place.is_bot and read_origin(message) is Origin.OWN
    changed_at = moment(integer_at(message, "edit_date", at_least=0)) if "edit_date" in message else None
    if own and (moved := place_of(message)) is not None:
        number = integer_at(message, "message_id", at_least=0)
        at = changed_at or moment(integer_at(message, "date", at_least=0))
        return PlaceMove(place.address, place.sender, str(number), moved, at)
    read = _read_message(message, key, bot)
    written = isinstance(read, InboundMessage) and (read.media or content_of(message) in ("", "rich_message"))
    if not isinstance(read, InboundMessage) or changed_at is None or not written:
        return IgnoredMessage(place.address, place.sender, (key,), IgnoreReason.EDITED)
    return Amendment(read.address, read.sender, (key,), read.keys[1:], read, changed_at, read.sent_at)


def _cut(message: JsonObject) -> str | None:
    """Return the separator at which an app cut a longer text after this part; None if it cannot have cut it.

    Apps cut at Telegram's limit, or at the last break in the second half of it. The server takes blanks from both ends,
    so that only a part as long as the limit can end in the midst of a word.
    """
    length = units(text_at(message, "text"))
    if length <= MAX_UNITS // 2 or read_origin(message) is not Origin.OWN:
        return None
    return "" if length >= MAX_UNITS else "\n"


def _replied(message: JsonObject, bot: BotIdentity) -> str:
    """Return the id of our message that a person replied to."""
    if "reply_to_message" not in message:
        return ""
    replied = object_at(message, "reply_to_message")
    if happened(replied):  # all that is said in a topic replies to its beginning, which may be of our making
        return ""
    author = _person(object_at(replied, "from"))[0] if "from" in replied else ""
    return str(integer_at(replied, "message_id", at_least=0)) if author == bot.id else ""


def _read_command(message: JsonObject, text: str) -> tuple[Command | None, str]:
    """Return the command that a text begins with, and the bot it names after @.

    Telegram marks commands itself: core.telegram.org/bots/api#messageentity.
    """
    entities = message.get("entities")
    for entity in entities if isinstance(entities, list) else ():
        if isinstance(entity, dict) and entity.get("type") == "bot_command" and entity.get("offset") == 0:
            word, _, argument = text.replace("\n", " ", 1).partition(" ")
            name, _, addressed = word.removeprefix("/").partition("@")
            return (chat_words().slash(name, argument.strip()) if name else None), addressed
    return None, ""


def _read_press(query: JsonObject, key: str, bot: BotIdentity) -> Parsed:
    """Read core.telegram.org/bots/api#callbackquery; its data may belong to none of our buttons.

    The bot may no longer be able to read the message (`InaccessibleMessage`): the press still counts.
    """
    number = required_text_at(query, "id")
    sender, is_bot, _ = _person(object_at(query, "from"))
    keys, data = (key, f"callback:{number}"), text_at(query, "data")
    if "message" not in query:  # of an inline message, which we never send
        ignored = IgnoredMessage(Address(CHANNEL, bot.id, sender), sender, keys, IgnoreReason.UNSUPPORTED)
        return Parsed(ignored, number)
    message = object_at(query, "message")
    chat = object_at(message, "chat")
    peer, kind = str(integer_at(chat, "id")), required_text_at(chat, "type")
    message_id = str(integer_at(message, "message_id", at_least=0))
    address = Address(CHANNEL, bot.id, peer, _topic(message))
    if reason := _press_reason(message, data, bot, stranger=is_bot or peer != sender, kind=kind):
        return Parsed(IgnoredMessage(address, sender, keys, reason), number)
    return Parsed(Press(address, sender, keys, data, provider_id=message_id), number)


def _press_reason(
    message: JsonObject, data: str, bot: BotIdentity, *, stranger: bool, kind: str
) -> IgnoreReason | None:
    """Return why a press is not on one of our buttons in the person's own chat, None if it is."""
    if kind != "private":
        return IgnoreReason.GROUP
    author, _, _ = _person(object_at(message, "from")) if "from" in message else (bot.id, True, "")
    if stranger or author != bot.id or not is_token(data):
        return IgnoreReason.UNSUPPORTED
    return None


def _read_membership(change: JsonObject, key: str, bot: BotIdentity) -> Inbound:
    """Read core.telegram.org/bots/api#chatmemberupdated: in a private chat, the bot blocked or unblocked."""
    place = _place(change, bot)
    status = required_text_at(object_at(change, "new_chat_member"), "status")
    if place.kind != "private":
        is_in = status in ("member", "administrator", "restricted")
        group = InGroup(text_at(object_at(change, "chat"), "title"), inside=is_in)
        reply = ONLY_DIRECT if is_in else ""
        return IgnoredMessage(place.address, place.sender, (key,), IgnoreReason.GROUP, reply, group=group)
    reachable = status not in ("kicked", "left")
    reason = ReachabilityReason.UNBLOCKED if reachable else ReachabilityReason.BLOCKED
    return ReachabilityChange(CHANNEL, bot.id, place.address.peer, reachable, reason, (key,))


def _place(message: JsonObject, bot: BotIdentity) -> _Place:
    chat = object_at(message, "chat")
    kind = required_text_at(chat, "type")
    address = Address(CHANNEL, bot.id, str(integer_at(chat, "id")), _topic(message))
    if kind != "private" and ("sender_chat" in message or "from" not in message):
        # In the name of the group or of a channel, such as an anonymous administrator: `from` is a bot of Telegram's
        # then, and nobody knows the person.
        return _Place(address, kind, "", is_bot=False, name="", language="")
    user = object_at(message, "from" if "from" in message else "chat")  # a private chat has its person's number
    sender, is_bot, name = _person(user)
    return _Place(address, kind, sender, is_bot, name, read_tag(text_at(user, "language_code")))


def _topic(message: JsonObject) -> str:
    """Return the topic of a message, empty for the general one; without the mark the field numbers plain replies."""
    is_topic = message.get("is_topic_message") is True and "message_thread_id" in message
    return str(integer_at(message, "message_thread_id", at_least=1)) if is_topic else ""


def _person(user: JsonObject) -> tuple[str, bool, str]:
    number = integer_at(user, "id", at_least=1)
    names = (text_at(user, "first_name"), text_at(user, "last_name"))
    return str(number), user.get("is_bot") is True, " ".join(name for name in names if name)
