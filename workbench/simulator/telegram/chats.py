"""Finding the chat and the message that a call names, or refusing as Telegram does."""

from workbench.simulator.telegram.arguments import Arguments, whole
from workbench.simulator.telegram.errors import Refusal, bad_request
from workbench.simulator.telegram.state import GROUP, Chat, Message, World


def find_chat(world: World, given: Arguments, name: str = "chat_id") -> Chat:
    """Return the chat in which a call wants to write. Raises `Refusal`.

    Words and order follow the server source, `check_chat` and `check_chat_access`. Usernames find only
    public groups and channels, of which there are none here.
    """
    text = given.text(name)
    if not text:
        raise bad_request(f"{name} is empty")
    chat = world.chats.get(whole(text))
    if chat is None:
        raise bad_request("chat not found")
    if chat.deactivated:
        raise Refusal(403, "Forbidden: user is deactivated")
    if chat.left:
        raise Refusal(403, f"Forbidden: bot was kicked from the {chat.kind} chat")
    if chat.kind == GROUP and chat.migrated_to:
        # https://core.telegram.org/bots/api#responseparameters
        words = "Bad Request: group chat was upgraded to a supergroup chat"
        raise Refusal(400, words, migrate_to=chat.migrated_to)
    return chat


def check_thread(chat: Chat, given: Arguments) -> None:
    """Refuse a topic that the chat has not. The general one is named by no number: its own, 1, is refused."""
    if (thread := given.integer("message_thread_id")) and thread not in chat.topics:
        raise bad_request("message thread not found")


def check_not_blocked(chat: Chat) -> None:
    """Refuse if the person blocked the bot; the server checks this last, after the rest of the message."""
    if chat.blocked:
        raise Refusal(403, "Forbidden: bot was blocked by the user")


def find_message(world: World, given: Arguments, name: str) -> Message:
    """Return the message that a call names; `name` begins the refusal ("message to edit")."""
    chat = find_chat(world, given)
    message = chat.messages.get(given.integer("message_id"))
    if message is None:
        raise bad_request(f"{name} not found")
    return message
