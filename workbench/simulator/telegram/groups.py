"""A group with the bot in it, and privacy mode: https://core.telegram.org/bots/features#privacy-mode."""

from workbench.simulator.config import Person
from workbench.simulator.journal import Json
from workbench.simulator.telegram import shapes
from workbench.simulator.telegram.arguments import Arguments, whole
from workbench.simulator.telegram.chats import find_chat
from workbench.simulator.telegram.errors import Refusal, bad_request
from workbench.simulator.telegram.state import GROUP, PRIVATE, SUPERGROUP, Chat, Message, World

_GROUP_ID = -4_000_000_001
_SUPERGROUP_ID = -1_002_000_000_001


def create(world: World) -> Chat:
    chat = Chat(_GROUP_ID, GROUP, title="Simulated group")
    world.chats[chat.chat_id] = chat
    world.group_id = chat.chat_id
    return chat


def join(chat: Chat, person: Person) -> None:
    """Let a person into the group; the first is its creator."""
    chat.members.setdefault(person.telegram_user, "member" if chat.members else "creator")


def get_chat_member(world: World, given: Arguments) -> Json:
    """Answer getChatMember: https://core.telegram.org/bots/api#getchatmember."""
    chat = find_chat(world, given)
    person = world.person_of(whole(given.text("user_id")) or 0)
    if chat.kind == PRIVATE or person is None:
        raise bad_request("PARTICIPANT_ID_INVALID" if person is None else "there are no members in the private chat")
    if chat.left:
        raise Refusal(403, "Forbidden: bot is not a member of the group chat")
    return {
        "user": shapes.user(person),
        "status": chat.members.get(person.telegram_user, "left"),
        "is_anonymous": False,
    }


def upgrade(world: World, chat: Chat) -> Chat:
    """Turn it into a supergroup, whose id needs more than 32 bits."""
    upgraded = Chat(_SUPERGROUP_ID, SUPERGROUP, title=chat.title, members=dict(chat.members))
    world.chats[upgraded.chat_id] = upgraded
    world.group_id = chat.migrated_to = upgraded.chat_id
    return upgraded


def begin_topic(chat: Chat, message: Message, name: str) -> None:
    """Let a topic begin with a message: core.telegram.org/bots/api#forumtopiccreated."""
    message.service = {"forum_topic_created": {"name": name, "icon_color": 7_322_096}}
    message.thread = message.message_id
    chat.topics[message.thread] = name


def runs(chat: Chat, person: Person) -> bool:
    """Return whether a person is an administrator of the group."""
    return chat.members.get(person.telegram_user) in ("creator", "administrator")


def reaches_bot(world: World, chat: Chat, message: Message) -> bool:
    """Return whether the bot gets a message: in privacy mode commands, mentions of it, and answers to it."""
    if not world.privacy:
        return True
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
