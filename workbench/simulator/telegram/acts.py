"""People's acts in the emulated Telegram: each makes the updates that Telegram would make."""

import base64
import binascii
import json
import secrets
from functools import partial

from workbench.simulator.base import BadAction, Wire
from workbench.simulator.config import Person
from workbench.simulator.journal import Json
from workbench.simulator.telegram import shapes
from workbench.simulator.telegram.act_arguments import number, text
from workbench.simulator.telegram.chat_updates import Act, ChatUpdates, Wishes, settled_text
from workbench.simulator.telegram.formatting import MAX_CAPTION, MAX_TEXT
from workbench.simulator.telegram.keyboards import inline_buttons
from workbench.simulator.telegram.place_acts import PlaceActs
from workbench.simulator.telegram.pointing import linked, pointed
from workbench.simulator.telegram.polling import Polling
from workbench.simulator.telegram.reactions import react
from workbench.simulator.telegram.service_acts import ServiceActs
from workbench.simulator.telegram.state import Message, Press, World
from workbench.simulator.telegram.updates import CALLBACK_LIFE

_MEDIA = {
    "voice": ("voice.oga", "audio/ogg", "voice"),
    "audio": ("song.mp3", "audio/mpeg", "music"),
    "video_note": ("note.mp4", "video/mp4", "video_notes"),
    "photo": ("photo.jpg", "image/jpeg", "photos"),
    "document": ("document.pdf", "application/pdf", "documents"),
}
_STICKER: dict[str, Json] = {
    "file_id": "CAACAgIAAxkBAAsimulated",
    "file_unique_id": "AgADsimulated",
    "type": "regular",
    "width": 512,
    "height": 512,
    "is_animated": False,
    "is_video": False,
}
_PATIENCE_FOR_ANSWER = 60.0


