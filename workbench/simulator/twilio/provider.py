"""Twilio as a part of the simulator: phones that text, and the account that they text."""

import asyncio
import base64
import binascii
from collections.abc import Iterable
from dataclasses import asdict

from aiohttp import web

from workbench.simulator.base import BadAction, OpenedFile, Wire
from workbench.simulator.config import Person
from workbench.simulator.journal import Json
from workbench.simulator.keeping import Drawer
from workbench.simulator.twilio.alerts import Alerts
from workbench.simulator.twilio.api import Api
from workbench.simulator.twilio.delivery import CALLBACK_MODES, PHONE_MODES, Phone, carry
from workbench.simulator.twilio.inbound import Inbound
from workbench.simulator.twilio.kept import FORM, bring_back, keep
from workbench.simulator.twilio.segments import price_of
from workbench.simulator.twilio.services import Services
from workbench.simulator.twilio.state import FINAL, Media, Message, PhoneNumber, Store, new_sid
from workbench.simulator.twilio.tapbacks import tapback

_MAX_MEDIA_BYTES = 5 * 1024 * 1024


class TwilioSimulator:
    """The provider `twilio`.

    Actions of a person: say {"text", "media"?: [{"content_type", "data": base64, "name"?}], "to"?, "wait"?};
    react {"sid", "reaction": like and so on, "taken_back"?, "wait"?}; duplicate {"sid", "times"?, "wait"?};
    phone {"mode"}; callbacks {"order"}. With "wait" the answer comes once the gateway has been told.
    """

    name = "twilio"

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._config = wire.config.twilio
        self._store = Store(self._config, wire.now())
        self._phones: dict[str, Phone] = {}
        self._api = Api(wire, lambda: self._store, self._sent)
        self._services = Services(wire, lambda: self._store)
        self._alerts = Alerts(wire, lambda: self._store)
        self._inbound = Inbound(wire, lambda: self._store, self._sent)

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        return [*self._services.routes(), *self._alerts.routes(), *self._api.routes()]

    async def stop(self) -> None:
        await self._wire.cancel_spawned("twilio:")

    @property
    def delivers(self) -> bool:
        return self._wire.is_busy("twilio:tell:")

    def join(self, person: Person) -> None:
        """A phone needs nothing before its first text."""

    async def reset(self) -> None:
        await self._wire.cancel_spawned("twilio:")
        self._store = Store(self._config, self._wire.now())
        self._phones.clear()

    def save(self, drawer: Drawer) -> bytes:
        return FORM.write(keep(self._store, self._phones), drawer)

    def load(self, kept: bytes, drawer: Drawer) -> None:
        known = FORM.read(kept, drawer)
        bring_back(self._store, known)
        self._phones.update(known.phones)

    def resume(self) -> None:
        for message in list(self._store.messages.values()):
            if message.inbound and message.webhook == "waiting":
                self._told(message, self._store.numbers[message.to], 1)
            elif message.status not in FINAL and self._phone(message.to).mode != "silent":
                self._sent(message)

    def state(self) -> Json:
        messages = list(self._store.messages.values())
        people: dict[str, Json] = {}
        for person in self._wire.config.everyone:
            phone = self._phone(person.phone)
            theirs = [message for message in messages if person.phone in (message.sender, message.to)]
            people[person.key] = {
                "name": person.name,
                "phone": person.phone,
                "mode": phone.mode,
                "callbacks": phone.callbacks,
                "stopped": [number for number in self._store.numbers if (number, person.phone) in self._store.stopped],
                "bubbles": [self._bubble(message) for message in theirs],
            }
        numbers: list[Json] = [
            {"number": number.number, "sid": number.sid, "webhook": self._inbound.hook_of(number).url}
            for number in self._store.numbers.values()
        ]
        debug: list[Json] = [asdict(entry) for entry in self._store.debug]
        return {"account": self._config.account_sid, "numbers": numbers, "people": people, "debugger": debug}

    async def act(self, person_key: str, action: str, arguments: dict[str, Json]) -> Json:
        person = self._wire.config.person(person_key)
        if person is None:
            raise BadAction(f"There is nobody called {person_key}.")
        match action:
            case "say":
                return await self._say(person, arguments)
            case "react":
                return await self._react(person, arguments)
            case "duplicate":
                return await self._duplicate(person, arguments)
            case "phone":
                mode = _one_of(arguments, "mode", list(PHONE_MODES))
                self._phone(person.phone).mode = mode
                return {"mode": mode}
            case "callbacks":
                order = _one_of(arguments, "order", list(CALLBACK_MODES))
                self._phone(person.phone).callbacks = order
                return {"order": order}
        raise BadAction("A phone can say, react, duplicate, phone, and callbacks.")

    def file(self, file_id: str) -> OpenedFile | None:
        for message in self._store.messages.values():
            for media in message.media:
                if media.sid == file_id and not media.url:
                    return OpenedFile(media.name or "file", media.content_type, media.data)
        return None

    async def _say(self, person: Person, arguments: dict[str, Json]) -> Json:
        text, to = arguments.get("text", ""), arguments.get("to", self._config.number)
        media = _media(arguments.get("media"))
        if not isinstance(text, str) or not (text or media):
            raise BadAction("There is nothing to send: write something, or attach a file.")
        # docs: glossary/what-sms-character-limit; no phone sends a longer text.
        if len(text) > 1600:
            raise BadAction(f"A text message holds at most 1600 characters; this one has {len(text)}.")
        number = self._store.numbers.get(to) if isinstance(to, str) else None
        if number is None:
            raise BadAction('"to" must be one of the account\'s numbers.')
        if not self._inbound.hook_of(number).url:
            raise BadAction("The simulator does not know yet where the gateway is.")
        message = self._inbound.receive(person.phone, number, text, media)
        return await self._tell(message, number, 1, wait=bool(arguments.get("wait")))

    async def _react(self, person: Person, arguments: dict[str, Json]) -> Json:
        sid, reaction = arguments.get("sid"), arguments.get("reaction")
        message = self._store.messages.get(sid) if isinstance(sid, str) else None
        if message is None or message.to != person.phone or not isinstance(reaction, str):
            raise BadAction('"sid" must be a message to this person, and "reaction" a word.')
        taken_back = arguments.get("taken_back") is True
        text = tapback(reaction, message.body, taken_back=taken_back)
        message.reactions = [] if taken_back else [reaction]
        return await self._say(person, {**arguments, "text": text, "to": message.sender})

    async def _duplicate(self, person: Person, arguments: dict[str, Json]) -> Json:
        sid, times = arguments.get("sid"), arguments.get("times", 1)
        message = self._store.messages.get(sid) if isinstance(sid, str) else None
        if message is None or not message.inbound or message.sender != person.phone:
            raise BadAction('"sid" must be a message that this person sent.')
        if not isinstance(times, int) or isinstance(times, bool) or not 1 <= times <= 100:
            raise BadAction('"times" must be a whole number from 1 to 100.')
        return await self._tell(message, self._store.numbers[message.to], times, wait=bool(arguments.get("wait")))

    async def _tell(self, message: Message, number: PhoneNumber, times: int, *, wait: bool) -> Json:
        task = self._told(message, number, times)
        if wait:
            await asyncio.wait([task])  # a reset may end it
        return {"sid": message.sid, "webhook": message.webhook, "attempts": message.attempts}

    def _told(self, message: Message, number: PhoneNumber, times: int) -> asyncio.Task[None]:
        async def run() -> None:
            for _ in range(times):
                await self._inbound.tell(message, number)

        return self._wire.spawn(run(), f"twilio:tell:{message.sid}")

    def _sent(self, message: Message) -> None:
        work = carry(self._wire, self._store, message, self._phone(message.to))
        self._wire.spawn(work, f"twilio:carry:{message.sid}")
        self._wire.journal.touch()

    def _phone(self, number: str) -> Phone:
        return self._phones.setdefault(number, Phone())

    def _bubble(self, message: Message) -> Json:
        segments = message.segments
        price = price_of(segments.count, inbound=message.inbound, media=len(message.media))
        return {
            "id": message.sid,
            "direction": "in" if message.inbound else "out",
            "text": message.body,
            "automatic": message.direction == "outbound-reply",
            "status": message.status,
            "error_code": message.error_code,
            "error_message": message.error_message,
            "at": message.created,
            "number": message.to if message.inbound else message.sender,
            "encoding": segments.encoding,
            "units": segments.units,
            "segments": segments.count,
            "price": f"{price:.4f}",
            "webhook": message.webhook,
            "attempts": message.attempts,
            "media": [_shown(item) for item in message.media],
            "reactions": [*message.reactions],
        }


