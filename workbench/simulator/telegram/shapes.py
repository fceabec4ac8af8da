"""The Bot API's objects as JSON: https://core.telegram.org/bots/api#available-types."""

from typing import Literal

from workbench.simulator.config import Person
from workbench.simulator.journal import Json
from workbench.simulator.telegram.entities import FormattedText
from workbench.simulator.telegram.state import PRIVATE, Chat, Message, StoredFile, World

_ANONYMOUS: dict[str, Json] = {
    "id": 1_087_968_824,
    "is_bot": True,
    "first_name": "Group",
    "username": "GroupAnonymousBot",
}
"""The sender for older bots: core.telegram.org/bots/api#message, `sender_chat`."""


def bot_user(world: World) -> dict[str, Json]:
    return {
        "id": world.bot.bot_id,
        "is_bot": True,
        "first_name": world.bot.bot_name,
        "username": world.bot.bot_username,
    }


def me(world: World) -> dict[str, Json]:
    """Return the bot as getMe does; privacy mode is on by default."""
    return bot_user(world) | {
        "can_join_groups": True,
        "can_read_all_group_messages": not world.privacy,
        "supports_inline_queries": False,
        "can_connect_to_business": False,
        "has_main_web_app": False,
        "has_topics_enabled": False,
        "allows_users_to_create_topics": False,
        "can_manage_bots": False,
    }


def user(person: Person) -> dict[str, Json]:
    shown: dict[str, Json] = {"id": person.telegram_user, "is_bot": False, **_name(person)}
    return shown | {"language_code": person.language}


def chat(known: Chat) -> dict[str, Json]:
    shown: dict[str, Json] = {"id": known.chat_id, "type": known.kind}
    if known.topics:
        shown["is_forum"] = True
    return shown | (_name(known.person) if known.person else {"title": known.title})


def message(world: World, sent: Message, *, with_reply: bool = True) -> dict[str, Json]:
    """Return a Message; a reply carries the message that it answers, a level deep."""
    sender = world.person_of(sent.sender)
    known = world.chats[sent.chat_id]
    shown: dict[str, Json] = {
        "message_id": sent.message_id,
        "from": user(sender) if sender else bot_user(world),
        "chat": chat(known),
        "date": sent.date,
    }
    if sent.edited:
        shown["edit_date"] = sent.edited
    if sent.anonymous:
        shown |= {"from": _ANONYMOUS, "sender_chat": chat(known)}
    if sent.thread:
        shown |= {"message_thread_id": sent.thread, "is_topic_message": True}
    replied = known.messages.get(sent.reply_to or (sent.thread if sent.thread != sent.message_id else 0))
    if with_reply and replied:
        shown["reply_to_message"] = message(world, replied, with_reply=False)
    if sent.file:
        shown[sent.media] = _media(sent.media, sent.file)
        shown |= _text(sent.text, "caption", "caption_entities")
    else:
        shown |= _text(sent.text, "text", "entities")
    if sent.keyboard and "inline_keyboard" in sent.keyboard:
        shown["reply_markup"] = sent.keyboard
    return shown | sent.service


def file(stored: StoredFile) -> dict[str, Json]:
    return _file_ids(stored) | {"file_path": stored.path}


type MemberStatus = Literal["creator", "administrator", "member", "restricted", "left", "kicked"]
"""core.telegram.org/bots/api#chatmember"""


def member(world: World, status: MemberStatus) -> dict[str, Json]:
    shown: dict[str, Json] = {"user": bot_user(world), "status": status}
    return shown | ({"until_date": 0} if status == "kicked" else {})


def full_chat(known: Chat) -> dict[str, Json]:
    shown = chat(known) | {
        "accent_color_id": 1,
        "max_reaction_count": 11,
        "accepted_gift_types": {
            "unlimited_gifts": True,
            "limited_gifts": True,
            "unique_gifts": True,
            "premium_subscription": True,
            "gifts_from_channels": True,
        },
    }
    return shown | ({} if known.kind == PRIVATE else {"permissions": {"can_send_messages": True}})


def _name(person: Person) -> dict[str, Json]:
    first, _, last = person.name.partition(" ")
    shown: dict[str, Json] = {"first_name": first}
    if last:
        shown["last_name"] = last
    if person.telegram_username:
        shown["username"] = person.telegram_username
    return shown


def _text(text: FormattedText, name: str, entities: str) -> dict[str, Json]:
    if not text.text:
        return {}
    shown: dict[str, Json] = {name: text.text}
    if text.entities:
        shown[entities] = [entity.to_json() for entity in text.entities]
    return shown


def _file_ids(stored: StoredFile) -> dict[str, Json]:
    return {"file_id": stored.file_id, "file_unique_id": stored.unique_id, "file_size": len(stored.data)}


def _media(kind: str, stored: StoredFile) -> Json:
    shown = _file_ids(stored)
    match kind:
        case "photo":
            return [shown | {"width": 320, "height": 240}]
        case "voice":
            return shown | {"duration": stored.seconds, "mime_type": stored.content_type}
        case "video_note":
            return shown | {"duration": 1, "length": 240}
        case "audio":
            return shown | {"duration": stored.seconds, "file_name": stored.name, "mime_type": stored.content_type}
        case _:
            return shown | {"file_name": stored.name, "mime_type": stored.content_type}