class Acts:
    """The acts by name; each returns JSON and raises BadAction."""

    def __init__(self, wire: Wire, world: World, polling: Polling) -> None:
        self._chats = ChatUpdates(wire, world)
        self._acts: dict[str, Act] = {
            "start": self._start,
            "say": self._say,
            "edit": self._edit,
            "press": self._press,
            "react": partial(react, self._chats),
            "forge_press": self._forge_press,
            "block": lambda person, _: self._membership(person, blocked=True),
            "unblock": lambda person, _: self._membership(person, blocked=False),
            "voice": lambda person, wishes: self._uploaded(person, wishes, "voice"),
            "audio": lambda person, wishes: self._uploaded(person, wishes, "audio"),
            "video_note": lambda person, wishes: self._uploaded(person, wishes, "video_note"),
            "photo": lambda person, wishes: self._uploaded(person, wishes, "photo"),
            "document": lambda person, wishes: self._uploaded(person, wishes, "document"),
            "contact": self._contact,
            "sticker": lambda person, wishes: self._other(
                person, {"sticker": {**_STICKER, "emoji": text(wishes, "emoji")}}
            ),
            "rich": lambda person, wishes: self._other(person, {"rich_message": {"blocks": wishes.get("blocks", [])}}),
            "game": lambda person, wishes: self._other(person, {"game": {"title": text(wishes, "title")}}),
            "story": lambda person, _: self._other(person, {"story": {"id": 1}}),
            **PlaceActs(self._chats).acts(),
            **ServiceActs(self._chats, polling).acts(),
        }

    def act(self, person: Person, action: str, wishes: Wishes) -> Json:
        act = self._acts.get(action)
        if act is None:
            raise BadAction(f"Telegram has no {action}; there are {', '.join(self._acts)}.")
        return act(person, wishes)

    def _start(self, person: Person, wishes: Wishes) -> Json:
        argument = text(wishes, "argument", required=False)
        return self._say(person, {"text": f"/start {argument}".strip()})

    def _say(self, person: Person, wishes: Wishes) -> Json:
        """Write a "text", in answer to "reply_to" or to a message by "elsewhere", from which "quote" is quoted.

        The words "linked" link to "url".
        """
        content = linked(settled_text(text(wishes, "text"), MAX_TEXT), wishes)
        chat = self._chats.open_chat(person)
        replied = self._chats.replied(chat, wishes)
        fields = pointed(chat.messages.get(replied), wishes, self._chats.world.date())
        message = self._chats.post(chat, person, content, reply_to=replied)
        message.service = fields
        return self._chats.tell(chat, person, message)

    def _edit(self, person: Person, wishes: Wishes) -> Json:
        chat = self._chats.chat(person)
        message = chat.messages.get(number(wishes, "message_id"))
        if message is None or message.sender != person.telegram_user or message.file:
            raise BadAction("A person can edit only a text of their own.")
        message.text, message.edited = settled_text(text(wishes, "text"), MAX_TEXT), self._chats.world.date()
        return self._chats.tell(chat, person, message, "edited_message")

    def _press(self, person: Person, wishes: Wishes) -> Json:
        message = self._chats.message(person, wishes)
        data = _button_data(message, wishes)
        return self._pressed(person, message, data)

    def _forge_press(self, person: Person, wishes: Wishes) -> Json:
        """Send data that no button has, as a modified client can.

        https://core.telegram.org/bots/api#callbackquery: "the message … may contain no callback buttons with
        this data".
        """
        return self._pressed(person, self._chats.message(person, wishes), text(wishes, "data"))

    def _pressed(self, person: Person, message: Message, data: str) -> Json:
        query_id = str(secrets.randbits(62))
        patience = _PATIENCE_FOR_ANSWER * self._chats.wire.config.patience
        self._chats.world.presses[query_id] = Press(query_id, person, message, data, self._chats.world.now(), patience)
        body: Wishes = {
            "id": query_id,
            "from": shapes.user(person),
            "message": shapes.message(self._chats.world, message),
            "chat_instance": str(3_000_000_000_000_000_000 + abs(message.chat_id)),
            "data": data,
        }
        life = CALLBACK_LIFE * self._chats.wire.config.pace
        queue = f"callbacks of {person.telegram_user}"
        update = self._chats.world.updates.add(
            "callback_query", body, queue=queue, life=life, person=person.key, about=message.about
        )
        return {"callback_query_id": query_id, "update_id": update.update_id if update else None}

    def _membership(self, person: Person, *, blocked: bool) -> Json:
        chat = self._chats.chat(person)
        if chat.blocked == blocked:
            raise BadAction(f"The bot is {'blocked' if blocked else 'not blocked'} already.")
        chat.blocked = blocked
        told = partial(self._chats.tell_member, chat, person)
        update = told("member", "kicked") if blocked else told("kicked", "member")
        return {"update_id": update.update_id if update else None}

    def _contact(self, person: Person, wishes: Wishes) -> Json:
        """Send the contact "first_name", "last_name" with "phone_number"; "user_id": theirs at Telegram."""
        contact: dict[str, Json] = {name: text(wishes, name) for name in ("phone_number", "first_name")}
        for name in ("last_name", "vcard"):
            if value := text(wishes, name, required=False):
                contact[name] = value
        if "user_id" in wishes:
            contact["user_id"] = number(wishes, "user_id")
        return self._other(person, {"contact": contact})

    def _other(self, person: Person, content: dict[str, Json]) -> Json:
        """Send content that is neither text nor a file to fetch."""
        chat = self._chats.open_chat(person)
        message = self._chats.post(chat, person, settled_text("", MAX_CAPTION))
        message.service = content
        return self._chats.tell(chat, person, message)

    def _uploaded(self, person: Person, wishes: Wishes, kind: str) -> Json:
        """Send a file: "data" in base64 (a few bytes otherwise), "name", "content_type", "caption", "duration"."""
        name, content_type, folder = _MEDIA[kind]
        try:
            data = base64.b64decode(text(wishes, "data", required=False), validate=True)
        except (binascii.Error, ValueError):
            raise BadAction('"data" must be base64.') from None
        name = text(wishes, "name", required=False) or name
        content_type = text(wishes, "content_type", required=False) or content_type
        caption = settled_text(text(wishes, "caption", required=False), MAX_CAPTION)
        chat = self._chats.open_chat(person)
        seconds = number(wishes, "duration") if wishes.get("duration") else 1
        file = self._chats.world.keep_file(name, content_type, data or b"simulated", folder, seconds)
        message = self._chats.post(chat, person, caption)
        message.media, message.file = kind, file
        return {"file_id": file.file_id, **self._chats.tell(chat, person, message)}


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
