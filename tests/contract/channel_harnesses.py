"""The harnesses of all channels. The emulated ones run every case; email runs those that are marked for it."""

import base64
import json
import re
import time
from typing import Any, ClassVar, cast
from urllib.parse import parse_qsl

from slack_sdk.signature import SignatureVerifier
from twilio.request_validator import RequestValidator

from channels.slack.receive import SlackChannel
from channels.sms.receive import SmsChannel
from channels.telegram.receive import TelegramChannel
from core.messaging.channels import NotificationChannel
from core.messaging.messages import Address
from notify.slack.send import SlackNotification
from notify.sms.send import SmsNotification
from notify.telegram.send import TelegramNotification
from providers.telegram.client import ALLOWED_UPDATES
from tests.contract.canaries import OTHER_SECRET, PEOPLE, SLACK, TELEGRAM, TWILIO, WEBHOOK_SECRET, marked
from tests.contract.email_harness import EmailHarness
from tests.contract.harness import PUBLIC_URL, Bubble, ChannelHarness, Request
from tests.patience import PATIENCE

_BY_KEY = {person.key: person for person in PEOPLE}
_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)^ {0,3}\1[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)


class SmsHarness(ChannelHarness):
    """Twilio and our SMS channel."""

    name, provider, path = "sms", "twilio", "/webhooks/sms"
    sending = "twilio.messages.create"
    proof: ClassVar[tuple[str, ...]] = ("X-Twilio-Signature",)
    account = TWILIO.number
    has_buttons = False

    def make_channel(self, *, wrong_token: bool = False) -> SmsChannel:
        return SmsChannel(
            account_sid=TWILIO.account_sid,
            auth_token=OTHER_SECRET if wrong_token else TWILIO.auth_token,
            sender=TWILIO.number,
            public_url=PUBLIC_URL,
            api_url=self.simulator.twilio_url,
            sink=self.sink,
        )

    def make_sender(self, *, api_url: str = "", seconds: float = PATIENCE) -> NotificationChannel:
        return SmsNotification(
            account_sid=TWILIO.account_sid,
            auth_token=TWILIO.auth_token,
            sender=TWILIO.number,
            public_url=PUBLIC_URL,
            api_url=api_url or self.simulator.twilio_url,
            connect_seconds=seconds,
            total_seconds=seconds,
        ).with_mms(("US",))

    async def prepare(self) -> None:
        await self.channel.setup()

    async def say(self, text: str, person: str = "ada") -> None:
        await self.act("say", person, text=text)

    async def redeliver(self) -> None:
        last = [bubble for bubble in self._seen("ada") if bubble["direction"] == "in"][-1]
        await self.act("duplicate", sid=last["id"], wait=True)

    async def send_file(self) -> None:
        picture = {"content_type": "image/png", "data": base64.b64encode(b"picture").decode()}
        await self.act("say", text=marked("Look"), media=[picture])
        await self.settled()

    def is_settled(self) -> bool:
        told = all(bubble["webhook"] != "waiting" for bubbles in self._all().values() for bubble in bubbles)
        return told and not self.simulator.wire.is_busy("twilio:carry:")  # what it tells of our texts as well

    def address(self, person: str = "ada") -> Address:
        return Address(self.name, self.account, _BY_KEY[person].phone)

    def bubbles(self, person: str = "ada") -> list[Bubble]:
        ours = [bubble for bubble in self._seen(person) if bubble["direction"] == "out"]
        return [Bubble(bubble["id"], bubble["text"], code=bubble["text"]) for bubble in ours]

    async def react(self, bubble: Bubble, emoji: str, person: str = "ada", *, taken_back: bool = False) -> None:
        name = {"👍": "like", "👎": "dislike", "❤": "love"}[emoji]
        await self.act("react", person, sid=bubble.id, reaction=name, taken_back=taken_back)

    def signed(self, request: Request, secret: str = "") -> Request:
        fields = dict(parse_qsl(request.body.decode(), keep_blank_values=True))
        validator = RequestValidator(secret or TWILIO.auth_token)
        return request.with_headers({self.proof[-1]: validator.compute_signature(PUBLIC_URL + request.path, fields)})

    def _seen(self, person: str) -> list[dict[str, Any]]:
        return self._all()[person]

    def _all(self) -> dict[str, list[dict[str, Any]]]:
        state = cast(dict[str, Any], self.simulator.providers["twilio"].state())
        return {key: person["bubbles"] for key, person in state["people"].items()}


