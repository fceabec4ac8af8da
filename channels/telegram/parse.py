"""From a Bot API Update to our inbound types; pure.

Source of names and shapes: core.telegram.org/bots/api#update. Only what is used is read, and that strictly:
PTB's `Update.de_json` checks no types, and refuses a whole update for one new or odd field that nobody needs,
which would hold up its chat. Tests compare the two readings.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from channels.telegram.media import has_content, read_media, read_words
from core.errors import RequestRefused
from core.json_types import JsonObject
from core.language.catalogue import gettext_noop
from core.language.tags import read_tag
from core.messaging.messages import (
    Address,
    AddressChange,
    Command,
    IgnoredMessage,
    IgnoreReason,
    Inbound,
    InboundMessage,
    Origin,
    Press,
    ReachabilityChange,
    ReachabilityReason,
)
from providers.telegram.wire import is_token

CHANNEL = "telegram"
ONLY_DIRECT = gettext_noop("I answer in direct chats only. Write to me there.")
ONLY_TEXT_AND_FILES = gettext_noop("I can read text, photos, voice and files, but not this. Please tell me in words.")

_FORWARDED = ("forward_origin", "forward_date", "forward_from", "forward_from_chat", "forward_sender_name")
_BY_BOT = ("via_bot", "sender_business_bot")
_READ = ("message", "edited_message", "callback_query", "my_chat_member")
_LARGEST = 2**53


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
    return _integer(update, "update_id", at_least=0)


def parse_update(update: JsonObject, bot: BotIdentity) -> Parsed:
    """Decide what an update means to us. Raises `RequestRefused` when it is not well-formed."""
    key = f"update:{read_update_id(update)}"
    kinds = [name for name in _READ if name in update]
    if len(kinds) > 1:
        raise RequestRefused("update is of two kinds")
    match kinds:
        case ["message"]:
            return Parsed(_read_message(_object(update, "message"), key, bot))
        case ["edited_message"]:
            place = _place(_object(update, "edited_message"), bot)
            return Parsed(IgnoredMessage(place.address, place.sender, (key,), IgnoreReason.EDITED))
        case ["callback_query"]:
            return _read_press(_object(update, "callback_query"), key, bot)
        case ["my_chat_member"]:
            return Parsed(_read_membership(_object(update, "my_chat_member"), key, bot))
    return Parsed(ignore_update(update, bot))


def ignore_update(
    update: JsonObject, bot: BotIdentity, reason: IgnoreReason = IgnoreReason.UNSUPPORTED
) -> IgnoredMessage:
    """Return an update as ignored, whatever its content; it needs a number only."""
    key = f"update:{read_update_id(update)}"
    return IgnoredMessage(Address(CHANNEL, bot.id, ""), "", (key,), reason)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a message was sent, and by whom."""

    address: Address
    kind: str
    sender: str
    is_bot: bool
    name: str
    language: str


def _read_message(message: JsonObject, key: str, bot: BotIdentity) -> Inbound:
    place = _place(message, bot)
    number = _integer(message, "message_id", at_least=0)
    keys = (key, f"message:{place.address.peer}:{number}")
    if "migrate_to_chat_id" in message:
        moved_to = str(_integer(message, "migrate_to_chat_id"))
        return AddressChange(CHANNEL, bot.id, place.address.peer, moved_to, keys)
    if place.is_bot:
        reason = IgnoreReason.OWN if place.sender == bot.id else IgnoreReason.BOT
        return IgnoredMessage(place.address, place.sender, keys, reason)
    media = read_media(message)
    text = _text(message, "text") or _text(message, "caption") or read_words(message)
    if place.kind != "private":
        if not (text or media or has_content(message)):  # somebody joined, the group got a new title
            return IgnoredMessage(place.address, place.sender, keys, IgnoreReason.UNSUPPORTED)
        return IgnoredMessage(place.address, place.sender, keys, IgnoreReason.GROUP, reply=ONLY_DIRECT)
    if not text.strip() and not media:
        if "text" in message:
            return IgnoredMessage(place.address, place.sender, keys, IgnoreReason.EMPTY)
        reply = ONLY_TEXT_AND_FILES if has_content(message) else ""
        return IgnoredMessage(place.address, place.sender, keys, IgnoreReason.UNSUPPORTED, reply=reply)
    command, addressed = _read_command(message, text)
    if addressed and bot.username and addressed.casefold() != bot.username.casefold():
        return IgnoredMessage(place.address, place.sender, keys, IgnoreReason.OTHER_ACCOUNT)
    return InboundMessage(
        address=place.address,
        sender=place.sender,
        keys=keys,
        text=text,
        media=media,
        command=command,
        sent_at=_moment(_integer(message, "date", at_least=0)),
        sender_name=place.name,
        sender_language=place.language,
        provider_id=str(number),
        reply_to=_replied(message, bot),
        origin=_origin(message),
    )


def _origin(message: JsonObject) -> Origin:
    """Return whose words a message has: core.telegram.org/bots/api#message, and the names of fields before 7.0."""
    if any(message.get(name) for name in _FORWARDED):
        return Origin.FORWARDED
    return Origin.VIA_BOT if any(message.get(name) for name in _BY_BOT) else Origin.OWN


