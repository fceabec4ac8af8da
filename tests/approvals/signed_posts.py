"""What Twilio, Slack and Telegram would post for people, signed, to any of the web processes."""

import itertools
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

import aiohttp
from multidict import MultiDict
from slack_sdk.signature import SignatureVerifier
from twilio.request_validator import RequestValidator

from core.json_types import Json, JsonObject
from workbench.simulator.config import Person, SimulatorConfig

FORM = "application/x-www-form-urlencoded"
SECRET = "telegram-webhook-secret"
PUBLIC_URL = "https://valet.example"


@dataclass(frozen=True, slots=True)
class Post:
    """One request to the gateway; sending it twice is a replay."""

    path: str
    body: bytes
    headers: dict[str, str]

    def unsigned(self) -> "Post":
        """Return the request as sent by a forger who knows everything but the secrets."""
        wrong = {"X-Twilio-Signature": "A" * 28, "X-Slack-Signature": "v0=" + "0" * 64}
        wrong["X-Telegram-Bot-Api-Secret-Token"] = "guessed"
        return Post(
            self.path, self.body, self.headers | {header: wrong[header] for header in wrong if header in self.headers}
        )


@dataclass(slots=True)
class SignedPosts:
    """Create and send requests, each of them distinct."""

    config: SimulatorConfig
    webs: Sequence[str]
    http: aiohttp.ClientSession
    channels: dict[str, str]
    """Each person's Slack DM, by the person's key."""
    secret: str = SECRET
    public_url: str = PUBLIC_URL
    statuses: list[int] = field(default_factory=list)
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    async def send(self, post: Post, web: int) -> int:
        """Send one request to a web process; return the status."""
        url = f"{self.webs[web % len(self.webs)]}{post.path}"
        async with self.http.post(url, data=post.body, headers=post.headers) as answer:
            await answer.read()
            self.statuses.append(answer.status)
            return answer.status

    def text(self, person: Person, words: str) -> Post:
        """Send a text as a person."""
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
        return self._texted(tuple(fields.items()))

    def with_fields(self, post: Post, *more: tuple[str, str]) -> Post:
        """Return a text with other fields, signed again; a field that occurs twice in `more` is sent twice."""
        sid = f"SM{next(self._numbers):032x}"
        more = (("MessageSid", sid), ("SmsMessageSid", sid), *more)
        names = {name for name, _ in more}
        kept = [field for field in parse_qsl(post.body.decode(), keep_blank_values=True) if field[0] not in names]
        return self._texted((*kept, *more))

    def _texted(self, fields: Sequence[tuple[str, str]]) -> Post:
        validator = RequestValidator(self.config.twilio.auth_token)
        signature = validator.compute_signature(f"{self.public_url}/webhooks/sms", MultiDict(fields))
        form = {"Content-Type": FORM, "X-Twilio-Signature": signature}
        return Post("/webhooks/sms", urlencode(fields).encode(), form)

    def with_values(self, post: Post, values: Mapping[str, Json]) -> Post:
        """Return an update or a payload with more fields, merged object by object, signed again."""
        if post.path == "/webhooks/telegram":
            return Post(post.path, json.dumps(_merged(json.loads(post.body), values)).encode(), post.headers)
        if post.headers["Content-Type"] == FORM:
            payload = _merged(json.loads(dict(parse_qsl(post.body.decode()))["payload"]), values)
            return self._signed(urlencode({"payload": json.dumps(payload)}).encode(), FORM)
        return self._signed(json.dumps(_merged(json.loads(post.body), values)).encode(), "application/json")

    def write(self, person: Person, words: str) -> Post:
        """Write to the bot in Telegram as a person."""
        number = next(self._numbers)
        message: JsonObject = {
            "message_id": 900_000 + number,
            "date": int(time.time()),
            "chat": {"id": person.telegram_user, "type": "private", "first_name": person.name},
            "from": {"id": person.telegram_user, "is_bot": False, "first_name": person.name},
            "text": words,
        }
        body = json.dumps({"update_id": 6_000_000 + number, "message": message}).encode()
        return Post("/webhooks/telegram", body, self._secret_head())

    def post(self, person: Person, words: str) -> Post:
        """Write to the app in Slack as a person."""
        number, slack = next(self._numbers), self.config.slack
        event: JsonObject = {
            "type": "message",
            "channel": self.channels[person.key],
            "channel_type": "im",
            "user": person.slack_user,
            "team": slack.team_id,
            "text": words,
            "ts": f"1700000001.{number:06d}",
            "event_ts": f"1700000001.{number:06d}",
        }
        callback: JsonObject = {
            "type": "event_callback",
            "event_id": f"Ev{number:010d}",
            "event_time": int(time.time()),
            "team_id": slack.team_id,
            "api_app_id": slack.app_id,
            "token": slack.verification_token,
            "authorizations": [],
            "event": event,
        }
        return self._signed(json.dumps(callback).encode(), "application/json")

    def tap(self, person: Person, data: str) -> Post:
        """Tap a button in Telegram as a person, or send data that no button has."""
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
        return Post("/webhooks/telegram", body, self._secret_head())

    def press(self, person: Person, data: str, *, team: str = "") -> Post:
        """Press a button in Slack as a person."""
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
        """Submit the form that changes an action as a person."""
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
        return self._signed(urlencode({"payload": json.dumps(payload)}).encode(), FORM)

    def _signed(self, body: bytes, kind: str) -> Post:
        stamp = str(int(time.time()))
        verifier = SignatureVerifier(self.config.slack.signing_secret)
        signature = verifier.generate_signature(timestamp=stamp, body=body)
        assert signature is not None
        head = {"Content-Type": kind, "X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": signature}
        return Post("/webhooks/slack", body, head)

    def _secret_head(self) -> dict[str, str]:
        return {"Content-Type": "application/json", "X-Telegram-Bot-Api-Secret-Token": self.secret}


def _merged(given: JsonObject, more: Mapping[str, Json]) -> JsonObject:
    merged = dict(given)
    for name, value in more.items():
        known = merged.get(name)
        merged[name] = _merged(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
    return merged