class SlackHarness(ChannelHarness):
    """Slack and our Slack channel, over HTTP."""

    name, provider, path = "slack", "slack", "/webhooks/slack"
    sending = "slack.chat.postMessage"
    proof: ClassVar[tuple[str, ...]] = ("X-Slack-Request-Timestamp", "X-Slack-Signature")
    account = SLACK.team_id

    def make_channel(self, *, wrong_token: bool = False) -> SlackChannel:
        return SlackChannel(
            bot_token=OTHER_SECRET if wrong_token else SLACK.bot_token,
            signing_secret=SLACK.signing_secret,
            api_url=self.simulator.slack_url,
            public_url=PUBLIC_URL,
            sink=self.sink,
        )

    def make_sender(self, *, api_url: str = "", seconds: float = PATIENCE) -> NotificationChannel:
        return SlackNotification(
            bot_token=SLACK.bot_token,
            api_url=api_url or self.simulator.slack_url,
            connect_seconds=seconds,
            total_seconds=seconds,
        )

    async def prepare(self) -> None:
        # Slack tells us of our own messages, too; the one case about them switches that on.
        await self.act("set", own_events=False)

    async def say(self, text: str, person: str = "ada") -> None:
        await self.act("say", person, text=text)

    async def redeliver(self) -> None:
        await self.act(
            "redeliver", number=max(delivery.number for delivery in self._deliveries if "event_id" in delivery.payload)
        )
        await self.settled()

    async def send_file(self) -> None:
        await self.act("say", text=marked("Look"), files=[{"name": "notes.txt", "content": "words"}])
        await self.settled()

    def is_settled(self) -> bool:
        return all(delivery.state != "pending" for delivery in self._deliveries)

    def address(self, person: str = "ada") -> Address:
        return Address(self.name, self.account, self._person(person)["channel"])

    def bubbles(self, person: str = "ada") -> list[Bubble]:
        ours = [
            bubble
            for bubble in self._person(person)["bubbles"]
            if bubble["app"] == SLACK.app_id and not bubble["ephemeral"]
        ]
        return [
            Bubble(
                bubble["id"],
                bubble["text"],
                code="\n".join(match[2] for match in _FENCED.finditer(bubble["text"])),
                buttons=tuple((button["text"], button["value"]) for button in bubble["buttons"]),
            )
            for bubble in ours
        ]

    async def group_say(
        self, text: str, person: str = "ada", *, mention: bool = True, reply_to: str = ""
    ) -> dict[str, Any]:
        replied = {"thread_ts": reply_to} if reply_to else {}
        return await self.act("channel_say", person, text=text, mention=mention, **replied)

    async def group_set(self, person: str = "ada", **changes: Any) -> None:
        changes.pop("privacy", None)  # an app hears all of a channel that it is in
        if changes:
            await self.act(
                "channel_set", person, **{"name" if key == "title" else key: changes[key] for key in changes}
            )
        await self.settled()

    def group_texts(self) -> list[str]:
        return [bubble["text"] for bubble in self._in_group]

    def group_ids(self) -> list[str]:
        return [bubble["id"] for bubble in self._in_group]

    @property
    def _in_group(self) -> list[dict[str, Any]]:
        state = cast(dict[str, Any], self.simulator.providers["slack"].state())
        return [bubble for bubble in state["general"] if bubble["app"] == SLACK.app_id]

    async def press(self, bubble: Bubble, number: int = 0, person: str = "ada") -> None:
        await self.act("press", person, ts=bubble.id, action_id=f"choice_{number}")

    def whispers(self, person: str = "ada") -> list[str]:
        return [bubble["text"] for bubble in self._person(person)["bubbles"] if bubble["ephemeral"]]

    def modals(self, person: str = "ada") -> list[dict[str, Any]]:
        """Return the forms that a person has open."""
        return cast(list[dict[str, Any]], self._person(person)["modals"])

    async def react(self, bubble: Bubble, emoji: str, person: str = "ada", *, taken_back: bool = False) -> None:
        name = {"👍": "+1", "👎": "-1", "❤": "heart"}[emoji]
        await self.act("react", person, ts=bubble.id, name=name, taken_back=taken_back)

    def reactions(self, person: str = "ada") -> list[str]:
        bubbles = self._person(person)["bubbles"]
        return [name for bubble in bubbles if bubble["direction"] == "in" for name in bubble["reactions"]]

    def signed(self, request: Request, secret: str = "", at: float | None = None) -> Request:
        stamp = str(int(time.time() if at is None else at))
        verifier = SignatureVerifier(secret or SLACK.signing_secret)
        signature = verifier.generate_signature(timestamp=stamp, body=request.body)
        assert signature is not None
        return request.with_headers({self.proof[0]: stamp, self.proof[1]: signature})

    @property
    def _deliveries(self) -> list[Any]:
        return cast(Any, self.simulator.providers["slack"]).hub.world.deliveries  # type: ignore[no-any-return]

    def _person(self, key: str) -> dict[str, Any]:
        state = cast(dict[str, Any], self.simulator.providers["slack"].state())
        return cast(dict[str, Any], state["people"][key])