def _replied(message: JsonObject, bot: BotIdentity) -> str:
    """Return the id of the message of ours that a person replied to."""
    if "reply_to_message" not in message:
        return ""
    replied = _object(message, "reply_to_message")
    author = _person(_object(replied, "from"))[0] if "from" in replied else ""
    return str(_integer(replied, "message_id", at_least=0)) if author == bot.id else ""


def _read_command(message: JsonObject, text: str) -> tuple[Command | None, str]:
    """Return the command that a text begins with, and the bot it names after @.

    Telegram marks commands itself: core.telegram.org/bots/api#messageentity.
    """
    entities = message.get("entities")
    for entity in entities if isinstance(entities, list) else ():
        if isinstance(entity, dict) and entity.get("type") == "bot_command" and entity.get("offset") == 0:
            word, _, argument = text.replace("\n", " ", 1).partition(" ")
            name, _, addressed = word.removeprefix("/").partition("@")
            return (Command(name.lower(), argument.strip()) if name else None), addressed
    return None, ""


def _read_press(query: JsonObject, key: str, bot: BotIdentity) -> Parsed:
    """Read core.telegram.org/bots/api#callbackquery; its data may be of no button that we sent.

    The message may be one that the bot can no longer read (`InaccessibleMessage`): the press still counts.
    """
    number = _required_text(query, "id")
    sender, is_bot, _ = _person(_object(query, "from"))
    keys, data = (key, f"callback:{number}"), _text(query, "data")
    if "message" not in query:  # of an inline message, which we never send
        ignored = IgnoredMessage(Address(CHANNEL, bot.id, sender), sender, keys, IgnoreReason.UNSUPPORTED)
        return Parsed(ignored, number)
    message = _object(query, "message")
    chat = _object(message, "chat")
    peer, kind = str(_integer(chat, "id")), _required_text(chat, "type")
    message_id = str(_integer(message, "message_id", at_least=0))
    address = Address(CHANNEL, bot.id, peer, _topic(message, kind))
    if reason := _press_reason(message, data, bot, stranger=is_bot or peer != sender, kind=kind):
        return Parsed(IgnoredMessage(address, sender, keys, reason), number)
    return Parsed(Press(address, sender, keys, data, provider_id=message_id), number)


def _press_reason(
    message: JsonObject, data: str, bot: BotIdentity, *, stranger: bool, kind: str
) -> IgnoreReason | None:
    """Return why a press is not one of our buttons in the person's own chat, None if it is."""
    if kind != "private":
        return IgnoreReason.GROUP
    author, _, _ = _person(_object(message, "from")) if "from" in message else (bot.id, True, "")
    if stranger or author != bot.id or not is_token(data):
        return IgnoreReason.UNSUPPORTED
    return None


def _read_membership(change: JsonObject, key: str, bot: BotIdentity) -> Inbound:
    """Read core.telegram.org/bots/api#chatmemberupdated: in a private chat, the bot blocked or unblocked."""
    place = _place(change, bot)
    status = _required_text(_object(change, "new_chat_member"), "status")
    if place.kind != "private":
        is_in = status in ("member", "administrator", "restricted")
        return IgnoredMessage(
            place.address, place.sender, (key,), IgnoreReason.GROUP, reply=ONLY_DIRECT if is_in else ""
        )
    reachable = status not in ("kicked", "left")
    reason = ReachabilityReason.UNBLOCKED if reachable else ReachabilityReason.BLOCKED
    return ReachabilityChange(CHANNEL, bot.id, place.address.peer, reachable, reason, (key,))


def _place(message: JsonObject, bot: BotIdentity) -> _Place:
    chat = _object(message, "chat")
    peer = str(_integer(chat, "id"))
    kind = _required_text(chat, "type")
    if kind == "private" or "from" in message:
        user = _object(message, "from")
        sender, is_bot, name = _person(user)
        language = read_tag(_text(user, "language_code"))
    else:  # said in a channel's or a group's own name
        sender, is_bot, name, language = peer, True, "", ""
    return _Place(Address(CHANNEL, bot.id, peer, _topic(message, kind)), kind, sender, is_bot, name, language)


def _topic(message: JsonObject, kind: str) -> str:
    """Return the topic of a private chat; elsewhere the field also numbers plain replies."""
    is_topic = kind == "private" and message.get("is_topic_message") is True
    return str(_integer(message, "message_thread_id", at_least=1)) if is_topic else ""


def _person(user: JsonObject) -> tuple[str, bool, str]:
    number = _integer(user, "id", at_least=1)
    names = (_text(user, "first_name"), _text(user, "last_name"))
    return str(number), user.get("is_bot") is True, " ".join(name for name in names if name)


def _object(parent: JsonObject, name: str) -> JsonObject:
    value = parent.get(name)
    if not isinstance(value, dict):
        raise RequestRefused(f"{name} is not an object")
    return value


def _integer(parent: JsonObject, name: str, at_least: int = -_LARGEST) -> int:
    value = parent.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not at_least <= value < _LARGEST:
        raise RequestRefused(f"{name} is not a number of Telegram's")
    return value


def _text(parent: JsonObject, name: str) -> str:
    value = parent.get(name, "")
    if not isinstance(value, str):
        raise RequestRefused(f"{name} is not a text")
    return value


def _required_text(parent: JsonObject, name: str) -> str:
    value = _text(parent, name)
    if not value:
        raise RequestRefused(f"{name} is missing")
    return value


def _moment(seconds: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, tz=UTC)
    except (OverflowError, ValueError, OSError):  # later than any calendar
        return None
