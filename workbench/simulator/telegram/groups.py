"""A group with the bot in it, in privacy mode: https://core.telegram.org/bots/features#privacy-mode."""

from workbench.simulator.telegram.state import GROUP, SUPERGROUP, Chat, Message, World

_GROUP_ID = -4_000_000_001
_SUPERGROUP_ID = -1_002_000_000_001


def create(world: World) -> Chat:
    chat = Chat(_GROUP_ID, GROUP, title="Simulated group")
    world.chats[chat.chat_id] = chat
    world.group_id = chat.chat_id
    return chat


def upgrade(world: World, chat: Chat) -> Chat:
    """Turn it into a supergroup, whose id needs more than 32 bits."""
    upgraded = Chat(_SUPERGROUP_ID, SUPERGROUP, title=chat.title)
    world.chats[upgraded.chat_id] = upgraded
    world.group_id = chat.migrated_to = upgraded.chat_id
    return upgraded


def reaches_bot(world: World, chat: Chat, message: Message) -> bool:
    """Return whether the bot gets a message: commands, mentions of it, and answers to it."""
    replied = chat.messages.get(message.reply_to)
    if replied and replied.sender == world.bot.bot_id:
        return True
    name = f"@{world.bot.bot_username}".lower()
    encoded = message.text.text.encode("utf-16-le")
    for entity in message.text.entities:
        words = encoded[2 * entity.offset : 2 * entity.end].decode("utf-16-le").lower()
        if entity.type == "mention" and words == name:
            return True
        if entity.type == "bot_command" and ("@" not in words or words.endswith(name)):
            return True
    return False