class TelegramHarness(ChannelHarness):
    """Telegram and our Telegram channel, over its webhook."""

    name, provider, path = "telegram", "telegram", "/webhooks/telegram"
    sending = "telegram.sendMessage"
    proof: ClassVar[tuple[str, ...]] = ("X-Telegram-Bot-Api-Secret-Token",)
    account = str(TELEGRAM.bot_id)

    def make_channel(self, *, wrong_token: bool = False) -> TelegramChannel:
        return TelegramChannel(
            bot_token=f"{TELEGRAM.bot_id}:{OTHER_SECRET}" if wrong_token else TELEGRAM.bot_token,
            webhook_secret=WEBHOOK_SECRET,
            api_url=self.simulator.telegram_url,
            public_url=PUBLIC_URL,
            sink=self.sink,
        )

    def make_sender(self, *, api_url: str = "", seconds: float = PATIENCE) -> NotificationChannel:
        return TelegramNotification(
            bot_token=TELEGRAM.bot_token,
            api_url=api_url or self.simulator.telegram_url,
            connect_seconds=seconds,
            read_seconds=seconds,
        )

    async def prepare(self) -> None:
        # The webhook alone: menus and descriptions in each language, by `channel.setup`, are thirty calls more.
        assert self._http is not None
        url = f"{self.simulator.telegram_url}/bot{TELEGRAM.bot_token}/setWebhook"
        webhook = {"url": PUBLIC_URL + self.path, "secret_token": WEBHOOK_SECRET, "allowed_updates": ALLOWED_UPDATES}
        async with self._http.post(url, json=webhook) as answer:
            assert answer.status == 200, await answer.text()

    async def say(self, text: str, person: str = "ada") -> None:
        await self.act("say", person, text=text)

    async def redeliver(self) -> None:
        await self.act("redeliver")
        await self.settled()

    async def send_file(self) -> None:
        await self.act("document", caption=marked("Look"))
        await self.settled()

    def is_settled(self) -> bool:
        return not self._state["bot"]["webhook"]["pending_update_count"]

    def address(self, person: str = "ada") -> Address:
        return Address(self.name, self.account, str(_BY_KEY[person].telegram_user))

    def bubbles(self, person: str = "ada") -> list[Bubble]:
        ours = [message for message in self._state["people"][person]["messages"] if message["direction"] == "out"]
        return [_telegram_bubble(bubble) for bubble in ours]

    async def press(self, bubble: Bubble, number: int = 0, person: str = "ada") -> None:
        await self.act("press", person, message_id=int(bubble.id.rpartition(":")[2]), data=bubble.buttons[number][1])

    def whispers(self, person: str = "ada") -> list[str]:
        messages = self._state["people"][person]["messages"]
        return [press["text"] for message in messages for press in message["presses"] if press["answered"]]

    async def react(self, bubble: Bubble, emoji: str, person: str = "ada", *, taken_back: bool = False) -> None:
        await self.act("react", person, message_id=int(bubble.id.rpartition(":")[2]), emoji="" if taken_back else emoji)

    def reactions(self, person: str = "ada") -> list[str]:
        messages = self._state["people"][person]["messages"]
        return [one["emoji"] for message in messages if message["direction"] == "in" for one in message["reactions"]]

    async def group_say(
        self, text: str, person: str = "ada", *, mention: bool = True, reply_to: str = ""
    ) -> dict[str, Any]:
        replied = {"reply_to": int(reply_to)} if reply_to else {}
        return await self.act("group_say", person, text=text, mention=mention, **replied)

    async def group_set(self, person: str = "ada", **changes: Any) -> None:
        await self.act("group_set", person, **changes)
        await self.settled()

    def group_texts(self) -> list[str]:
        return [message["text"] for message in self._in_group]

    def group_ids(self) -> list[str]:
        return [str(message["message_id"]) for message in self._in_group]

    @property
    def _in_group(self) -> list[dict[str, Any]]:
        group = self._state["group"] or {"messages": []}
        return [message for message in group["messages"] if message["direction"] == "out"]

    def signed(self, request: Request, secret: str = "") -> Request:
        return request.with_headers({self.proof[-1]: secret or WEBHOOK_SECRET})

    def changed(self, request: Request, **values: Any) -> Request:
        """Return an update with fields of its message replaced and a new number."""
        update = json.loads(request.body)
        update["update_id"] += 1000
        update["message"] |= values
        return Request(request.path, request.headers, json.dumps(update).encode())

    @property
    def _state(self) -> dict[str, Any]:
        return cast(dict[str, Any], self.simulator.providers["telegram"].state())


def _telegram_bubble(message: dict[str, Any]) -> Bubble:
    units = message["text"].encode("utf-16-le")

    def covered(entity: dict[str, Any]) -> str:
        start = 2 * entity["offset"]
        return cast(str, units[start : start + 2 * entity["length"]].decode("utf-16-le"))

    code = "\n".join(covered(entity) for entity in message["entities"] if entity["type"] == "pre")
    buttons = [(button["text"], button["callback_data"]) for row in message["keyboard"] for button in row]
    return Bubble(message["id"], message["text"], code, tuple(buttons))


HARNESSES: dict[str, type[ChannelHarness]] = {
    harness.name: harness for harness in (SmsHarness, SlackHarness, TelegramHarness, EmailHarness)
}
EVERYWHERE = ("sms", "slack", "telegram")
"""The channels over which every case runs that does not exempt them."""
