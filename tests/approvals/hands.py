"""People's hands: what Twilio, Slack and Telegram would post for them, signed, to whichever web process one likes."""

import itertools
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

import aiohttp
from slack_sdk.signature import SignatureVerifier
from twilio.request_validator import RequestValidator

from core.json_types import JsonObject
from simulator.config import Person, SimulatorConfig

SECRET = "telegram-webhook-secret"
PUBLIC_URL = "https://valet.example"


@dataclass(frozen=True, slots=True)
class Post:
    """One request to the gateway; the same again is a replay."""

    path: str
    body: bytes
    headers: dict[str, str]

    def unsigned(self) -> "Post":
        """Give it as a forger would send it, who knows everything but the secrets."""
        wrong = {"X-Twilio-Signature": "A" * 28, "X-Slack-Signature": "v0=" + "0" * 64}
        wrong["X-Telegram-Bot-Api-Secret-Token"] = "guessed"
        return Post(self.path, self.body, self.headers | {one: wrong[one] for one in wrong if one in self.headers})


@dataclass(slots=True)
class Hands:
    """Make and send requests; each is one of its own unless it is sent twice."""

    config: SimulatorConfig
    webs: Sequence[str]
    http: aiohttp.ClientSession
    channels: dict[str, str]
    """Where each person's Slack DM is, by the person's key."""
    secret: str = SECRET
    public_url: str = PUBLIC_URL
    statuses: list[int] = field(default_factory=list)
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    async def send(self, post: Post, web: int) -> int:
        """Send one request to a web process; gives the status."""
        url = f"{self.webs[web % len(self.webs)]}{post.path}"
        async with self.http.post(url, data=post.body, headers=post.headers) as answer:
            await answer.read()
            self.statuses.append(answer.status)
            return answer.status

    def text(self, person: Person, words: str) -> Post:
        """Let somebody text."""
        sid = f"SM{next(self._numbers):032x}"
        fields = {
            "MessageSid": sid,
            "SmsMessageSid": sid,
            "SmsStatus": "received",
            "AccountSid": self.config.twilio.account_sid,
            "From": person.phone,
            "To": self.config.twilio.number,
            "Body": words,
            "NumMedia": "0",
            "NumSegments": "1",
        }
        validator = RequestValidator(self.config.twilio.auth_token)
        signature = validator.compute_signature(f"{self.public_url}/webhooks/sms", fields)
        form = {"Content-Type": "application/x-www-form-urlencoded", "X-Twilio-Signature": signature}
        return Post("/webhooks/sms", urlencode(fields).encode(), form)

    def tap(self, person: Person, data: str) -> Post:
        """Let somebody tap a button in Telegram, or send data that no button has."""
        number, bot = next(self._numbers), self.config.telegram.bot_id
        chat: JsonObject = {"id": person.telegram_user, "type": "private", "first_name": person.name}
        message: JsonObject = {
            "message_id": 1,
            "date": int(time.time()),
            "chat": chat,
            "from": {"id": bot, "is_bot": True, "first_name": "Valet"},
            "text": "card",
        }
        query: JsonObject = {
            "id": str(10**15 + number),
            "from": {"id": person.telegram_user, "is_bot": False, "first_name": person.name},
            "chat_instance": "1",
            "data": data,
            "message": message,
        }
        body = json.dumps({"update_id": 5_000_000 + number, "callback_query": query}).encode()
        head = {"Content-Type": "application/json", "X-Telegram-Bot-Api-Secret-Token": self.secret}
        return Post("/webhooks/telegram", body, head)

    def press(self, person: Person, data: str, *, team: str = "") -> Post:
        """Let somebody press a button in Slack."""
        at = f"1700000000.{next(self._numbers):06d}"
        container: JsonObject = {
            "type": "message",
            "message_ts": "1700000000.000001",
            "channel_id": self.channels[person.key],
        }
        action: JsonObject = {
            "type": "button",
            "action_id": "choice_0",
            "block_id": "b",
            "action_ts": at,
            "value": data,
        }
        return self._slack(
            person, "block_actions", team, {"container": container, "trigger_id": "1.2.3", "actions": [action]}
        )

    def submit(self, person: Person, data: str, entered: dict[str, str]) -> Post:
        """Let somebody send the form that changes an action."""
        values: JsonObject = {
            name: {name: {"type": "plain_text_input", "value": value}} for name, value in entered.items()
        }
        view: JsonObject = {
            "id": f"V{next(self._numbers):010d}",
            "type": "modal",
            "callback_id": "onevalet_form",
            "private_metadata": data,
            "hash": f"{next(self._numbers)}.abc",
            "state": {"values": values},
        }
        return self._slack(person, "view_submission", "", {"view": view, "trigger_id": "1.2.3"})

    def _slack(self, person: Person, kind: str, team: str, more: JsonObject) -> Post:
        slack = self.config.slack
        team = team or slack.team_id
        payload = {
            "type": kind,
            "user": {"id": person.slack_user, "username": person.key, "team_id": team},
            "api_app_id": slack.app_id,
            "token": slack.verification_token,
            "team": {"id": team, "domain": "simulator"},
            "is_enterprise_install": False,
            **more,
        }
        body, stamp = urlencode({"payload": json.dumps(payload)}).encode(), str(int(time.time()))
        signature = SignatureVerifier(slack.signing_secret).generate_signature(timestamp=stamp, body=body)
        assert signature is not None
        head = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": stamp,
            "X-Slack-Signature": signature,
        }
        return Post("/webhooks/slack", body, head)
