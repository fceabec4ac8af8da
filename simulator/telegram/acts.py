"""What people do in the emulated Telegram: each act makes the updates that Telegram would make of it."""

import base64
import binascii
import json
from collections.abc import Callable

from simulator.base import BadAction, Wire
from simulator.config import Person
from simulator.journal import Json
from simulator.telegram import groups, shapes
from simulator.telegram.act_arguments import flag, number, text
from simulator.telegram.entities import FormattedText, settle
from simulator.telegram.errors import Refusal
from simulator.telegram.formatting import MAX_CAPTION, MAX_TEXT
from simulator.telegram.keyboards import inline_buttons
from simulator.telegram.polling import Polling
from simulator.telegram.state import PRIVATE, Chat, Message, Press, World
from simulator.telegram.updates import CALLBACK_LIFE, MESSAGE_LIFE, Update

_MEDIA = {
    "voice": ("voice.oga", "audio/ogg", "voice"),
    "photo": ("photo.jpg", "image/jpeg", "photos"),
    "document": ("document.pdf", "application/pdf", "documents"),
}
_PATIENCE_FOR_ANSWER = 60.0

type Wishes = dict[str, Json]


class Acts:
    """The acts by name; each gives JSON and raises BadAction."""

    def __init__(self, wire: Wire, world: World, polling: Polling) -> None:
        self._wire = wire
        self._world = world
        self._polling = polling
        self._acts: dict[str, Callable[[Person, Wishes], Json]] = {
            **{"start": self._start, "say": self._say, "edit": self._edit, "press": self._press},
            **{"forge_press": self._forge_press, "block": self._block, "unblock": self._unblock},
            **{"voice": self._voice, "photo": self._photo, "document": self._document, "set": self._set},
            **{"redeliver": self._redeliver, "second_poller": self._second_poller},
            **{"group_say": self._group_say, "migrate": self._migrate},
        }

    def act(self, person: Person, action: str, wishes: Wishes) -> Json:
        """Do it."""
        found = self._acts.get(action)
        if found is None:
            raise BadAction(f"Telegram has no {action}; there are {', '.join(self._acts)}.")
        return found(person, wishes)

    def _start(self, person: Person, wishes: Wishes) -> Json:
        argument = text(wishes, "argument", required=False)
        return self._say(person, {"text": f"/start {argument}".strip()})

    def _say(self, person: Person, wishes: Wishes) -> Json:
        said = _settled(text(wishes, "text"), MAX_TEXT)
        chat = self._open_chat(person)
        message = self._posted(chat, person, said, reply_to=self._replied(chat, wishes))
        return self._told(chat, person, message)

    def _edit(self, person: Person, wishes: Wishes) -> Json:
        chat = self._chat(person)
        message = chat.messages.get(number(wishes, "message_id"))
        if message is None or message.sender != person.telegram_user or message.file:
            raise BadAction("A person can edit only a text of their own.")
        message.text, message.edited = _settled(text(wishes, "text"), MAX_TEXT), self._world.date()
        return self._told(chat, person, message, "edited_message")

    def _press(self, person: Person, wishes: Wishes) -> Json:
        message = self._message(person, wishes)
        data = _button_data(message, wishes)
        return self._pressed(person, message, data)

    def _forge_press(self, person: Person, wishes: Wishes) -> Json:
        """Send data that no button has, as a modified client can.

        https://core.telegram.org/bots/api#callbackquery: "the message … may contain no callback buttons with
        this data".
        """
        return self._pressed(person, self._message(person, wishes), text(wishes, "data"))

    def _pressed(self, person: Person, message: Message, data: str) -> Json:
        query_id = str(self._world.random.getrandbits(62))
        patience = _PATIENCE_FOR_ANSWER * self._wire.config.patience
        self._world.presses[query_id] = Press(query_id, person, message, data, self._world.now(), patience)
        body: Wishes = {
            "id": query_id,
            "from": shapes.user(person),
            "message": shapes.message(self._world, message),
            "chat_instance": str(3_000_000_000_000_000_000 + abs(message.chat_id)),
            "data": data,
        }
        life = CALLBACK_LIFE * self._wire.config.pace
        queue = f"callbacks of {person.telegram_user}"
        update = self._world.updates.add(
            "callback_query", body, queue=queue, life=life, person=person.key, about=message.about
        )
        return {"callback_query_id": query_id, "update_id": update.update_id if update else None}

    def _block(self, person: Person, _: Wishes) -> Json:
        return self._membership(person, blocked=True)

    def _unblock(self, person: Person, _: Wishes) -> Json:
        return self._membership(person, blocked=False)

    def _membership(self, person: Person, *, blocked: bool) -> Json:
        chat = self._chat(person)
        if chat.blocked == blocked:
            raise BadAction(f"The bot is {'blocked' if blocked else 'not blocked'} already.")
        chat.blocked = blocked
        old, new = ("member", "kicked") if blocked else ("kicked", "member")
        update = self._member_update(chat, person, old, new)
        return {"update_id": update.update_id if update else None}

    def _member_update(self, chat: Chat, person: Person, old: str, new: str) -> Update | None:
        body: Wishes = {
            "chat": shapes.chat(chat),
            "from": shapes.user(person),
            "date": self._world.date(),
            "old_chat_member": shapes.member(self._world, old),
            "new_chat_member": shapes.member(self._world, new),
        }
        life, queue = MESSAGE_LIFE * self._wire.config.pace, f"membership in {chat.chat_id}"
        return self._world.updates.add("my_chat_member", body, queue=queue, life=life, person=person.key)

    def _voice(self, person: Person, wishes: Wishes) -> Json:
        return self._uploaded(person, wishes, "voice")

    def _photo(self, person: Person, wishes: Wishes) -> Json:
        return self._uploaded(person, wishes, "photo")

    def _document(self, person: Person, wishes: Wishes) -> Json:
        return self._uploaded(person, wishes, "document")

    def _uploaded(self, person: Person, wishes: Wishes, kind: str) -> Json:
        """Send a file: "data" in base64 (a few bytes otherwise), "name", "content_type", "caption"."""
        name, content_type, folder = _MEDIA[kind]
        try:
            data = base64.b64decode(text(wishes, "data", required=False), validate=True)
        except (binascii.Error, ValueError):
            raise BadAction('"data" must be base64.') from None
        name = text(wishes, "name", required=False) or name
        content_type = text(wishes, "content_type", required=False) or content_type
        caption = _settled(text(wishes, "caption", required=False), MAX_CAPTION)
        chat = self._open_chat(person)
        file = self._world.keep_file(name, content_type, data or b"simulated", folder)
        message = self._posted(chat, person, caption)
        message.media, message.file = kind, file
        return {"file_id": file.file_id, **self._told(chat, person, message)}

    def _redeliver(self, person: Person, wishes: Wishes) -> Json:
        """Deliver this person's last n updates (1 unless told) once more, under their old ids."""
        count = number(wishes, "n", 1)
        made = [update for update in self._world.updates.made if update.person == person.key][-max(count, 1) :]
        if not made:
            raise BadAction("There is nothing to deliver again.")
        for update in made:
            self._world.updates.again(update, MESSAGE_LIFE * self._wire.config.pace)
        return {"update_ids": [update.update_id for update in made]}

    def _second_poller(self, _: Person, wishes: Wishes) -> Json:
        """Let another instance of the bot poll for some "seconds" (10 unless told)."""
        self._polling.rival(float(number(wishes, "seconds", 10)))
        return {"ok": True}

    def _set(self, person: Person, wishes: Wishes) -> Json:
        """Switch "deactivated" (this person's account is gone) or "held" (Telegram delays all updates)."""
        if strange := set(wishes) - {"deactivated", "held"}:
            raise BadAction(f"Telegram has no switch {', '.join(sorted(strange))}.")
        if "deactivated" in wishes:
            self._chat(person).deactivated = flag(wishes, "deactivated")
        if "held" in wishes:
            self._world.updates.held = flag(wishes, "held")
            self._world.updates.tell()
        return {"held": self._world.updates.held}

    def _group_say(self, person: Person, wishes: Wishes) -> Json:
        """Say something in a group with the bot; "mention" puts its @name before it."""
        said = _settled(text(wishes, "text"), MAX_TEXT)
        if flag(wishes, "mention"):
            said = _settled(f"@{self._world.bot.bot_username} {said.text}", MAX_TEXT)
        chat = self._world.chats.get(self._world.group_id)
        if chat is None:
            chat = groups.create(self._world)
            self._member_update(chat, person, "left", "member")
        message = self._posted(chat, person, said, reply_to=self._replied(chat, wishes))
        if not groups.reaches_bot(self._world, chat, message):
            return {"chat_id": chat.chat_id, "message_id": message.message_id, "update_id": None}
        return self._told(chat, person, message)

    def _migrate(self, person: Person, _: Wishes) -> Json:
        """Turn the group into a supergroup, with a new id."""
        chat = self._world.chats.get(self._world.group_id)
        if chat is None or chat.migrated_to:
            raise BadAction("There is no small group to migrate; say something in one first.")
        upgraded = groups.upgrade(self._world, chat)
        for place, service in (
            (chat, {"migrate_to_chat_id": upgraded.chat_id}),
            (upgraded, {"migrate_from_chat_id": chat.chat_id}),
        ):
            message = self._posted(place, person, FormattedText(""))
            message.service = {**service}
            self._told(place, person, message)
        return {"chat_id": upgraded.chat_id}

    def _posted(self, chat: Chat, person: Person, said: FormattedText, reply_to: int = 0) -> Message:
        message = Message(
            self._world.next_message_id(),
            chat.chat_id,
            person.telegram_user,
            self._world.date(),
            said,
            reply_to=reply_to,
        )
        chat.messages[message.message_id] = message
        return message

    def _told(self, chat: Chat, person: Person, message: Message, kind: str = "message") -> dict[str, Json]:
        update = self._world.updates.add(
            kind,
            shapes.message(self._world, message),
            queue=f"chat {chat.chat_id}",
            life=MESSAGE_LIFE * self._wire.config.pace,
            person=person.key,
            about=message.about,
        )
        return {
            "chat_id": chat.chat_id,
            "message_id": message.message_id,
            "update_id": update.update_id if update else None,
        }

    def _open_chat(self, person: Person) -> Chat:
        chat = self._world.private_chat(person)
        if chat is None:
            chat = Chat(person.telegram_user, PRIVATE, person=person)
            self._world.chats[chat.chat_id] = chat
        if chat.blocked or chat.deactivated:
            raise BadAction("Unblock the bot first." if chat.blocked else "The account is deactivated.")
        return chat

    def _chat(self, person: Person) -> Chat:
        chat = self._world.private_chat(person)
        if chat is None:
            raise BadAction(f"{person.name} has no chat with the bot yet.")
        return chat

    def _message(self, person: Person, wishes: Wishes) -> Message:
        wanted = number(wishes, "message_id")
        places = (self._world.private_chat(person), self._world.chats.get(self._world.group_id))
        for chat in places:
            if chat and wanted in chat.messages:
                return chat.messages[wanted]
        raise BadAction("There is no message with that id.")

    def _replied(self, chat: Chat, wishes: Wishes) -> int:
        wanted = number(wishes, "reply_to", 0)
        if wanted and wanted not in chat.messages:
            raise BadAction("There is no message with that id to reply to.")
        return wanted


def _settled(said: str, limit: int) -> FormattedText:
    if len(said) > limit:
        raise BadAction(f"Telegram takes at most {limit} characters at once.")
    try:
        settled = settle(said, [])
    except Refusal as refusal:
        raise BadAction(refusal.description) from None
    if said and not settled.text:
        raise BadAction("There is nothing to send but spaces.")
    return settled


def _button_data(message: Message, wishes: Wishes) -> str:
    """Find the button by its "data", or by "button": its number from the top left, beginning with 0."""
    buttons = inline_buttons(message.keyboard)
    if "data" in wishes:
        chosen = [button for button in buttons if button.get("callback_data") == wishes["data"]]
    else:
        index = number(wishes, "button", 0)
        chosen = buttons[index : index + 1] if index >= 0 else []
    data = chosen[0].get("callback_data") if chosen else None
    if not isinstance(data, str):
        shown = json.dumps([button.get("text") for button in buttons], ensure_ascii=False)
        raise BadAction(f"That message has no such button to press; it has {shown}.")
    return data