def _shown(media: Media) -> Json:
    return {
        "name": media.name,
        "content_type": media.content_type,
        "size": len(media.data),
        "url": media.url or f"/sim/files/twilio/{media.sid}",
    }


def _one_of(arguments: dict[str, Json], name: str, known: list[str]) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or value not in known:
        raise BadAction(f'"{name}" must be one of {", ".join(known)}.')
    return value


def _media(given: Json) -> list[Media]:
    if given is None:
        return []
    if not isinstance(given, list) or len(given) > 10:
        raise BadAction('"media" must be a list of at most ten files.')
    files = [_file(item) for item in given]
    # docs: messaging/guides/accepted-mime-types; 5 MB in all.
    if sum(len(file.data) for file in files) > _MAX_MEDIA_BYTES:
        raise BadAction('"media" must be at most 5 MB in all.')
    return files


def _file(given: Json) -> Media:
    kind = given.get("content_type") if isinstance(given, dict) else None
    data = given.get("data") if isinstance(given, dict) else None
    name = given.get("name", "") if isinstance(given, dict) else ""
    if not isinstance(kind, str) or not isinstance(data, str) or not isinstance(name, str) or "/" not in kind:
        raise BadAction('Each file of "media" must have "content_type" and "data" in base64.')
    try:
        return Media(new_sid("ME"), kind, base64.b64decode(data, validate=True), name=name)
    except binascii.Error:
        raise BadAction('"data" must be base64.') from None
