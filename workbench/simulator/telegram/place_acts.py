"""Acts with places in the emulated Telegram: sent, and shared live while the person moves.

Sources: https://core.telegram.org/bots/api#location, #venue; a shared place is edited, and without `live_period` in the
end: https://core.telegram.org/api/live-location.
"""

from collections.abc import Mapping

from workbench.simulator.base import BadAction
from workbench.simulator.config import Person
from workbench.simulator.journal import Json
from workbench.simulator.telegram.act_arguments import number, text
from workbench.simulator.telegram.chat_updates import Act, ChatUpdates, Wishes, settled_text
from workbench.simulator.telegram.formatting import MAX_CAPTION
from workbench.simulator.telegram.state import Message

_PERIODS = range(60, 86_401)
_FOR_EVER = 0x7FFFFFFF
_MAX_ACCURACY = 1500


class PlaceActs:
    """The acts by name."""

    def __init__(self, chats: ChatUpdates) -> None:
        self._chats = chats

    def acts(self) -> Mapping[str, Act]:
        return {"location": self._send, "move_location": self._move, "stop_location": self._stop}

    def _send(self, person: Person, wishes: Wishes) -> Json:
        """Send the place at "latitude" and "longitude"; with a "title" and an "address" as a venue.

        It is shared live for "live" seconds; "accuracy" is in metres.
        """
        place, title = _place(wishes), text(wishes, "title", required=False)
        content: dict[str, Json] = {"location": place}
        if title:
            # https://core.telegram.org/bots/api#message: "for backward compatibility … location is also set".
            content["venue"] = {"location": place, "title": title, "address": text(wishes, "address")}
        elif live := number(wishes, "live", 0):
            if live not in _PERIODS and live != _FOR_EVER:
                raise BadAction("A location is shared for 60 to 86400 seconds.")
            place["live_period"] = live
        chat = self._chats.open_chat(person)
        message = self._chats.post(chat, person, settled_text("", MAX_CAPTION))
        message.service = content
        return self._chats.tell(chat, person, message)

    def _move(self, person: Person, wishes: Wishes) -> Json:
        """Move the shared place "message_id", by default the newest, to "latitude" and "longitude"."""
        message = self._shared(person, wishes)
        before = message.service["location"]
        assert isinstance(before, dict)  # noqa: S101
        return self._edited(person, message, _place(wishes) | {"live_period": before["live_period"]})

    def _stop(self, person: Person, wishes: Wishes) -> Json:
        """Share the place "message_id" no longer, by default the newest."""
        message = self._shared(person, wishes)
        before = message.service["location"]
        assert isinstance(before, dict)  # noqa: S101
        return self._edited(person, message, {name: before[name] for name in before if name != "live_period"})

    def _edited(self, person: Person, message: Message, place: dict[str, Json]) -> Json:
        chat = self._chats.chat(person)
        message.service, message.edited = {"location": place}, self._chats.world.date()
        return self._chats.tell(chat, person, message, "edited_message")

    def _shared(self, person: Person, wishes: Wishes) -> Message:
        messages = self._chats.chat(person).messages
        shared = [number for number, one in messages.items() if _is_live(one) and one.sender == person.telegram_user]
        wanted = number(wishes, "message_id", shared[-1] if shared else 0)
        if wanted not in shared:
            raise BadAction("That location is not shared live.")
        return messages[wanted]


def _is_live(message: Message) -> bool:
    place = message.service.get("location")
    return isinstance(place, dict) and "live_period" in place


def _place(wishes: Wishes) -> dict[str, Json]:
    """Return a Location of the wishes' texts."""
    try:
        place: dict[str, Json] = {name: float(text(wishes, name)) for name in ("latitude", "longitude")}
        accuracy = float(text(wishes, "accuracy", required=False) or -1)
    except ValueError:
        raise BadAction("A place has a latitude and a longitude in degrees, and its accuracy is in metres.") from None
    if accuracy > _MAX_ACCURACY:
        raise BadAction(f"The accuracy of a place is at most {_MAX_ACCURACY} metres.")
    return place if accuracy < 0 else place | {"horizontal_accuracy": accuracy}
