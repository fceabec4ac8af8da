"""Reactions to messages: core.telegram.org/bots/api#setmessagereaction and #messagereactionupdated."""

from workbench.simulator.base import BadAction
from workbench.simulator.config import Person
from workbench.simulator.journal import Json
from workbench.simulator.telegram import shapes
from workbench.simulator.telegram.act_arguments import number, text
from workbench.simulator.telegram.arguments import Arguments
from workbench.simulator.telegram.chat_updates import ChatUpdates, Wishes
from workbench.simulator.telegram.chats import find_message
from workbench.simulator.telegram.errors import bad_request
from workbench.simulator.telegram.state import World
from workbench.simulator.telegram.updates import MESSAGE_LIFE

_ALLOWED = """
❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏
👌 🕊 🤡 🥱 🥴 😍 🐳 ❤\u200d🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨
😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨\u200d💻 👀 🎃 🙈 😇 😨 🤝
✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎
👾 🤷\u200d♂ 🤷 🤷\u200d♀ 😡
"""
EMOJI = frozenset(_ALLOWED.split())
"""The emoji that may be reactions: #reactiontypeemoji."""


def set_message_reaction(world: World, given: Arguments) -> bool:
    """Set the bot's reaction, or take it back; a bot has one on a message at most."""
    if given.integer("message_id") <= 0:
        raise bad_request("message identifier is not specified")
    wanted = given.json("reaction", "can't parse reaction types JSON object") or []
    if not isinstance(wanted, list):
        raise bad_request("expected an Array of ReactionType")
    message = find_message(world, given, "message to react")
    emoji = [str(item.get("emoji", "")) for item in wanted if isinstance(item, dict) and item.get("type") == "emoji"]
    if len(emoji) != len(wanted) or not EMOJI.issuperset(emoji):
        raise bad_request("REACTION_INVALID")
    if len(emoji) > 1:
        raise bad_request("REACTIONS_TOO_MANY")
    message.reactions[world.bot.bot_id] = emoji
    return True


def react(chats: ChatUpdates, person: Person, wishes: Wishes) -> Json:
    """Change a person's reaction to "message_id" to "emoji", or to "custom", an emoji of a pack's; "" takes it back."""
    message = chats.message(person, wishes)
    emoji, custom = text(wishes, "emoji", required=False), text(wishes, "custom", required=False)
    if emoji and emoji not in EMOJI:
        raise BadAction("Telegram has no such reaction.")
    old = message.reactions.get(person.telegram_user, [])
    new = [emoji] if emoji else [f"custom:{custom}"] if custom else []
    message.reactions[person.telegram_user] = new
    chat = chats.world.chats[message.chat_id]
    body: dict[str, Json] = {
        "chat": shapes.chat(chat),
        "message_id": number(wishes, "message_id"),
        "user": shapes.user(person),
        "date": chats.world.date(),
        "old_reaction": [_kind(one) for one in old],
        "new_reaction": [_kind(one) for one in new],
    }
    life, queue = MESSAGE_LIFE * chats.wire.config.pace, f"chat {chat.chat_id}"
    update = chats.world.updates.add(
        "message_reaction", body, queue=queue, life=life, person=person.key, about=message.about
    )
    return {"update_id": update.update_id if update else None}


def _kind(emoji: str) -> dict[str, Json]:
    """Return a ReactionType."""
    if emoji.startswith("custom:"):
        return {"type": "custom_emoji", "custom_emoji_id": emoji.removeprefix("custom:")}
    return {"type": "emoji", "emoji": emoji}
