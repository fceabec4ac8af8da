"""The page's view of the emulated Telegram."""

import json
from dataclasses import asdict

from workbench.simulator.config import Person
from workbench.simulator.journal import Json
from workbench.simulator.telegram import shapes
from workbench.simulator.telegram.state import Chat, Message, Press, World


def show(world: World, webhook_info: dict[str, Json], *, has_rival: bool) -> Json:
    """Return everything: the bot, each person's chat by key, and the group."""
    group = world.chats.get(world.group_id)
    bot: dict[str, Json] = {
        "webhook": webhook_info,
        "held": world.updates.held,
        "second_poller": has_rival,
        "description": world.settings.words.get(("description", ""), ""),
        "short_description": world.settings.words.get(("short_description", ""), ""),
    }
    people: dict[str, Json] = {person.key: _person(world, person) for person in world.config.everyone}
    return {
        "bot": shapes.bot_user(world) | bot,
        "people": people,
        "group": _chat(world, group) if group else None,
    }


def _person(world: World, person: Person) -> Json:
    chat = world.private_chat(person)
    shown: dict[str, Json] = {
        "user_id": person.telegram_user,
        "started": chat is not None,
        "commands": _commands(world, person),
        "menu_button": world.settings.menu_buttons.get(person.telegram_user)
        or world.settings.menu_buttons.get(0, {"type": "commands"}),
        "failed_deliveries": [asdict(failure) for failure in world.updates.failures if failure.person == person.key],
    }
    empty: dict[str, Json] = {"messages": [], "blocked": False, "deactivated": False}
    return shown | (_chat(world, chat) if chat else empty)


def _chat(world: World, chat: Chat) -> dict[str, Json]:
    now = world.now()
    draft = chat.draft if chat.draft and chat.draft.until > now else None
    typing = chat.action_until > now
    return {
        "chat_id": chat.chat_id,
        "kind": chat.kind,
        "title": chat.title,
        "members": {person.key: status for user, status in chat.members.items() if (person := world.person_of(user))},
        "left": chat.left,
        "topics": {str(topic): name for topic, name in chat.topics.items()},
        "privacy": world.privacy,
        "blocked": chat.blocked,
        "deactivated": chat.deactivated,
        "migrated_to": chat.migrated_to,
        "action": chat.action if typing else "",
        "typing_until": chat.action_until if typing else None,
        "draft": {
            "draft_id": draft.draft_id,
            "text": draft.text.text,
            "entities": [entity.to_json() for entity in draft.text.entities],
            "until": draft.until,
        }
        if draft
        else None,
        "messages": [_message(world, message) for message in chat.messages.values()],
    }


def _message(world: World, message: Message) -> Json:
    sender = world.person_of(message.sender)
    rows = message.keyboard.get("inline_keyboard") if message.keyboard else None
    return {
        "id": message.about,
        "message_id": message.message_id,
        "direction": "in" if sender else "out",
        "from": sender.key if sender else "bot",
        "text": message.text.text,
        "entities": [entity.to_json() for entity in message.text.entities],
        "keyboard": rows or [],
        "force_reply": _force_reply(message),
        "edited": bool(message.edited),
        "reply_to": message.reply_to or None,
        "thread": message.thread or None,
        "date": message.date,
        "status": _status(world, message) if sender else "sent",
        "media": _media(message),
        "service": message.service,
        "reactions": [
            {"emoji": emoji, "from": person.key if (person := world.person_of(user)) else "bot"}
            for user, emojis in message.reactions.items()
            for emoji in emojis
        ],
        "presses": [_press(press) for press in world.presses.values() if press.message is message],
    }


def _force_reply(message: Message) -> Json:
    """Return the placeholder of the reply that the bot asks for, or None."""
    markup = message.keyboard or {}
    return str(markup.get("input_field_placeholder") or "Reply") if markup.get("force_reply") else None


def _status(world: World, message: Message) -> str:
    if message.unheard:
        return "unheard"
    if world.updates.waits_for(message.about):
        return "waiting"
    return "dropped" if world.updates.dropped(message.about) else "taken"


def _media(message: Message) -> Json:
    if message.file is None:
        return None
    file = message.file
    return {
        "kind": message.media,
        "name": file.name,
        "content_type": file.content_type,
        "size": len(file.data),
        "url": f"/sim/files/telegram/{file.file_id}",
    }


def _press(press: Press) -> Json:
    answer: dict[str, Json] = {"answered": press.answered, "text": press.text, "alert": press.alert}
    return {"person": press.person.key, "data": press.data, **answer}


def _commands(world: World, person: Person) -> Json:
    """Return the menu as a private chat resolves it.

    https://core.telegram.org/bots/api#determining-list-of-commands
    """
    own = json.dumps({"type": "chat", "chat_id": person.telegram_user, "user_id": ""})
    for scope in (own, json.dumps({"type": "all_private_chats"}), json.dumps({"type": "default"})):
        for language in (person.language[:2], ""):  # a menu has a two-letter code
            if commands := world.settings.commands.get((scope, language)):
                return [*commands]
    return []
