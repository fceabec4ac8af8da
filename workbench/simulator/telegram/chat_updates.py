"""The shared parts of all acts: finding chats and messages, posting into a chat, and the updates for the bot."""

from collections.abc import Callable

from workbench.simulator.base import BadAction, Wire
from workbench.simulator.config import Person
from workbench.simulator.journal import Json
from workbench.simulator.telegram import shapes
from workbench.simulator.telegram.act_arguments import number
from workbench.simulator.telegram.entities import FormattedText, settle
from workbench.simulator.telegram.errors import Refusal
from workbench.simulator.telegram.shapes import MemberStatus
from workbench.simulator.telegram.state import PRIVATE, Chat, Message, World
from workbench.simulator.telegram.updates import MESSAGE_LIFE, Update

type Wishes = dict[str, Json]
type Act = Callable[[Person, Wishes], Json]


class ChatUpdates:
    """The chats of a bot, as its people use them."""

    def __init__(self, wire: Wire, world: World) -> None:
        self.wire = wire
        self.world = world

    def post(self, chat: Chat, person: Person, text: FormattedText, reply_to: int = 0) -> Message:
        number, sender = self.world.next_message_id(), person.telegram_user
        message = Message(number, chat.chat_id, sender, self.world.date(), text, reply_to=reply_to)
        chat.messages[message.message_id] = message
        return message

    def tell(self, chat: Chat, person: Person, message: Message, kind: str = "message") -> dict[str, Json]:
        """Send the bot the update of a message; return the ids."""
        update = self.world.updates.add(
            kind,
            shapes.message(self.world, message),
            queue=f"chat {chat.chat_id}",
            life=MESSAGE_LIFE * self.wire.config.pace,
            person=person.key,
            about=message.about,
        )
        number = update.update_id if update else None
        return {"chat_id": chat.chat_id, "message_id": message.message_id, "update_id": number}

    def tell_member(self, chat: Chat, person: Person, old: MemberStatus, new: MemberStatus) -> Update | None:
        """Send the bot the update of its own membership."""
        body: Wishes = {
            "chat": shapes.chat(chat),
            "from": shapes.user(person),
            "date": self.world.date(),
            "old_chat_member": shapes.member(self.world, old),
            "new_chat_member": shapes.member(self.world, new),
        }
        life, queue = MESSAGE_LIFE * self.wire.config.pace, f"membership in {chat.chat_id}"
        return self.world.updates.add("my_chat_member", body, queue=queue, life=life, person=person.key)

    def open_chat(self, person: Person) -> Chat:
        """Return a person's chat, begun if need be."""
        chat = self.world.private_chat(person)
        if chat is None:
            chat = Chat(person.telegram_user, PRIVATE, person=person)
            self.world.chats[chat.chat_id] = chat
        if chat.blocked or chat.deactivated:
            raise BadAction("Unblock the bot first." if chat.blocked else "The account is deactivated.")
        return chat

    def chat(self, person: Person) -> Chat:
        chat = self.world.private_chat(person)
        if chat is None:
            raise BadAction(f"{person.name} has no chat with the bot yet.")
        return chat

    def message(self, person: Person, wishes: Wishes) -> Message:
        """Return the message that an act names, in the private chat or the group."""
        wanted = number(wishes, "message_id")
        for chat in (self.world.private_chat(person), self.world.chats.get(self.world.group_id)):
            if chat and wanted in chat.messages:
                return chat.messages[wanted]
        raise BadAction("There is no message with that id.")

    def replied(self, chat: Chat, wishes: Wishes) -> int:
        """Return the id of the message that is replied to, 0 for none."""
        wanted = number(wishes, "reply_to", 0)
        if wanted and wanted not in chat.messages:
            raise BadAction("There is no message with that id to reply to.")
        return wanted


def settled_text(text: str, limit: int) -> FormattedText:
    """Return a text as the server takes it. Raises `BadAction`."""
    if len(text) > limit:
        raise BadAction(f"Telegram takes at most {limit} characters at once.")
    try:
        settled = settle(text, [])
    except Refusal as refusal:
        raise BadAction(refusal.description) from None
    if text and not settled.text:
        raise BadAction("There is nothing to send but spaces.")
    return settled
